//! Who enforces each rule, as `install --enforce`, `doctor`, `config show --origin` and `explain` print it.

use std::path::Path;

use serde_json::{Value, json};

use conclaude_checks::enforce::{CompiledRules, EnforcementClass, RuleEnforcement};
use conclaude_core::rule::Rule;
use conclaude_engine::install::enforcement::{EnforcedConfig, EnforcedSettings};
use conclaude_engine::sandbox;
use conclaude_os::budget::Budget;
use conclaude_store::load::LoadedConfig;
use conclaude_store::root::Root;

/// The rules of a config with `enforce`, compiled with the existing files. `None` without the key.
pub(super) fn compiled(
    root: &Root,
    project: &Path,
    loaded: &LoadedConfig,
) -> Option<anyhow::Result<CompiledRules>> {
    if !loaded.config.enforcers().is_any() {
        return None;
    }
    let LoadedConfig { config, origins, extended, .. } = loaded;
    let enforced = EnforcedConfig { root, project, config, origins, extended };
    Some(enforced.compile(&Budget::unlimited()).map_err(anyhow::Error::from))
}

/// The next step, if the rules are not written yet.
pub(super) fn not_written(project: &Path, compiled: &CompiledRules) -> Option<String> {
    let fix = "`conclaude install --enforce` writes it";
    if !EnforcedSettings::is_installed(project) {
        return Some(format!("not in Claude Code's settings yet: {fix}"));
    }
    let effective = match sandbox::effective(project) {
        Ok(effective) => effective,
        Err(gap) => return Some(format!("perhaps not in Claude Code's settings: {gap}")),
    };
    let missing: Vec<String> =
        compiled.entries.iter().filter(|entry| !effective.has(entry)).map(ToString::to_string).collect();
    let first = missing.first()?;
    let more = if missing.len() > 1 { format!(" and {} more", missing.len() - 1) } else { String::new() };
    Some(format!("not all in Claude Code's settings: {first}{more}; {fix}"))
}

/// One line for each rule. Neighbours that only the hook enforces, for the same reason, share one.
pub(super) fn lines(rules: &[RuleEnforcement]) -> Vec<String> {
    let is_same = |one: &RuleEnforcement, other: &RuleEnforcement| {
        one.class == EnforcementClass::HookOnly
            && (one.class, &one.why, &one.rule.key, &one.rule.file)
                == (other.class, &other.why, &other.rule.key, &other.rule.file)
            && one.rule.file.is_some()
    };
    rules.chunk_by(is_same).filter_map(line).collect()
}

fn line(group: &[RuleEnforcement]) -> Option<String> {
    let first = group.first()?;
    let what = if group.len() == 1 {
        name(&first.rule)
    } else {
        let names: Vec<String> = group.iter().map(|one| short_name(&one.rule)).collect();
        let (key, file) = (short(&first.rule.key), first.rule.file.as_deref().unwrap_or_default());
        format!("{key} {} in {file}", names.join(", "))
    };
    Some(format!("{:<34}  {what}: {}", first.class, first.why))
}

fn name(rule: &Rule) -> String {
    short(&rule.to_string()).to_owned()
}

/// Rules of packs are known by their names.
fn short_name(rule: &Rule) -> String {
    match (rule.name, &rule.pattern) {
        (Some(name), _) => name.to_owned(),
        (None, Some(pattern)) => format!("{pattern:?}"),
        (None, None) => rule.line.map(|line| format!("line {line}")).unwrap_or_default(),
    }
}

/// Without the section, which all of them have.
fn short(text: &str) -> &str {
    text.strip_prefix("preToolUse.").unwrap_or(text)
}

pub(super) fn as_json(rules: &[RuleEnforcement]) -> Value {
    let one = |one: &RuleEnforcement| json!({"rule": one.rule, "class": one.class.as_str(), "why": one.why});
    rules.iter().map(one).collect()
}

/// The matching files that cannot be listed, as the start of a sentence.
pub(super) fn unlisted_files(one: &RuleEnforcement) -> String {
    let name = name(&one.rule);
    match one.unlisted {
        1 => format!("1 file that matches {name} is"),
        many => format!("{many} files that match {name} are"),
    }
}
