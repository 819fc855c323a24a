//! Whether Claude Code's sandbox holds for every command of a session, so that guards need not ask what a command will touch.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use crate::install::scope::Scope;
use conclaude_checks::enforce::Compiled;
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::sandbox::effective::{
    EffectiveSandbox, FOREIGN, SandboxGap, SettingsSource, is_client, overriding_option,
};
use conclaude_core::dialect::claude::sandbox::{ALLOW_READ, SANDBOX, SettingsEntry};
use conclaude_os::files;
use conclaude_os::process::ancestors;
use conclaude_store::root::claude_folder;
use shell_effects::SimpleCommand;

/// A settings file is never this large.
const MAX_BYTES: u64 = 4 << 20;

/// Why a question is asked although the config has the sandbox enforce its rules.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum WhyAsked {
    #[error(transparent)]
    Gap(#[from] SandboxGap),
    #[error("Claude Code was started with `--{0}`, so other settings may count")]
    Option(String),
    #[error("the rules are compiled for Claude Code, and this is {0}")]
    OtherClient(&'static str),
    #[error("how Claude Code was started cannot be seen")]
    UnknownClient,
    #[error("`{0}` is set: the sandbox may not be used there")]
    Foreign(&'static str),
    #[error("`sandbox.excludedCommands` has `{0}`, which may be for this command")]
    Excluded(String),
    #[error("the command asks to run without the sandbox")]
    Unsandboxed,
    #[error("copies of protected files in a worktree are not protected by the sandbox")]
    Worktree,
    #[error("{0} is kept by the hook only")]
    HookOnly(String),
}

/// What the settings files of a session say about the sandbox.
///
/// # Errors
/// If a file cannot be read: then nobody knows.
pub fn effective(project: &Path) -> Result<EffectiveSandbox, SandboxGap> {
    let mut sources = Vec::new();
    for path in settings_files(project) {
        let unreadable = |why: String| SandboxGap::Unreadable { file: path.display().to_string(), why };
        let text = match files::read_text(&path, MAX_BYTES) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            continue;
        }
        let json: Value = serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
        // What a server sent is kept with its checksum.
        let json = match json.get("settings") {
            Some(settings) if path.ends_with(layout::SERVED_SETTINGS) => settings.clone(),
            _ => json,
        };
        let name = path.strip_prefix(project).unwrap_or(&path).display().to_string();
        sources.push(SettingsSource { name, json });
    }
    Ok(EffectiveSandbox { sources })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The settings files, the strongest last: those of the user, the project, and whoever manages the machine.
fn settings_files(project: &Path) -> Vec<PathBuf> {
    let own = [Scope::User, Scope::Project, Scope::Local].into_iter().filter_map(|scope| scope.path(project));
    let managed = Path::new(layout::MANAGED_FOLDER);
    let mut parts: Vec<PathBuf> = std::fs::read_dir(managed.join(layout::MANAGED_PARTS))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    parts.sort();
    let served = claude_folder().map(|folder| folder.join(layout::SERVED_SETTINGS));
    own.chain([managed.join(layout::MANAGED_SETTINGS)]).chain(parts).chain(served).collect()
}

/// What in the process of Claude Code may make other settings count.
///
/// # Errors
/// If there is something, or if that cannot be known.
pub fn ordinary_client() -> Result<(), WhyAsked> {
    if let Some(name) = FOREIGN.iter().find(|name| std::env::var_os(name).is_some()) {
        return Err(WhyAsked::Foreign(name));
    }
    let lines = ancestors::command_lines();
    if let Some(option) = lines.iter().find_map(|line| overriding_option(line)) {
        return Err(WhyAsked::Option(option.to_owned()));
    }
    if lines.iter().any(|line| is_client(line)) { Ok(()) } else { Err(WhyAsked::UnknownClient) }
}

/// Whether the sandbox holds for every command here, and has every compiled rule.
///
/// # Errors
/// Says what lets commands out.
pub fn holds(sandbox: &EffectiveSandbox, compiled: &Compiled) -> Result<(), SandboxGap> {
    let is_of_sandbox = |entry: &&SettingsEntry| entry.keys.first().is_some_and(|key| key == SANDBOX);
    let entries = || compiled.entries.iter().filter(is_of_sandbox);
    let own: Vec<&str> =
        entries().filter(|entry| entry.is_at(&ALLOW_READ)).filter_map(SettingsEntry::text).collect();
    if let Some(gap) = sandbox.gap(&own) {
        return Err(gap);
    }
    match entries().find(|entry| !sandbox.has(entry)) {
        None => Ok(()),
        Some(entry) => Err(SandboxGap::NotListed(entry.to_string())),
    }
}

/// Whether no entry of `excludedCommands` may take a call with these commands out of the sandbox.
///
/// # Errors
/// Names the entry.
pub fn includes(sandbox: &EffectiveSandbox, commands: &[SimpleCommand]) -> Result<(), WhyAsked> {
    let words: Vec<&[String]> = commands.iter().map(|command| command.words.as_slice()).collect();
    match sandbox.excluding(&words) {
        None => Ok(()),
        Some(entry) => Err(WhyAsked::Excluded(entry.to_owned())),
    }
}
