//! One client each: how its payload becomes an event, what it can do at one, and how a result becomes an answer.
//!
//! A dialect is a folder with tables: events, tools, the names of fields, the forms of answers. What no table can say is one of a
//! few functions. Config, plan, guards and gates know our names alone, which are Claude Code's.

use std::fmt;

use serde_json::{Map, Value};

use crate::event::EventKind;

pub mod claude;
pub mod codex;
pub mod copilot;
pub mod gemini;
pub mod other_clients;
pub mod qwen;
pub mod tool;

use tool::Tool;

/// The fields of a payload.
pub type Fields = Map<String, Value>;

/// A client.
pub struct Dialect {
    /// As `--client` and records name it.
    pub name: &'static str,
    /// As messages name it.
    pub title: &'static str,
    /// Whether a payload is one of this client.
    sends: fn(&Fields) -> bool,
    /// Why an event has nothing to be done for, where it has not.
    ignores: fn(EventKind, &Fields) -> Option<&'static str>,
    tools: &'static [Tool],
}

/// All clients, in the order in which they are listed.
pub const ALL: [&Dialect; 5] =
    [&claude::DIALECT, &codex::DIALECT, &copilot::DIALECT, &qwen::DIALECT, &gemini::DIALECT];

/// In the order in which a payload is compared with them. What none of them sends is Claude Code's.
const RECOGNISED: [&Dialect; 4] = [&codex::DIALECT, &gemini::DIALECT, &qwen::DIALECT, &copilot::DIALECT];

/// The client with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Dialect> {
    ALL.into_iter().find(|dialect| dialect.name == name)
}

/// The client that sends a payload. The environment does not count: a client inside another one inherits it.
#[must_use]
pub fn of(fields: &Fields) -> &'static Dialect {
    RECOGNISED.into_iter().find(|dialect| (dialect.sends)(fields)).unwrap_or(&claude::DIALECT)
}

impl Dialect {
    /// Why nothing is to be done for the event, where that is so.
    #[must_use]
    pub fn ignores(&self, event: EventKind, fields: &Fields) -> Option<&'static str> {
        (self.ignores)(event, fields)
    }
}

/// A client is the same whichever table it is found in.
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

/// A field of a payload that is a text.
fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}
