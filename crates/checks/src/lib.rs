//! The checks that produce outcomes: guards, permission rules and the gates of workflow steps.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "a table of cases is as long as it is"))]

pub mod denials;
pub mod des;
pub mod enforce;
pub mod guard;
pub mod paths;
pub mod permission;
