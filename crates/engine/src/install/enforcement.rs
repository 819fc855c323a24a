//! `install --enforce`: the rules for files in Claude Code's sandbox and permission rules, in `settings.local.json`.
//!
//! Only entries of the record are ours. Everything else in the file stays byte for byte as it was.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::backups::BackupKind;
use super::change::SettingsFile;
use super::error::InstallError;
use super::scope::Scope;
use super::settings::entries::{self, AddedEntries};
use super::settings::{self, Refusal};
use super::user_file::MAX_BYTES;
use conclaude_checks::enforce::Compiled;
use conclaude_core::config::Enforcers;
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::sandbox::{self, SettingsEntry};
use conclaude_os::budget::Budget;
use conclaude_os::files;
use conclaude_store::store;
use conclaude_store::store::enforcement::{EnforcementRecord, record_path};

mod compile;

pub use compile::{EnforcedConfig, EnforcementError};

/// Commands of ours that cannot do their work in the sandbox, as `excludedCommands` has them. What is listed here runs without it: of
/// commands that were typed, `des run` refuses to run any.
const EXCLUDED: [&str; 6] = [
    "conclaude des start *",
    "conclaude des finish *",
    "conclaude des skip *",
    "conclaude des run *",
    "conclaude des fail *",
    "conclaude des done *",
];

/// Lists that change with the files of the project.
const EXPANDED: [&[&str]; 2] = [&sandbox::DENY_WRITE, &sandbox::ALLOW_READ];

/// How long another process may take that changes the settings.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Keeps others of us from changing the settings of a project meanwhile. None if one still does.
pub fn lock(project: &Path, budget: &Budget) -> Result<Option<File>, InstallError> {
    let settings = project.join(layout::LOCAL_SETTINGS);
    let path = record_path(&settings).ok_or(InstallError::NoBackupFolder)?.with_extension("lock");
    if let Some(folder) = path.parent() {
        store::make_state_folder(folder)?;
    }
    Ok(files::lock(&path, MAX_WAIT, budget)?)
}

/// The settings file, and what of it is ours.
pub struct EnforcedSettings {
    file: SettingsFile,
    before: Option<String>,
    record: Option<EnforcementRecord>,
    /// The text without what is ours. None if there would be no file.
    base: Option<String>,
    /// Whether that is the file as it was before, to the byte.
    is_exact: bool,
    /// The settings of the user, and those that the project shares.
    others: Vec<Value>,
}

impl EnforcedSettings {
    /// Reads the settings of a project.
    pub fn read(project: &Path) -> Result<EnforcedSettings, InstallError> {
        let file = SettingsFile::of(Scope::Local, project)?;
        let before = file.file.read()?;
        let record = EnforcementRecord::read(&file.file.path);
        let refused = |refusal: Refusal| file.file.refused(&refusal);
        if let Some(text) = &before {
            settings::read(text).map_err(refused)?;
        }
        let (base, is_exact) = match (&record, &before) {
            (Some(record), Some(now)) => without(now, record).map_err(refused)?,
            (Some(_), None) => (None, false),
            (None, before) => (before.clone(), true),
        };
        let paths = [Scope::User, Scope::Project].into_iter().filter_map(|scope| scope.path(project));
        let texts = paths.filter_map(|path| files::read_text(&path, MAX_BYTES).ok());
        let others = texts.filter_map(|text| entries::value(&text)).collect();
        Ok(EnforcedSettings { file, before, record, base, is_exact, others })
    }

    /// Whether `install --enforce` was run here.
    pub fn is_installed(project: &Path) -> bool {
        Scope::Local.path(project).is_some_and(|path| EnforcementRecord::read(&path).is_some())
    }

    pub fn path(&self) -> &Path {
        &self.file.file.path
    }

    fn ours(&self) -> &[SettingsEntry] {
        self.record.as_ref().map_or(&[], |record| &record.entries)
    }

    fn now(&self) -> Value {
        self.before.as_deref().and_then(entries::value).unwrap_or_default()
    }

    /// The entries of ours that are in the settings.
    pub fn present(&self) -> Vec<&SettingsEntry> {
        let now = self.now();
        self.ours().iter().filter(|entry| entry.is_in(&now)).collect()
    }

    /// The entries of ours that somebody has removed or changed.
    pub fn missing(&self) -> Vec<&SettingsEntry> {
        let now = self.now();
        self.ours().iter().filter(|entry| !entry.is_in(&now)).collect()
    }

    /// The settings of all files, without what is ours.
    fn of_user(&self) -> impl Iterator<Item = Value> {
        let own = self.base.as_deref().and_then(entries::value);
        self.others.iter().cloned().chain(own)
    }

