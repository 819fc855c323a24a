//! The files of a config: their layers, how each is read, and how they become one config.

use std::path::{Path, PathBuf};

use super::parse::tree;
use super::salvage::{UnusableRules, calls_in_text, salvage};
use super::{ConclaudeConfig, ConfigError, Patterns};
use crate::yaml::{Node, Spanned, Text};

mod origins;
mod switches;
mod tree_merger;

pub use origins::Origins;
pub use switches::{IdleSwitch, PackSwitch};

/// The owner of a file, the outermost first: later ones win. A file that it extends belongs to the same layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// `config.yaml` in the user's config folder.
    User,
    /// `.conclaude.yaml`
    #[default]
    Project,
    /// `.conclaude.local.yaml`
    Local,
}

impl Layer {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Layer::User => "user",
            Layer::Project => "project",
            Layer::Local => "local",
        }
    }
}

/// A file, or a pack, that contributes to the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub layer: Layer,
    /// `pack:name` for a pack.
    pub path: PathBuf,
    pub text: Text,
    /// Why nothing in it may run.
    pub untrusted: Option<String>,
}

/// The prefix of the names of packs, which are part of the program.
pub const PACK: &str = "pack:";

impl Source {
    /// Whether it is part of the program.
    #[must_use]
    pub fn is_pack(&self) -> bool {
        self.path.to_string_lossy().starts_with(PACK)
    }
}

/// A file of the project by its path there, any other file by its absolute path.
#[must_use]
pub fn file_name(path: &Path, root: Option<&Path>) -> String {
    root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path).display().to_string()
}

/// A file with its valid values.
pub struct Part {
    pub source: Source,
    pub tree: Spanned<Node>,
    /// The config of this file alone. A pack is known to be valid, and is only read together with the file that extends it.
    pub config: Option<ConclaudeConfig>,
}

/// The result of reading a file.
pub struct PartResult {
    pub part: Option<Part>,
    pub error: Option<ConfigError>,
    /// Its unusable rules.
    pub unusable: Vec<UnusableRules>,
}

impl Part {
    /// Reads a file. If the file has errors, its valid rules still apply, and nothing runs.
    pub fn read(source: Source, patterns: Patterns) -> PartResult {
        let error = match ConclaudeConfig::read(&source.text, &source.path, patterns) {
            Ok((config, tree)) => {
                let part = Part { source, tree, config: Some(config) };
                return PartResult { part: Some(part), error: None, unusable: Vec::new() };
            }
            Err(error) => error,
        };
        let Some(salvaged) = tree(&source.text).ok().and_then(salvage) else {
            let unusable = calls_in_text(&source.text).map(|calls| UnusableRules::of_file(&error, calls));
            return PartResult { part: None, error: Some(error), unusable: unusable.into_iter().collect() };
        };
        let skipped = salvaged.skipped.into_iter();
        let unusable = skipped.map(|skipped| skipped.unusable(&source.path, &error)).collect();
        let part = Part { source, tree: salvaged.tree, config: Some(salvaged.config) };
        PartResult { part: Some(part), error: Some(error), unusable }
    }

    /// Only its rules: a file that it extends cannot be read, so nothing in it runs.
    pub fn only_rules(self) -> Option<Part> {
        let salvaged = salvage(self.tree)?;
        Some(Part { tree: salvaged.tree, config: Some(salvaged.config), ..self })
    }
}

/// The config that several files make together.
pub struct MergedConfig {
    pub config: ConclaudeConfig,
    pub origins: Origins,
    /// Why some of the files are left out.
    pub errors: Vec<ConfigError>,
}

/// Makes one config of several files, the outermost first. A file that is valid alone, but not together with earlier ones, is
/// left out and reported: it must not switch off outer layers.
#[must_use]
pub fn merge(mut parts: Vec<Part>, patterns: Patterns) -> MergedConfig {
    // Most projects have one file, which is already a config.
    let alone = if parts.len() == 1 { parts.first_mut().and_then(|part| part.config.take()) } else { None };
    let mut origins = Origins::with_files(patterns);
    for Part { source, tree, .. } in parts {
        origins.add(source, tree);
    }
    origins.switch_rules();
    let config = match alone {
        Some(config) => Ok(config),
        None => ConclaudeConfig::from_tree(&origins.tree),
    };
    match config {
        Ok(config) => MergedConfig { config, origins, errors: Vec::new() },
        Err(_) => merge_one_by_one(origins.sources, patterns),
    }
}

/// Like `merge`, for files that are not valid together, to find the invalid ones.
fn merge_one_by_one(sources: Vec<Source>, patterns: Patterns) -> MergedConfig {
    let mut merged = MergedConfig {
        config: ConclaudeConfig::default(),
        origins: Origins::with_files(patterns),
        errors: Vec::new(),
    };
    for source in sources {
        let Some(part) = Part::read(source, patterns).part else { continue };
        let (path, mut together) = (part.source.path.clone(), merged.origins.clone());
        together.add(part.source, part.tree);
        let mut switched = together.clone();
        switched.switch_rules();
        match ConclaudeConfig::from_tree(&switched.tree) {
            Ok(config) => (merged.config, merged.origins) = (config, together),
            Err(why) => {
                let why = format!("together with the files before it, {why}");
                merged.errors.push(ConfigError::unreadable(&path, &why));
            }
        }
    }
    merged.origins.switch_rules();
    merged
}

#[cfg(test)]
mod tests;
