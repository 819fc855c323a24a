//! The changes of `install` and `uninstall` to a settings file. The original file is stored in the user's state, so that
//! uninstalling restores every byte.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::backups::{Backup, BackupKind, Backups, missing};
use super::channels;
use super::error::InstallError;
use super::native::{self, OwnProgram};
use super::registration;
use super::scope::{Scope, SettingsTarget};
use super::settings::entries;
use super::settings::{self, Refusal, Registration, Settings, UserHook};
use super::user_file::UserFile;
use conclaude_core::config::ConclaudeConfig;
use conclaude_core::dialect::claude::sandbox::SettingsEntry;

/// The key of the version of a file's form.
const VERSION: &str = "version";

/// A settings file before conclaude was registered in it.
#[derive(Debug, PartialEq, Eq)]
enum OriginalText {
    Absent,
    Text {
        text: String,
        /// Like `text`, but without the hooks that a config has taken over.
        without_imported: String,
    },
    /// Others have changed the file since.
    Unknown,
}

/// Known only if the file is exactly the original with our registration, without hooks that a config has taken over. The newest copies
/// come first.
fn original(target: SettingsTarget, now: &str, backups: &[Backup], ours: &[Registration]) -> OriginalText {
    if ours.is_empty() {
        return OriginalText::Unknown;
    }
    // In the order of today's installation, or of an earlier version's.
    let orders = [registration::in_order(target.client, ours.to_vec()), ours.to_vec()];
    let made = |text: &str, ours: &[Registration]| settings::install(&prepared(target, text)?, ours);
    let gives_now = |text: &str| orders.iter().any(|ours| made(text, ours).is_ok_and(|made| made == now));
    let here = settings::user_hooks(now);
    for backup in backups {
        let imported = missing(&backup.text, &here);
        let text = match backup.kind {
            BackupKind::Absent if gives_now("") => return OriginalText::Absent,
            BackupKind::Absent => continue,
            BackupKind::Before => backup.text.clone(),
            // It contains our registration, and matters only for hooks that were imported later.
            BackupKind::Previous if imported.is_empty() => continue,
            BackupKind::Previous => settings::uninstall(&backup.text).unwrap_or_default(),
        };
        let Ok(without_imported) = settings::without(&text, &imported) else { continue };
        if gives_now(&without_imported) {
            return OriginalText::Text { text, without_imported };
        }
    }
    if gives_now("") { OriginalText::Absent } else { OriginalText::Unknown }
}

/// The text into which hooks are installed: a file of our own also says the version of its form.
fn prepared(target: SettingsTarget, text: &str) -> Result<String, Refusal> {
    let version = if target.scope == Scope::Local { None } else { target.client.settings.version };
    match version {
        Some(version) if text.trim().is_empty() => Ok(format!("{{\n  \"{VERSION}\": {version}\n}}\n")),
        Some(version) => Ok(entries::add(text, &[SettingsEntry::value(&[VERSION], version)])?.text),
        None => Ok(text.to_owned()),
    }
}

/// Whether only the initial content of our own file is left.
fn is_blank(target: SettingsTarget, text: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    let blank = prepared(target, "").ok().and_then(|blank| json(&blank));
    blank.is_some() && json(text) == blank
}

/// The text with all needed registrations, and without outdated ones.
fn installed(
    target: SettingsTarget,
    now: &str,
    backups: &[Backup],
    needed: &[Registration],
) -> Result<String, Refusal> {
    let read = |text: &str| settings::read_of(target.client, text);
    let ours = read(now).map(|settings| settings.registered).unwrap_or_default();
    // It is installed into the original text: nothing of an earlier registration remains.
    let start = match original(target, now, backups, &ours) {
        OriginalText::Absent => String::new(),
        OriginalText::Text { without_imported, .. } => without_imported,
        OriginalText::Unknown => now.to_owned(),
    };
    let start = prepared(target, &start)?;
    let after = settings::keep_only(&settings::install(&start, needed)?, needed)?;
    // The result must be readable, and our entries removable.
    read(&after)?;
    settings::uninstall(&after)?;
    Ok(after)
}

