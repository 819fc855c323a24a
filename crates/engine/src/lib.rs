//! The path of an event: read, parse, plan, run, decide, answer. Also installing and linting.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "a table of cases is as long as it is"))]

pub mod enforced_session;
pub mod hooks;
pub mod install;
pub mod lint;
pub mod sandbox;
