//! The rules of `preToolUse`, compiled: what they cover, for whom, and where they were written.

use super::command_pattern::CommandPattern;
use super::input::InputPattern;
use super::origin::Origin;
use super::watch::Watch;
use conclaude_core::config::{Layer, NameGlob};
use conclaude_core::file_pattern::{FilePattern, Location};
use conclaude_core::rule::Rule;
use conclaude_os::budget::Budget;
use conclaude_store::store;
use shell_effects::glob::Glob;

/// Whom a rule is for: a glob over the subagent's name, where `main` is the main thread. None is for everybody.
#[derive(Clone, Debug, Default)]
pub struct Whom(Option<Glob>);

impl Whom {
    pub fn new(agent: Option<&NameGlob>) -> Whom {
        Whom(agent.map(|agent| agent.glob().clone()))
    }

    pub fn is(&self, agent: &str) -> bool {
        self.0.as_ref().is_none_or(|glob| glob.matches(agent).unwrap_or(true))
    }

    /// Why a rule does not count for an agent.
    pub fn other(agent: &str) -> String {
        format!("is for other agents than {agent}")
    }
}

/// One entry of a list of files.
#[derive(Clone, Debug)]
pub struct FileRule {
    pub written: String,
    pub pattern: FilePattern,
    /// `!pattern`: what it covers is free again.
    pub allows: bool,
    pub message: Option<String>,
    pub whom: Whom,
    /// The project's own files are free.
    pub outside: bool,
    /// An inner layer may free what it covers.
    pub overridable: bool,
    pub origin: Origin,
}

impl FileRule {
    /// Whether its exception counts against what the other one protects: not against an outer layer, unless that lets it; and one
    /// of a pack is about that pack alone.
    fn may_free(&self, held: &FileRule) -> bool {
        let is_let = held.origin.layer >= self.origin.layer || held.overridable;
        is_let && (!self.origin.is_of_pack() || self.origin.file == held.origin.file)
    }
}

/// A list of files that are protected in one way.
#[derive(Clone, Debug, Default)]
pub struct FileRules(pub Vec<FileRule>);

impl FileRules {
    pub fn is_empty(&self, agent: &str) -> bool {
        !self.0.iter().any(|rule| !rule.allows && rule.whom.is(agent))
    }

    /// The rule that protects this location from this agent. As in gitignore the last match decides, but an inner layer frees
    /// only what an outer one lets it.
    pub fn protecting(
        &self,
        location: &Location,
        agent: &str,
        watch: Watch<'_>,
        budget: &Budget,
    ) -> Option<&FileRule> {
        let mut protecting: Vec<&FileRule> = Vec::new();
        let is_state = location.anchored().any(is_own_state);
        for rule in &self.0 {
            let (named, subject) = ((&rule.origin, rule.written.as_str()), location.shown());
            // Our own folder has locks and logs that nobody means who protects such files.
            if is_state && !rule.written.contains(store::FOLDER) {
                watch.missed(named, subject, || {
                    format!("leaves {subject} to conclaude's protection of its own files")
                });
                continue;
            }
            if !rule.whom.is(agent) {
                watch.missed(named, subject, || Whom::other(agent));
                continue;
            }
            // Out of time, everything is protected that is not certain to be free.
            if rule.pattern.rules_out(location) || (!budget.is_over() && !rule.pattern.covers(location)) {
                watch.missed(named, subject, || format!("does not cover {subject}"));
                continue;
            }
            if rule.outside && rule.pattern.leaves_to_project(location) {
                watch.missed(named, subject, || format!("leaves {subject} free: it belongs to the project"));
                continue;
            }
            if rule.allows {
                protecting.retain(|held| !rule.may_free(held));
                watch.matched(named, subject, || match protecting.last() {
                    None => format!("frees {subject}"),
                    Some(held) => {
                        let is_outer = held.origin.layer < rule.origin.layer;
                        let owner = if is_outer { "an outer layer" } else { "another file" };
                        format!("covers {subject}, but cannot free it from `{}` of {owner}", held.written)
                    }
                });
            } else {
                watch.matched(named, subject, || format!("covers {subject}"));
                protecting.push(rule);
            }
        }
        protecting.last().copied()
    }

