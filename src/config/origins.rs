//! Several files make one config: maps merge, lists append, scalars override. Every value keeps the file and the line that it
//! came from.

use std::fmt;
use std::path::{Path, PathBuf};

use super::usable::{Lost, Usable, about_text, only_rules, usable};
use super::{ConclaudeConfig, ConfigError, EventConfig, Patterns};
use crate::yaml::{Node, Span, Spanned, Text, ValueError};

/// Whose file it is, the outermost first: later ones win. What a file extends belongs to its layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// `config.yaml` in the user's config folder.
    User,
    /// `.conclaude.yaml`
    #[default]
    Project,
    /// `.conclaude.local.yaml`
    Local,
}

impl Layer {
    pub(crate) const ALL: [Layer; 3] = [Layer::User, Layer::Project, Layer::Local];

    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Layer::User => "user",
            Layer::Project => "project",
            Layer::Local => "local",
        }
    }
}

/// A file, or a pack, that contributes to the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) layer: Layer,
    /// `pack:name` for a pack.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// Why nothing of it may run.
    pub(crate) untrusted: Option<String>,
}

/// The prefix of what is part of the program.
pub(crate) const PACK: &str = "pack:";

impl Source {
    /// Whether it is part of the program.
    #[must_use]
    pub(crate) fn is_pack(&self) -> bool {
        self.path.to_string_lossy().starts_with(PACK)
    }
}

type Entry = (Spanned<Text>, Spanned<Node>);

/// A file with its values that are valid.
pub(crate) struct Part {
    pub(crate) source: Source,
    pub(crate) tree: Spanned<Node>,
    /// Of a file alone. A pack is known to be valid, and is only read together with the file that extends it.
    pub(crate) config: Option<ConclaudeConfig>,
}

/// What came of reading a file.
pub(crate) struct Read {
    pub(crate) part: Option<Part>,
    pub(crate) error: Option<ConfigError>,
    /// Its rules that cannot be used.
    pub(crate) lost: Vec<Lost>,
}

impl Part {
    /// Reads a file. Of one that is not valid its rules count as far as they can be read, and nothing runs.
    pub(crate) fn read(source: Source, patterns: Patterns) -> Read {
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
    pub(crate) fn only_rules(self) -> Option<Part> {
        let (config, tree) = only_rules(self.tree)?;
        Some(Part { tree, config: Some(config), ..self })
    }
}

/// Where the values of a config came from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins {
    tree: Spanned<Node>,
    sources: Vec<Source>,
}

/// The file and the line of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin<'a> {
    pub(crate) layer: Layer,
    pub(crate) path: &'a Path,
    pub(crate) line: usize,
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// A file of the project by its path there, any other by its whole path.
#[must_use]
pub(crate) fn file_name(path: &Path, root: Option<&Path>) -> String {
    root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path).display().to_string()
}

impl Origins {
    /// The values as they are merged.
    #[must_use]
    pub(crate) fn tree(&self) -> &Spanned<Node> {
        &self.tree
    }

    /// All files that contribute, the outermost first.
    #[must_use]
    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Adds the values of one more file, further in than all before.
    fn add(&mut self, source: Source, mut tree: Spanned<Node>) {
        tree.remove("extends");
        tree.set_source(self.sources.len());
        self.sources.push(source);
        let layers: Vec<Layer> = self.sources.iter().map(|source| source.layer).collect();
        let outer = std::mem::take(&mut self.tree);
        self.tree = Merging { layers: &layers, keys: Vec::new() }.values(outer, tree);
    }

    /// Decides for each file whether anything of it may run.
    pub(crate) fn check_trust(&mut self, why_untrusted: impl Fn(&Source) -> Option<String>) {
        for source in &mut self.sources {
            source.untrusted = why_untrusted(source);
        }
    }