    /// Entries of `denyRead` that are the user's own, with the home directory.
    pub fn denied_by_user(&self) -> Vec<String> {
        let lists = self.of_user().flat_map(|settings| {
            let list = sandbox::texts(&settings, &sandbox::DENY_READ).map(str::to_owned);
            list.collect::<Vec<String>>()
        });
        lists.map(|entry| files::expand_home(&entry).to_string_lossy().into_owned()).collect()
    }

    /// All that should be in the settings.
    fn wanted(&self, compiled: &Compiled, enforcers: Enforcers) -> Vec<SettingsEntry> {
        let mut wanted = Vec::new();
        if enforcers.sandbox {
            let switches = sandbox::SWITCHES.iter().map(|(keys, on)| SettingsEntry::value(keys, *on));
            wanted.extend(switches);
        }
        wanted.extend(compiled.entries.iter().cloned());
        if enforcers.sandbox {
            let excluded =
                EXCLUDED.iter().map(|line| SettingsEntry::member(&sandbox::EXCLUDED_COMMANDS, *line));
            wanted.extend(excluded);
            let is_on =
                |settings: Value| sandbox::at(&settings, &sandbox::ENABLED) == Some(&Value::Bool(true));
            // The rules are about files. Without this each new host would be asked about.
            if !self.of_user().any(is_on) {
                wanted.push(SettingsEntry::member(&sandbox::ALLOWED_DOMAINS, sandbox::ANY_DOMAIN));
            }
        }
        wanted
    }

    /// What writes the compiled rules.
    pub fn change(
        &self,
        compiled: &Compiled,
        enforcers: Enforcers,
    ) -> Result<EnforceChange<'_>, InstallError> {
        self.change_to(&self.wanted(compiled, enforcers), &[])
    }

    /// The same for a session that is about to run: what somebody else has taken out is left to the user, except for the files that
    /// patterns match.
    pub fn update(
        &self,
        compiled: &Compiled,
        enforcers: Enforcers,
    ) -> Result<EnforceChange<'_>, InstallError> {
        let taken_out: Vec<SettingsEntry> = self.taken_out().into_iter().cloned().collect();
        self.change_to(&self.wanted(compiled, enforcers), &taken_out)
    }

    /// What adds entries for files that were created.
    pub fn addition(&self, more: Vec<SettingsEntry>) -> Result<EnforceChange<'_>, InstallError> {
        let mut wanted = self.ours().to_vec();
        wanted.extend(more);
        let taken_out: Vec<SettingsEntry> = self.taken_out().into_iter().cloned().collect();
        self.change_to(&wanted, &taken_out)
    }

    /// The entries that somebody else has removed or changed, other than files that patterns match.
    pub fn taken_out(&self) -> Vec<&SettingsEntry> {
        let mut missing = self.missing();
        missing.retain(|entry| !EXPANDED.iter().any(|keys| entry.is_at(keys)));
        missing
    }

    /// Whether the sandbox is still on, as far as this file says.
    pub fn is_on(&self) -> bool {
        sandbox::at(&self.now(), &sandbox::ENABLED) == Some(&Value::Bool(true))
    }

    fn change_to(
        &self,
        wanted: &[SettingsEntry],
        left: &[SettingsEntry],
    ) -> Result<EnforceChange<'_>, InstallError> {
        let refused = |refusal: Refusal| self.file.file.refused(&refusal);
        let ours = self.ours();
        let written: Vec<SettingsEntry> =
            wanted.iter().filter(|entry| !left.contains(entry)).cloned().collect();
        let AddedEntries { text, added, created, kept } = if self.is_exact {
            entries::add(self.base.as_deref().unwrap_or_default(), &written).map_err(refused)?
        } else {
            let unwanted: Vec<SettingsEntry> =
                ours.iter().filter(|entry| !wanted.contains(entry)).cloned().collect();
            let known = self.record.iter().flat_map(|record| record.created.clone());
            let shorter = entries::remove(self.before.as_deref().unwrap_or("{}\n"), &unwanted, &[]);
            let made = shorter.and_then(|text| entries::add(&text, &written)).map_err(refused)?;
            let mut created: Vec<Vec<String>> = known.chain(made.created).collect();
            created.sort();
            created.dedup();
            let text = entries::remove(&made.text, &[], &created).map_err(refused)?;
            AddedEntries { text, created, ..made }
        };
        settings::read(&text).map_err(refused)?;
        let is_ours = |entry: &&SettingsEntry| ours.contains(entry) || added.contains(entry);
        let original = match &self.record {
            Some(record) => record.original.clone(),
            None => self.before.clone(),
        };
        let record = EnforcementRecord {
            settings: self.path().to_owned(),
            original,
            entries: wanted.iter().filter(is_ours).cloned().collect(),
            created,
        };
        let now = self.now();
        let new = added.into_iter().filter(|entry| !entry.is_in(&now)).collect();
        Ok(EnforceChange { settings: self, after: text, record, new, kept })
    }

    /// Whether the user had no such file: there was none, or one with our registration alone that was made for it.
    fn was_made_by_us(&self, record: &EnforcementRecord) -> bool {
        let Some(original) = &record.original else { return true };
        let is_registered = settings::read(original).is_ok_and(|found| !found.registered.is_empty());
        let rest = settings::uninstall(original).unwrap_or_default();
        let had_file = || self.file.backups().all().iter().any(|copy| copy.kind == BackupKind::Before);
        is_registered && entries::is_empty(&rest) && !had_file()
    }

    /// What takes everything back. None where `install --enforce` was not run.
    pub fn removal(&self) -> Option<EnforceRemoval<'_>> {
        let record = self.record.as_ref()?;
        let is_left_empty = self.base.as_deref().is_none_or(entries::is_empty);
        let after = if is_left_empty && self.was_made_by_us(record) { None } else { self.base.clone() };
        Some(EnforceRemoval { settings: self, after })
    }
}