    /// Of the rules those that may protect something below a directory with these names; none if all of it is free.
    pub fn below(&self, names: &[Location], agent: &str) -> Option<FileRules> {
        let may_protect = |at: usize, rule: &FileRule, name: &Location| {
            let mut later = self.0.iter().skip(at + 1);
            let frees = |free: &FileRule| {
                free.allows && free.whom.is(agent) && free.may_free(rule) && free.pattern.surely_covers(name)
            };
            rule.whom.is(agent) && !rule.pattern.rules_out_below(name) && !later.any(frees)
        };
        let counts = |(at, rule): &(usize, &FileRule)| {
            rule.allows || names.iter().any(|name| may_protect(*at, rule, name))
        };
        let kept =
            FileRules(self.0.iter().enumerate().filter(counts).map(|(_, rule)| rule.clone()).collect());
        (!kept.is_empty(agent)).then_some(kept)
    }

    /// As `protecting`, for something with several names: one protected name is enough.
    pub fn protecting_any(
        &self,
        names: &[Location],
        agent: &str,
        watch: Watch<'_>,
        budget: &Budget,
    ) -> Option<&FileRule> {
        names.iter().find_map(|location| self.protecting(location, agent, watch, budget))
    }
}

/// Whether a path from the root is our own folder or in it.
fn is_own_state(path: &str) -> bool {
    path.strip_prefix(store::FOLDER).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    Allow,
    Ask,
    Block,
}

/// One entry of `toolUsageValidation`.
#[derive(Clone, Debug)]
pub struct ToolRule {
    pub tool: Glob,
    /// What is compared of the call's input.
    pub input: InputPattern,
    /// None compares no file.
    pub pattern: Option<FilePattern>,
    /// None compares no command.
    pub command: Option<CommandPattern>,
    /// None compares no SQL.
    pub sql: Option<CommandPattern>,
    /// How it is written, for messages.
    pub written: String,
    pub action: Action,
    pub message: Option<String>,
    pub whom: Whom,
    /// A rule of an inner layer may decide otherwise.
    pub overridable: bool,
    pub origin: Origin,
}

/// A rule that is only switched on.
#[derive(Clone, Debug)]
pub struct Switch {
    pub origin: Origin,
    pub message: Option<String>,
}

impl Switch {
    /// What to do instead, about this file and tool.
    pub fn advice(&self, path: &str, tool: &str, default: &str) -> String {
        let message = self.message.as_ref();
        message.map_or_else(
            || default.to_owned(),
            |text| text.replace("{file_path}", path).replace("{tool}", tool),
        )
    }
}

#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub uneditable: FileRules,
    pub unreadable: FileRules,
    pub additions: FileRules,
    pub root_additions: Option<Switch>,
    pub git_ignored: Option<Switch>,
    pub tools: Vec<ToolRule>,
    pub worktree_fence: Option<Switch>,
}

impl Rules {
    /// Every rule, in the order in which they are compared.
    pub fn all(&self) -> Vec<Rule> {
        let switch = |switch: &Option<Switch>| switch.iter().map(|one| one.origin.rule("")).collect();
        let files = |rules: &FileRules| rules.0.iter().map(|one| one.origin.rule(&one.written)).collect();
        let tools = self.tools.iter().map(|one| one.origin.rule(&one.written)).collect();
        let all: [Vec<Rule>; 7] = [
            files(&self.uneditable),
            files(&self.unreadable),
            switch(&self.root_additions),
            files(&self.additions),
            switch(&self.git_ignored),
            tools,
            switch(&self.worktree_fence),
        ];
        all.into_iter().flatten().collect()
    }

    /// The rules that this layer, which is an inner one, cannot relax.
    pub fn of_outer(&self, layer: Layer) -> Rules {
        let files = |rules: &FileRules| {
            let is_held = |rule: &&FileRule| rule.allows || (rule.origin.layer < layer && !rule.overridable);
            FileRules(rules.0.iter().filter(is_held).cloned().collect())
        };
        let switch = |one: &Option<Switch>| one.clone().filter(|one| one.origin.layer < layer);
        Rules {
            uneditable: files(&self.uneditable),
            unreadable: files(&self.unreadable),
            additions: files(&self.additions),
            root_additions: switch(&self.root_additions),
            git_ignored: switch(&self.git_ignored),
            tools: Vec::new(),
            worktree_fence: self.worktree_fence.clone(),
        }
    }

    /// Whether anything can be against a tool that reads a file.
    pub fn concern_reading(&self, agent: &str) -> bool {
        !self.unreadable.is_empty(agent) || !self.tools.is_empty()
    }

    /// Whether files or commands are guarded at all: only then something can be undecidable.
    pub fn has_guards(&self, agent: &str) -> bool {
        !self.uneditable.is_empty(agent)
            || !self.unreadable.is_empty(agent)
            || self.tools.iter().any(|rule| rule.action != Action::Allow && rule.whom.is(agent))
    }
}
