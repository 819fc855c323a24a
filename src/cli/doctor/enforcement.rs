//! `enforce`: who enforces each rule, and whether Claude Code's settings say so.

use super::{Check, Installation, short};
use crate::cli::enforced;
use conclaude_checks::enforce::{EnforcementClass, RuleEnforcement};
use conclaude_core::dialect::claude::sandbox::SettingsEntry;
use conclaude_engine::install::enforcement::EnforcedSettings;

const ABOUT: &str = "enforce";

pub(super) fn rules(installation: &Installation) -> Vec<Check> {
    let project = &installation.project;
    let is_installed = EnforcedSettings::is_installed(project);
    let Some(compiled) = enforced::compiled(&installation.root, project, &installation.loaded) else {
        if is_installed {
            let text =
                "the config has no `enforce` any more, and Claude Code's settings still have its rules";
            return vec![Check::warning(ABOUT, text, "conclaude uninstall --enforce")];
        }
        return Vec::new();
    };
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return vec![Check::problem(ABOUT, error.to_string(), "conclaude install --enforce")],
    };
    let mut checks = Vec::new();
    let list = enforced::lines(&compiled.rules).join("\n");
    let text = format!("{}\n{list}", summary(&compiled.rules));
    match enforced::not_installed(project) {
        Some(why) => {
            checks.push(Check::warning(ABOUT, format!("{why}\n{list}"), "conclaude install --enforce"))
        }
        None => checks.push(Check::good(ABOUT, text)),
    }
    if is_installed {
        checks.extend(taken_out(installation));
    }
    checks
}

fn summary(rules: &[RuleEnforcement]) -> String {
    let count = |class| rules.iter().filter(|one| one.class == class).count();
    let all = [EnforcementClass::Os, EnforcementClass::ExistingFiles, EnforcementClass::HookOnly];
    let [first, rest @ ..] = all.map(|class| (count(class), class));
    let rest = rest.map(|(count, class)| format!("{count} {class}"));
    format!("{} rules {}, {}", first.0, first.1, rest.join(", "))
}

/// What somebody else has removed from the settings or changed there.
fn taken_out(installation: &Installation) -> Vec<Check> {
    let settings = match EnforcedSettings::read(&installation.project) {
        Ok(settings) => settings,
        Err(error) => return vec![Check::problem(ABOUT, error.to_string(), "conclaude install --enforce")],
    };
    let path = short(settings.path(), &installation.project);
    let of_entry = |entry: &&SettingsEntry| {
        Check::problem(ABOUT, format!("{path} no longer has {entry}"), "conclaude install --enforce")
    };
    settings.taken_out().iter().map(of_entry).collect()
}
