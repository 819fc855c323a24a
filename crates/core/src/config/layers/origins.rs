//! The origins of config values: every value keeps its file and line.

use std::fmt;
use std::path::Path;

use serde::Deserialize;

use super::switches::{self, IdleSwitch, PackSwitch, SwitchedRule};
use super::tree_merger::TreeMerger;
use super::{Layer, PACK, Source, file_name};
use crate::config::trust::{self, TELEMETRY, TrustedSetting};
use crate::config::{ConclaudeConfig, EventConfig, Patterns, TelemetryConfig};
use crate::packs;
use crate::yaml::{Node, Position, Span, Spanned, Text};

/// The origins of config values.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    pub(super) tree: Spanned<Node>,
    pub(super) sources: Vec<Source>,
    /// The values of each file alone, if they were requested.
    alone: Option<Vec<Spanned<Node>>>,
    /// The section `telemetry` of each file that has one. It is merged again without untrusted files.
    telemetry: Vec<Spanned<Node>>,
    /// Why the section of a file was left out.
    untrusted_telemetry: Option<String>,
    /// The section `packs` of all files, in their order.
    switches: Vec<PackSwitch>,
}

/// The file and the line of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    pub layer: Layer,
    pub path: &'a Path,
    pub line: usize,
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

impl Origins {
    /// The merged values.
    #[must_use]
    pub fn tree(&self) -> &Spanned<Node> {
        &self.tree
    }

    /// All files that contribute, the outermost first.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Adds the values of one more file, which is inside all earlier ones.
    pub(super) fn add(&mut self, source: Source, mut tree: Spanned<Node>) {
        tree.remove("extends");
        if let Some(alone) = &mut self.alone {
            alone.push(tree.clone());
        }
        tree.set_source(self.sources.len());
        let layer = source.layer;
        self.sources.push(source);
        self.telemetry.extend(tree.value_of(TELEMETRY).cloned());
        self.switches.extend(switches::of_file(&tree, layer));
        let outer = std::mem::take(&mut self.tree);
        self.tree = self.merged(outer, tree, Vec::new());
    }

    /// Changes the rules of packs according to `packs`, after all files are added.
    pub(super) fn switch_rules(&mut self) {
        switches::apply(&mut self.tree, &self.sources, &self.switches);
    }

    /// The entries of `packs` without effect, and why.
    #[must_use]
    pub fn idle_switches(&self) -> Vec<(&PackSwitch, IdleSwitch<'_>)> {
        let is_later = |at: usize, switch: &PackSwitch| {
            let mut later = self.switches.iter().skip(at + 1);
            later.any(|one| one.layer == switch.layer && one.pack == switch.pack && one.rule == switch.rule)
        };
        let entries = self.switches.iter().enumerate().filter(|(at, switch)| !is_later(*at, switch));
        entries.filter_map(|(_, switch)| Some((switch, self.why_idle(switch)?))).collect()
    }

