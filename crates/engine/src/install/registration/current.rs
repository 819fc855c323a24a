//! The current registrations, and the programs that they call.

use std::path::{Path, PathBuf};

use crate::install::native;
use crate::install::scope::{Scope, SettingsTarget};
use crate::install::settings::{
    self, AUTHORITIES, CommandLine, Refusal, Registration, STEERING, SWITCH, Settings,
};
use crate::install::user_file::MAX_BYTES;
use conclaude_core::dialect::Dialect;
use conclaude_core::dialect::claude::{self, tools};
use conclaude_core::pattern::Pattern;
pub use conclaude_os::environment::program as on_path;
use conclaude_os::files;

#[derive(Clone, Debug)]
pub struct ScopeSettings {
    pub client: &'static Dialect,
    pub scope: Scope,
    pub path: PathBuf,
    /// The content about us, or why it cannot be read.
    pub settings: Result<Settings, Refusal>,
}

impl ScopeSettings {
    pub fn target(&self) -> SettingsTarget {
        SettingsTarget { client: self.client, scope: self.scope }
    }

    /// The project of a project's file, judging by its path.
    pub fn project(&self) -> &Path {
        let depth = Path::new(self.client.settings.project).components().count();
        self.path.ancestors().nth(depth).unwrap_or(Path::new(""))
    }

    /// Whether we are registered in it, but Claude Code ignores that.
    pub fn is_ignored(&self) -> bool {
        let is = |settings: &Settings| settings.ignored.is_some() && !settings.registered.is_empty();
        self.settings.as_ref().is_ok_and(is)
    }

    /// The variables in a project's file that move the user's own config and state away, or keep hooks from running, in words.
    pub fn redirections(&self) -> Vec<String> {
        let Some(settings) = self.settings.as_ref().ok().filter(|file| file.ignored.is_none()) else {
            return Vec::new();
        };
        let moves = settings.variables.iter().filter(|(variable, _)| variable != SWITCH);
        let path = self.path.display();
        let line = |(variable, value): &(String, String)| {
            let effect = if STEERING.contains(&variable.as_str()) {
                "it may keep every hook from running, yours too"
            } else if AUTHORITIES.contains(&variable.as_str()) {
                "conclaude trusts servers by it, also with your telemetry"
            } else {
                "conclaude looks there for your own config, your trust and its state"
            };
            format!("{path} sets {variable}={value} in `env`: {effect}")
        };
        if self.scope == Scope::User { Vec::new() } else { moves.map(line).collect() }
    }

    /// The registrations that Claude Code reads.
    pub fn registered(&self) -> &[Registration] {
        match &self.settings {
            Ok(settings) if settings.ignored.is_none() => &settings.registered,
            _ => &[],
        }
    }
}

/// The settings files of Claude Code that exist, for all scopes.
pub fn current(project: &Path) -> Vec<ScopeSettings> {
    current_of(&claude::DIALECT, project)
}

/// The settings files of a client that exist, for all scopes.
pub fn current_of(client: &'static Dialect, project: &Path) -> Vec<ScopeSettings> {
    let existing = Scope::ALL.into_iter().filter_map(|scope| {
        let target = SettingsTarget { client, scope };
        let path = target.path(project).ok().filter(|path| path.symlink_metadata().is_ok())?;
        // In the home directory both are the same file, and it is the user's.
        if scope == Scope::User || !target.is_users_own(&path) { Some((scope, path)) } else { None }
    });
    existing
        .map(|(scope, path)| ScopeSettings { client, scope, settings: read(client, &path), path })
        .collect()
}

pub(super) fn read(client: &Dialect, path: &Path) -> Result<Settings, Refusal> {
    let text = files::read_text(path, MAX_BYTES).map_err(|error| Refusal(error.to_string()))?;
    settings::read_of(client, &text)
}