/// The text without what is ours, and whether it is the original.
fn without(now: &str, record: &EnforcementRecord) -> Result<(Option<String>, bool), Refusal> {
    let original = record.original.as_deref().unwrap_or_default();
    if entries::add(original, &record.entries).is_ok_and(|made| made.text == now) {
        return Ok((record.original.clone(), true));
    }
    Ok((Some(entries::remove(now, &record.entries, &record.created)?), false))
}

/// What the settings become.
pub struct EnforceChange<'a> {
    settings: &'a EnforcedSettings,
    pub after: String,
    record: EnforcementRecord,
    /// Entries that the file does not have yet.
    pub new: Vec<SettingsEntry>,
    /// Values that the user has set to something else.
    pub kept: Vec<SettingsEntry>,
}

impl EnforceChange<'_> {
    pub fn before(&self) -> Option<&str> {
        self.settings.before.as_deref()
    }

    /// Whether the file changes.
    pub fn is_needed(&self) -> bool {
        self.before() != Some(self.after.as_str())
    }

    /// Entries of ours that the file has, and no longer needs.
    pub fn outdated(&self) -> Vec<&SettingsEntry> {
        let present = self.settings.present();
        present.into_iter().filter(|entry| !self.record.entries.contains(entry)).collect()
    }

    /// Writes the file, and a copy of what it was; the copy's path, if there was a file.
    pub fn apply(&self) -> Result<Option<PathBuf>, InstallError> {
        let backups = self.settings.file.backups();
        let copy = match self.before() {
            Some(before) if self.is_needed() => {
                let has_ours = self.settings.record.is_some()
                    || settings::read(before).is_ok_and(|found| !found.registered.is_empty());
                let kind = if has_ours { BackupKind::Previous } else { BackupKind::Before };
                Some(backups.keep(kind, before)?)
            }
            Some(_) => None,
            None => {
                backups.keep_absence()?;
                None
            }
        };
        self.write()?;
        Ok(copy)
    }

    /// Writes the file. What is ours is recorded first: an entry that nobody knows would stay for ever.
    pub fn write(&self) -> Result<(), InstallError> {
        if self.settings.record.as_ref() != Some(&self.record) {
            self.record.write()?;
        }
        if self.is_needed() {
            self.settings.file.file.write(Some(&self.after))?;
        }
        Ok(())
    }
}

/// The settings without what is ours.
pub struct EnforceRemoval<'a> {
    settings: &'a EnforcedSettings,
    /// None where there was no file before.
    pub after: Option<String>,
}

impl EnforceRemoval<'_> {
    pub fn before(&self) -> &str {
        self.settings.before.as_deref().unwrap_or_default()
    }

    /// Writes or removes the file. Returns the path of a copy of what it was, if others have changed it since.
    pub fn apply(&self) -> Result<Option<PathBuf>, InstallError> {
        let EnforcedSettings { file, before, is_exact, .. } = self.settings;
        let mut copy = None;
        if let Some(before) = before {
            let backups = file.backups();
            if !is_exact {
                copy = Some(backups.keep(BackupKind::Previous, before)?);
            }
            if Some(before) != self.after.as_ref() {
                file.file.write(self.after.as_deref())?;
            }
            if *is_exact {
                backups.forget_restored(self.after.as_deref());
            }
        }
        EnforcementRecord::remove(self.settings.path())?;
        Ok(copy)
    }
}
