//! The current registrations, and the programs that they call.

use std::path::{Path, PathBuf};

use crate::install::scope::{Scope, is_users_own};
use crate::install::settings::{self, CommandLine, Refusal, Registration, SWITCH, Settings};
use crate::install::user_file::MAX_BYTES;
use conclaude_core::dialect::claude::tools;
use conclaude_core::pattern::Pattern;
use conclaude_os::files;

#[derive(Clone, Debug)]
pub struct ScopeSettings {
    pub scope: Scope,
    pub path: PathBuf,
    /// What it says about us, or why that cannot be read.
    pub settings: Result<Settings, Refusal>,
}

impl ScopeSettings {
    /// Whether we are registered in it, and Claude Code ignores that.
    pub fn is_ignored(&self) -> bool {
        let is = |settings: &Settings| settings.ignored.is_some() && !settings.registered.is_empty();
        self.settings.as_ref().is_ok_and(is)
    }

    /// The variables in a project's file that move the user's own config and state away, in words.
    pub fn redirections(&self) -> Vec<String> {
        let Some(settings) = self.settings.as_ref().ok().filter(|file| file.ignored.is_none()) else {
            return Vec::new();
        };
        let moves = settings.variables.iter().filter(|(variable, _)| variable != SWITCH);
        let path = self.path.display();
        let line = |(variable, value): &(String, String)| {
            format!(
                "{path} sets {variable}={value} in `env`: conclaude looks there for your own config, your trust and its state"
            )
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

/// The settings files that exist, for all scopes.
pub fn current(project: &Path) -> Vec<ScopeSettings> {
    let existing = Scope::ALL.into_iter().filter_map(|scope| {
        let path = scope.path(project).filter(|path| path.symlink_metadata().is_ok())?;
        // In one's home both are the same file, and it is the user's.
        if scope == Scope::User || !is_users_own(&path) { Some((scope, path)) } else { None }
    });
    existing.map(|(scope, path)| ScopeSettings { scope, settings: read(&path), path }).collect()
}

pub(super) fn read(path: &Path) -> Result<Settings, Refusal> {
    let text = files::read_text(path, MAX_BYTES).map_err(|error| Refusal(error.to_string()))?;
    settings::read(&text)
}

/// The files in which conclaude is registered.
pub fn locations(found: &[ScopeSettings]) -> Vec<&ScopeSettings> {
    found.iter().filter(|file| !file.registered().is_empty()).collect()
}

/// Whether only the user's own settings register us here, and they ask for trust.
pub fn asks_for_trust(found: &[ScopeSettings]) -> bool {
    let locations = locations(found);
    let asks = |one: &Registration| CommandLine::parse(&one.command).is_some_and(|line| line.if_trusted);
    locations.iter().all(|file| file.scope == Scope::User)
        && locations.iter().flat_map(|file| file.registered()).any(asks)
}

/// Whether a registration calls us here without asking for trust, such as the project's own. Then hooks run and send what the config
/// says: Claude Code itself has asked about the folder.
pub fn runs_unasked(found: &[ScopeSettings]) -> bool {
    let is_unasked =
        |one: &Registration| CommandLine::parse(&one.command).is_some_and(|line| !line.if_trusted);
    found.iter().any(|file| file.registered().iter().any(is_unasked))
}

/// Whether a registration of a project does what is needed, so that the user's own defers to it. One with `--if-trusted`
/// is the user's own, wherever it is: two that deferred to each other would both do nothing.
pub(super) fn satisfies(one: &Registration, matcher: Option<&str>) -> bool {
    CommandLine::parse(&one.command).is_some_and(|line| !line.if_trusted)
        && covers(&[one.matcher.as_deref()], matcher)
        && one.flaw.is_none()
        && program_of(&one.command).is_some()
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

/// The names and patterns from which a matcher of ours was made.
fn alternatives(matcher: &str) -> Vec<&str> {
    let list = regular_expression(matcher).unwrap_or(matcher);
    list.split(['|', ',']).map(str::trim).collect()
}

fn regular_expression(matcher: &str) -> Option<&str> {
    matcher.strip_prefix("^(").and_then(|rest| rest.strip_suffix(")$"))
}

/// The globs from which a matcher of ours was made, if it is a regular expression.
fn globs_of(matcher: &str) -> Vec<Pattern> {
    let list = regular_expression(matcher).into_iter();
    list.flat_map(|list| list.split('|')).filter_map(Pattern::of_alternative).collect()
}

/// The program that a command line of ours starts, as the shell would find it. None if there is none.
pub(super) fn program_of(command: &str) -> Option<PathBuf> {
    program_in(Path::new(""), command)
}

/// The same for a shell that starts in a folder.
pub fn program_in(folder: &Path, command: &str) -> Option<PathBuf> {
    let program = CommandLine::parse(command)?.program;
    if program.contains('/') {
        Some(folder.join(program)).filter(|path| files::is_program(path))
    } else {
        on_path(program)
    }
}

/// The program of that name that the shell finds.
pub fn on_path(name: &str) -> Option<PathBuf> {
    files::program_on(&std::env::var_os("PATH")?, name)
}
