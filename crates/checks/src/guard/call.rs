//! A tool call as guards see it, and what they find.

use std::cell::OnceCell;
use std::path::Path;

use serde_json::{Map, Value};

use super::comparison_log::ComparisonLog;
use super::resolve::Ground;
use super::rules::{Action, FileQuery, FileUsage, RuleOrigin};
use super::search::EntryCount;
use crate::des::protected::ProtectedPaths;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::Rule;
use conclaude_core::text::{capitalized, clean_line};
use shell_effects::Access;

/// The part of an unparsable text that is shown and recorded, in bytes.
const MAX_START: usize = 200;

pub struct ToolCall<'a> {
    pub ground: Ground<'a>,
    pub tool: &'a str,
    /// Other names of the tool that rules may use: those of another client.
    pub other_names: &'a [String],
    pub command: Option<&'a str>,
    pub input: &'a Map<String, Value>,
    /// The subagent's name; `main` for the main thread.
    pub agent: &'a str,
    pub is_subagent: bool,
    /// The worktree that the agent works in.
    pub worktree: Option<&'a Path>,
    /// Conclaude's own files and its registration. `None` if a gate already protects them.
    pub own: Option<OwnFiles<'a>>,
    /// Whether git ignores a path.
    pub is_ignored: &'a dyn Fn(&Path) -> bool,
    pub log: ComparisonLog<'a>,
    /// Counts the directory entries that were searched for this call.
    pub visited: &'a EntryCount,
}

impl ToolCall<'_> {
    /// The use of a file, as rules for files compare it.
    pub(super) fn query(&self, usage: FileUsage) -> FileQuery<'_> {
        FileQuery { agent: self.agent, usage, log: self.log, budget: self.ground.budget }
    }

    /// Like `query`, but for a file that an explanation does not show.
    pub(super) fn silent_query(&self) -> FileQuery<'_> {
        FileQuery { log: ComparisonLog::default(), ..self.query(FileUsage::Other) }
    }

    /// The path of a finding, unless the call or the reason names it.
    pub(super) fn about_file(&self, shown: &str, reason: &str) -> Option<String> {
        let used = tools::what(self.tool, self.input);
        let is_named = matches!(used, ToolUse::File { path, .. } if path.ends_with(shown));
        // The words of a reason: `.env.example` does not name `.env`.
        let mut words = reason.split(|c: char| c.is_whitespace() || "`'\"(),;:".contains(c));
        if is_named || words.any(|word| word.trim_end_matches('.') == shown) {
            None
        } else {
            Some(shown.to_owned())
        }
    }

    /// Like `about_file`, but for a command. It needs no name if it is the whole call.
    pub(super) fn about_command(&self, command: &str, reason: &str) -> Option<String> {
        let is_all = self.command.is_some_and(|all| all.trim() == command.trim());
        let command = shown(command);
        if is_all || reason.contains(&command) { None } else { Some(format!("`{command}`")) }
    }
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
    /// The message of the rule, or sentences that name the stopped action and the rule.
    pub reason: String,
    pub advice: Advice,
    /// The path or the command, if neither the call nor the reason names it.
    pub about: Option<String>,
    /// The rule, for records.
    pub origin: Rule,
    /// The path or the command that it matched.
    pub matched: String,
    /// The unknown part, if that is why the user is asked.
    pub unknown: Option<UnknownUse>,
}

/// The unknown part of a call that names protected files, or may use some.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownUse {
    pub part: UnknownPart,
    /// The protected files that are named.
    pub named: Vec<Location>,
}

impl From<UnknownPart> for UnknownUse {
    fn from(part: UnknownPart) -> UnknownUse {
        UnknownUse { part, named: Vec::new() }
    }
}

/// The unknown part of a command, which a sandbox decides when the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownPart {
    /// Which files are read.
    Read,
    /// Which files are changed.
    Written,
    /// What is done to files.
    Files,
    /// Which commands run.
    Commands,
}

/// The advice. A message of a rule contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Advice {
    pub claude: String,
    /// For the user, if that differs.
    pub user: Option<String>,
}

impl Advice {
    pub(super) fn claude(text: impl Into<String>) -> Advice {
        Advice { claude: text.into(), user: None }
    }

    pub(super) fn both(claude: impl Into<String>, user: &str) -> Advice {
        Advice { claude: claude.into(), user: Some(user.to_owned()) }
    }

    /// For rules without a message.
    pub(super) fn otherwise() -> Advice {
        Advice::claude("Do it another way, or ask the user.")
    }
}

/// Why something is stopped, and the advice.
pub(super) struct Explanation {
    pub(super) reason: String,
    pub(super) advice: Advice,
}

impl Explanation {
    /// The message of a rule contains both. The default is used without one.
    pub(super) fn of(message: Option<String>, default: impl FnOnce() -> Explanation) -> Explanation {
        match message {
            Some(reason) => Explanation { reason, advice: Advice::default() },
            None => default(),
        }
    }

    /// A rule without a message: the stopped action, and the rule. A user who is asked needs no advice.
    pub(super) fn by_default(action: Action, what: &str, origin: &RuleOrigin, written: &str) -> Explanation {
        let is = if action == Action::Block { "is not allowed" } else { "needs a confirmation" };
        let reason = capitalized(&format!("{what} {is}: `{}` has `{written}`.", origin.key));
        Explanation { reason, advice: Advice { user: Some(String::new()), ..Advice::otherwise() } }
    }
}

/// The message of a blocking rule for a call that is only asked about. Messages of packs first state the problem, then the
/// advice to Claude, which means nothing to the user.
pub(super) fn for_question<'a>(message: &'a str, origin: &RuleOrigin) -> &'a str {
    match message.find(". ") {
        Some(end) if origin.is_of_pack() => message.get(..=end).unwrap_or(message),
        _ => message,
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
        Access::Mount => "mounting",
        Access::Checkout => "changing what is checked out in",
        Access::Write | Access::Format | Access::Update => "writing",
    }
}
