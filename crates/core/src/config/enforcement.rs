//! `enforce`: who else enforces the rules for files.

use schemars::JsonSchema;
use serde::Deserialize;

/// A part of Claude Code that rules for files are compiled into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Enforcer {
    /// The sandbox of Bash: the operating system refuses commands, whatever program they run.
    Sandbox,
    /// Permission rules, for the tools that read and change files.
    Permissions,
}

/// The enforcers that a config names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enforcers {
    pub sandbox: bool,
    pub permissions: bool,
}

impl Enforcers {
    #[must_use]
    pub fn is_any(self) -> bool {
        self.sandbox || self.permissions
    }
}

impl<'a> FromIterator<&'a Enforcer> for Enforcers {
    fn from_iter<T: IntoIterator<Item = &'a Enforcer>>(list: T) -> Self {
        let mut enforcers = Enforcers::default();
        for one in list {
            match one {
                Enforcer::Sandbox => enforcers.sandbox = true,
                Enforcer::Permissions => enforcers.permissions = true,
            }
        }
        enforcers
    }
}
