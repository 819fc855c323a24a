//! What `install` and `uninstall` make of a settings file. The file as it was is kept in the user's state, so that
//! uninstalling gives back every byte.

use std::io;
use std::path::{Path, PathBuf};

use super::backups::{Backups, Copy};
use super::registration;
use super::scope::{Scope, is_users_own};
use super::settings::{self, Foreign, Refusal, Registration, Settings};
use super::user_file::UserFile;
use conclaude_core::config::ConclaudeConfig;
use conclaude_core::dialect::claude::variables;
use shell_effects::quoted_if_needed;

/// What a settings file was before anything of ours was in it.
#[derive(Debug, PartialEq, Eq)]
enum Original {
    Absent,
    Text(String),
    /// Others have changed the file since.
    Unknown,
}

/// Known only where the file is exactly what installing into the original makes of it.
fn original(now: &str, backup: Option<String>, ours: &[Registration]) -> Original {
    // In the order in which they are installed today, or were by an earlier version.
    let orders = [registration::in_order(ours.to_vec()), ours.to_vec()];
    let gives_now =
        |text: &str| orders.iter().any(|ours| settings::install(text, ours).is_ok_and(|made| made == now));
    match backup {
        _ if ours.is_empty() => Original::Unknown,
        Some(text) if gives_now(&text) => Original::Text(text),
        None if gives_now("") => Original::Absent,
        _ => Original::Unknown,
    }
}

/// The text with everything that is needed, and nothing that was needed once.
fn installed(now: &str, backup: Option<String>, needed: &[Registration]) -> Result<String, Refusal> {
    let ours = settings::read(now).map(|settings| settings.registered).unwrap_or_default();
    // Installed again into what it was: nothing of an earlier registration is left behind.
    let start = match original(now, backup, &ours) {
        Original::Absent => String::new(),
        Original::Text(text) => text,
        Original::Unknown => now.to_owned(),
    };
    let after = settings::keep_only(&settings::install(&start, needed)?, needed)?;
    // What could not be read or removed again must not be added.
    settings::read(&after)?;
    settings::uninstall(&after)?;
    Ok(after)
}

/// The text without anything of ours, none where there was no file; and whether that is exactly what it was.
fn uninstalled(now: &str, backup: Option<String>) -> Result<(Option<String>, bool), Refusal> {
    let ours = settings::read(now)?.registered;
    match original(now, backup, &ours) {
        _ if ours.is_empty() => Ok((Some(now.to_owned()), true)),
        Original::Absent => Ok((None, true)),
        Original::Text(text) => Ok((Some(text), true)),
        Original::Unknown => Ok((Some(settings::uninstall(now)?), false)),
    }
}

struct SettingsFile {
    file: UserFile,
}

impl SettingsFile {
    fn of(scope: Scope, project: &Path) -> io::Result<SettingsFile> {
        let no_home = || {
            let variable = variables::CONFIG_DIR;
            io::Error::other(format!("there is no home folder: set HOME or {variable}"))
        };
        let file = UserFile { path: scope.path(project).ok_or_else(no_home)? };
        // What is registered there without asking for trust would run the commands of every repository.
        if scope != Scope::User && is_users_own(&file.path) {
            return Err(file.refused(
                &"these are your own settings, for all projects. Go to the folder of a project, or use --user",
            ));
        }
        Ok(SettingsFile { file })
    }

    fn backups(&self) -> Backups {
        Backups::of(&self.file.path)
    }
}

pub struct Change {
    settings_file: SettingsFile,
    pub before: Option<String>,
    pub after: String,
    pub scope: Scope,
    program: String,
}

impl Change {
    /// Reads the settings file and adds what is needed.
    pub fn of(scope: Scope, project: &Path, config: &ConclaudeConfig) -> io::Result<Change> {
        Change::without(scope, project, config, &[])
    }