/// The text without our registration, or `None` if there was no file before us. Also returns whether this is exactly the original.
fn uninstalled(
    target: SettingsTarget,
    now: &str,
    backups: &[Backup],
) -> Result<(Option<String>, bool), Refusal> {
    let ours = settings::read_of(target.client, now)?.registered;
    match original(target, now, backups, &ours) {
        _ if ours.is_empty() => Ok((Some(now.to_owned()), true)),
        OriginalText::Absent => Ok((None, true)),
        OriginalText::Text { text, .. } => Ok((Some(text), true)),
        OriginalText::Unknown => {
            let rest = settings::uninstall(now)?;
            Ok((if is_blank(target, &rest) { None } else { Some(rest) }, false))
        }
    }
}

pub(super) struct SettingsFile {
    pub(super) file: UserFile,
    /// Its project. `None` for a user's file.
    project: Option<PathBuf>,
}

impl SettingsFile {
    pub(super) fn of(target: SettingsTarget, project: &Path) -> Result<SettingsFile, InstallError> {
        let file = UserFile { path: target.path(project)? };
        // A registration without `--if-trusted` there would run the commands of every repository.
        if target.scope != Scope::User && target.is_users_own(&file.path) {
            return Err(file.refused(
                &"these are your own settings, for all projects. Go to the folder of a project, or use --user",
            ));
        }
        let project = if target.scope == Scope::User { None } else { Some(project.to_owned()) };
        Ok(SettingsFile { file, project })
    }

    /// Replaces the file. Without a text, removes the file and the project's folders that are then empty: an empty one would look
    /// like that of a session.
    pub(super) fn write(&self, text: Option<&str>) -> Result<(), InstallError> {
        self.file.write(text)?;
        if text.is_none()
            && let Some(project) = &self.project
        {
            let above = self.file.path.ancestors().skip(1);
            let inside = above.take_while(|folder| *folder != project && folder.starts_with(project));
            let _ = inside.take_while(|folder| fs::remove_dir(folder).is_ok()).count();
        }
        Ok(())
    }

    pub(super) fn backups(&self) -> Backups {
        Backups::of(&self.file.path)
    }
}

pub struct Change {
    settings_file: SettingsFile,
    pub before: Option<String>,
    pub after: String,
    pub target: SettingsTarget,
    program: OwnProgram,
}

impl Change {
    /// Reads the settings file and adds what is needed.
    pub fn of(
        target: SettingsTarget,
        project: &Path,
        config: &ConclaudeConfig,
    ) -> Result<Change, InstallError> {
        Change::without(target, project, config, &[])
    }

    /// Like `of`, without the hooks of the user that the config has taken over.
    pub fn without(
        target: SettingsTarget,
        project: &Path,
        config: &ConclaudeConfig,
        taken: &[UserHook],
    ) -> Result<Change, InstallError> {
        let (settings_file, program) =
            (SettingsFile::of(target, project)?, native::program(target, project)?);
        let before = settings_file.file.read()?;
        let needed = registration::needed(config, program.registered(), target);
        let after = settings::without(before.as_deref().unwrap_or_default(), taken)
            .and_then(|start| installed(target, &start, &settings_file.backups().all(), &needed))
            .map_err(|refusal| settings_file.file.refused(&refusal))?;
        Ok(Change { settings_file, before, after, target, program })
    }

    pub fn path(&self) -> &Path {
        &self.settings_file.file.path
    }

