//! One thing that was checked.

use std::path::Path;

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Good,
    Warning,
    Problem,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    /// What was looked at, in a word.
    pub(super) about: &'static str,
    pub(super) status: Status,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
}

impl Check {
    pub(super) fn good(about: &'static str, text: impl Into<String>) -> Check {
        Check { about, status: Status::Good, text: text.into(), fix: None }
    }

    pub(super) fn warning(about: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { about, status: Status::Warning, text: text.into(), fix: Some(fix.into()) }
    }

    pub(super) fn problem(about: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { about, status: Status::Problem, text: text.into(), fix: Some(fix.into()) }
    }
}

/// A path in words that fit a line.
pub(super) fn short(path: &Path, project: &Path) -> String {
    path.strip_prefix(project).unwrap_or(path).display().to_string()
}
