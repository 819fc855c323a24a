//! `install --enforce`: the rules for files in Claude Code's sandbox and permission rules, in `settings.local.json`.
//!
//! Only recorded entries are ours. Everything else in the file stays byte for byte.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::backups::BackupKind;
use super::change::SettingsFile;
use super::error::InstallError;
use super::scope::{Scope, SettingsTarget};
use super::settings::entries::{self, AddedEntries};
use super::settings::{self, Refusal};
use super::user_file::MAX_BYTES;
use conclaude_checks::enforce::CompiledRules;
use conclaude_core::config::Enforcers;
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::sandbox::{self, SettingsEntry};
use conclaude_os::budget::Budget;
use conclaude_os::files;
use conclaude_store::store;
use conclaude_store::store::enforcement::{EnforcementRecord, record_path};

mod compile;

pub use compile::{CompileInput, EnforcedConfig, EnforcementError};

/// Our commands that cannot work in the sandbox, in the form of `excludedCommands`. They run without it, so `des run` refuses
/// commands from the command line.
const EXCLUDED: [&str; 6] = [
    "conclaude des start *",
    "conclaude des finish *",
    "conclaude des skip *",
    "conclaude des run *",
    "conclaude des fail *",
    "conclaude des done *",
];

/// How long another process may take to change the settings.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Prevents other conclaude processes from changing the settings of a project. `None` if one still does.
pub fn lock(project: &Path, budget: &Budget) -> Result<Option<File>, InstallError> {
    let settings = project.join(layout::LOCAL_SETTINGS);
    let path = record_path(&settings).ok_or(InstallError::NoBackupFolder)?.with_extension("lock");
    if let Some(folder) = path.parent() {
        store::make_state_folder(folder)?;
    }
    Ok(files::lock(&path, MAX_WAIT, budget)?)
}

/// The settings file, and our part of it.
pub struct EnforcedSettings {
    file: SettingsFile,
    before: Option<String>,
    record: Option<EnforcementRecord>,
    /// Why Claude Code ignores the whole file, if it does.
    ignored: Option<String>,
    /// Whether the file without our entries is byte for byte as before.
    is_exact: bool,
    /// The settings of the user, and those that the project shares.
    others: Vec<Value>,
}

impl EnforcedSettings {
    /// Reads the settings of a project.
    pub fn read(project: &Path) -> Result<EnforcedSettings, InstallError> {
        let file = SettingsFile::of(SettingsTarget::claude(Scope::Local), project)?;
        let before = file.file.read()?;
        let record = EnforcementRecord::read(&file.file.path);
        let refused = |refusal: Refusal| file.file.refused(&refusal);
        let ignored = match &before {
            Some(text) => settings::read(text).map_err(refused)?.ignored,
            None => None,
        };
        let is_exact = match (&record, &before) {
            (Some(record), Some(now)) => {
                let original = record.original.as_deref().unwrap_or_default();
                entries::add(original, &record.entries).is_ok_and(|made| made.text == *now)
            }
            (Some(_), None) => false,
            (None, _) => true,
        };
        let paths = [Scope::User, Scope::Project].into_iter().filter_map(|scope| scope.path(project));
        let texts = paths.filter_map(|path| files::read_text(&path, MAX_BYTES).ok());
        let others = texts.filter_map(|text| entries::value(&text)).collect();
        Ok(EnforcedSettings { file, before, record, ignored, is_exact, others })
    }

    /// Whether `install --enforce` was run here.
    pub fn is_installed(project: &Path) -> bool {
        Scope::Local.path(project).is_some_and(|path| EnforcementRecord::read(&path).is_some())
    }

    pub fn path(&self) -> &Path {
        &self.file.file.path
    }

    /// Why nothing in the file counts, and the fix. `None` if Claude Code reads it.
    pub fn ignored(&self) -> Option<String> {
        let why = self.ignored.as_ref()?;
        let fix =
            if why.contains("JSON") { "remove comments and trailing commas" } else { "correct that line" };
        Some(format!("Claude Code ignores the whole file, since {why}. To have the rules enforced, {fix}"))
    }

