//! `.conclaude.test.yaml`: cases for `conclaude test`. The structs are the reference and the schema.

use std::path::Path;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use super::diagnose::{self, ConfigError, InvalidFile};
use super::parse::is_free_key;
use super::schema::indented;
use super::shapes::{Either, Entries, ReadFrom, Shorthand, TextOr, ValueKind};
use super::{Bounded, ClientName, NonBlank};
use crate::event::{self, EventKind};
use crate::yaml::{self, Located, Node};

/// The names of the file, which is next to the config.
pub const FILE_NAMES: [&str; 2] = [".conclaude.test.yaml", ".conclaude.test.yml"];

/// What `conclaude schema --test` prints.
#[must_use]
pub fn schema_text() -> String {
    indented(COMPACT)
}

const COMPACT: &str = include_str!(concat!(env!("OUT_DIR"), "/conclaude.test.schema.json"));

fn schema() -> &'static Value {
    // A test checks that it is valid JSON.
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(COMPACT).unwrap_or_default());
    &SCHEMA
}

/// Cases that describe what conclaude does with this project's config, in `.conclaude.test.yaml` next to it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestFile {
    /// The cases. They are independent of each other.
    #[schemars(length(min = 1))]
    pub cases: Vec<Located<Case>>,
}

/// An event and its expected result.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// What the case shows.
    pub name: NonBlank,
    /// The event, such as `PreToolUse` or `preToolUse`.
    pub event: EventName,
    /// The client of the event: `claude`, `codex`, `copilot`, `qwen` or `gemini`. Its names of tools are accepted besides ours.
    /// Default: that of `--client`, else `claude`.
    pub client: Option<ClientName>,
    /// The subagent that causes it. Default: the main thread.
    pub agent: Option<NonBlank>,
    /// The tool, at the events of one. Default: `Bash`.
    pub tool: Option<NonBlank>,
    /// The tool's input.
    pub input: Option<JsonObject>,
    /// Fields of the payload. Missing fields are filled in as Claude Code would.
    pub payload: Option<JsonObject>,
    /// The changed files, for commands with `files`. Default: at events of a tool, the files that its input writes; otherwise
    /// none, whatever the work tree has.
    pub changed: Option<Vec<NonBlank>>,
    /// How commands end, by their `run`: an exit code, or `timeout`; or a mapping with `exit`, and their output as `stdout` and
    /// `stderr`. Commands are not executed. Default: 0 without output.
    pub results: Option<CommandResults>,
    /// What is expected.
    pub expect: Expect,
}

/// The expected result of an event: all of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Expect {
    /// Whether nothing is denied, asked or blocked. At `permissionRequest`: a rule allows it without asking.
    pub allows: Option<bool>,
    /// The tool or the permission is denied; or a text that the message contains.
    pub denies: Option<TextExpectation>,
    /// The user is asked; or a text that the message contains. At `permissionRequest`: it is left to the user.
    pub asks: Option<TextExpectation>,
    /// The stop, the prompt or the like is blocked; or a text that the message contains.
    pub blocks: Option<TextExpectation>,
    /// The commands that run, in order, by their `run`.
    pub runs: Option<Vec<NonBlank>>,
    /// Whether Claude gets context; or a text that it contains.
    pub context: Option<TextExpectation>,
    /// Whether a message is shown to the user; or a text that it contains.
    pub shows: Option<TextExpectation>,
}

impl Expect {
    fn is_empty(&self) -> bool {
        *self == Expect::default()
    }
}

impl TestFile {
    /// # Errors
    /// Lists every problem of the file with its position.
    pub fn parse(text: &str, path: &Path) -> Result<TestFile, ConfigError> {
        let text = yaml::without_bom(text);
        let mut tree = yaml::read(text).map_err(|error| diagnose::not_yaml(text, path, &error))?;
        if let Node::Map(entries) = &mut tree.value {
            entries.to_mut().retain(|(key, _)| !is_free_key(&key.value));
        }
        let explain = |first: Option<&_>| {
            InvalidFile { path, text, tree: &tree, first }.explain_by(schema(), "the file")
        };
        let file = TestFile::deserialize(&tree).map_err(|error| explain(Some(&error)))?;
        if file.cases.is_empty() || file.cases.iter().any(|case| case.value.expect.is_empty()) {
            return Err(explain(None));
        }
        Ok(file)
    }
}