    /// What the user must still do before the client runs the hooks.
    pub fn to_do(&self) -> impl Iterator<Item = &'static str> {
        let settings = &self.target.client.settings;
        let folder_trust = if self.target.scope == Scope::User { None } else { settings.folder_trust };
        settings.review.into_iter().chain(folder_trust)
    }

    pub fn is_needed(&self) -> bool {
        self.before.as_ref() != Some(&self.after)
    }

    /// Warnings about the registration.
    pub fn warnings(&self) -> Vec<String> {
        let Settings { lookalikes, ignored, dead, .. } = self.settings();
        let ignored = ignored.map(|why| {
            format!(
                "Claude Code ignores the whole file, since {why}. Until that is fixed, nothing in it counts"
            )
        });
        let calls = lookalikes.into_iter().map(|line| {
            format!("`{line}` calls conclaude as well, and is left unchanged: it may be called twice")
        });
        let dead = dead.iter().map(ToString::to_string);
        let mut warnings: Vec<String> = ignored.into_iter().chain(calls).chain(dead).collect();
        if self.target.scope == Scope::Project
            && let Some(path) = self.program.path()
        {
            let own = if self.target.client.settings.local.is_some() { Scope::Local } else { Scope::User };
            warnings.push(format!("{path} is a path of this machine, in a file that others share: put conclaude on the PATH, or use {}", own.flag()));
        }
        if let Some(cache) = native::is_gone_soon() {
            warnings.push(format!(
                "this program is in a cache ({}), where hooks do not look for it. Install it: {}",
                cache.display(),
                channels::in_words()
            ));
        }
        warnings
    }

    fn settings(&self) -> Settings {
        settings::read_of(self.target.client, &self.after).unwrap_or_default()
    }

    /// Whether Claude Code ignores the file, or all hooks of an event in it.
    pub fn is_ignored(&self) -> bool {
        let Settings { ignored, dead, .. } = self.settings();
        ignored.is_some() || !dead.is_empty()
    }

    /// Moves copies of an earlier version out of the project. Returns the old and the new path of each.
    pub fn move_copies_out(&self) -> Result<Vec<(PathBuf, PathBuf)>, InstallError> {
        self.settings_file.backups().move_out()
    }

    /// Writes the file, and a copy of its previous content. Returns the path of the copy, if there was a file.
    pub fn apply(&self) -> Result<Option<PathBuf>, InstallError> {
        let copy = self.before.as_ref().map(|before| {
            let read = settings::read_of(self.target.client, before);
            let has_ours = read.is_ok_and(|settings| !settings.registered.is_empty());
            let which = if has_ours { BackupKind::Previous } else { BackupKind::Before };
            self.settings_file.backups().keep(which, before)
        });
        let copy = copy.transpose()?;
        if self.before.is_none() {
            self.settings_file.backups().keep_absence()?;
        }
        self.settings_file.file.write(Some(&self.after))?;
        Ok(copy)
    }
}

pub struct Removal {
    settings_file: SettingsFile,
    pub before: String,
    /// `None` if there was no file before conclaude was registered.
    pub after: Option<String>,
    is_exact: bool,
    /// The copy with hooks that a config has taken over, if they cannot be restored.
    pub lost: Option<PathBuf>,
    /// The hooks of the file as it will be, and of all copies.
    known: Vec<UserHook>,
}

impl Removal {
    pub fn of(target: SettingsTarget, project: &Path) -> Result<Removal, InstallError> {
        let settings_file = SettingsFile::of(target, project)?;
        let before = settings_file.file.read()?.unwrap_or_default();
        let backups = settings_file.backups().all();
        let (after, is_exact) =
            uninstalled(target, &before, &backups).map_err(|refusal| settings_file.file.refused(&refusal))?;
        let here = settings::user_hooks(after.as_deref().unwrap_or_default());
        let is_lost = |copy: &&Backup| !missing(&copy.text, &here).is_empty();
        // Only hooks of Claude Code are taken over.
        let lost = if is_exact || target.client.is_translated() {
            None
        } else {
            backups.iter().find(is_lost).map(|copy| copy.path.clone())
        };
        let of_copies = backups.iter().flat_map(|copy| settings::user_hooks(&copy.text));
        let known = here.into_iter().chain(of_copies).collect();
        Ok(Removal { settings_file, before, after, is_exact, lost, known })
    }

    /// The number of hooks that a config had taken over and that are in the file again.
    pub fn restored(&self) -> usize {
        missing(self.after.as_deref().unwrap_or_default(), &settings::user_hooks(&self.before)).len()
    }

    /// The hooks of the user's that are not lost.
    pub fn known_hooks(&self) -> Vec<UserHook> {
        self.known.clone()
    }

    pub fn path(&self) -> &Path {
        &self.settings_file.file.path
    }

    pub fn is_needed(&self) -> bool {
        self.after.as_ref() != Some(&self.before)
    }

    /// Writes or removes the file.
    pub fn apply(&self) -> Result<RemovedCopies, InstallError> {
        let backups = self.settings_file.backups();
        let previous =
            if self.is_exact { None } else { Some(backups.keep(BackupKind::Previous, &self.before)?) };
        self.settings_file.write(self.after.as_deref())?;
        // Where hooks were taken out and put back, the copy of the settings as they were stays.
        let is_superfluous = self.is_exact && self.restored() == 0;
        let forgotten =
            if is_superfluous { backups.forget_restored(self.after.as_deref()) } else { Vec::new() };
        Ok(RemovedCopies { previous, forgotten })
    }
}

/// What became of the copies of a settings file.
pub struct RemovedCopies {
    /// The copy of the file as it was until now, if the file differs from its state before installing.
    pub previous: Option<PathBuf>,
    /// Copies that were removed, because the file equals them.
    pub forgotten: Vec<PathBuf>,
}

#[cfg(test)]
mod tests;
