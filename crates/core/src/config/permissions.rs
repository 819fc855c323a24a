//! The section `permissionRequest`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::NameGlob;
use super::section::{CommandMap, EventConfig};
use super::tool_pattern::ToolPatternText;
use crate::dialect::claude::notation::ToolPattern;
use crate::dialect::claude::tools;
use crate::pattern::MatchMode;
use crate::yaml::Located;

/// More rules than this are not compared at every request.
const MAX_RULES: usize = 500;

/// What is answered where Claude Code would ask the user for permission, and commands that run then.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PermissionRequestConfig {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    mode: Option<MatchMode>,
    /// Lists of commands by pattern, or one list for all. One that blocks denies the permission.
    commands: Option<CommandMap>,
    /// What is answered where no rule matches. Default: `ask`.
    pub default: Option<Located<DefaultConfig>>,
    /// What is allowed without asking, unless a rule of `deny` matches or a guard asks about it.
    #[schemars(length(max = 500))]
    pub allow: Option<Vec<Located<AllowRuleConfig>>>,
    /// What is denied without asking.
    #[schemars(length(max = 500))]
    pub deny: Option<Vec<Located<DenyRuleConfig>>>,
}

/// An answer, or one that inner layers may relax.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultConfig(pub DefaultFields);

/// What is answered where no rule matches, and whether an inner layer of the config may answer otherwise.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DefaultFields {
    /// The answer.
    pub answer: PermissionDefault,
    /// Where it is `deny`: rules of `allow` in an inner layer of the config count, and so does another `default` there.
    /// Default: `false`.
    pub overridable: Option<bool>,
}

impl<'de> Deserialize<'de> for DefaultConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordOrFields;
        impl<'de> de::Visitor<'de> for WordOrFields {
            type Value = DefaultFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`allow`, `deny`, `ask`, or a mapping with `answer`")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<DefaultFields, E> {
                let answer = PermissionDefault::deserialize(de::value::StrDeserializer::new(word))?;
                Ok(DefaultFields { answer, overridable: None })
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<DefaultFields, A::Error> {
                DefaultFields::deserialize(de::value::MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_any(WordOrFields).map(DefaultConfig)
    }
}

impl JsonSchema for DefaultConfig {
    fn schema_name() -> Cow<'static, str> {
        "PermissionDefaultConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<PermissionDefault>();
        let fields = generator.subschema_for::<DefaultFields>();
        let about = "What is answered where no rule matches: a word, or one that an inner layer of the config may relax.";
        json_schema!({ "description": about, "anyOf": [word, fields] })
    }
}

/// What is answered where no rule matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PermissionDefault {
    /// The tool is used without asking.
    Allow,
    /// The tool is not used.
    Deny,
    /// Claude Code asks the user, as it would without conclaude.
    #[default]
    Ask,
}

impl PermissionRequestConfig {
    /// The part that every event has.
    pub(super) fn take_section(&mut self) -> EventConfig {
        EventConfig { mode: self.mode.take(), commands: self.commands.take() }
    }

    pub(super) fn is_within_bounds(&self) -> bool {
        self.allow.as_ref().is_none_or(|rules| rules.len() <= MAX_RULES)
            && self.deny.as_ref().is_none_or(|rules| rules.len() <= MAX_RULES)
    }

    pub fn fallback(&self) -> PermissionDefault {
        self.default.as_ref().map(|default| default.value.0.answer).unwrap_or_default()
    }

    /// How many rules there are; a default that answers is one.
    pub fn count(&self) -> usize {
        let lists = self.allow.iter().map(Vec::len).chain(self.deny.iter().map(Vec::len)).sum::<usize>();
        lists + usize::from(self.fallback() != PermissionDefault::Ask)
    }

    /// Whether anything but the user can answer.
    pub fn has_rules(&self) -> bool {
        self.may_allow()
            || self.deny.iter().flatten().next().is_some()
            || self.fallback() != PermissionDefault::Ask
    }

    /// Whether it can make Claude Code use a tool that the user was not asked about.
    pub fn may_allow(&self) -> bool {
        self.allow.iter().flatten().next().is_some() || self.fallback() == PermissionDefault::Allow
    }