    fn why_idle(&self, switch: &PackSwitch) -> Option<IdleSwitch<'_>> {
        let rule = packs::find(&switch.pack).ok()?.rule(&switch.rule)?;
        let mut is_extended = false;
        for layer in self.pack_layers(&switch.pack) {
            is_extended = true;
            let named = SwitchedRule { pack: &switch.pack, rule: rule.name, layer, action: rule.action };
            match switches::deciding(&self.switches, &named) {
                Some(other) if other.action > switch.action => return Some(IdleSwitch::Stricter(other)),
                None if rule.action > switch.action => return Some(IdleSwitch::OfOuterLayer(layer)),
                _ => {}
            }
        }
        if is_extended { None } else { Some(IdleSwitch::NotExtended) }
    }

    /// The layers that extend a pack.
    pub fn pack_layers(&self, pack: &str) -> impl Iterator<Item = Layer> {
        let is_pack = move |source: &&Source| {
            source.path.to_str().and_then(|path| path.strip_prefix(PACK)) == Some(pack)
        };
        self.sources.iter().filter(is_pack).map(|source| source.layer)
    }

    fn merged(&self, outer: Spanned<Node>, inner: Spanned<Node>, keys: Vec<Text>) -> Spanned<Node> {
        let layers: Vec<Layer> = self.sources.iter().map(|source| source.layer).collect();
        TreeMerger { layers: &layers, keys }.values(outer, inner)
    }

    /// Decides for each file whether anything in it may run. An untrusted file's telemetry must not replace a trusted one's: use
    /// [`Origins::telemetry`] afterwards.
    pub fn check_trust(&mut self, why_untrusted: impl Fn(&Source) -> Option<String>) {
        for source in &mut self.sources {
            source.untrusted = why_untrusted(source);
        }
        self.untrusted_telemetry = self.untrusted(&[TELEMETRY]).map(str::to_owned);
        if self.untrusted_telemetry.is_none() {
            return;
        }
        let is_trusted = |node: &&Spanned<Node>| self.untrusted_source(node.span.source).is_none();
        let trusted = self.telemetry.iter().filter(is_trusted).cloned();
        let merged = trusted.reduce(|outer, inner| self.merged(outer, inner, vec![TELEMETRY.into()]));
        self.tree.remove(TELEMETRY);
        if let (Some(merged), Node::Map(entries)) = (merged, &mut self.tree.value) {
            entries.to_mut().push((Spanned { value: TELEMETRY.into(), span: merged.span }, merged));
        }
    }

    /// The section `telemetry`, without untrusted files.
    #[must_use]
    pub fn telemetry(&self) -> Option<TelemetryConfig> {
        Option::deserialize(self.tree.value_of(TELEMETRY)?).ok().flatten()
    }

    /// The origin of a value, named by its keys and indices: `["preToolUse", "uneditableFiles", "0"]`. If several files fill a
    /// map or list, the first of them.
    #[must_use]
    pub fn of(&self, keys: &[&str]) -> Option<Origin<'_>> {
        self.at(self.find(keys)?.span())
    }

    /// The name of the file and the line of a value.
    #[must_use]
    pub fn position(&self, keys: &[&str], root: Option<&Path>) -> Option<(String, usize)> {
        let origin = self.of(keys)?;
        Some((file_name(origin.path, root), origin.line))
    }

    #[must_use]
    pub fn at(&self, span: Span) -> Option<Origin<'_>> {
        let source = self.sources.get(span.source)?;
        Some(Origin { layer: source.layer, path: &source.path, line: span.line })
    }

    /// Why a value may not run: one of its files is untrusted.
    #[must_use]
    pub fn untrusted(&self, keys: &[&str]) -> Option<&str> {
        if self.sources.iter().all(|source| source.untrusted.is_none()) {
            return None;
        }
        let mut pending = vec![self.find(keys)?];
        while let Some(position) = pending.pop() {
            match &position.node.value {
                Node::Map(_) => pending.extend(position.entries().map(|(_, value)| value)),
                Node::List(_) => pending.extend(position.items()),
                _ => {
                    if let Some(why) = self.untrusted_source(position.span().source) {
                        return Some(why);
                    }
                }
            }
        }
        None
    }

    /// Why an endpoint of the config is not used. Where it is needed, trust is checked first.
    #[must_use]
    pub fn untrusted_telemetry(&self) -> Option<&str> {
        self.untrusted_telemetry.as_deref()
    }

    /// Why nothing in this file may run.
    #[must_use]
    pub fn untrusted_source(&self, source: usize) -> Option<&str> {
        self.sources.get(source)?.untrusted.as_deref()
    }

    /// The other untrusted parts of this config, and why they are off.
    #[must_use]
    pub fn untrusted_rules(&self) -> Vec<(&'static str, &str)> {
        let untrusted = |setting: &TrustedSetting| match setting.keys {
            // It is not in the tree any more.
            [TELEMETRY] => self.untrusted_telemetry(),
            keys => self.untrusted(keys),
        };
        trust::SETTINGS.iter().filter_map(|setting| Some((setting.name, untrusted(setting)?))).collect()
    }

    fn find(&self, keys: &[&str]) -> Option<Position<'_>> {
        keys.iter().try_fold(Position::of(&self.tree), |position, key| match &position.node.value {
            Node::Map(_) => position.entries().find(|(own, _)| own.value == *key).map(|(_, value)| value),
            // A plain list of commands is that of `*`.
            Node::List(_) if *key == "*" => Some(position),
            Node::List(_) => position.items().nth(key.parse().ok()?),
            _ => None,
        })
    }

    /// Also keeps each layer's own values if all patterns are checked.
    pub(super) fn with_files(patterns: Patterns) -> Origins {
        let alone = if patterns == Patterns::All { Some(Vec::new()) } else { None };
        Origins { alone, ..Origins::default() }
    }

    /// The values of one layer's files alone. They have already been read.
    #[must_use]
    pub fn of_layer(&self, layer: Layer) -> ConclaudeConfig {
        let mut own = Origins::default();
        for (source, tree) in self.sources.iter().zip(self.alone.iter().flatten()) {
            if source.layer == layer {
                own.add(source.clone(), tree.clone());
            }
        }
        own.switch_rules();
        ConclaudeConfig::from_tree(&own.tree).unwrap_or_default()
    }

    /// The commands of this config that may not run, and why.
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
