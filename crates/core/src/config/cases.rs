//! `.conclaude.test.yaml`: cases for `conclaude test`. The structs are the reference and the schema.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

use super::NonBlank;
use super::diagnose::{self, ConfigError, InvalidFile};
use super::free_keys;
use crate::event::{self, EventKind};
use crate::yaml::{self, Located, Node};

/// What the file is called, beside the config.
pub const FILE_NAMES: [&str; 2] = [".conclaude.test.yaml", ".conclaude.test.yml"];

/// What `conclaude schema --test` prints.
#[must_use]
pub fn schema_text() -> &'static str {
    include_str!("../../conclaude.test.schema.json")
}

fn schema() -> &'static Value {
    // A test checks that it is valid JSON.
    static SCHEMA: LazyLock<Value> =
        LazyLock::new(|| serde_json::from_str(schema_text()).unwrap_or_default());
    &SCHEMA
}

/// Cases that say what conclaude does with this project's config, `.conclaude.test.yaml` beside it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestFile {
    /// The cases, each by itself.
    #[schemars(length(min = 1))]
    pub cases: Vec<Located<Case>>,
}

/// An event, and what is expected of it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// What it shows.
    pub name: NonBlank,
    /// The event, such as `PreToolUse` or `preToolUse`.
    pub event: EventName,
    /// The subagent that causes it. Default: the main thread.
    pub agent: Option<NonBlank>,
    /// The tool, at the events of one. Default: `Bash`.
    pub tool: Option<NonBlank>,
    /// The tool's input.
    pub input: Option<Fields>,
    /// Fields of the payload; what is not given is filled in as Claude Code would.
    pub payload: Option<Fields>,
    /// The files that were changed, for commands with `files`. Default: none, whatever the work tree has; at the events of a tool
    /// the files that its input writes.
    pub changed: Option<Vec<NonBlank>>,
    /// How commands end, by their `run`: an exit code, or `timeout`; or that as `exit`, with what they print as `stdout` and
    /// `stderr`. Commands are not executed. Default: 0, and nothing is printed.
    pub results: Option<Results>,
    /// What is expected.
    pub expect: Expect,
}

/// What is expected of an event: all of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Expect {
    /// Whether it goes on: nothing is denied, asked or blocked. At `permissionRequest`: a rule allows it without asking.
    pub allows: Option<bool>,
    /// The tool or the permission is denied; or a text that the message contains.
    pub denies: Option<Said>,
    /// The user is asked; or a text that the message contains. At `permissionRequest`: it is left to the user.
    pub asks: Option<Said>,
    /// The stop, the prompt or the like is blocked; or a text that the message contains.
    pub blocks: Option<Said>,
    /// The commands that run, in order, by their `run`.
    pub runs: Option<Vec<NonBlank>>,
    /// Whether Claude is given context; or a text that it contains.
    pub context: Option<Said>,
    /// Whether the user is shown something; or a text that it contains.
    pub shows: Option<Said>,
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
            entries.retain(|(key, _)| !free_keys::is_free(&key.value));
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

/// The name of a known event, or of its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventName(pub EventKind);

impl<'de> Deserialize<'de> for EventName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let event = EventKind::named(&name).or_else(|| EventKind::of_section(&name));
        event.map(EventName).ok_or_else(|| de::Error::custom(format!("there is no event `{name}`")))
    }
}

