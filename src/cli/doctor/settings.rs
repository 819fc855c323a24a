//! The settings files: their registrations, and whether those start this program.

use std::path::PathBuf;

use super::rules::untrusted;
use super::{Check, Installation, own_program, short};
use conclaude_core::dialect::claude::variables;
use conclaude_core::messages;
use conclaude_core::text::count;
use conclaude_engine::hooks::switch;
use conclaude_engine::install::agents;
use conclaude_engine::install::duplicates::{self, Duplicate};
use conclaude_engine::install::import::{self, Fate};
use conclaude_engine::install::registration::{self, ScopeSettings};
use conclaude_engine::install::scope::{Scope, SettingsTarget};
use conclaude_engine::install::settings::{self, ORIGINAL, SWITCH};
use conclaude_os::environment;

/// Whether the settings can be read, and register everything that the config needs.
pub(super) fn registrations(installation: &Installation) -> Vec<Check> {
    let mut checks: Vec<Check> =
        installation.settings_files.iter().flat_map(|file| of_file(file, installation)).collect();
    let locations = installation.locations();
    let plugin = registration::plugin(&installation.settings_files);
    if let Some(plugin) = plugin {
        checks.push(of_plugin(plugin, &locations, installation));
    }
    if locations.is_empty() {
        if plugin.is_some() {
            return checks;
        }
        // Registering again in a file that Claude Code ignores would not help.
        if installation.settings_files.iter().any(ScopeSettings::is_ignored)
            || !installation.concerns_claude()
        {
            return checks;
        }
        let text = "conclaude is not registered with Claude Code for this project";
        checks.push(Check::problem("settings", text, "conclaude install"));
        return checks;
    }
    let problems =
        registration::out_of_sync(&installation.settings_files, &installation.effective_config(), |scope| {
            registration::config_for(scope, &installation.root).config
        });
    // If it is registered in the project, its commands run without `conclaude trust`: that comes first.
    let is_untrusted = !problems.is_empty() && untrusted(installation).is_some();
    let user_only = format!("conclaude install {}", Scope::User.flag());
    checks.extend(problems.iter().map(|problem| {
        let is_of_project = is_untrusted && problem.fix != user_only;
        let first = if is_of_project { "conclaude trust && " } else { "" };
        Check::problem("settings", &problem.what, format!("{first}{}", problem.fix))
    }));
    if problems.is_empty() {
        let paths: Vec<String> =
            locations.iter().map(|file| short(&file.path, &installation.project)).collect();
        let number = locations.iter().map(|file| file.registered().len() as u64).sum();
        let text = format!("{} registered in {}", count(number, "event"), paths.join(", "));
        checks.push(Check::good("settings", text));
    }
    checks.extend(elsewhere(installation));
    let unneeded = unneeded(installation);
    if !unneeded.is_empty() {
        let text = format!("{} registered without need: a process at each such event", unneeded.join(", "));
        checks.push(Check::warning("settings", text, installation.install_again()));
    }
    checks
}

/// Which of plugin and settings applies: the plugin defers to any settings.
fn of_plugin(plugin: &str, locations: &[&ScopeSettings], installation: &Installation) -> Check {
    if locations.is_empty() {
        let text =
            format!("the plugin {plugin} calls conclaude: it counts here, and asks for `conclaude trust`");
        return Check::good("plugin", text);
    }
    let paths: Vec<String> = locations.iter().map(|file| short(&file.path, &installation.project)).collect();
    Check::good(
        "plugin",
        format!(
            "the registration in {} counts: for its events the plugin {plugin} does nothing",
            paths.join(", ")
        ),
    )
}

/// The problems of a settings file, independent of the config.
fn of_file(file: &ScopeSettings, installation: &Installation) -> Vec<Check> {
    let name = short(&file.path, &installation.project);
    let editor = format!("${{EDITOR:-vi}} {}", file.path.display());
    let settings = match &file.settings {
        Ok(settings) => settings,
        Err(refusal) => {
            return vec![Check::problem("settings", format!("{name} cannot be read: {refusal}"), editor)];
        }
    };
    let mut checks = Vec::new();
    if let Some(why) = &settings.ignored {
        let text = format!("Claude Code ignores all of {name}, since {why}");
        let fix =
            if why.contains("JSON") { "remove comments and trailing commas" } else { "correct that line" };
        let fix = format!("{editor}  # {fix}");
        checks.push(Check::problem("settings", text, fix));
    } else if settings.hooks_off {
        let text = format!("{name} switches all hooks off (`disableAllHooks`): nothing is ever called");
        checks.push(Check::problem("settings", text, format!("{editor}  # remove that line")));
    }
    let switch = settings.variables.iter().find(|(name, _)| name == SWITCH);
    if let Some((_, value)) = switch.filter(|(_, value)| settings.ignored.is_none() && switch::is_off(value))
    {
        let text = format!("{name} sets {SWITCH}={value} in `env`: every event is switched off");
        checks.push(Check::problem("settings", text, format!("{editor}  # remove that line")));
    }
    checks.extend(
        file.redirections()
            .into_iter()
            .map(|text| Check::problem("settings", text, format!("{editor}  # remove that line"))),
    );
    checks.extend(
        settings.dead.iter().map(|entry| Check::problem("settings", format!("{name}: {entry}"), &editor)),
    );
    checks.extend(settings.lookalikes.iter().map(|line| {
        let text = format!("`{line}` in {name} calls conclaude as well: it may be called twice");
        Check::warning("settings", text, &editor)
    }));
    checks
}