    /// The entries that were added here, whether they still exist or not.
    pub fn ours(&self) -> &[SettingsEntry] {
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

    /// Our entries that others have removed or changed.
    pub fn missing(&self) -> Vec<&SettingsEntry> {
        let now = self.now();
        self.ours().iter().filter(|entry| !entry.is_in(&now)).collect()
    }

    /// The text without our entries. `None` if there would be no file.
    fn base(&self) -> Result<Option<String>, InstallError> {
        match (&self.record, &self.before) {
            (None, before) => Ok(before.clone()),
            (Some(record), _) if self.is_exact => Ok(record.original.clone()),
            (Some(_), None) => Ok(None),
            (Some(record), Some(now)) => {
                let rest = entries::remove(now, &record.entries, &record.created);
                rest.map(Some).map_err(|refusal| self.file.file.refused(&refusal))
            }
        }
    }

    /// The settings of all files, without our entries.
    fn of_user(&self) -> impl Iterator<Item = Value> {
        let mut own = self.now();
        sandbox::take_out(&mut own, self.ours());
        self.others.iter().cloned().chain([own])
    }

    /// Entries of `denyRead` that are the user's own, with the home directory.
    pub fn denied_by_user(&self) -> Vec<String> {
        let lists = self.of_user().flat_map(|settings| {
            let list = sandbox::texts(&settings, &sandbox::DENY_READ).map(str::to_owned);
            list.collect::<Vec<String>>()
        });
        lists.map(|entry| files::expand_home(&entry).to_string_lossy().into_owned()).collect()
    }

    /// The necessary settings.
    fn wanted_entries(&self, compiled: &CompiledRules, enforcers: Enforcers) -> Vec<SettingsEntry> {
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
            // The rules concern files. Without this, Claude Code would ask about each new host.
            if !self.of_user().any(is_on) {
                wanted.push(SettingsEntry::member(&sandbox::ALLOWED_DOMAINS, sandbox::ANY_DOMAIN));
            }
        }
        wanted
    }

    /// The change that writes the compiled rules. Refused for a file that Claude Code ignores.
    pub fn change(
        &self,
        compiled: &CompiledRules,
        enforcers: Enforcers,
    ) -> Result<EnforceChange<'_>, InstallError> {
        let mut change = self.change_to(&self.wanted_entries(compiled, enforcers), &[])?;
        if let Some(why) = self.ignored() {
            return Err(self.file.file.refused(&why));
        }
        change.record.unlisted = compiled.unlisted();
        Ok(change)
    }

    /// Like `change`, for a session that starts: entries that others have removed are left to the user, except for the files that
    /// patterns match.
    pub fn update(
        &self,
        compiled: &CompiledRules,
        enforcers: Enforcers,
    ) -> Result<EnforceChange<'_>, InstallError> {
        let taken_out: Vec<SettingsEntry> = self.taken_out(compiled).into_iter().cloned().collect();
        let mut change = self.change_to(&self.wanted_entries(compiled, enforcers), &taken_out)?;
        change.record.unlisted = compiled.unlisted();
        Ok(change)
    }

    /// The change that adds entries for new files. The rules were compiled with these, and with the files that are already
    /// listed.
    pub fn addition(
        &self,
        compiled: &CompiledRules,
        more: Vec<SettingsEntry>,
    ) -> Result<EnforceChange<'_>, InstallError> {
        // A free file may have become a link.
        let is_still =
            |entry: &&SettingsEntry| !entry.is_at(&sandbox::ALLOW_READ) || compiled.entries.contains(entry);
        let mut wanted: Vec<SettingsEntry> = self.ours().iter().filter(is_still).cloned().collect();
        wanted.extend(more);
        let taken_out: Vec<SettingsEntry> = self.taken_out(compiled).into_iter().cloned().collect();
        let mut change = self.change_to(&wanted, &taken_out)?;
        change.record.unlisted = self.unlisted().max(compiled.unlisted());
        Ok(change)
    }

    /// How many files could not be listed when the settings were last written.
    pub fn unlisted(&self) -> usize {
        self.record.as_ref().map_or(0, |record| record.unlisted)
    }

    /// Whether the file excludes our commands from the sandbox. Nobody else would do that.
    pub fn has_our_commands(&self) -> bool {
        let now = self.now();
        let mut lines = EXCLUDED.iter().map(|line| SettingsEntry::member(&sandbox::EXCLUDED_COMMANDS, *line));
        lines.any(|entry| entry.is_in(&now))
    }

    /// Entries that look like ours, if the record is lost: the previous content is unknown.
    pub fn resembling(&self, compiled: &CompiledRules) -> Vec<SettingsEntry> {
        let now = self.now();
        let is_marked = self.has_our_commands() || compiled.entries.iter().any(|entry| entry.is_in(&now));
        if self.record.is_some() || !is_marked {
            return Vec::new();
        }
        let mut ours = self.wanted_entries(compiled, Enforcers { sandbox: true, permissions: true });
        let any_domain = SettingsEntry::member(&sandbox::ALLOWED_DOMAINS, sandbox::ANY_DOMAIN);
        if !ours.contains(&any_domain) {
            ours.push(any_domain);
        }
        ours.retain(|entry| entry.is_in(&now));
        ours
    }

    /// The entries that others have removed or changed, except files that patterns match. Entries that depend on the project's
    /// files may no longer be needed.
    pub fn taken_out(&self, compiled: &CompiledRules) -> Vec<&SettingsEntry> {
        let is_match = |entry: &SettingsEntry| {
            entry.is_at(&sandbox::DENY_WRITE)
                && compiled.listed.iter().any(|file| entry.text() == Some(file.spelled.as_str()))
        };
        let is_outdated = |entry: &SettingsEntry| {
            let is_path = entry.is_at(&sandbox::DENY_WRITE) || entry.is_at(&sandbox::ALLOW_READ);
            is_path && !compiled.entries.contains(entry)
        };
        let mut missing = self.missing();
        missing.retain(|entry| !is_match(entry) && !is_outdated(entry));
        missing
    }

    /// Whether the sandbox is still on, according to this file.
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
        let now = self.now();
        // Entries in another order need no change.
        if let (Some(record), Some(before)) = (&self.record, &self.before)
            && ours.iter().all(|entry| wanted.contains(entry))
            && written.iter().all(|entry| entry.is_in(&now))
        {
            let (after, record) = (before.clone(), record.clone());
            return Ok(EnforceChange { settings: self, after, record, new: Vec::new(), kept: Vec::new() });
        }
        let AddedEntries { text, added, created, kept } = if self.is_exact {
            entries::add(self.base()?.as_deref().unwrap_or_default(), &written).map_err(refused)?
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
            unlisted: self.unlisted(),
        };
        let new = added.into_iter().filter(|entry| !entry.is_in(&now)).collect();
        Ok(EnforceChange { settings: self, after: text, record, new, kept })
    }

    /// Whether the user had no such file: there was none, or one that was created for our registration.
    fn was_made_by_us(&self, record: &EnforcementRecord) -> bool {
        let Some(original) = &record.original else { return true };
        let is_registered = settings::read(original).is_ok_and(|found| !found.registered.is_empty());
        let rest = settings::uninstall(original).unwrap_or_default();
        let had_file = || self.file.backups().all().iter().any(|copy| copy.kind == BackupKind::Before);
        is_registered && entries::is_empty(&rest) && !had_file()
    }

    /// The change that removes everything. `None` if `install --enforce` was not run.
    pub fn removal(&self) -> Result<Option<EnforceRemoval<'_>>, InstallError> {
        let Some(record) = self.record.as_ref() else { return Ok(None) };
        let base = self.base()?;
        let is_left_empty = base.as_deref().is_none_or(entries::is_empty);
        let after = if is_left_empty && self.was_made_by_us(record) { None } else { base };
        Ok(Some(EnforceRemoval { settings: self, after }))
    }
}

