//! Reads the text of a file into the structs.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use super::diagnose::{self, InvalidFile};
use super::original;
use super::{ConclaudeConfig, ConfigError, EventConfig, Patterns};
use crate::event::{Blocking, EventKind};
use crate::yaml::{self, Node, Spanned, SyntaxError, Text, ValueError};

/// Keys with this prefix are ignored: they are for YAML anchors.
const FREE_PREFIX: &str = "x-";

/// Sections whose keys are names: of agents and tools, variables, phases, headers, models or attributes. There `x-ray` is a name.
const NAMES: [&str; 6] = ["commands", "env", "evidence", "headers", "prices", "resource"];

impl ConclaudeConfig {
    /// Reads the config from its text, and checks the patterns of every section.
    ///
    /// # Errors
    /// Lists every problem of the file with its position.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        Self::read(text, path, Patterns::All).map(|(config, _)| config)
    }

    /// Reads one file, and keeps its tree. The structs are made from it, and stop at the first error; then the tree is walked for
    /// all problems. The path is only for messages.
    ///
    /// # Errors
    /// Lists every problem of the file with its position.
    pub fn read(text: &str, path: &Path, patterns: Patterns) -> Result<(Self, Spanned<Node>), ConfigError> {
        let text = yaml::without_bom(text);
        let tree = tree(text).map_err(|error| diagnose::not_yaml(text, path, &error))?;
        let config = ConclaudeConfig::from_tree(&tree)
            .map_err(|error| InvalidFile { path, text, tree: &tree, first: Some(&error) }.explain())?;
        if config.are_valid(patterns) && config.blocks_only_where_possible() {
            Ok((config, tree))
        } else {
            Err(InvalidFile { path, text, tree: &tree, first: None }.explain())
        }
    }

    fn are_valid(&self, patterns: Patterns) -> bool {
        let is_asked = |event: EventKind| patterns == Patterns::All || patterns == Patterns::Of(event);
        let mut asked = self.sections.iter().filter(|(event, _)| is_asked(*event));
        asked.all(|(_, section)| {
            section.check_patterns().is_ok() && section.are_prompts_valid() && section.are_scripts_valid()
        }) && (!is_asked(EventKind::UserPromptSubmit) || self.prompts.is_valid())
    }

    fn blocks_only_where_possible(&self) -> bool {
        self.sections
            .iter()
            .all(|(event, section)| event.blocking() != Blocking::Never || !section.may_block())
    }

    /// Makes the config from a tree. A key that is not a field is the section of an event, which may be of a newer Claude Code.
    pub(super) fn from_tree(tree: &Spanned<Node>) -> Result<ConclaudeConfig, ValueError> {
        let Node::Map(entries) = &tree.value else {
            return Ok(Option::deserialize(tree)?.unwrap_or_default());
        };
        yaml::check_keys(entries)?;
        let fields = yaml::fields_of::<ConclaudeConfig>();
        let event_of = |key: &str| if fields.contains(&key) { None } else { original::event_of(key) };
        let own = entries.iter().filter(|(key, _)| event_of(&key.value).is_none());
        let mut config: ConclaudeConfig = yaml::from_entries(own)?;
        for (key, value) in entries.iter() {
            if let Some(event) = event_of(&key.value) {
                let section = Option::<EventConfig>::deserialize(value)?;
                config.sections.extend(section.map(|section| (event, section)));
            } else if let Some(event) = EventKind::of_section(&key.value) {
                let section = config.take_section(event);
                config.sections.extend(section.map(|section| (event, section)));
            }
        }
        Ok(config)
    }

    /// Takes the commands out of a section with further keys: the commands of all events are in one place.
    fn take_section(&mut self, event: EventKind) -> Option<EventConfig> {
        match event {
            EventKind::PreToolUse => Some(Arc::make_mut(&mut self.guards).take_section()),
            EventKind::Stop => Some(self.stop.take_section()),
            EventKind::MessageDisplay => Some(self.message_display.take_section()),
            EventKind::PermissionRequest => Some(self.permissions.take_section()),
            EventKind::UserPromptSubmit => Some(self.prompts.take_section()),
            _ => None,
        }
    }
}

/// `null` equals absent. For `deserialize_with`.
pub(super) fn null_is_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Like `null_is_default`, for a shared value.
pub(super) fn shared_or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<Arc<T>, D::Error> {
    null_is_default(deserializer).map(Arc::new)
}

/// The values of a file, by their keys here.
pub(super) fn tree(text: &str) -> Result<Spanned<Node>, SyntaxError> {
    let mut tree = yaml::read(text)?;
    remove_free_keys(&mut tree);
    expand_lists(&mut tree);
    original::translate(&mut tree);
    Ok(tree)
}

/// Whether the section of an event may be its list of commands. A list in the section of guards or permissions may be a list of
/// rules, and must not be misread.
pub(super) fn may_be_list(event: EventKind) -> bool {
    !matches!(event, EventKind::PreToolUse | EventKind::PermissionRequest)
}

/// `stop: [{run: x}]` is `stop: {commands: [{run: x}]}`.
fn expand_lists(tree: &mut Spanned<Node>) {
    let Node::Map(sections) = &mut tree.value else { return };
    for (key, section) in sections.to_mut() {
        let event = EventKind::of_section(&key.value);
        if matches!(section.value, Node::List(_)) && event.is_some_and(may_be_list) {
            let span = section.span;
            let list = Spanned { value: std::mem::replace(&mut section.value, Node::Null), span };
            let commands = Spanned { value: Text::from("commands"), span: key.span };
            section.value = Node::Map(vec![(commands, list)].into());
        }
    }
}

pub(super) fn is_free_key(key: &str) -> bool {
    key.starts_with(FREE_PREFIX)
}

fn remove_free_keys(tree: &mut Spanned<Node>) {
    let mut pending = vec![(tree, false)];
    while let Some((node, has_names)) = pending.pop() {
        match &mut node.value {
            Node::Map(entries) => {
                let entries = entries.to_mut();
                if !has_names {
                    entries.retain(|(key, _)| !is_free_key(&key.value));
                }
                pending.extend(entries.iter_mut().map(|(key, value)| {
                    let has_names = !has_names && NAMES.contains(&key.value.as_ref());
                    (value, has_names)
                }));
            }
            Node::List(items) => pending.extend(items.to_mut().iter_mut().map(|item| (item, false))),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::config::schema_text;

    /// Whether a value of this schema may be a map with any keys.
    fn is_map(schema: &Value, root: &Value) -> bool {
        if let Some(name) = schema["$ref"].as_str() {
            let definition = name.trim_start_matches("#/definitions/");
            return is_map(&root["definitions"][definition], root);
        }
        let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema[key].as_array());
        let has_keys = schema["properties"].is_object();
        (schema["additionalProperties"].is_object() && !has_keys)
            || alternatives.flatten().any(|one| is_map(one, root))
    }

    #[test]
    fn every_key_with_names_below_it_is_in_the_list() {
        let root: Value = serde_json::from_str(&schema_text()).unwrap();
        let definitions = root["definitions"].as_object().unwrap().values();
        let maps: BTreeSet<&str> = definitions
            .chain([&root])
            .filter_map(|schema| schema["properties"].as_object())
            .flatten()
            .filter(|(_, schema)| is_map(schema, &root))
            .map(|(key, _)| key.as_str())
            .collect();
        assert_eq!(maps, BTreeSet::from(NAMES));
    }
}