    /// Where a value came from, named by its keys and indices: `["preToolUse", "uneditableFiles", "0"]`. Of a map or list
    /// that several files fill, the first of them.
    #[must_use]
    pub(crate) fn of(&self, keys: &[&str]) -> Option<Origin<'_>> {
        self.at(self.node(keys)?.span)
    }

    /// The name of the file and the line of a value.
    #[must_use]
    pub(crate) fn position(&self, keys: &[&str], root: Option<&Path>) -> Option<(String, usize)> {
        let origin = self.of(keys)?;
        Some((file_name(origin.path, root), origin.line))
    }

    #[must_use]
    pub(crate) fn at(&self, span: Span) -> Option<Origin<'_>> {
        let source = self.sources.get(span.source)?;
        Some(Origin { layer: source.layer, path: &source.path, line: span.line })
    }

    /// Why a value may not run: one of the files that it came from is not trusted.
    #[must_use]
    pub(crate) fn untrusted(&self, keys: &[&str]) -> Option<&str> {
        if self.sources.iter().all(|source| source.untrusted.is_none()) {
            return None;
        }
        let mut pending = vec![self.node(keys)?];
        while let Some(node) = pending.pop() {
            let source = self.sources.get(node.span.source);
            match &node.value {
                Node::Map(entries) => pending.extend(entries.iter().map(|(_, value)| value)),
                Node::List(items) => pending.extend(items),
                _ => {
                    if let Some(why) = source.and_then(|source| source.untrusted.as_deref()) {
                        return Some(why);
                    }
                }
            }
        }
        None
    }

    /// Why nothing of this file may run.
    #[must_use]
    pub(crate) fn untrusted_source(&self, source: usize) -> Option<&str> {
        self.sources.get(source)?.untrusted.as_deref()
    }

    /// Why commands of this config may not run, for each that may not.
    #[must_use]
    pub(crate) fn untrusted_commands(&self, config: &ConclaudeConfig) -> Vec<&str> {
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

    /// What else of this config nobody agreed to, and why it stays off.
    #[must_use]
    pub(crate) fn untrusted_rules(&self) -> Vec<(&'static str, &str)> {
        const RULES: [(&str, &[&str]); 4] = [
            ("the judge", &["des", "judge"]),
            ("permissions", &["permissionRequest", "allow"]),
            ("context for prompts", &["userPromptSubmit", "contextRules"]),
            ("telemetry", &["telemetry"]),
        ];
        let found = RULES.into_iter().filter_map(|(what, keys)| Some((what, self.untrusted(keys)?)));
        found.collect()
    }

    fn node(&self, keys: &[&str]) -> Option<&Spanned<Node>> {
        keys.iter().try_fold(&self.tree, |node, key| match &node.value {
            Node::Map(entries) => entries.iter().find(|(own, _)| own.value == *key).map(|(_, value)| value),
            // A plain list of commands is that of `*`.
            Node::List(_) if *key == "*" => Some(node),
            Node::List(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }
}

/// Makes one config of several files, the outermost first. A file that is valid alone and not together with those before it
/// is left out, and is an error: it must not switch off what is outside of it.
#[must_use]
pub(crate) fn merge(
    mut parts: Vec<Part>,
    patterns: Patterns,
) -> (ConclaudeConfig, Origins, Vec<ConfigError>) {
    // Most projects have one file, which is a config already.
    let alone = if parts.len() == 1 { parts.first_mut().and_then(|part| part.config.take()) } else { None };
    let mut all = Origins::default();
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
    let (mut config, mut all, mut errors) = (ConclaudeConfig::default(), Origins::default(), Vec::new());
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

/// Guards that are on or off.
const SWITCHES: [&str; 3] = ["preventRootAdditions", "preventUpdateGitIgnored", "worktreeFence"];

struct Merging<'a> {
    /// Of each file.
    layers: &'a [Layer],
    /// Of the current values.
    keys: Vec<Text>,
}

impl Merging<'_> {
    /// `null` equals absent.
    fn values(&mut self, outer: Spanned<Node>, inner: Spanned<Node>) -> Spanned<Node> {
        if self.is_held(&outer, &inner) || self.is_stricter(&outer, &inner) {
            return outer;
        }
        let span = outer.span;
        let outer = as_commands(outer, &inner, &self.keys);
        let inner = as_commands(inner, &outer, &self.keys);
        match (outer.value, inner.value) {
            (outer, Node::Null) => Spanned { value: outer, span },
            (Node::Map(entries), Node::Map(more)) if !is_one_value(&self.keys) => {
                Spanned { value: Node::Map(self.entries(entries, more)), span }
            }
            (Node::List(items), Node::List(more)) if !is_one_value(&self.keys) => {
                let (mut items, more) = if first_decides(&self.keys) { (more, items) } else { (items, more) };
                items.extend(more);
                Spanned { value: Node::List(items), span }
            }
            (_, value) => Spanned { value, span: inner.span },
        }
    }

    fn entries(&mut self, mut entries: Vec<Entry>, more: Vec<Entry>) -> Vec<Entry> {
        let outer = Matching::of(&entries);
        for (key, value) in more {
            if key.value == MATCH && self.would_drop(outer, &value) {
                continue;
            }
            match entries.iter_mut().find(|(known, _)| known.value == key.value) {
                Some((_, old)) => {
                    self.keys.push(key.value);
                    let outer = std::mem::replace(old, Spanned { value: Node::Null, span: value.span });
                    *old = self.values(outer, value);
                    self.keys.pop();
                }
                None => entries.push((key, value)),
            }
        }
        entries
    }

    /// Whether `match: first` would keep commands of an outer layer from running, which all run there.
    fn would_drop(&self, outer: Matching, value: &Spanned<Node>) -> bool {
        let is_outer = |span| self.layer_of(span) < self.layer_of(value.span);
        !outer.is_first && is_first(value) && outer.commands.is_some_and(is_outer)
    }

    fn layer_of(&self, span: Span) -> Layer {
        self.layers.get(span.source).copied().unwrap_or_default()
    }

    /// Whether a guard of an outer layer is on, and does not say that an inner one may switch it off.
    fn is_held(&self, outer: &Spanned<Node>, inner: &Spanned<Node>) -> bool {
        let is_switch = matches!(self.keys.as_slice(), [section, key] if section == "preToolUse" && SWITCHES.contains(&key.as_ref()));
        let field = |key: &str| match &outer.value {
            Node::Map(entries) => {
                entries.iter().any(|(own, value)| own.value == key && value.value == Node::Bool(true))
            }
            value => key == "enabled" && *value == Node::Bool(true),
        };
        is_switch
            && self.layer_of(outer.span) < self.layer_of(inner.span)
            && field("enabled")
            && !field("overridable")
    }
}

impl Merging<'_> {
    /// Whether an outer layer leaves less to rules for permissions than an inner one would.
    fn is_stricter(&self, outer: &Spanned<Node>, inner: &Spanned<Node>) -> bool {
        let rank = |node: &Spanned<Node>| match node
            .value_of("answer")
            .map_or(&node.value, |answer| &answer.value)
        {
            Node::Text(word) => ["allow", "ask", "deny"].iter().position(|known| known == word),
            _ => None,
        };
        let is_overridable = outer.value_of("overridable").is_some_and(|flag| flag.value == Node::Bool(true));
        self.keys == DEFAULT
            && self.layer_of(outer.span) < self.layer_of(inner.span)
            // One that says the same would let rules of its own layer count against it.
            && rank(inner) <= rank(outer)
            && !is_overridable
    }
}

/// The phases are one value: their order is that of the work. So is an answer with what may relax it.
fn is_one_value(keys: &[Text]) -> bool {
    keys == ["des", "phases"] || keys == DEFAULT
}

const DEFAULT: [&str; 2] = ["permissionRequest", "default"];

const MATCH: &str = "match";

/// What the section of the outer files says of patterns.
#[derive(Clone, Copy)]
struct Matching {
    is_first: bool,
    commands: Option<Span>,
}

impl Matching {
    fn of(section: &[Entry]) -> Matching {
        let value = |name: &str| section.iter().find(|(key, _)| key.value == name).map(|(_, value)| value);
        Matching {
            is_first: value(MATCH).is_some_and(is_first),
            commands: value("commands").map(|commands| commands.span),
        }
    }
}

fn is_first(value: &Spanned<Node>) -> bool {
    matches!(&value.value, Node::Text(word) if word == "first")
}

/// Lists whose first match decides: there a file is before what it extends, or it could not make an exception.
fn first_decides(keys: &[Text]) -> bool {
    keys == ["preToolUse", "toolUsageValidation"]
}

/// A plain list of commands is that of `*`, where the other file has a map.
fn as_commands(node: Spanned<Node>, other: &Spanned<Node>, keys: &[Text]) -> Spanned<Node> {
    let is_list = matches!((&node.value, &other.value), (Node::List(_), Node::Map(_)));
    if !is_list || keys.last().is_none_or(|key| key != "commands") {
        return node;
    }
    let span = node.span;
    let key = Spanned { value: "*".into(), span };
    Spanned { value: Node::Map(vec![(key, node)]), span }
}

#[cfg(test)]
mod tests;