    /// The same, without hooks of the user's that the config has taken over.
    pub fn without(
        scope: Scope,
        project: &Path,
        config: &ConclaudeConfig,
        taken: &[Foreign],
    ) -> io::Result<Change> {
        let (settings_file, program) = (SettingsFile::of(scope, project)?, program()?);
        let before = settings_file.file.read()?;
        let needed = registration::needed(config, &program, scope);
        let after = settings::without(before.as_deref().unwrap_or_default(), taken)
            .and_then(|start| installed(&start, settings_file.backups().before(), &needed))
            .map_err(|refusal| settings_file.file.refused(&refusal))?;
        Ok(Change { settings_file, before, after, scope, program })
    }

    pub fn path(&self) -> &Path {
        &self.settings_file.file.path
    }

    pub fn is_needed(&self) -> bool {
        self.before.as_ref() != Some(&self.after)
    }

    /// What the user should know about what is registered.
    pub fn warnings(&self) -> Vec<String> {
        let Settings { lookalikes, ignored, .. } = settings::read(&self.after).unwrap_or_default();
        let ignored = ignored.map(|why| {
            format!("Claude Code ignores the whole file, since it is not plain JSON: {why}. Until that is fixed, nothing in it counts")
        });
        let calls = lookalikes.into_iter().map(|line| {
            format!("`{line}` calls conclaude as well, and is left as it is: it may be called twice")
        });
        let is_path = self.scope == Scope::Project && self.program != "conclaude";
        let path = is_path.then(|| {
            format!("{} is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local", self.program)
        });
        ignored.into_iter().chain(calls).chain(path).collect()
    }

    /// Moves copies of an earlier version out of the project; where they were and are.
    pub fn move_copies_out(&self) -> io::Result<Vec<(PathBuf, PathBuf)>> {
        self.settings_file.backups().move_out()
    }

    /// Writes the file, and a copy of what it was; the copy's path, if there was a file.
    pub fn apply(&self) -> io::Result<Option<PathBuf>> {
        let copy = self.before.as_ref().map(|before| {
            let has_ours = settings::read(before).is_ok_and(|settings| !settings.registered.is_empty());
            let which = if has_ours { Copy::Previous } else { Copy::Before };
            self.settings_file.backups().keep(which, before)
        });
        let copy = copy.transpose()?;
        self.settings_file.file.write(Some(&self.after))?;
        Ok(copy)
    }
}

pub struct Removal {
    settings_file: SettingsFile,
    pub before: String,
    /// None where there was no file before conclaude was registered.
    pub after: Option<String>,
    is_exact: bool,
}

impl Removal {
    pub fn of(scope: Scope, project: &Path) -> io::Result<Removal> {
        let settings_file = SettingsFile::of(scope, project)?;
        let before = settings_file.file.read()?.unwrap_or_default();
        let (after, is_exact) = uninstalled(&before, settings_file.backups().before())
            .map_err(|refusal| settings_file.file.refused(&refusal))?;
        Ok(Removal { settings_file, before, after, is_exact })
    }

    pub fn path(&self) -> &Path {
        &self.settings_file.file.path
    }

    pub fn is_needed(&self) -> bool {
        self.after.as_ref() != Some(&self.before)
    }

    /// Writes or removes the file. Where it is not exactly what it was before installing, the path of a copy of what it was
    /// until now.
    pub fn apply(&self) -> io::Result<Option<PathBuf>> {
        let backups = self.settings_file.backups();
        let previous = (!self.is_exact).then(|| backups.keep(Copy::Previous, &self.before)).transpose()?;
        self.settings_file.file.write(self.after.as_deref())?;
        backups.forget(Copy::Before);
        if self.is_exact {
            backups.forget(Copy::Previous);
        }
        Ok(previous)
    }
}

/// `conclaude` where the shell finds this very program under that name, else its path.
fn program() -> io::Result<String> {
    let own = std::env::current_exe()?.canonicalize()?;
    // By its name we recognise our own entries, when installing twice and when uninstalling.
    if own.file_name().is_none_or(|name| name != "conclaude" && name != "conclaude.exe") {
        let what = format!("this program is {}: name it conclaude before you install it", own.display());
        return Err(io::Error::other(what));
    }
    let found = registration::on_path("conclaude").and_then(|path| path.canonicalize().ok());
    Ok(if found.as_ref() == Some(&own) {
        "conclaude".into()
    } else {
        quoted_if_needed(&own.to_string_lossy())
    })
}

#[cfg(test)]
mod tests;
