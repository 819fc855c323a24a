//! What Claude Code asks for, and what a rule says to it.

use serde_json::{Map, Value};

use crate::guard::{Effects, Ground};
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::messages::short;
use conclaude_core::rule as record;
use conclaude_core::text::clean_line;
use shell_effects::{Access, Script};

pub struct Request<'a> {
    pub ground: Ground<'a>,
    pub tool: &'a str,
    pub input: &'a Map<String, Value>,
    /// The subagent's name; `main` for the main thread.
    pub agent: &'a str,
}

/// A request, and what it would do.
pub struct Examined<'a> {
    pub request: &'a Request<'a>,
    pub effects: Effects,
    /// The syntax of a shell command, and its text.
    pub script: Option<(Script, &'a str)>,
}

impl<'a> Examined<'a> {
    pub(super) fn new(request: &'a Request<'a>, home: Option<&str>) -> Examined<'a> {
        let (mut effects, script) = match tools::what(request.tool, request.input) {
            ToolUse::File { access, path } => {
                (Effects { touches: vec![request.ground.touch(access, path)], ..Effects::default() }, None)
            }
            ToolUse::Shell(command) => {
                let script = shell_effects::read(command, home);
                (request.ground.on_files(&script), Some((script, command)))
            }
            ToolUse::PowerShell(command) => {
                let script = shell_effects::read_powershell(command);
                (request.ground.on_files(&script), Some((script, command)))
            }
            ToolUse::Other => (Effects::default(), None),
        };
        let searched = tools::searched(request.tool, request.input);
        effects.touches.extend(searched.map(|file| request.ground.touch(Access::Read, &file)));
        Examined { request, effects, script }
    }

    pub(super) fn subject(&self) -> Subject {
        match (&self.script, self.effects.touches.first()) {
            (Some((_, text)), _) => Subject::command(text),
            (None, Some(touch)) => Subject {
                what: format!("{} of {}", self.request.tool, clean_line(touch.shown())),
                matched: touch.shown().to_owned(),
            },
            (None, None) => Subject {
                what: format!("using {}", clean_line(self.request.tool)),
                matched: self.request.tool.to_owned(),
            },
        }
    }
}

/// What a rule is compared with: in a few words, and as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub what: String,
    pub matched: String,
}

impl Subject {
    pub(super) fn command(text: &str) -> Subject {
        Subject { what: format!("running `{}`", short(text)), matched: text.trim().to_owned() }
    }
}

/// One rule's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub subject: Subject,
    /// The rule, in words.
    pub shown: String,
    pub rule: record::Rule,
    pub advice: String,
}
