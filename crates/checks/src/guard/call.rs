//! A tool call as guards see it, and what they find.

use std::cell::OnceCell;
use std::fmt;
use std::path::Path;

use serde_json::{Map, Value};

use super::origin::Origin;
use super::resolve::Ground;
use super::rules::Action;
use super::search::Visited;
use super::watch::Watch;
use crate::des::protected::ProtectedPaths;
use conclaude_core::rule::Rule;
use conclaude_core::text::clean_line;
use shell_effects::Access;

/// How much of a text that cannot be parsed is shown and recorded.
const MAX_START: usize = 200;

pub struct Call<'a> {
    pub ground: Ground<'a>,
    pub tool: &'a str,
    pub command: Option<&'a str>,
    pub input: &'a Map<String, Value>,
    /// The subagent's name; `main` for the main thread.
    pub agent: &'a str,
    pub is_subagent: bool,
    /// The worktree that the agent works in.
    pub worktree: Option<&'a Path>,
    /// Our own files, and what registers us; none where something else protects them.
    pub own: Option<Own<'a>>,
    /// Whether git ignores a path.
    pub is_ignored: &'a dyn Fn(&Path) -> bool,
    pub watch: Watch<'a>,
    /// How much was searched for it.
    pub visited: &'a Visited,
}

/// They are looked up on the disk by the first who asks for them.
#[derive(Clone, Copy)]
pub struct Own<'a> {
    pub found: &'a OnceCell<ProtectedPaths>,
    pub find: &'a dyn Fn() -> ProtectedPaths,
}

impl<'a> Own<'a> {
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

/// The start of a text that was not taken apart, which may be long.
pub(super) fn start(text: &str) -> &str {
    let text = text.trim();
    text.get(..text.floor_char_boundary(MAX_START)).unwrap_or(text)
}

/// A command in a message. A carriage return is no reason to show only what is behind it.
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

pub(super) fn named(origin: &Origin, written: &str) -> String {
    let key = origin.key;
    match (written.is_empty(), origin.rule(written).position()) {
        (true, None) => format!("`{key}`"),
        (true, Some(position)) => format!("`{key}` in {position}"),
        (false, None) => format!("`{key}` has `{written}`"),
        (false, Some(position)) => format!("`{key}` has `{written}` in {position}"),
    }
}
