//! `enforce`: who enforces each rule, and whether Claude Code's settings have it.

use super::{Check, Installation, short};
use crate::cli::rule_enforcement;
use conclaude_checks::enforce::{CompiledRules, EnforcementClass, RuleEnforcement};
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::sandbox::SettingsEntry;
use conclaude_core::dialect::claude::sandbox::effective::SandboxGap;
use conclaude_engine::install::enforcement::EnforcedSettings;
use conclaude_engine::sandbox;

const ABOUT: &str = "enforce";

pub(super) fn rules(installation: &Installation) -> Vec<Check> {
    let project = &installation.project;
    let is_installed = EnforcedSettings::is_installed(project);
    let Some(compiled) = rule_enforcement::compiled(&installation.root, project, &installation.loaded) else {
        if is_installed {
            let text = "the config no longer has `enforce`, but Claude Code's settings still have its rules";
            return vec![Check::warning(ABOUT, text, "conclaude uninstall --enforce")];
        }
        return Vec::new();
    };
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return vec![Check::problem(ABOUT, error.to_string(), "conclaude install --enforce")],
    };
    let mut checks = Vec::new();
    let list = rule_enforcement::lines(&compiled.rules).join("\n");
    let text = format!("{}\n{list}", summary(&compiled.rules));
    if is_installed {
        checks.push(match switched_off(installation) {
            None => Check::good(ABOUT, text),
            Some(gap) => {
                let text = format!("the operating system may enforce none of these now: {gap}\n{list}");
                let settings = project.join(layout::LOCAL_SETTINGS);
                Check::warning(ABOUT, text, format!("${{EDITOR:-vi}} {}", settings.display()))
            }
        });
        checks.extend(compiled.incomplete().map(incomplete));
        checks
            .extend(compiled.own_links().map(|why| Check::warning(ABOUT, why, "put the file itself there")));
        checks.extend(taken_out(installation, &compiled));
    } else {
        let why = rule_enforcement::not_written(project, &compiled).unwrap_or_default();
        checks.push(Check::warning(ABOUT, format!("{why}\n{list}"), "conclaude install --enforce"));
    }
    checks
}

/// Why Claude Code's settings do not count.
fn switched_off(installation: &Installation) -> Option<SandboxGap> {
    match sandbox::effective(&installation.project) {
        Err(gap) => Some(gap),
        Ok(_) if !installation.loaded.config.enforcers().sandbox => None,
        Ok(effective) if !effective.is_enabled() => effective.switched(),
        Ok(effective) if !effective.certain().is_enabled() => effective.ignorable_file(),
        Ok(_) => None,
    }
}

fn summary(rules: &[RuleEnforcement]) -> String {
    let count = |class| rules.iter().filter(|one| one.class == class).count();
    let all = [EnforcementClass::Os, EnforcementClass::ExistingFiles, EnforcementClass::HookOnly];
    let [first, rest @ ..] = all.map(|class| (count(class), class));
    let rest = rest.map(|(count, class)| format!("{count} {class}"));
    let noun = if first.0 == 1 { "rule" } else { "rules" };
    format!("{} {noun} {}, {}", first.0, first.1, rest.join(", "))
}

/// A rule with matching files that cannot be listed.
fn incomplete(rule: &RuleEnforcement) -> Check {
    let files = rule_enforcement::unlisted_files(rule);
    let text = format!("{files} not protected by the sandbox, so guards ask as before: {}", rule.why);
    Check::warning(ABOUT, text, "protect their directory instead, or rename them")
}

/// Entries that others removed from the settings or changed there.
fn taken_out(installation: &Installation, compiled: &CompiledRules) -> Vec<Check> {
    let settings = match EnforcedSettings::read(&installation.project) {
        Ok(settings) => settings,
        Err(error) => return vec![Check::problem(ABOUT, error.to_string(), "conclaude install --enforce")],
    };
    let path = short(settings.path(), &installation.project);
    let of_entry = |entry: &&SettingsEntry| {
        Check::problem(ABOUT, format!("{path} no longer has {entry}"), "conclaude install --enforce")
    };
    settings.taken_out(compiled).iter().map(of_entry).collect()
}
