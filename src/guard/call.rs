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
use crate::des::protected::Protected;
use crate::rule::Rule;
use crate::shell::Access;
use crate::text::clean_line;

/// How much of a text that cannot be parsed is shown and recorded.
const MAX_START: usize = 200;

pub(crate) struct Call<'a> {
    pub(crate) ground: Ground<'a>,
    pub(crate) tool: &'a str,
    pub(crate) command: Option<&'a str>,
    pub(crate) input: &'a Map<String, Value>,
    /// The subagent's name; `main` for the main thread.
    pub(crate) agent: &'a str,
    pub(crate) is_subagent: bool,
    /// The worktree that the agent works in.
    pub(crate) worktree: Option<&'a Path>,
    /// Our own files, and what registers us; none where something else protects them.
    pub(crate) own: Option<Own<'a>>,
    /// Whether git ignores a path.
    pub(crate) is_ignored: &'a dyn Fn(&Path) -> bool,
    pub(crate) watch: Watch<'a>,
    /// How much was searched for it.
    pub(crate) visited: &'a Visited,
}

/// They are looked up on the disk by the first who asks for them.
#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    pub(crate) found: &'a OnceCell<Protected>,
    pub(crate) find: &'a dyn Fn() -> Protected,
}

impl<'a> Own<'a> {
    pub(crate) fn files(self) -> &'a Protected {
        self.found.get_or_init(self.find)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Finding {
    pub(crate) action: Action,
    /// What would happen to which path or command.
    pub(crate) what: String,
    /// The rule, and where it is written.
    pub(crate) rule: String,
    pub(crate) advice: String,
    /// The rule, for records.
    pub(crate) origin: Rule,
    /// The path or the command that it matched.
    pub(crate) matched: String,
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
