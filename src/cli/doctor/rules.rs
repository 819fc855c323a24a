//! The config and its requirements: patterns, trust, the judge.

use std::path::Path;

use super::{Check, Installation, short};
use crate::cli::validate;
use conclaude_checks::des::judge::KEY_VARIABLE;
use conclaude_core::config::{ConfigError, Layer, LocatedProblem, Remark};
use conclaude_core::dialect::claude::names::AGENTS as BUILT_IN;
use conclaude_core::pattern::Pattern;
use conclaude_core::text::count;
use conclaude_engine::install::registration::asks_for_trust;
use conclaude_engine::install::scope::Scope;
use conclaude_engine::install::{agents, local_file, schema_file};
use conclaude_engine::lint::{self, LintContext};
use conclaude_os::environment::Variables;
use conclaude_store::audit::Trail;
use conclaude_store::export::{self, ExportState, Target};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::store;

/// Whether the config is valid, with its warnings.
pub(super) fn config(installation: &Installation) -> Vec<Check> {
    let LoadedConfig { config, origins, errors, .. } = &installation.loaded;
    if origins.sources().is_empty() && errors.is_empty() {
        let text = "there is no .conclaude.yaml: only the gates of marked prompts do anything";
        return vec![Check::warning("config", text, "conclaude init")];
    }
    let folder = &installation.root.folder;
    let mut checks: Vec<Check> = errors.iter().map(|error| broken(error, folder)).collect();
    let files =
        origins.sources().iter().filter(|source| !errors.iter().any(|error| error.path() == source.path));
    let names: Vec<String> = files.map(|source| short(&source.path, folder)).collect();
    if !names.is_empty() {
        let what = validate::contents(config).join("; ");
        let is = if names.len() == 1 { "is" } else { "are" };
        checks.push(Check::good("config", format!("{} {is} valid: {what}", names.join(", "))));
    }
    if errors.is_empty() {
        let innermost = origins.sources().last().map(|source| source.path.display().to_string());
        let fix = format!("edit {}", innermost.unwrap_or_default());
        let remarks = lint::remarks(&installation.loaded, &LintContext::without_agents(folder));
        checks.extend(remarks.iter().map(|remark| of_remark(remark, &installation.loaded, &fix)));
        let local = local_file::not_ignored(folder);
        checks.extend(local.map(|problem| Check::warning("config", problem.what, problem.fix)));
        // A fresh clone lacks it: git ignores it.
        let schema = schema_file::refreshed(installation.root.config.as_deref());
        let fix = format!("ls -ld {}", folder.join(store::FOLDER).display());
        checks.extend(schema.map(|what| Check::warning("config", what, fix)));
    }
    checks
}

fn of_remark(remark: &Remark, loaded: &LoadedConfig, edit: &str) -> Check {
    let why = if remark.label.is_empty() { String::new() } else { format!(": {}", remark.label) };
    let what = format!("{}{why}", remark.title);
    let origin = remark.locate(&loaded.origins).map(|(source, problem)| {
        let line = LocatedProblem::of(&problem, &source.text, &source.path).line;
        format!("edit {}:{line}", source.path.display())
    });
    let fix = origin.unwrap_or_else(|| edit.to_owned());
    let fix = remark.help.as_ref().map_or(fix.clone(), |help| format!("{fix}: {help}"));
    Check::warning("config", what, fix)
}

fn broken(error: &ConfigError, folder: &Path) -> Check {
    if error.is_untrusted() {
        return Check::problem("config", error.summary(), "conclaude trust");
    }
    let text = format!("{} is not valid: {}", short(error.path(), folder), error.summary());
    Check::problem("config", text, "conclaude validate")
}

/// Names of agents that exist, as far as files tell.
fn known_agents(installation: &Installation) -> Vec<String> {
    let of_user = agents::names(&installation.project, Scope::User);
    let own = installation.agents.iter().cloned().chain(of_user);
    BUILT_IN.iter().map(|name| (*name).to_owned()).chain(own).collect()
}

