//! Access to the operating system: files, processes, git, HTTP, notifications, log lines.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "a table of cases is as long as it is"))]

pub mod archives;
pub mod budget;
pub mod environment;
pub mod files;
pub mod git;
pub mod http;
pub mod log;
pub mod notify;
pub mod process;
