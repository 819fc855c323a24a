//! Rules that look alive and are dead: what no event, tool, agent or file can match, and what another rule comes before.

use std::path::{Path, PathBuf};

use crate::config::{ConclaudeConfig, Remark};
use crate::install::agents;
use crate::install::registration::over_limit;
use crate::install::scope::Scope;
use crate::load::Loaded;

mod cover;
mod file_rules;
mod files;
mod names;
mod original;
mod permission_rules;
mod shadowed;
mod tool_rules;

pub(crate) use original::{of_text, with_first_match};

/// What rules are compared with, beside each other.
pub(crate) struct World {
    /// The names of the agents that the project and the user have.
    agents: Vec<String>,
    /// Where the project's files are.
    root: PathBuf,
}

impl World {
    pub(crate) fn of(root: &Path) -> World {
        let own = [Scope::Project, Scope::User].into_iter().flat_map(|scope| agents::names(root, scope));
        World { agents: own.collect(), root: root.to_owned() }
    }

    /// For a caller that looks at the names of agents itself.
    pub(crate) fn without_agents(root: &Path) -> World {
        World { agents: Vec::new(), root: root.to_owned() }
    }
}

/// All remarks about a config that is valid.
pub(crate) fn remarks(loaded: &Loaded, world: &World) -> Vec<Remark> {
    let config = &loaded.config;
    let mut found = config.warnings();
    found.extend(over_limit(config));
    names::of_sections(config, world, &mut found);
    names::of_permissions(config, world, &mut found);
    permission_rules::check(loaded, &mut found);
    shadowed::by_first(config, &mut found);
    shadowed::ignored_first(loaded, &mut found);
    tool_rules::check(loaded, world, &mut found);
    file_rules::check(loaded, world, &mut found);
    files::check(config, world, &mut found);
    found.extend(original::remarks(loaded));
    // In the order of the files; what has no position comes last.
    found.sort_by_cached_key(|remark| {
        let located = remark.locate(&loaded.origins);
        (located.is_none(), located.map(|(source, problem)| (source.path.clone(), problem.span.start)))
    });
    found
}

/// The keys of a command.
fn command_keys<'a>(section: &'a str, pattern: &'a str, index: &'a str, key: &'a str) -> [&'a str; 5] {
    [section, "commands", pattern, index, key]
}

/// Each command with its section, pattern and index.
fn commands(
    config: &ConclaudeConfig,
) -> impl Iterator<Item = (crate::event::EventKind, &str, usize, &crate::config::CommandConfig)> {
    config.sections.iter().flat_map(|(event, section)| {
        section.entries().iter().flat_map(move |(pattern, commands)| {
            commands
                .iter()
                .enumerate()
                .map(move |(index, command)| (*event, pattern.as_str(), index, command))
        })
    })
}

#[cfg(test)]
mod tests;