/// Our plugin that Claude Code uses with these settings: the file of the narrowest scope decides about each.
pub fn plugin(found: &[ScopeSettings]) -> Option<&str> {
    let of = |scope| {
        let files = found.iter().filter(move |file| file.scope == scope);
        files.filter_map(|file| file.settings.as_ref().ok()).filter(|file| file.ignored.is_none())
    };
    let scopes = [Scope::Local, Scope::Project, Scope::User];
    let mut seen: Vec<&str> = Vec::new();
    for (name, is_on) in scopes.into_iter().flat_map(of).flat_map(|file| &file.plugins) {
        if *is_on && !seen.contains(&name.as_str()) {
            return Some(name);
        }
        seen.push(name);
    }
    None
}

/// The files in which conclaude is registered.
pub fn locations(found: &[ScopeSettings]) -> Vec<&ScopeSettings> {
    found.iter().filter(|file| !file.registered().is_empty()).collect()
}

/// Whether only the user's own settings or the plugin call us here, with a trust check.
pub fn asks_for_trust(found: &[ScopeSettings]) -> bool {
    let locations = locations(found);
    if locations.is_empty() {
        return plugin(found).is_some();
    }
    let asks = |one: &Registration| CommandLine::parse(&one.command).is_some_and(|line| line.if_trusted);
    locations.iter().all(|file| file.scope == Scope::User)
        && locations.iter().flat_map(|file| file.registered()).any(asks)
}

/// Whether a registration calls us here without a trust check, such as the project's own. Then hooks run and send what the config
/// says: Claude Code itself has asked about the folder.
pub fn runs_unasked(found: &[ScopeSettings]) -> bool {
    let is_unasked =
        |one: &Registration| CommandLine::parse(&one.command).is_some_and(|line| !line.if_trusted);
    found.iter().any(|file| file.registered().iter().any(is_unasked))
}

/// Whether a registration of a project is sufficient, so that the user's own defers to it. One with `--if-trusted` is the user's
/// own, wherever it is: two registrations that deferred to each other would both do nothing.
pub(super) fn satisfies(one: &Registration, matcher: Option<&str>, project: &Path) -> bool {
    CommandLine::parse(&one.command).is_some_and(|line| !line.if_trusted)
        && covers(&[one.matcher.as_deref()], matcher)
        && one.flaw.is_none()
        && program_in(project, &one.command).is_some()
}

/// Whether the matchers together cover another one.
pub(super) fn covers(has: &[Option<&str>], wants: Option<&str>) -> bool {
    let all = |matcher: Option<&str>| matcher.is_none_or(|text| matches!(text.trim(), "" | "*"));
    if has.iter().any(|matcher| all(*matcher)) {
        return true;
    }
    let Some(wants) = wants.filter(|wants| !all(Some(wants))) else { return false };
    let names: Vec<&str> = has.iter().flatten().flat_map(|matcher| alternatives(matcher)).collect();
    let globs: Vec<Pattern> = has.iter().flatten().flat_map(|matcher| globs_of(matcher)).collect();
    let matches = |glob: &Pattern, name| glob.matches(name, None).unwrap_or(false);
    let is_named = |name| names.contains(&name) || globs.iter().any(|glob| matches(glob, name));
    alternatives(wants).into_iter().all(|name| {
        is_named(name)
            || tools::former_name(name).is_some_and(is_named)
            || is_named(tools::current_name(name))
    })
}

/// The names and patterns that a matcher of ours was made from.
fn alternatives(matcher: &str) -> Vec<&str> {
    let list = regular_expression(matcher).unwrap_or(matcher);
    list.split(['|', ',']).map(str::trim).collect()
}

fn regular_expression(matcher: &str) -> Option<&str> {
    matcher.strip_prefix("^(").and_then(|rest| rest.strip_suffix(")$"))
}

/// The globs that a matcher of ours was made from, if it is a regular expression.
fn globs_of(matcher: &str) -> Vec<Pattern> {
    let list = regular_expression(matcher).into_iter();
    list.flat_map(|list| list.split('|')).filter_map(Pattern::of_alternative).collect()
}

/// The program that a command line of ours starts in a project. `None` if there is none.
pub fn program_in(project: &Path, command: &str) -> Option<PathBuf> {
    let CommandLine { program, search, .. } = CommandLine::parse(command)?;
    if let Some(search) = search {
        native::found(search, project)
    } else if program.contains('/') {
        Some(project.join(program)).filter(|path| files::is_program(path))
    } else {
        on_path(program)
    }
}