/// Patterns that match no known agent: such rules never apply.
pub(super) fn patterns(installation: &Installation) -> Vec<Check> {
    let settings = installation.effective_config();
    let known = known_agents(installation);
    let sections = settings.sections.iter().filter(|(event, _)| event.is_of_agent());
    let all: Vec<(&str, &Pattern)> = sections
        .flat_map(|(event, section)| {
            section.entries().iter().map(|(pattern, _)| (event.row().section, pattern))
        })
        .collect();
    let is_dead = |pattern: &Pattern| {
        // Agents of plugins are called `plugin:name`. Their files are not looked for.
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
            let origin = installation.loaded.origins.of(&[section, "commands", pattern.as_str()]);
            let folder = &installation.root.folder;
            let at = origin.map(|origin| format!(" ({}:{})", short(origin.path, folder), origin.line));
            let at = at.unwrap_or_default();
            let text = format!("{section}: \"{pattern}\" matches no agent that is known here{at}");
            let own = known.iter().skip(BUILT_IN.len()).map(String::as_str);
            let fix = match conclaude_core::text::nearest(pattern.as_str(), known.iter().map(String::as_str))
            {
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

/// If conclaude is registered for all projects: whether this project may run anything.
pub(super) fn trusted(installation: &Installation) -> Option<Check> {
    let settings = installation.effective_config();
    let sources = installation.loaded.origins.sources();
    let of_project = sources.iter().any(|source| source.layer != Layer::User && !source.is_pack());
    if !asks_for_trust(&installation.settings_files) || !of_project || !settings.needs_trust() {
        return None;
    }
    Some(match untrusted(installation) {
        None => Check::good("trust", "you trust what the config runs and sends"),
        Some(why) => Check::problem("trust", format!("{why}: none of it is run or sent"), "conclaude trust"),
    })
}

/// Why the config may not run anything, if conclaude is registered for all projects.
pub(super) fn untrusted(installation: &Installation) -> Option<String> {
    if !asks_for_trust(&installation.settings_files) {
        return None;
    }
    let settings = installation.effective_config();
    let mut origins = installation.loaded.origins.clone();
    origins.check_trust(load::why_untrusted);
    let why = origins.untrusted_commands(&settings).first().copied();
    why.or(origins.untrusted_rules().first().map(|(_, why)| *why)).map(str::to_owned)
}

/// Whether decisions reach the collector, if there is one.
pub(super) fn telemetry(installation: &Installation) -> Option<Check> {
    let settings = installation.effective_config();
    // Missing trust is reported already.
    let endpoint = settings.endpoint()?;
    if untrusted(installation).is_some() {
        return None;
    }
    let trail = Trail::of(&installation.root.folder, None);
    let state = export::states(&trail).into_iter().find(|state| state.endpoint == endpoint.as_str());
    let unusable = settings
        .telemetry
        .as_ref()
        .and_then(|telemetry| Target::of_config(telemetry, &Variables::of_process()).err());
    let failure = state.as_ref().and_then(ExportState::failure);
    Some(match (failure, unusable) {
        // The variables of Claude Code's environment are known once something was sent.
        (None, None) if state.is_none() => {
            Check::good("telemetry", format!("nothing was sent to {} yet", endpoint.as_str()))
        }
        (None, Some(why)) if state.is_none() => {
            let text = format!("nothing was sent to {} yet; {why} here", endpoint.as_str());
            Check::warning("telemetry", text, "set it where Claude Code is started")
        }
        (None, _) => Check::good("telemetry", format!("decisions are sent to {}", endpoint.as_str())),
        (Some(failure), Some(why)) if failure.by_config => {
            let text = format!("nothing could be sent since {}; {why} here", failure.since);
            Check::warning("telemetry", text, "set it where Claude Code is started")
        }
        // That was another environment.
        (Some(failure), None) if failure.by_config => {
            let text = format!(
                "nothing could be sent since {}; what was missing in the environment is set here",
                failure.since
            );
            let fix =
                "conclaude audit export --otlp  # sends it now; the next session of Claude Code does so too";
            Check::warning("telemetry", text, fix)
        }
        (Some(failure), _) => {
            let text = format!("nothing could be sent since {}: {}", failure.since, failure.what);
            Check::warning("telemetry", text, "conclaude audit export --otlp  # tries again")
        }
    })
}

/// Whether the judge can be asked, if there is one.
pub(super) fn judge(installation: &Installation) -> Vec<Check> {
    if installation.effective_config().judge().is_none() {
        return Vec::new();
    }
    if Variables::of_process().value(KEY_VARIABLE).is_some() {
        return vec![Check::good("judge", "its key is set")];
    }
    let text = "ANTHROPIC_API_KEY is not set here; without it in Claude Code's environment the judge cannot be asked";
    vec![Check::warning("judge", text, "export ANTHROPIC_API_KEY=…")]
}