    /// The same rules, of which only those of trusted files allow anything.
    pub fn trusted(&self, is_trusted: impl Fn(usize) -> bool) -> PermissionRequestConfig {
        let allows = |default: &Located<DefaultConfig>| default.value.0.answer == PermissionDefault::Allow;
        let default = self.default.clone().filter(|default| !allows(default) || is_trusted(default.source));
        let mut allow = self.allow.clone();
        allow.iter_mut().for_each(|rules| rules.retain(|rule| is_trusted(rule.source)));
        PermissionRequestConfig { default, allow, ..self.clone() }
    }

    /// The tools that its rules are about; none for all.
    pub fn tools(&self) -> Option<Vec<String>> {
        if self.fallback() != PermissionDefault::Ask {
            return None;
        }
        let allowed = self.allow.iter().flatten().map(|rule| &rule.value.0.pattern.pattern);
        let denied = || self.deny.iter().flatten().map(|rule| &rule.value.0.pattern.pattern);
        let tools: Option<Vec<Vec<String>>> =
            allowed.chain(denied()).map(ToolPattern::alternatives).collect();
        let mut tools = tools?.concat();
        // A shell command can touch a file as well.
        if denied().any(ToolPattern::is_about_files) {
            tools.push(tools::SHELL.to_owned());
        }
        if tools.iter().any(|tool| tool == tools::SHELL) {
            let is_denying = denied().next().is_some();
            let others = tools::WITH_COMMAND.into_iter();
            tools
                .extend(others.filter(|tool| tools::is_ruled_as_shell(tool, !is_denying)).map(str::to_owned));
        }
        Some(tools)
    }
}

/// Uses of a tool that are allowed, and for whom.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowRuleFields {
    /// A glob over the tool's name, or Claude Code's notation: `Bash(git status*)`, `Read(./docs/**)`,
    /// `WebFetch(domain:example.com)`, `Agent(coder)`.
    pub pattern: ToolPatternText,
    /// A glob over the subagent's name; `main` is the main thread. Default: everybody.
    pub agent: Option<NameGlob>,
}

/// Uses of a tool that are denied, to whom, and why.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DenyRuleFields {
    /// A glob over the tool's name, or Claude Code's notation: `Bash(rm *)`, `Edit(//etc/**)`.
    pub pattern: ToolPatternText,
    /// A glob over the subagent's name; `main` is the main thread. Default: everybody.
    pub agent: Option<NameGlob>,
    /// What to do instead.
    pub message: Option<String>,
    /// A rule of `allow` in an inner layer of the config may allow what it covers. Default: `false`.
    pub overridable: Option<bool>,
}

/// A pattern, or one with more to say.
#[derive(Clone, Debug, PartialEq)]
pub struct AllowRuleConfig(pub AllowRuleFields);

/// A pattern, or one with more to say.
#[derive(Clone, Debug, PartialEq)]
pub struct DenyRuleConfig(pub DenyRuleFields);

impl From<ToolPatternText> for AllowRuleFields {
    fn from(pattern: ToolPatternText) -> Self {
        AllowRuleFields { pattern, agent: None }
    }
}

impl From<ToolPatternText> for DenyRuleFields {
    fn from(pattern: ToolPatternText) -> Self {
        DenyRuleFields { pattern, agent: None, message: None, overridable: None }
    }
}

struct TextOrFields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + From<ToolPatternText>> de::Visitor<'de> for TextOrFields<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pattern, or a mapping with `pattern`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        ToolPatternText::deserialize(de::value::StrDeserializer::new(text)).map(T::from)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(map))
    }
}

macro_rules! text_or_fields {
    ($($rule:ident $fields:ident $name:literal $about:literal;)*) => {$(
        impl<'de> Deserialize<'de> for $rule {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TextOrFields::<$fields>(PhantomData)).map($rule)
            }
        }

        impl JsonSchema for $rule {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let fields = generator.subschema_for::<$fields>();
                let text = generator.subschema_for::<ToolPatternText>();
                json_schema!({ "description": $about, "anyOf": [text, fields] })
            }
        }
    )*};
}

text_or_fields! {
    AllowRuleConfig AllowRuleFields "AllowRule" "Uses of a tool that are allowed: a pattern, or one with more to say.";
    DenyRuleConfig DenyRuleFields "DenyRule" "Uses of a tool that are denied: a pattern, or one with more to say.";
}
