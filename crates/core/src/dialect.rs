//! The clients, one dialect each: how a payload becomes an event, what a hook can do at each event, and how a result becomes an
//! answer.
//!
//! A dialect is a folder with tables: events, tools, the names of fields, the forms of answers. What no table can say is one of a
//! few functions. Config, plan, guards and gates know only our names, which are Claude Code's.

use std::fmt;

use serde_json::{Map, Value};

use crate::decide::HookResult;
use crate::error::HookError;
use crate::event::{EventKind, Row};
use crate::text::{clean_line, nearest};
use crate::types::{Event, PayloadError, fields};

pub mod agents;
pub mod answer;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod gemini;
pub mod hook_settings;
pub mod other_clients;
pub mod possible;
mod process;
pub mod qwen;
pub mod tool;
mod translate;

use agents::AgentFacts;
pub use answer::Answer;
use hook_settings::HookSettings;
pub use process::of_process;
use tool::{McpSpelling, Tool};

/// The fields of a payload.
pub type Fields = Map<String, Value>;

/// A field with the client's name and our name for it.
pub type FieldAlias = (&'static str, &'static str);

/// A client.
pub struct Dialect {
    /// Its name in `--client` and in records.
    pub name: &'static str,
    /// Its name in messages.
    pub title: &'static str,
    pub events: &'static [ClientEvent],
    /// Why it lacks some of our events, if there is a reason to tell.
    missing: &'static [(EventKind, &'static str)],
    /// Whether this client sends such a payload.
    sends: fn(&Fields) -> bool,
    /// Fields of its payloads.
    fields: &'static [FieldAlias],
    pub tools: &'static [Tool],
    mcp: McpSpelling,
    /// Completes a payload whose fields already have our names, where tables are not enough: the real event, and fields that
    /// follow from others.
    complete: fn(EventKind, &mut Fields) -> EventKind,
    /// Why an event is ignored, if it is.
    ignores: fn(EventKind, &Fields) -> Option<&'static str>,
    pub project: ProjectFolder,
    pub agents: AgentFacts,
    asking: AskSupport,
    /// Whether a hook can replace the input of a tool.
    pub changes_input: bool,
    /// Whether a model can type into a running program. No event fires for that.
    pub types_unseen: bool,
    pub log: LogLines,
    render: fn(&Reply<'_>) -> Answer,
    /// Where and how its hooks are registered.
    pub settings: HookSettings,
}

/// The effects of a block, in words.
mod effect {
    pub(super) const DENIED: &str = "the tool is denied";
    pub(super) const REJECTED: &str = "the prompt is rejected";
    pub(super) const NOT_PERMITTED: &str = "the permission is denied";
    pub(super) const GOES_ON: &str = "the agent continues, up to maxBlocks";
    pub(super) const READ: &str = "the model reads why";
    pub(super) const READ_INSTEAD: &str = "the model reads why, instead of the result";
}

pub struct ClientEvent {
    /// The client's name for it.
    pub name: &'static str,
    /// Our event.
    pub kind: EventKind,
    /// Whether the model gets context at the event.
    pub takes_context: bool,
    /// Whether the user sees messages of the event.
    pub is_shown: bool,
    /// The effect of a block, if one was observed.
    pub block: Option<&'static str>,
    /// Further information for the user.
    pub note: Option<&'static str>,
    /// The tool whose use stands for the event, if the client has no such event.
    pub tool: Option<&'static str>,
}

impl ClientEvent {
    /// An event with the client's name for it.
    const fn same(name: &'static str, kind: EventKind) -> ClientEvent {
        ClientEvent { name, kind, takes_context: false, is_shown: false, block: None, note: None, tool: None }
    }

    /// An event that the client reports as the use of a tool.
    const fn at_tool(name: &'static str, kind: EventKind, tool: &'static str) -> ClientEvent {
        ClientEvent { tool: Some(tool), ..ClientEvent::same(name, kind) }
    }

