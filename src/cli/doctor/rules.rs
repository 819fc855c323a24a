//! The config and what it needs: patterns, trust, the judge.

use super::check::{Check, short};
use super::installation::Installation;
use crate::cli::validate;
use crate::event;
use crate::install::agents;
use crate::install::registration::{asks_for_trust, on_path};
use crate::install::schema_file;
use crate::install::scope::Scope;
use crate::pattern::Pattern;
use crate::store;
use crate::store::trust::{self, TrustStatus};
use crate::text::count;

/// The types of agents that Claude Code itself has.
const BUILT_IN: [&str; 7] = [
    "general-purpose",
    "Explore",
    "Plan",
    "claude",
    "statusline-setup",
    "output-style-setup",
    "claude-code-guide",
];

/// A config that can be read, and means what it says.
pub(super) fn config(installation: &Installation) -> Vec<Check> {
    if let Some(error) = &installation.root.untrusted {
        return vec![Check::problem("config", error.summary(), "conclaude trust")];
    }
    let Some(path) = &installation.root.config else {
        let text = "there is no .conclaude.yaml: only the gates of marked prompts do anything";
        return vec![Check::warning("config", text, "conclaude init")];
    };
    let name = short(path, &installation.root.folder);
    match &installation.config {
        Some(Err(error)) => {
            let text = format!("{name} is not valid: {}", error.summary());
            vec![Check::problem("config", text, "conclaude validate")]
        }
        _ => {
            let settings = installation.effective_config();
            let what = validate::contents(&settings).join("; ");
            let warnings = validate::warnings(&settings).into_iter();
            let warnings =
                warnings.map(|what| Check::warning("config", what, format!("edit {}", path.display())));
            // For whoever cloned the project: git ignores it.
            let schema = schema_file::refreshed(Some(path));
            let schema = schema.map(|what| {
                Check::warning(
                    "config",
                    what,
                    format!("ls -ld {}", installation.root.folder.join(store::FOLDER).display()),
                )
            });
            std::iter::once(Check::good("config", format!("{name} is valid: {what}")))
                .chain(warnings)
                .chain(schema)
                .collect()
        }
    }
}

/// Names of agents that exist, as far as files tell.
fn known_agents(installation: &Installation) -> Vec<String> {
    let of_user = agents::names(&installation.project, Scope::User);
    let own = installation.agents.iter().cloned().chain(of_user);
    BUILT_IN.iter().map(|name| (*name).to_owned()).chain(own).collect()
}

/// Patterns that match no agent that is known: rules that look alive and are dead.
pub(super) fn patterns(installation: &Installation) -> Vec<Check> {
    let settings = installation.effective_config();
    let known = known_agents(installation);
    let sections = settings.sections.iter().filter(|(event, _)| event.row().subject == event::Subject::Agent);
    let all: Vec<(&str, &Pattern)> = sections
        .flat_map(|(event, section)| {
            section.entries().iter().map(|(pattern, _)| (event.row().section, pattern))
        })
        .collect();
    let is_dead = |pattern: &Pattern| {
        // Agents of plugins are called `plugin:name`; where they are is Claude Code's business.
        !pattern.as_str().contains(':')
            && !known.iter().any(|name| pattern.matches(name, None).unwrap_or(true))
    };
    let dead: Vec<&(&str, &Pattern)> = all.iter().filter(|(_, pattern)| is_dead(pattern)).collect();
    if dead.is_empty() {
        let own = known.len() - BUILT_IN.len();
        let text = match all.len() {
            0 => return Vec::new(),
            n => format!("{}: each matches a known agent ({own} of your own)", count(n as u64, "pattern")),
        };
        return vec![Check::good("patterns", text)];
    }
    dead.into_iter()
        .map(|(section, pattern)| {
            let text = format!("{section}: \"{pattern}\" matches no agent that is known here");
            let own = known.iter().skip(BUILT_IN.len()).map(String::as_str);
            let fix = match crate::text::nearest(pattern.as_str(), known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => {
                    let own: Vec<&str> = own.collect();
                    let own = if own.is_empty() { "none of your own".into() } else { own.join(", ") };
                    format!("known are: {own}; built in: {}", BUILT_IN.join(", "))
                }
            };
            Check::warning("patterns", text, fix)
        })
        .collect()
}

/// Where conclaude is registered for all projects, whether this one may run anything.
pub(super) fn trusted(installation: &Installation) -> Option<Check> {
    let path = installation.root.config.as_ref()?;
    let settings = installation.effective_config();
    let runs_code = settings.commands() > 0 || settings.judge().is_some();
    if !asks_for_trust(&installation.settings_files) || !runs_code {
        return None;
    }
    let text = crate::root::read(path).ok()?;
    Some(match trust::status(path, &text) {
        TrustStatus::Trusted => Check::good("trust", "what the config runs was agreed to"),
        TrustStatus::Changed => Check::problem(
            "trust",
            "the config has changed since it was trusted: its commands do not run",
            "conclaude trust",
        ),
        TrustStatus::Unknown => {
            Check::problem("trust", "the config is not trusted: its commands do not run", "conclaude trust")
        }
    })
}

/// Whether the judge can be asked, if there is one.
pub(super) fn judge(installation: &Installation) -> Vec<Check> {
    if installation.effective_config().judge().is_none() {
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
        let text = "ANTHROPIC_API_KEY is not set here; without it in Claude Code's environment the judge cannot be asked";
        checks.push(Check::warning("judge", text, "export ANTHROPIC_API_KEY=…"));
    }
    if checks.is_empty() {
        checks.push(Check::good("judge", "there are a key and curl to ask it"));
    }
    checks
}
