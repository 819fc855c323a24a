//! The scope of a user's permit: `conclaude allow` permits a call that a guard or a permission rule forbids.

use thiserror::Error;

use crate::finding::Code;
use crate::rule::{OUT_OF_TIME, OWN_FILES};

/// Why a permit does not cover a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PermitRefusal {
    #[error("agents can never change conclaude's own files and settings: change them yourself")]
    OwnFiles,
    #[error("what the call does could not be determined in time")]
    Undecided,
    #[error(
        "only guards and permission rules can be overridden, not gates, commands, or a payload that cannot be read"
    )]
    OtherCheck,
}

/// Whether a permit covers a finding with this code. Its rule is in a config, or built in under this name.
///
/// # Errors
/// The reason why it does not.
pub fn check_coverage(code: &str, built_in: Option<&str>) -> Result<(), PermitRefusal> {
    let covered = [Code::GuardDenied, Code::GuardAsks, Code::PermissionDenied];
    if !covered.iter().any(|one| one.as_str() == code) {
        return Err(PermitRefusal::OtherCheck);
    }
    match built_in {
        Some(OWN_FILES) => Err(PermitRefusal::OwnFiles),
        Some(OUT_OF_TIME) => Err(PermitRefusal::Undecided),
        _ => Ok(()),
    }
}
