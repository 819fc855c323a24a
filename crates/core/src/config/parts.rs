//! The files of a config are read one by one, and then together.

use super::layer::{Layer, Source};
use super::origins::Origins;
use super::usable::{Lost, Usable, about_text, only_rules, usable};
use super::{ConclaudeConfig, ConfigError, EventConfig, Patterns};
use crate::yaml::{Node, Spanned, ValueError};

/// A file with its values that are valid.
pub struct Part {
    pub source: Source,
    pub tree: Spanned<Node>,
    /// Of a file alone. A pack is known to be valid, and is only read together with the file that extends it.
    pub config: Option<ConclaudeConfig>,
}

/// What came of reading a file.
pub struct Read {
    pub part: Option<Part>,
    pub error: Option<ConfigError>,
    /// Its rules that cannot be used.
    pub lost: Vec<Lost>,
}

impl Part {
    /// Reads a file. Of one that is not valid its rules count as far as they can be read, and nothing runs.
    pub fn read(source: Source, patterns: Patterns) -> Read {
        let error = match ConclaudeConfig::read(&source.text, &source.path, patterns) {
            Ok((config, tree)) => {
                let part = Part { source, tree, config: Some(config) };
                return Read { part: Some(part), error: None, lost: Vec::new() };
            }
            Err(error) => error,
        };
        let (part, lost) = match super::tree(&source.text).ok().and_then(usable) {
            Some(Usable { config, tree, left_out }) => {
                let lost = left_out.into_iter().map(|left_out| left_out.lost(&source.path, &error));
                let lost = lost.collect();
                (Some(Part { source, tree, config: Some(config) }), lost)
            }
            None => {
                let lost = about_text(&source.text).map(|about| Lost::file(&error, about));
                (None, lost.into_iter().collect())
            }
        };
        Read { part, error: Some(error), lost }
    }

    /// Only its rules: what extends it cannot be read, and nothing of it runs.
    pub fn only_rules(self) -> Option<Part> {
        let (config, tree) = only_rules(self.tree)?;
        Some(Part { tree, config: Some(config), ..self })
    }
}

/// Makes one config of several files, the outermost first. A file that is valid alone and not together with those before it
/// is left out, and is an error: it must not switch off what is outside of it.
#[must_use]
pub fn merge(mut parts: Vec<Part>, patterns: Patterns) -> (ConclaudeConfig, Origins, Vec<ConfigError>) {
    // Most projects have one file, which is a config already.
    let alone = if parts.len() == 1 { parts.first_mut().and_then(|part| part.config.take()) } else { None };
    let mut all = Origins::with_files(patterns);
    for Part { source, tree, .. } in parts {
        all.add(source, tree);
    }
    match alone.map_or_else(|| whole(&all.tree), Ok) {
        Ok(config) => (config, all, Vec::new()),
        Err(_) => merge_one_by_one(all.sources, patterns),
    }
}

/// The same for files of which some are not valid together, to say which.
fn merge_one_by_one(
    sources: Vec<Source>,
    patterns: Patterns,
) -> (ConclaudeConfig, Origins, Vec<ConfigError>) {
    let (mut config, mut all, mut errors) =
        (ConclaudeConfig::default(), Origins::with_files(patterns), Vec::new());
    for source in sources {
        let Some(part) = Part::read(source, patterns).part else { continue };
        let (path, mut together) = (part.source.path.clone(), all.clone());
        together.add(part.source, part.tree);
        match whole(&together.tree) {
            Ok(merged) => (config, all) = (merged, together),
            Err(why) => {
                let why = format!("together with the files before it, {why}");
                errors.push(ConfigError::unreadable(&path, &why));
            }
        }
    }
    (config, all, errors)
}

fn whole(tree: &Spanned<Node>) -> Result<ConclaudeConfig, String> {
    let config: Result<Option<ConclaudeConfig>, ValueError> = serde::Deserialize::deserialize(tree);
    let config = config.map_err(|error| error.to_string())?.unwrap_or_default();
    if config.is_within_bounds() {
        Ok(config)
    } else {
        Err("it has more entries than a section may have".into())
    }
}

impl Origins {
    /// Where everything is asked for, also what each layer says alone.
    fn with_files(patterns: Patterns) -> Origins {
        Origins { alone: matches!(patterns, Patterns::All).then(Vec::new), ..Origins::default() }
    }

    /// What the files of one layer say without the others. They have been read, and are not read again.
    #[must_use]
    pub fn of_layer(&self, layer: Layer) -> ConclaudeConfig {
        let mut own = Origins::default();
        for (source, tree) in self.sources.iter().zip(self.alone.iter().flatten()) {
            if source.layer == layer {
                own.add(source.clone(), tree.clone());
            }
        }
        whole(&own.tree).unwrap_or_default()
    }

    /// Why commands of this config may not run, for each that may not.
    #[must_use]
    pub fn untrusted_commands(&self, config: &ConclaudeConfig) -> Vec<&str> {
        let mut found = Vec::new();
        for (event, section) in &config.sections {
            for (pattern, commands) in section.entries() {
                found.extend((0..commands.len()).filter_map(|index| {
                    self.untrusted(&[event.row().section, "commands", pattern.as_str(), &index.to_string()])
                }));
            }
        }
        for (pattern, commands) in config.prompts.slash_commands.iter().flat_map(EventConfig::entries) {
            found.extend((0..commands.len()).filter_map(|index| {
                let keys = ["userPromptSubmit", "slashCommands", "commands", pattern.as_str()];
                self.untrusted(&[&keys[..], &[&index.to_string()]].concat())
            }));
        }
        found
    }
}

#[cfg(test)]
mod tests;