    /// An event of this client alone: only its commands run.
    const fn own(row: &'static Row) -> ClientEvent {
        ClientEvent::same(row.name, EventKind::Future(row))
    }

    const fn with_context(self) -> ClientEvent {
        ClientEvent { takes_context: true, ..self }
    }

    /// Sets the effect of a block.
    const fn blocked(self, effect: &'static str) -> ClientEvent {
        ClientEvent { block: Some(effect), ..self }
    }

    const fn noted(self, note: &'static str) -> ClientEvent {
        ClientEvent { note: Some(note), ..self }
    }

    const fn shown(self) -> ClientEvent {
        ClientEvent { is_shown: true, ..self }
    }
}

/// The source of the project's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectFolder {
    /// `CLAUDE_PROJECT_DIR`, else the `cwd` of the payload.
    Variable,
    /// The working directory of the hook. The payload's `cwd` is that of a command, anywhere on the disk.
    Process,
}

/// Whether the user can be asked about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AskSupport {
    /// The permission mode decides.
    ByMode,
    Always,
    Never,
}

/// When log lines are written to stderr at exit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLines {
    Always,
    /// If `CONCLAUDE_LOG` asks for them.
    OnRequest,
    /// The client shows them to the user at every event.
    Never,
}

/// The result of an event, with the facts that its answer needs.
pub struct Reply<'a> {
    /// Our event for the client's event. The result may be that of another event that it stands for.
    pub called: EventKind,
    /// The client's name for it.
    pub name: &'static str,
    pub result: &'a Result<HookResult, HookError>,
    /// Whether the model gets context at the event.
    pub takes_context: bool,
    /// The renamed fields of the tool's input: a replaced input gets the client's names back.
    pub renamed: &'a [FieldAlias],
    pub log_lines: &'a [String],
}

/// A call of the program for an event.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The client in the registration, if it names one.
    pub client: Option<&'static Dialect>,
    /// The event in the call.
    pub event: EventKind,
    /// The working directory, for a client whose payload does not contain it.
    pub directory: Option<String>,
    /// A problem with the arguments, for the user.
    pub warning: Option<String>,
}

/// All clients, in the order in which they are listed.
pub const ALL: [&Dialect; 5] =
    [&claude::DIALECT, &codex::DIALECT, &copilot::DIALECT, &qwen::DIALECT, &gemini::DIALECT];

/// The order in which clients are compared with a payload. A payload that none of them sends is Claude Code's.
const RECOGNISED: [&Dialect; 4] = [&codex::DIALECT, &gemini::DIALECT, &qwen::DIALECT, &copilot::DIALECT];

/// The client with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Dialect> {
    ALL.into_iter().find(|dialect| dialect.name == name)
}

/// The client that the user names.
///
/// # Errors
/// If the name is unknown: all names, and the one that was probably meant.
pub fn find(name: &str) -> Result<&'static Dialect, UnknownClient> {
    named(name).ok_or_else(|| UnknownClient { name: name.to_owned(), nearest: nearest(name, names()) })
}

/// A name that no client has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownClient {
    pub name: String,
    /// The client that was probably meant.
    pub nearest: Option<&'static str>,
}

impl fmt::Display for UnknownClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, all) = (clean_line(&self.name), names().join(", "));
        write!(f, "`{name}` is not a client that conclaude knows ({all})")?;
        match self.nearest {
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownClient {}

/// The names of all clients.
#[must_use]
pub fn names() -> [&'static str; 5] {
    ALL.map(|dialect| dialect.name)
}

/// The client that sends a payload. The environment does not count: a client inside another one inherits it.
#[must_use]
pub fn of(fields: &Fields) -> &'static Dialect {
    RECOGNISED.into_iter().find(|dialect| (dialect.sends)(fields)).unwrap_or(&claude::DIALECT)
}