/// Hooks of conclaude 0.2 in the files of agents. conclaude does not change these files.
pub(super) fn agents(installation: &Installation) -> Vec<Check> {
    let check = |path: PathBuf| {
        let text = format!(
            "{} has a hook of conclaude 0.2 (`conclaude {ORIGINAL}`), which is not needed beside the settings",
            short(&path, &installation.project)
        );
        Check::warning("hooks", text, format!("${{EDITOR:-vi}} {}  # remove that hook", path.display()))
    };
    agents::with_original_hooks(&installation.project).into_iter().map(check).collect()
}

/// The user's hooks that run the same as the config.
pub(super) fn duplicates(installation: &Installation) -> Vec<Check> {
    let config = installation.effective_config();
    let found = duplicates::duplicates(&installation.project, &config);
    let check = |twice: Duplicate| {
        let name = short(&twice.path, &installation.project);
        let text = format!(
            "`{}` runs twice at {}: by the config, and as a hook of your own in {name}",
            messages::short(&twice.run),
            twice.event
        );
        // One project must not remove hooks for all projects.
        let editor = format!("${{EDITOR:-vi}} {}", twice.path.display());
        let fix = match import::fate(&twice.hook, Some(&config)) {
            _ if twice.scope == Scope::User => editor,
            Fate::Advise(what) => what,
            Fate::Leave(_) => format!("{editor}  # remove that hook"),
            _ => format!("conclaude init --import {}", twice.scope.flag()),
        };
        Check::warning("hooks", text, fix)
    };
    found.into_iter().map(check).collect()
}

/// A folder below the project's, in which a session would not read its settings.
fn elsewhere(installation: &Installation) -> Option<Check> {
    let here = std::env::current_dir().ok()?;
    let is_elsewhere = here != installation.project && !environment::is_set(variables::PROJECT_DIR);
    if !is_elsewhere {
        return None;
    }
    Some(Check::warning(
        "settings",
        "a session that starts in this very folder does not read the settings of the project above",
        format!("cd {}  # and start Claude Code there", installation.project.display()),
    ))
}

fn unneeded(installation: &Installation) -> Vec<&'static str> {
    let needed = registration::needed(
        &installation.effective_config(),
        "conclaude",
        SettingsTarget::claude(Scope::Project),
    );
    let own = installation.locations().into_iter().filter(|file| file.scope != Scope::User);
    own.flat_map(ScopeSettings::registered)
        .filter(|one| !needed.iter().any(|need| need.event == one.event))
        .map(|one| one.event.name())
        .collect()
}

/// npm puts this launcher on the PATH.
const LAUNCHER: &str = "conclaude.js";

/// Whether the command lines start a program, and whether it is this one.
pub(super) fn programs(installation: &Installation) -> Vec<Check> {
    let locations = installation.locations();
    let all = locations.iter().flat_map(|file| file.registered().iter().map(|one| (file.scope, one)));
    let mut lines: Vec<(Scope, &str)> = all.map(|(scope, one)| (scope, one.command.as_str())).collect();
    // One event for each way to spell the program is enough.
    let program = |line: &(Scope, &str)| installation.program(line.1);
    lines.sort_by_key(|line| program(line));
    lines.dedup_by_key(|(_, line)| installation.program(line));
    let check = |(scope, line): (Scope, &str)| {
        let fix = format!("conclaude install {}", scope.flag());
        match installation.program(line) {
            None => {
                let text = format!("`{}` starts nothing: there is no such program", settings::short(line));
                Check::problem("program", text, fix)
            }
            Some((launcher, false)) if launcher.file_name().is_some_and(|name| name == LAUNCHER) => {
                let text = format!("{} starts Node at each event, and then conclaude", launcher.display());
                Check::warning("program", text, fix)
            }
            Some((own, true)) => Check::good("program", format!("{} is what is registered", own.display())),
            Some((other, false)) => {
                let own = own_program().unwrap_or_default();
                let text = format!(
                    "the registration names {}, and this is {}: it was not called, since doctor calls only itself",
                    other.display(),
                    own.display()
                );
                Check::warning("program", text, fix)
            }
        }
    };
    lines.into_iter().map(check).collect()
}
