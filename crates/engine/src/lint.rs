//! Rules that look alive and are dead: what no event, tool, agent or file can match, and what another rule comes before.

use crate::install::registration::over_limit;
use conclaude_core::config::Remark;
use conclaude_store::load::Loaded;

mod bash;
mod context;
mod coverage;
mod file_rules;
mod files;
mod names;
mod original;
mod overlap;
mod permission_rules;
mod shadowed;
mod tool_rules;
mod variables;

pub use context::LintContext;
use context::{CommandEntry, command_keys, commands};
pub use original::{of_text, taken_over};

/// All remarks about a config that is valid.
pub fn remarks(loaded: &Loaded, context: &LintContext) -> Vec<Remark> {
    let config = &loaded.config;
    let mut found = config.warnings();
    found.extend(over_limit(config));
    names::of_sections(config, context, &mut found);
    names::of_permissions(config, context, &mut found);
    permission_rules::check(loaded, &mut found);
    shadowed::by_first(config, &mut found);
    shadowed::ignored_first(loaded, &mut found);
    shadowed::held_switches(loaded, &mut found);
    tool_rules::check(loaded, context, &mut found);
    file_rules::check(loaded, context, &mut found);
    files::check(config, context, &mut found);
    variables::check(config, &mut found);
    files::of_prompts(config, context, &mut found);
    found.extend(original::remarks(loaded));
    // In the order of the files; what has no position comes last.
    found.sort_by_cached_key(|remark| {
        let located = remark.locate(&loaded.origins);
        (located.is_none(), located.map(|(source, problem)| (source.path.clone(), problem.span.start)))
    });
    found
}

#[cfg(test)]
mod tests;
