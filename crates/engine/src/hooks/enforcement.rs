//! After `install --enforce`, keeps the files that Claude Code's sandbox protects in sync with the existing ones.

use std::path::Path;

use serde_json::Value;

use super::context::Context;
use crate::install::InstallError;
use crate::install::enforcement::{
    self, CompileInput, EnforceChange, EnforcedConfig, EnforcedSettings, EnforcementError,
};
use conclaude_checks::enforce::{CompiledRules, ListedFile, RuleEnforcement};
use conclaude_checks::paths::Links;
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::sample::TRIAL_SESSION;
use conclaude_core::dialect::claude::sandbox::{self, SettingsEntry};
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::event::EventKind;
use conclaude_core::outcome::Outcome;
use conclaude_core::text::clean_line;
use conclaude_os::git::TreeEntry;
use conclaude_os::{files, log};
use shell_effects::Access;
use thiserror::Error;

/// The number of files that are named.
const MAX_NAMED: usize = 5;

#[derive(Debug, Error)]
enum UpdateError {
    #[error(transparent)]
    Settings(#[from] InstallError),
    #[error(transparent)]
    Rules(#[from] EnforcementError),
    #[error("another process changes the settings")]
    Locked,
}

/// Adds unprotected files, and reports entries that others have removed from the settings.
pub(super) fn update(context: &Context<'_>) -> Vec<Outcome> {
    // A broken config may lack rules. `doctor` changes nothing.
    let is_trial = context.payload().session_id() == TRIAL_SESSION;
    if is_trial || context.config.error.is_some() || !EnforcedSettings::is_installed(&context.project) {
        return Vec::new();
    }
    let updated = match context.kind() {
        EventKind::SessionStart => at_start(context),
        _ => after_call(context),
    };
    let messages = match updated {
        Ok(messages) => messages,
        Err(error) => {
            log::warn(|| format!("the files that the sandbox protects are not up to date: {error}"));
            vec![format!(
                "⚠ the files that the sandbox protects are not up to date: {}",
                clean_line(&error.to_string())
            )]
        }
    };
    messages.into_iter().map(Outcome::note).collect()
}

pub(super) fn config<'a>(context: &'a Context<'_>) -> EnforcedConfig<'a> {
    EnforcedConfig {
        root: &context.root,
        project: &context.project,
        config: &context.config.settings,
        origins: &context.config.origins,
        extended: &context.config.extended,
    }
}

fn at_start(context: &Context<'_>) -> Result<Vec<String>, UpdateError> {
    let lock = enforcement::lock(&context.project, &context.budget)?.ok_or(UpdateError::Locked)?;
    let settings = EnforcedSettings::read(&context.project)?;
    if let Some(why) = settings.ignored() {
        let path = clean_line(&settings.path().display().to_string());
        return Ok(vec![format!("⚠ {path} enforces nothing: {}", clean_line(&why))]);
    }
    let compiled = config(context).compile_with(&settings, &context.budget)?;
    let mut messages: Vec<String> = taken_out(&settings, &compiled).into_iter().collect();
    let enforcers = context.config.settings.enforcers();
    // It was switched off, so new entries would protect nothing.
    if enforcers.sandbox && !settings.is_on() {
        return Ok(messages);
    }
    let change = settings.update(&compiled, enforcers)?;
    messages.extend(changes(&change, &compiled, &settings));
    messages.extend(unlisted(&compiled));
    messages.extend(compiled.own_links().map(|why| format!("⚠ {}", clean_line(&why))));
    change.write()?;
    drop(lock);
    Ok(messages)
}

/// The files that a call may have created.
enum WrittenFiles {
    Named(Vec<TreeEntry>),
    Unknown,
}

fn after_call(context: &Context<'_>) -> Result<Vec<String>, UpdateError> {
    let written = match written(context) {
        WrittenFiles::Named(files) if files.is_empty() => return Ok(Vec::new()),
        written => written,
    };
    // Most rules are paths, which do not depend on existing files.
    let rules = config(context).compile_for(&CompileInput::default())?;
    if !rules.depends_on_files {
        return Ok(Vec::new());
    }
    let lock = enforcement::lock(&context.project, &context.budget)?.ok_or(UpdateError::Locked)?;
    let settings = EnforcedSettings::read(&context.project)?;
    let enforcers = context.config.settings.enforcers();
    if !settings.is_on() || settings.ignored().is_some() {
        return Ok(Vec::new());
    }
    let (compiled, change) = match written {
        WrittenFiles::Unknown => {
            let compiled = config(context).compile_with(&settings, &context.budget)?;
            let change = settings.update(&compiled, enforcers)?;
            (compiled, change)
        }
        WrittenFiles::Named(files) => {
            let compiled = config(context).compile_files(&settings, files)?;
            let change = settings.addition(&compiled, new_files(&compiled, &settings))?;
            (compiled, change)
        }
    };
    let mut messages = changes(&change, &compiled, &settings);
    // Reported once, until there are more of them.
    if compiled.unlisted() > settings.unlisted() {
        messages.extend(unlisted(&compiled));
    }
    change.write()?;
    drop(lock);
    Ok(messages)
}

/// The files that match a rule and cannot be listed, in words.
fn unlisted(compiled: &CompiledRules) -> Vec<String> {
    let line = |one: &RuleEnforcement| {
        let count = one.unlisted;
        let files =
            if count == 1 { "1 file that matches".to_owned() } else { format!("{count} files that match") };
        let are = if count == 1 { "is" } else { "are" };
        let pattern = clean_line(one.rule.pattern.as_deref().unwrap_or_default());
        format!(
            "⚠ {files} {pattern} {are} not protected by the sandbox, so guards ask as before: {}",
            clean_line(&one.why)
        )
    };
    compiled.incomplete().map(line).collect()
}

/// The entries for listed files that no entry of ours covers yet.
fn new_files(compiled: &CompiledRules, settings: &EnforcedSettings) -> Vec<SettingsEntry> {
    let present = settings.present();
    let is_covered = |entry: &SettingsEntry| {
        present.iter().filter(|own| own.keys == entry.keys).any(|own| {
            let rest = entry.text().zip(own.text()).and_then(|(path, own)| path.strip_prefix(own));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let of_files = compiled.entries.iter().filter(|entry| {
        let is_listed = || compiled.listed.iter().any(|file| entry.text() == Some(file.spelled.as_str()));
        entry.is_at(&sandbox::ALLOW_READ) || entry.is_at(&sandbox::DENY_WRITE) && is_listed()
    });
    of_files.filter(|entry| !is_covered(entry)).cloned().collect()
}

/// The changes, in words.
fn changes(change: &EnforceChange<'_>, compiled: &CompiledRules, settings: &EnforcedSettings) -> Vec<String> {
    let listed = |entry: &SettingsEntry| -> Option<&ListedFile> {
        let is_it = |file: &&ListedFile| entry.text() == Some(file.spelled.as_str());
        if entry.is_at(&sandbox::DENY_WRITE) { compiled.listed.iter().find(is_it) } else { None }
    };
    let mut lines = Vec::new();
    let (mut more, mut others) = (0, 0);
    for entry in &change.new {
        match listed(entry) {
            Some(file) if lines.len() < MAX_NAMED => {
                let pattern = file.rule.pattern.as_deref().unwrap_or_default();
                lines.push(format!(
                    "{} matches {} and was not protected by the sandbox: added now",
                    clean_line(&file.path),
                    clean_line(pattern)
                ));
            }
            Some(_) => more += 1,
            // An exception applies to a new file.
            None if entry.is_at(&sandbox::ALLOW_READ) => {}
            None => others += 1,
        }
    }
    if more > 0 {
        lines.push(format!("and {more} more files"));
    }
    let outdated = change.outdated();
    let is_of_rule =
        |entry: &&&SettingsEntry| !entry.is_at(&sandbox::DENY_WRITE) && !entry.is_at(&sandbox::ALLOW_READ);
    let removed = outdated.iter().filter(is_of_rule).count();
    if others > 0 || removed > 0 {
        let path = settings.path().display();
        lines.push(format!("the rules have changed: {path} has {others} new entries and lost {removed}"));
    }
    if lines.is_empty() { Vec::new() } else { vec![lines.join("\n")] }
}

/// The entries that others have removed or changed.
fn taken_out(settings: &EnforcedSettings, compiled: &CompiledRules) -> Option<String> {
    let taken_out = settings.taken_out(compiled);
    if taken_out.is_empty() {
        return None;
    }
    let mut names: Vec<String> =
        taken_out.iter().take(MAX_NAMED).map(|entry| clean_line(&entry.to_string())).collect();
    if taken_out.len() > MAX_NAMED {
        names.push(format!("and {} more", taken_out.len() - MAX_NAMED));
    }
    Some(format!(
        "⚠ {} no longer has what `conclaude install --enforce` wrote: {}\nTo write it again: conclaude install --enforce; to give it up: conclaude uninstall --enforce",
        clean_line(&settings.path().display().to_string()),
        names.join(", ")
    ))
}

fn written(context: &Context<'_>) -> WrittenFiles {
    let fields = &context.event.fields;
    let name = fields.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let Some(input) = fields.get("tool_input").and_then(Value::as_object) else {
        return WrittenFiles::Named(Vec::new());
    };
    match tools::what(name, input) {
        ToolUse::File { access: Access::Write, path } => {
            WrittenFiles::Named(existing(context, [path.to_owned()]))
        }
        ToolUse::Shell(command) => {
            let script = shell_effects::read(command, files::home().as_deref());
            let changes = || script.effects.iter().filter(|effect| effect.access != Access::Read);
            let is_known = script.doubts.is_empty() && script.commands.iter().all(|one| one.tells_all());
            let named = |makes_directory: bool| {
                let such = changes().filter(|one| (one.access == Access::MakeDirectory) == makes_directory);
                let paths: Option<Vec<String>> = such.map(|effect| effect.literal()).collect();
                Some(existing(context, paths?))
            };
            match (named(true), named(false)) {
                // `cp -r a b`: the content of a directory is not named.
                (Some(empty), Some(files)) if is_known && !files.iter().any(|file| file.is_directory) => {
                    WrittenFiles::Named([empty, files].concat())
                }
                _ => WrittenFiles::Unknown,
            }
        }
        ToolUse::PowerShell(_) => WrittenFiles::Unknown,
        _ => WrittenFiles::Named(Vec::new()),
    }
}

/// Those of some paths that are the project's and exist.
fn existing(context: &Context<'_>, paths: impl IntoIterator<Item = String>) -> Vec<TreeEntry> {
    let links = Links::default();
    let root = links.real_path(&context.root.folder);
    let entry = |path: String| {
        let path = links.real_path(&Path::new(context.payload().cwd()).join(path));
        let below = path.strip_prefix(&root).ok()?.to_str()?.to_owned();
        let metadata = path.symlink_metadata().ok()?;
        let is_own = !below.is_empty() && layout::inside_worktree(&below).is_none();
        let (is_directory, is_link) = (path.is_dir(), metadata.is_symlink());
        if is_own { Some(TreeEntry { path: below, is_directory, is_link }) } else { None }
    };
    paths.into_iter().filter_map(entry).collect()
}