/// An event that another client has and Claude Code does not.
#[must_use]
pub fn own_event(is_meant: impl Fn(&Row) -> bool) -> Option<EventKind> {
    let events = RECOGNISED.into_iter().flat_map(|dialect| dialect.events).map(|event| event.kind);
    events.into_iter().find(|kind| !kind.is_known() && is_meant(kind.row()))
}

impl HookCall {
    /// A call without `--client`.
    #[must_use]
    pub fn of(event: EventKind) -> HookCall {
        HookCall { client: None, event, directory: None, warning: None }
    }

    /// The client of a payload, if only a part of the payload can be read.
    #[must_use]
    pub fn client_of(&self, input: &[u8]) -> &'static Dialect {
        match self.client {
            Some(client) => client,
            None => fields(input).map_or(&claude::DIALECT, |fields| of(&fields)),
        }
    }

    /// Reads and checks the payload.
    ///
    /// # Errors
    /// Names the field and what was expected.
    pub fn parse(&self, input: &[u8]) -> Result<Event, PayloadError> {
        let fields = fields(input)?;
        let client = self.client.unwrap_or_else(|| of(&fields));
        if client.is_translated() {
            translate::event(client, self, fields)
        } else {
            Event::of(self.event, fields)
        }
    }
}

impl Dialect {
    /// Whether its names differ from ours.
    #[must_use]
    pub fn is_translated(&self) -> bool {
        !self.events.is_empty()
    }

    /// The event with the client's name.
    #[must_use]
    pub fn event(&self, name: &str) -> Option<&'static ClientEvent> {
        self.events.iter().find(|event| event.name == name && event.tool.is_none())
    }

    /// The row of the client for one of our events.
    #[must_use]
    pub fn row(&self, kind: EventKind) -> Option<&'static ClientEvent> {
        self.events.iter().find(|event| event.kind == kind)
    }

    /// The tool whose use stands for one of our events.
    #[must_use]
    pub fn tool_of(&self, kind: EventKind) -> Option<&'static str> {
        self.row(kind)?.tool
    }

    /// Whether the user sees messages of the event.
    #[must_use]
    pub fn shows(&self, kind: EventKind) -> bool {
        self.row(kind).map_or(kind.is_shown() && !self.is_translated(), |event| event.is_shown)
    }

    /// Why the event is ignored, if it is.
    #[must_use]
    pub fn ignores(&self, event: EventKind, fields: &Fields) -> Option<&'static str> {
        (self.ignores)(event, fields)
    }

    /// Whether the user can be asked, in this permission mode.
    #[must_use]
    pub fn can_ask(&self, mode: Option<&str>) -> bool {
        match self.asking {
            AskSupport::ByMode => claude::modes::can_ask(mode),
            AskSupport::Always => true,
            AskSupport::Never => false,
        }
    }

    /// Whether its transcripts are read, so that the tokens of a session are known.
    #[must_use]
    pub fn has_usage(&self) -> bool {
        !self.is_translated()
    }

    /// Whether rules are compiled into its sandbox and permissions. Others may have a sandbox of their own.
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        !self.is_translated()
    }

    /// Whether nobody can be asked in any permission mode.
    #[must_use]
    pub fn never_asks(&self) -> bool {
        self.asking == AskSupport::Never
    }

    /// The answer to the client.
    #[must_use]
    pub fn render(&self, reply: &Reply<'_>) -> Answer {
        (self.render)(reply)
    }
}

/// Clients are compared by name: tables hold copies of them.
impl PartialEq for Dialect {
    fn eq(&self, other: &Dialect) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Only the part of a tool's result counts that the model reads, and not the displayed part.
fn take_model_content(fields: &mut Fields) {
    let read = fields.get_mut("tool_response").and_then(|result| result.get_mut("llmContent"));
    if let Some(read) = read.map(Value::take) {
        fields.insert("tool_response".into(), read);
    }
}

/// A field of a payload that is text and not blank.
fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str().filter(|text| !text.trim().is_empty())
}
