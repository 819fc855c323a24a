//! What rules are compared with, beside each other.

use std::path::{Path, PathBuf};

use crate::install::agents;
use crate::install::scope::Scope;
use conclaude_core::config::{CommandConfig, ConclaudeConfig};
use conclaude_core::event::EventKind;

pub struct LintContext {
    /// The names of the agents that the project and the user have.
    pub(super) agents: Vec<String>,
    /// Where the project's files are.
    pub(super) root: PathBuf,
}

impl LintContext {
    pub fn of(root: &Path) -> LintContext {
        let own = [Scope::Project, Scope::User].into_iter().flat_map(|scope| agents::names(root, scope));
        LintContext { agents: own.collect(), root: root.to_owned() }
    }

    /// For a caller that looks at the names of agents itself.
    pub fn without_agents(root: &Path) -> LintContext {
        LintContext { agents: Vec::new(), root: root.to_owned() }
    }
}

pub(super) fn command_keys<'a>(
    section: &'a str,
    pattern: &'a str,
    index: &'a str,
    key: &'a str,
) -> [&'a str; 5] {
    [section, "commands", pattern, index, key]
}

/// A command, and where it is in the config.
#[derive(Clone, Copy)]
pub(super) struct CommandEntry<'a> {
    pub(super) event: EventKind,
    pub(super) pattern: &'a str,
    /// Among the commands of the pattern.
    pub(super) index: usize,
    pub(super) command: &'a CommandConfig,
}

pub(super) fn commands(config: &ConclaudeConfig) -> impl Iterator<Item = CommandEntry<'_>> {
    config.sections.iter().flat_map(|(event, section)| {
        section.entries().iter().flat_map(move |(pattern, commands)| {
            let entry = move |(index, command)| CommandEntry {
                event: *event,
                pattern: pattern.as_str(),
                index,
                command,
            };
            commands.iter().enumerate().map(entry)
        })
    })
}
