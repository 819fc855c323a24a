//! A tool call as guards see it, and what they find.

use std::cell::OnceCell;
use std::fmt;
use std::path::Path;

use serde_json::{Map, Value};

use super::comparison_log::ComparisonLog;
use super::resolve::Ground;
use super::rules::{Action, RuleOrigin};
use super::search::EntryCount;
use crate::des::protected::ProtectedPaths;
use conclaude_core::rule::Rule;
use conclaude_core::text::clean_line;
use shell_effects::Access;

/// The part of an unparsable text that is shown and recorded, in bytes.
const MAX_START: usize = 200;

pub struct ToolCall<'a> {
    pub ground: Ground<'a>,
    pub tool: &'a str,
    pub command: Option<&'a str>,
    pub input: &'a Map<String, Value>,
    /// The subagent's name; `main` for the main thread.
    pub agent: &'a str,
    pub is_subagent: bool,
    /// The worktree that the agent works in.
    pub worktree: Option<&'a Path>,
    /// Conclaude's own files and its registration. None if a gate protects them already.
    pub own: Option<OwnFiles<'a>>,
    /// Whether git ignores a path.
    pub is_ignored: &'a dyn Fn(&Path) -> bool,
    pub log: ComparisonLog<'a>,
    /// Counts the directory entries that were searched for this call.
    pub visited: &'a EntryCount,
}

/// Conclaude's own files. They are looked up when they are first needed.
#[derive(Clone, Copy)]
pub struct OwnFiles<'a> {
    pub found: &'a OnceCell<ProtectedPaths>,
    pub find: &'a dyn Fn() -> ProtectedPaths,
}

impl<'a> OwnFiles<'a> {
    pub fn files(self) -> &'a ProtectedPaths {
        self.found.get_or_init(self.find)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    pub action: Action,
    /// What would happen to which path or command.
    pub what: String,
    /// The rule, and where it is written.
    pub rule: String,
    pub advice: String,
    /// The rule, for records.
    pub origin: Rule,
    /// The path or the command that it matched.
    pub matched: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  {}", self.what, self.rule, self.advice)
    }
}

/// The start of a text that could not be parsed.
pub(super) fn start(text: &str) -> &str {
    let text = text.trim();
    text.get(..text.floor_char_boundary(MAX_START)).unwrap_or(text)
}

/// A command in a message. A carriage return must not hide the text before it.
pub(super) fn shown(command: &str) -> String {
    clean_line(command.replace('\r', " ").trim())
}

pub(super) fn doing(access: Access) -> &'static str {
    match access {
        Access::Read => "reading",
        Access::Delete => "deleting",
        Access::MakeDirectory => "creating the directory",
        Access::Link => "linking",
        Access::Write | Access::Format | Access::Update => "writing",
    }
}

pub(super) fn named(origin: &RuleOrigin, written: &str) -> String {
    let key = origin.key;
    match (written.is_empty(), origin.rule(written).position()) {
        (true, None) => format!("`{key}`"),
        (true, Some(position)) => format!("`{key}` in {position}"),
        (false, None) => format!("`{key}` has `{written}`"),
        (false, Some(position)) => format!("`{key}` has `{written}` in {position}"),
    }
}
