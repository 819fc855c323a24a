//! Warnings about rules without an effect: no event, tool, agent or file can match, or another rule comes first.

use std::path::{Path, PathBuf};

use crate::install::agents;
use crate::install::registration::over_limit;
use crate::install::scope::Scope;
use conclaude_core::config::{CommandConfig, ConclaudeConfig, Remark};
use conclaude_core::coverage;
use conclaude_core::event::EventKind;
use conclaude_store::load::LoadedConfig;

mod budgets;
mod clients;
mod file_rules;
mod files;
mod first_match;
mod names;
mod original;
mod outer_layers;
mod pack_switches;
mod permission_rules;
mod regexes;
mod tool_rules;
mod variables;

pub use original::{of_text, taken_over};

/// All remarks about a valid config.
pub fn remarks(loaded: &LoadedConfig, context: &LintContext) -> Vec<Remark> {
    let config = &loaded.config;
    let mut found = config.warnings();
    found.extend(over_limit(config));
    names::of_sections(config, context, &mut found);
    names::of_permissions(config, context, &mut found);
    permission_rules::check(loaded, &mut found);
    pack_switches::check(loaded, &mut found);
    first_match::by_first(config, &mut found);
    first_match::ignored_first(loaded, &mut found);
    outer_layers::switches(loaded, &mut found);
    budgets::check(loaded, &mut found);
    outer_layers::budgets(loaded, &mut found);
    tool_rules::check(loaded, context, &mut found);
    file_rules::check(loaded, context, &mut found);
    files::check(config, context, &mut found);
    variables::check(config, &mut found);
    files::of_prompts(config, context, &mut found);
    clients::check(config, &mut found);
    found.extend(original::remarks(loaded));
    // If a value is a regular expression, other remarks about it follow from that.
    let mistaken = regexes::remarks(config);
    found.retain(|remark| !mistaken.iter().any(|one| one.is_about_same(remark)));
    found.extend(mistaken);
    // Users of a pack do not edit it, and the same pack may be in an outer layer.
    found.retain(|remark| !remark.locate(&loaded.origins).is_some_and(|(source, _)| source.is_pack()));
    // In the order of the files. Remarks without a position come last.
    found.sort_by_cached_key(|remark| {
        let located = remark.locate(&loaded.origins);
        (located.is_none(), located.map(|(source, problem)| (source.path.clone(), problem.span.start)))
    });
    found
}

/// Valid rules that may not mean what the user intended.
pub fn notes(loaded: &LoadedConfig) -> Vec<Remark> {
    first_match::no_fallback(&loaded.config).into_iter().collect()
}

pub struct LintContext {
    /// The names of the agents that the project and the user have.
    agents: Vec<String>,
    /// Where the project's files are.
    root: PathBuf,
}

impl LintContext {
    pub fn of(root: &Path) -> LintContext {
        let own = [Scope::Project, Scope::User].into_iter().flat_map(|scope| agents::names(root, scope));
        LintContext { agents: own.collect(), root: root.to_owned() }
    }

    /// For a caller that checks the names of agents itself.
    pub fn without_agents(root: &Path) -> LintContext {
        LintContext { agents: Vec::new(), root: root.to_owned() }
    }
}

fn command_keys<'a>(section: &'a str, pattern: &'a str, index: &'a str, key: &'a str) -> [&'a str; 5] {
    [section, "commands", pattern, index, key]
}

/// A command, and its position in the config.
#[derive(Clone, Copy)]
struct CommandEntry<'a> {
    event: EventKind,
    pattern: &'a str,
    /// Its index among the commands of the pattern.
    index: usize,
    command: &'a CommandConfig,
}

fn commands(config: &ConclaudeConfig) -> impl Iterator<Item = CommandEntry<'_>> {
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

#[cfg(test)]
mod tests;
