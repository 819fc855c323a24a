//! What Claude Code asks for, and what a rule says to it.

use serde_json::{Map, Value};

use crate::dialect::claude::tools::{self, Use};
use crate::guard::{Effects, Ground};
use crate::messages::short;
use crate::rule as record;
use crate::shell::{self, Access, Script};
use crate::text::clean_line;

pub(crate) struct Request<'a> {
    pub(crate) ground: Ground<'a>,
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Map<String, Value>,
    /// The subagent's name; `main` for the main thread.
    pub(crate) agent: &'a str,
}

/// A request, and what it would do.
pub(crate) struct Examined<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) effects: Effects,
    /// The syntax of a shell command, and its text.
    pub(crate) script: Option<(Script, &'a str)>,
}

impl<'a> Examined<'a> {
    pub(super) fn new(request: &'a Request<'a>, home: Option<&str>) -> Examined<'a> {
        let (mut effects, script) = match tools::what(request.tool, request.input) {
            Use::File { access, path } => {
                (Effects { touches: vec![request.ground.touch(access, path)], ..Effects::default() }, None)
            }
            Use::Shell(command) => {
                let script = shell::read(command, home);
                (request.ground.on_files(&script), Some((script, command)))
            }
            Use::PowerShell(command) => {
                let script = shell::read_powershell(command);
                (request.ground.on_files(&script), Some((script, command)))
            }
            Use::Other => (Effects::default(), None),
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
pub(crate) struct Subject {
    pub(crate) what: String,
    pub(crate) matched: String,
}

impl Subject {
    pub(super) fn command(text: &str) -> Subject {
        Subject { what: format!("running `{}`", short(text)), matched: text.trim().to_owned() }
    }
}

/// One rule's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) subject: Subject,
    /// The rule, in words.
    pub(crate) shown: String,
    pub(crate) rule: record::Rule,
    pub(crate) advice: String,
}
