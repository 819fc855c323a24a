//! What conclaude does, seen from outside: payload in, answer out, files on disk.

#![allow(clippy::too_many_lines, reason = "a session or a table of cases is as long as it is")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

mod common;

mod answers;
mod architecture;
mod audit;
mod audit_forgery;
mod broken_rules;
mod budget;
mod channels;
mod cli;
mod clients;
mod commands;
mod config;
mod config_attacks;
mod config_layers;
mod config_mistakes;
mod dead_rules;
mod des_check;
mod des_cli;
mod des_evidence;
mod des_gates;
mod des_run;
mod dialects;
mod doctor;
mod documented_rules;
mod documents;
mod enforce;
mod events;
mod explain;
mod export;
#[cfg(unix)]
mod export_sending;
mod export_unsent;
mod fleet;
mod fleet_metrics;
mod foreign_config;
mod foreign_tools;
mod gate_escapes;
mod gate_shell;
mod guard_paths;
mod guards;
mod hook_protocol;
mod hostile_git;
#[cfg(target_os = "linux")]
mod init;
mod install;
mod judge;
mod messages;
mod notifications;
mod original;
mod outbox;
#[cfg(unix)]
mod own_program;
mod pack_rules;
mod packs;
mod panics;
#[cfg(target_os = "linux")]
mod parallel;
#[cfg(target_os = "linux")]
mod paths;
mod permissions;
#[cfg(unix)]
mod permits;
mod plugin;
#[cfg(target_os = "linux")]
mod processes;
mod prompts;
mod readme;
mod recorded_output;
mod records;
#[cfg(unix)]
mod replay;
mod report;
mod report_usage;
mod run;
#[cfg(target_os = "linux")]
mod sandbox_denials;
#[cfg(target_os = "linux")]
mod security;
mod subagent_stop;
mod switch;
mod test_cases;
mod tool_rules;
mod trust;
mod user_layer;
#[cfg(unix)]
mod watch;
mod why;
