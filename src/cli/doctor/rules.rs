//! What was written down: registrations, config, patterns, trust.

use super::{Check, Patient, short};
use crate::event;
use crate::install::registration::{self, IF_TRUSTED, Place, on_path, program_of};
use crate::pattern::Pattern;
use crate::store::trust::{self, Standing};
use crate::text::count;

use crate::install::agents;

/// The types of agents that the client itself has.
const BUILT_IN: [&str; 7] = [
    "general-purpose",
    "Explore",
    "Plan",
    "claude",
    "statusline-setup",
    "output-style-setup",
    "claude-code-guide",
];

/// Settings that can be read, in which everything needed is registered for long enough.
pub(super) fn registrations(patient: &Patient) -> Vec<Check> {
    let mut checks = Vec::new();
    for file in &patient.found {
        let (name, path) = (short(&file.path, &patient.project), file.path.display());
        if let Err(refusal) = &file.registered {
            let text = format!("{name} cannot be read: {refusal}");
            checks.push(Check::problem("settings", text, format!("${{EDITOR:-vi}} {path}")));
        }
        if file.hooks_off {
            let text = format!("{name} switches all hooks off (`disableAllHooks`): nothing is ever called");
            checks.push(Check::problem(
                "settings",
                text,
                format!("${{EDITOR:-vi}} {path}  # take that line out"),
            ));
        }
        for line in &file.lookalikes {
            let text = format!("`{line}` in {name} calls conclaude as well: it may be called twice");
            checks.push(Check::warning("settings", text, format!("${{EDITOR:-vi}} {path}")));
        }
    }
    let homes = registration::homes(&patient.found);
    if homes.is_empty() {
        let text = "conclaude is not registered with Claude Code for this project";
        checks.push(Check::problem("settings", text, "conclaude install"));
        return checks;
    }
    let drift = registration::drift(&patient.found, &patient.agents, &patient.settings());
    checks.extend(drift.iter().map(|problem| Check::problem("settings", &problem.what, &problem.mend)));
    if drift.is_empty() {
        let places: Vec<String> = homes.iter().map(|file| short(&file.path, &patient.project)).collect();
        let number = homes.iter().flat_map(|file| file.registered.iter().flatten()).count() as u64;
        checks.push(Check::good(
            "settings",
            format!("{} registered in {}", count(number, "event"), places.join(", ")),
        ));
    }
    if std::env::current_dir().is_ok_and(|here| here != patient.project)
        && std::env::var_os("CLAUDE_PROJECT_DIR").is_none()
    {
        let text =
            "a session that starts in this very folder does not read the settings of the project above";
        checks.push(Check::warning(
            "settings",
            text,
            format!("cd {}  # and start Claude Code there", patient.project.display()),
        ));
    }
    let mend = format!("conclaude install {}", homes.first().map_or("", |file| file.place.flag()));
    let unneeded = unneeded(patient);
    if !unneeded.is_empty() {
        let text = format!("{} registered without need: a process at each such event", unneeded.join(", "));
        checks.push(Check::warning("settings", text, mend));
    }
    checks
}

fn unneeded(patient: &Patient) -> Vec<&'static str> {
    let needed = registration::needed(&patient.settings(), "conclaude", Place::Project);
    let own = registration::homes(&patient.found).into_iter().filter(|file| file.place != Place::User);
    own.flat_map(|file| file.registered.iter().flatten())
        .filter(|one| !needed.iter().any(|need| need.event == one.event))
        .map(|one| one.event.name())
        .collect()
}

/// A config that can be read, and means what it says.
pub(super) fn config(patient: &Patient) -> Vec<Check> {
    let Some(path) = &patient.root.config else {
        let text = "there is no .conclaude.yaml: only the gates of marked prompts do anything";
        return vec![Check::warning("config", text, "conclaude init")];
    };
    let name = short(path, &patient.root.folder);
    match &patient.config {
        Some(Err(error)) => {
            let text = format!("{name} is not valid: {}", error.summary());
            vec![Check::problem("config", text, "conclaude validate")]
        }
        _ => {
            let settings = patient.settings();
            let what = match settings.commands() {
                0 => "no commands".into(),
                commands => count(commands as u64, "command"),
            };
            let warnings = settings.warnings().into_iter();
            let doubtful =
                warnings.map(|what| Check::warning("config", what, format!("mend {}", path.display())));
            std::iter::once(Check::good("config", format!("{name} is valid: {what}")))
                .chain(doubtful)
                .collect()
        }
    }
}

/// Names of agents that exist, as far as files tell.
fn known_agents(patient: &Patient) -> Vec<String> {
    let of_user = agents::all(&patient.project, Place::User);
    let own = patient.agents.iter().chain(&of_user).map(|agent| agent.name.clone());
    BUILT_IN.iter().map(|name| (*name).to_owned()).chain(own).collect()
}