impl JsonSchema for EventName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EventName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let sections = event::ALL.iter().map(|event| event.row().section);
        let names: Vec<&str> = event::names().chain(sections).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// `true` or `false`, or a text that is contained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Anything(bool),
    Text(String),
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagOrText;
        impl de::Visitor<'_> for FlagOrText {
            type Value = Said;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true`, `false` or a text")
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Said, E> {
                Ok(Said::Anything(flag))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Said, E> {
                if text.trim().is_empty() {
                    return Err(E::custom("expected text that is not blank"));
                }
                Ok(Said::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(FlagOrText)
    }
}

impl JsonSchema for Said {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Said".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "pattern": super::bounded::NOT_BLANK }] })
    }
}

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exits(i32),
    TimesOut,
}

impl Default for Ended {
    fn default() -> Ended {
        Ended::Exits(0)
    }
}

/// The result of a command, and what it prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandResult {
    #[serde(deserialize_with = "or_default")]
    pub exit: Ended,
    #[serde(deserialize_with = "or_default")]
    pub stdout: String,
    #[serde(deserialize_with = "or_default")]
    pub stderr: String,
}

/// As everywhere in these files, `null` equals absent.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// The results of commands, by their `run`, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results(pub Vec<(String, CommandResult)>);

/// What stands for a command in the file.
struct Given(CommandResult);

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EndOrMore;
        impl<'de> de::Visitor<'de> for EndOrMore {
            type Value = CommandResult;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an exit code from 0 to 255, `timeout`, or `exit`, `stdout` and `stderr`")
            }

            fn visit_u64<E: de::Error>(self, code: u64) -> Result<CommandResult, E> {
                let exit = Ended::deserialize(code.into_deserializer())?;
                Ok(CommandResult { exit, ..CommandResult::default() })
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<CommandResult, E> {
                let exit = Ended::deserialize(word.into_deserializer())?;
                Ok(CommandResult { exit, ..CommandResult::default() })
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<CommandResult, A::Error> {
                CommandResult::deserialize(de::value::MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_any(EndOrMore).map(Given)
    }
}

impl<'de> Deserialize<'de> for Ended {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CodeOrWord;
        impl de::Visitor<'_> for CodeOrWord {
            type Value = Ended;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an exit code from 0 to 255, or `timeout`")
            }

            fn visit_u64<E: de::Error>(self, code: u64) -> Result<Ended, E> {
                let code = u8::try_from(code).map_err(|_| E::custom("an exit code is at most 255"))?;
                Ok(Ended::Exits(code.into()))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Ended, E> {
                if word == "timeout" { Ok(Ended::TimesOut) } else { Err(E::custom("expected `timeout`")) }
            }
        }
        deserializer.deserialize_any(CodeOrWord)
    }
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> de::Visitor<'de> for InOrder {
            type Value = Results;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping of commands to how they end")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Results, A::Error> {
                let mut all = Vec::new();
                while let Some((run, Given(result))) = map.next_entry()? {
                    all.push((run, result));
                }
                Ok(Results(all))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl JsonSchema for Results {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Results".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let code = json_schema!({ "type": "integer", "minimum": 0, "maximum": 255 });
        let timeout = json_schema!({ "type": "string", "enum": ["timeout"] });
        json_schema!({
            "type": "object",
            "additionalProperties": { "anyOf": [code, timeout, {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "exit": { "anyOf": [code, timeout], "description": "Its exit code, or that it times out. Default: 0." },
                    "stdout": { "type": "string", "description": "What it prints." },
                    "stderr": { "type": "string", "description": "What it prints on stderr." },
                },
            }] },
        })
    }
}

/// Any fields.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Fields(pub Map<String, Value>);

impl JsonSchema for Fields {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fields".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_cases_is_that_of_the_structs() {
        let generator = schemars::generate::SchemaSettings::draft07().into_generator();
        let mut root = generator.into_root_schema_for::<TestFile>().to_value();
        root["definitions"]["Expect"]["minProperties"] = 1.into();
        root["patternProperties"] = serde_json::json!({ "^x-": true });
        crate::config::schema::without_null_defaults(&mut root);
        let text = serde_json::to_string_pretty(&root).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write("conclaude.test.schema.json", &text).unwrap();
        }
        assert!(
            text == schema_text(),
            "the structs have changed: UPDATE_SCHEMA=1 cargo test schema, and build again"
        );
        assert!(schema().is_object());
    }
}