/// A name that no event has.
#[derive(Debug, Error)]
#[error("there is no event `{0}`")]
pub struct UnknownEvent(String);

/// The name of a known event, or of its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline, description = "", extend("enum" = event_names()))]
pub struct EventName(pub EventKind);

impl TryFrom<String> for EventName {
    type Error = UnknownEvent;

    fn try_from(name: String) -> Result<Self, UnknownEvent> {
        let event = EventKind::named(&name).or_else(|| EventKind::of_section(&name));
        event.map(EventName).ok_or(UnknownEvent(name))
    }
}

fn event_names() -> Vec<&'static str> {
    event::names().chain(event::ALL.iter().map(|event| event.row().section)).collect()
}

/// `true` or `false`, or a text that must be contained.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "Either<bool, NonBlank>")]
#[schemars(with = "Either<bool, NonBlank>", inline, description = "")]
pub enum TextExpectation {
    Anything(bool),
    Text(String),
}

impl From<Either<bool, NonBlank>> for TextExpectation {
    fn from(value: Either<bool, NonBlank>) -> Self {
        match value {
            Either::First(flag) => TextExpectation::Anything(flag),
            Either::Second(text) => TextExpectation::Text(text.as_str().to_owned()),
        }
    }
}

/// The word instead of an exit code.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, description = "")]
enum TimeoutWord {
    Timeout,
}

impl ReadFrom for TimeoutWord {}

type CodeOrTimeout = Either<Bounded<0, 255>, TimeoutWord>;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "CodeOrTimeout")]
#[schemars(with = "CodeOrTimeout", inline, description = "")]
pub enum CommandExit {
    Code(i32),
    Timeout,
}

impl Default for CommandExit {
    fn default() -> Self {
        CommandExit::Code(0)
    }
}

impl From<CodeOrTimeout> for CommandExit {
    fn from(exit: CodeOrTimeout) -> Self {
        match exit {
            Either::First(code) => CommandExit::Code(code.get().cast_signed()),
            Either::Second(TimeoutWord::Timeout) => CommandExit::Timeout,
        }
    }
}

impl ReadFrom for CommandExit {
    fn reads(kind: ValueKind) -> bool {
        CodeOrTimeout::reads(kind)
    }
}

/// How a command ends, and its output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline, description = "")]
pub struct CommandResult {
    /// Its exit code, or that it times out. Default: 0.
    pub exit: Option<CommandExit>,
    /// Its stdout.
    pub stdout: Option<String>,
    /// Its stderr.
    pub stderr: Option<String>,
}

impl Shorthand for CommandResult {
    type Short = CommandExit;
    const NAME: &str = "CommandResult";
    const DESCRIPTION: &str = "An exit code, `timeout`, or that with what the command prints.";
}

impl From<CommandExit> for CommandResult {
    fn from(exit: CommandExit) -> Self {
        CommandResult { exit: Some(exit), ..CommandResult::default() }
    }
}

/// The results of commands, by their `run`, in the order of the file.
type CommandResults = Entries<String, TextOr<CommandResult>, { usize::MAX }>;

/// Any fields.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "")]
pub struct JsonObject(pub Map<String, Value>);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_of_cases_is_that_of_the_structs() {
        let generator = schemars::generate::SchemaSettings::draft07().into_generator();
        let mut root = generator.into_root_schema_for::<TestFile>().to_value();
        root["definitions"]["Expect"]["minProperties"] = 1.into();
        root["patternProperties"] = json!({ "^x-": true });
        crate::config::schema::without_null_defaults(&mut root);
        let text = serde_json::to_string_pretty(&root).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write("conclaude.test.schema.json", &text).unwrap();
        }
        assert!(
            text == schema_text(),
            "the structs have changed: UPDATE_SCHEMA=1 cargo test -p conclaude-core schema, and build again"
        );
        assert!(schema().is_object());
    }
}