/// Patterns that match no agent that is known: rules that look alive and are dead.
pub(super) fn patterns(patient: &Patient) -> Vec<Check> {
    let settings = patient.settings();
    let known = known_agents(patient);
    let sections = settings.sections.iter().filter(|(event, _)| event.row().subject == event::Subject::Agent);
    let all: Vec<(&str, &Pattern)> = sections
        .flat_map(|(event, section)| {
            section.entries().iter().map(|(pattern, _)| (event.row().section, pattern))
        })
        .collect();
    let is_dead = |pattern: &Pattern| {
        // Agents of plugins are called `plugin:name`; where they lie is the client's business.
        !pattern.as_str().contains(':')
            && !known.iter().any(|name| pattern.matches(name, None).unwrap_or(true))
    };
    let dead: Vec<&(&str, &Pattern)> = all.iter().filter(|(_, pattern)| is_dead(pattern)).collect();
    if dead.is_empty() {
        let own = known.len() - BUILT_IN.len();
        let text = match all.len() {
            0 => return Vec::new(),
            n => format!("{} fit an agent that is known ({} of your own)", count(n as u64, "pattern"), own),
        };
        return vec![Check::good("patterns", text)];
    }
    dead.into_iter()
        .map(|(section, pattern)| {
            let text = format!("{section}: \"{pattern}\" matches no agent that is known here");
            let own = known.iter().skip(BUILT_IN.len()).map(String::as_str);
            let mend = match crate::text::nearest(pattern.as_str(), known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => {
                    let own: Vec<&str> = own.collect();
                    let own = if own.is_empty() { "none of your own".into() } else { own.join(", ") };
                    format!("known are: {own}; built in: {}", BUILT_IN.join(", "))
                }
            };
            Check::warning("patterns", text, mend)
        })
        .collect()
}

/// Where conclaude is registered for all projects, whether this one may run anything.
pub(super) fn trusted(patient: &Patient) -> Option<Check> {
    let path = patient.root.config.as_ref()?;
    let settings = patient.settings();
    let homes = registration::homes(&patient.found);
    let only_user = !homes.is_empty() && homes.iter().all(|file| file.place == Place::User);
    let asks = homes
        .iter()
        .flat_map(|file| file.registered.iter().flatten())
        .any(|one| one.command.ends_with(IF_TRUSTED));
    let runs_code = settings.commands() > 0 || settings.judge().is_some();
    if !only_user || !asks || !runs_code {
        return None;
    }
    let text = crate::root::read(path).ok()?;
    Some(match trust::standing(path, &text) {
        Standing::Trusted => Check::good("trust", "what the config runs was agreed to"),
        Standing::Changed => Check::problem(
            "trust",
            "the config has changed since it was trusted: its commands do not run",
            "conclaude trust",
        ),
        Standing::Unknown => {
            Check::problem("trust", "the config is not trusted: its commands do not run", "conclaude trust")
        }
    })
}

/// Whether the judge can be asked, if there is one.
pub(super) fn judge(patient: &Patient) -> Vec<Check> {
    if patient.settings().judge().is_none() {
        return Vec::new();
    }
    let has_key = std::env::var("ANTHROPIC_API_KEY").is_ok_and(|key| !key.trim().is_empty());
    let mut checks = Vec::new();
    if on_path("curl").is_none() {
        checks.push(Check::problem(
            "judge",
            "`curl` asks the judge, and is not on the PATH",
            "apt-get install curl",
        ));
    }
    if !has_key {
        let text = "ANTHROPIC_API_KEY is not set here; without it in the client's environment the judge cannot be asked";
        checks.push(Check::warning("judge", text, "export ANTHROPIC_API_KEY=…"));
    }
    if checks.is_empty() {
        checks.push(Check::good("judge", "there are a key and curl to ask it"));
    }
    checks
}

/// Whether the command lines start a program, and this one.
pub(super) fn programs(patient: &Patient) -> Vec<Check> {
    let homes = registration::homes(&patient.found);
    let all = homes.iter().flat_map(|file| file.registered.iter().flatten().map(|one| (file.place, one)));
    let mut lines: Vec<(Place, &str)> = all.map(|(place, one)| (place, one.command.as_str())).collect();
    // One event for each way to spell the program is enough.
    lines.sort_by_key(|(_, line)| program_of(line));
    lines.dedup_by_key(|(_, line)| program_of(line));
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let check = |(place, line): (Place, &str)| {
        let mend = format!("conclaude install {}", place.flag());
        match program_of(line).and_then(|path| path.canonicalize().ok()) {
            None => {
                Check::problem("program", format!("`{line}` starts nothing: there is no such program"), mend)
            }
            Some(real) if real == own => {
                Check::good("program", format!("{} is what is registered", own.display()))
            }
            Some(real) => {
                let text = format!("registered is {}, and this is {}", real.display(), own.display());
                Check::warning("program", text, mend)
            }
        }
    };
    lines.into_iter().map(check).collect()
}
