//! A rule in records and explanations: its key, its subject, and its position.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::config::{Origins, PACK, PACKS, RuleAction};
use crate::packs::PackRule;

/// The key of rules that are in no config.
pub const BUILT_IN: &str = "built-in";

/// Built-in rules that no permit of the user overrides.
pub const OWN_FILES: &str = "conclaude's own files";
pub const OUT_OF_TIME: &str = "out of time";

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Rule {
    /// The key in the config (`preToolUse.uneditableFiles`), the marker of a prompt (`DES-AGENT`), the field of a step file
    /// (`allowed_file_patterns`), or `built-in`.
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The name of a pack's rule, with which a config switches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
}

impl Rule {
    #[must_use]
    pub fn key(key: impl Into<String>) -> Rule {
        Rule { key: key.into(), ..Rule::default() }
    }

    /// A rule that no config can switch off.
    #[must_use]
    pub fn built_in(what: &str) -> Rule {
        Rule { pattern: Some(what.to_owned()), ..Rule::key(BUILT_IN) }
    }

    /// The name of a built-in rule.
    #[must_use]
    pub fn built_in_name(&self) -> Option<&str> {
        if self.key == BUILT_IN { self.pattern.as_deref() } else { None }
    }

    #[must_use]
    pub fn pattern(mut self, pattern: &str) -> Rule {
        self.pattern = Some(pattern.to_owned());
        self
    }

    #[must_use]
    pub fn at(mut self, file: impl Into<String>, line: Option<usize>) -> Rule {
        let file = file.into();
        self.name = line.and_then(|line| PackRule::name_at(&file, line));
        self.file = Some(file);
        self.line = line;
        self
    }

    /// This rule with the file and the line of the value below these keys of the config. Without them if the default applies. File
    /// names are relative to the root.
    #[must_use]
    pub fn located(self, origins: &Origins, keys: &[&str], root: &Path) -> Rule {
        match origins.position(keys, Some(root)) {
            Some((file, line)) => self.at(file, Some(line)),
            None => self,
        }
    }

    /// The file and the line, as editors accept them. For a pack, the name of the rule, with which it can be switched.
    #[must_use]
    pub fn position(&self) -> Option<String> {
        Some(position(self.file.as_ref()?, self.line, self.name))
    }

    /// The switch for its name, if a config can switch it off.
    #[must_use]
    pub fn switch_off(&self) -> Option<String> {
        switch_off(self.file.as_ref()?, self.name?)
    }

    /// The position of a rule for messages: its file and line, `built-in`, or the key whose default applies.
    #[must_use]
    pub fn place(&self) -> String {
        match (self.position(), &self.pattern) {
            (Some(position), _) => position,
            (None, Some(what)) if self.key == BUILT_IN => format!("{BUILT_IN}: {what}"),
            (None, _) => self.key.clone(),
        }
    }
}

/// The position of a rule.
#[must_use]
pub fn position(file: &str, line: Option<usize>, name: Option<&str>) -> String {
    match (name, line) {
        (Some(name), _) => format!("{file} {name}"),
        (None, Some(line)) => format!("{file}:{line}"),
        (None, None) => file.to_owned(),
    }
}

/// The switch in a config for a rule of a pack.
#[must_use]
pub fn switch_off(file: &str, name: &str) -> Option<String> {
    let pack = file.strip_prefix(PACK)?;
    Some(format!("{PACKS}: {{{pack}: {{{name}: {}}}}}", RuleAction::Allow.as_str()))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        self.pattern.iter().try_for_each(|pattern| write!(f, " {pattern:?}"))?;
        self.position().iter().try_for_each(|position| write!(f, " in {position}"))
    }
}

/// The source of a finding's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSource {
    /// These keys of the config. Without them the default applies.
    Config(&'static [&'static str]),
    /// A marker of the agent's prompt.
    Prompt(&'static str),
    /// This field of the step file.
    Step(&'static str),
    /// Built in: it always applies.
    BuiltIn(&'static str),
}

impl RuleSource {
    /// The rule, with its position if it is in the config.
    #[must_use]
    pub fn rule(self, origins: &Origins, root: &Path) -> Rule {
        match self {
            RuleSource::Config(keys) => Rule::key(keys.join(".")).located(origins, keys, root),
            RuleSource::Prompt(key) | RuleSource::Step(key) => Rule::key(key),
            RuleSource::BuiltIn(what) => Rule::built_in(what),
        }
    }
}