/// The new settings.
pub struct EnforceChange<'a> {
    settings: &'a EnforcedSettings,
    pub after: String,
    record: EnforcementRecord,
    /// Entries that the file does not have yet.
    pub new: Vec<SettingsEntry>,
    /// Values that the user has set differently.
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

    /// Our entries in the file that are no longer needed.
    pub fn outdated(&self) -> Vec<&SettingsEntry> {
        let present = self.settings.present();
        present.into_iter().filter(|entry| !self.record.entries.contains(entry)).collect()
    }

    /// Writes the file, and a copy of its previous content. Returns the path of the copy, if there was a file.
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

    /// Writes the file. Our entries are recorded first: an unrecorded entry would stay forever.
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

/// The settings without our entries.
pub struct EnforceRemoval<'a> {
    settings: &'a EnforcedSettings,
    /// `None` if there was no file before.
    pub after: Option<String>,
}

impl EnforceRemoval<'_> {
    pub fn before(&self) -> &str {
        self.settings.before.as_deref().unwrap_or_default()
    }

    /// Writes or removes the file. Returns the path of a copy of its previous content, if others have changed it.
    pub fn apply(&self) -> Result<Option<PathBuf>, InstallError> {
        let EnforcedSettings { file, before, is_exact, .. } = self.settings;
        let mut copy = None;
        if let Some(before) = before {
            let backups = file.backups();
            if !is_exact {
                copy = Some(backups.keep(BackupKind::Previous, before)?);
            }
            if Some(before) != self.after.as_ref() {
                file.write(self.after.as_deref())?;
            }
            if *is_exact {
                backups.forget_restored(self.after.as_deref());
            }
        }
        EnforcementRecord::remove(self.settings.path())?;
        Ok(copy)
    }
}
