//! `conclaude install` and `uninstall`: Claude Code's settings, changed as little as possible and never lost.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::{agents, diff, trust};
use crate::answer::Exit;
use crate::config::{ConclaudeConfig, Root};
use crate::des::gates::shell_quote;
use crate::files;
use crate::hooks::Surroundings;
use crate::registration::{self, MAX_BYTES, Place};
use crate::settings;

/// Which settings file.
#[derive(Args, Clone, Default)]
pub(super) struct Which {
    /// .claude/settings.json of the project, which is shared with others (the default)
    #[arg(long, conflicts_with_all = ["local", "user"])]
    project: bool,
    /// .claude/settings.local.json of the project, which is yours alone
    #[arg(long, conflicts_with = "user")]
    local: bool,
    /// settings.json of your own, for all projects; commands of a project then run only after `conclaude trust` there
    #[arg(long)]
    user: bool,
}

/// What install and uninstall are asked for.
#[derive(Args)]
pub(super) struct Request {
    #[command(flatten)]
    which: Which,
    /// Write into the agents' own files (.claude/agents/*.md) instead: for these agents alone
    #[arg(long, conflicts_with = "local")]
    agents: bool,
    /// Show what would change, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

impl Which {
    pub(super) fn place(&self) -> Place {
        match (self.local, self.user) {
            (true, _) => Place::Local,
            (_, true) => Place::User,
            _ => Place::Project,
        }
    }
}

/// The project that a verb is about.
pub(super) fn root() -> io::Result<Root> {
    Ok(Root::find(Surroundings::of_process().project_dir.as_deref(), &std::env::current_dir()?))
}

/// The project's config; none is an empty one.
pub(super) fn config(root: &Root) -> io::Result<ConclaudeConfig> {
    match &root.config {
        Some(path) => ConclaudeConfig::load(path).map_err(|error| io::Error::other(error.to_string())),
        None => Ok(ConclaudeConfig::default()),
    }
}

/// A file of the user that is to be changed.
pub(super) struct Target {
    pub(super) path: PathBuf,
}

impl Target {
    pub(super) fn refused(&self, why: &impl std::fmt::Display) -> io::Error {
        io::Error::other(format!("{} is left as it is: {why}", self.path.display()))
    }

    /// The file's text; nothing if there is none. What is not a plain file is not ours to replace.
    pub(super) fn read(&self) -> io::Result<String> {
        match self.path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(self.refused(&error)),
            Ok(metadata) if metadata.is_symlink() => {
                return Err(self.refused(&"it is a link; change what it points to yourself"));
            }
            Ok(metadata) if metadata.permissions().readonly() => {
                return Err(self.refused(&"it is read-only"));
            }
            Ok(_) => {}
        }
        files::read_text(&self.path, MAX_BYTES).map_err(|error| self.refused(&error))
    }

    fn backup(&self) -> PathBuf {
        self.path.with_extension("json.before-conclaude")
    }

    /// Replaces the file, or removes it where nothing is left to say.
    pub(super) fn write(&self, text: Option<&str>) -> io::Result<()> {
        let Some(text) = text else { return std::fs::remove_file(&self.path) };
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        files::replace(&self.path, text.as_bytes())
    }
}

fn target(place: Place, project: &Path) -> io::Result<Target> {
    let no_home = || io::Error::other("there is no home folder: set HOME or CLAUDE_CONFIG_DIR");
    Ok(Target { path: place.path(project).ok_or_else(no_home)? })
}

/// `conclaude` where the shell finds this very program under that name, else its path.
pub(super) fn program() -> io::Result<String> {
    let own = std::env::current_exe()?.canonicalize()?;
    // By its name we know our own entries again, when installing twice and when uninstalling.
    if own.file_stem().is_none_or(|name| name != "conclaude") {
        let what = format!("this program is {}: name it conclaude before you install it", own.display());
        return Err(io::Error::other(what));
    }
    let found = on_path("conclaude").and_then(|path| path.canonicalize().ok());
    Ok(if found.as_ref() == Some(&own) { "conclaude".into() } else { shell_quote(&own.to_string_lossy()) })
}

/// The first file of that name on the PATH.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// What installing would make of the settings.
pub(super) struct Change {
    target: Target,
    before: String,
    after: String,
    is_fresh: bool,
    place: Place,
}

impl Change {
    /// Reads the settings and adds what is needed.
    pub(super) fn of(place: Place, project: &Path, config: &ConclaudeConfig) -> io::Result<Change> {
        let target = target(place, project)?;
        let before = target.read()?;
        let needed = registration::needed(config, &program()?, place);
        let after = settings::install(&before, &needed).map_err(|refusal| target.refused(&refusal))?;
        // What was needed once, and is no longer, goes.
        let after = settings::keep_only(&after, &needed).map_err(|refusal| target.refused(&refusal))?;
        // Only what has nothing of ours in it is worth keeping for later.
        let is_fresh = !before.is_empty()
            && settings::registered(&before, registration::all_events()).is_ok_and(|found| found.is_empty());
        Ok(Change { target, before, after, is_fresh, place })
    }

    pub(super) fn show(&self, out: &mut impl Write) -> io::Result<()> {
        if self.after == self.before {
            return self.unchanged(out);
        }
        diff::print(out, &self.target.path, &self.before, &self.after)
    }

    fn unchanged(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{} has all that is needed already", self.target.path.display())
    }

    pub(super) fn make(&self, out: &mut impl Write) -> io::Result<()> {
        if self.after == self.before {
            return self.unchanged(out);
        }
        if self.is_fresh {
            files::write_atomically(&self.target.backup(), self.before.as_bytes())?;
        }
        self.target.write(Some(&self.after))?;
        writeln!(out, "registered conclaude in {}", self.target.path.display())?;
        if self.is_fresh {
            writeln!(out, "the file as it was is kept in {}", self.target.backup().display())?;
        }
        if self.place == Place::User {
            writeln!(out, "in each project: `conclaude trust` lets the commands of its config run")?;
        }
        Ok(())
    }
}

pub(super) fn install(request: &Request) -> io::Result<Exit> {
    let (root, place) = (root()?, request.which.place());
    let config = config(&root)?;
    if request.agents {
        return agents::install(&root, &config, place, request.dry_run);
    }
    let change = Change::of(place, &root.folder, &config)?;
    let mut out = anstream::stdout().lock();
    for event in registration::not_registered(&config) {
        let name = event.name();
        writeln!(
            out,
            "warning: notifications name {name}, which is not registered: it would change what the client does"
        )?;
    }
    if request.dry_run {
        change.show(&mut out)?;
        return Ok(Exit::Success);
    }
    change.make(&mut out)?;
    if place != Place::User {
        trust::note_arrivals(&root.folder);
    }
    if root.config.is_none() && place != Place::User {
        writeln!(
            out,
            "next: `conclaude init` writes a .conclaude.yaml; without one only the gates of marked prompts do anything"
        )?;
    }
    Ok(Exit::Success)
}

pub(super) fn uninstall(request: &Request) -> io::Result<Exit> {
    let (root, place) = (root()?, request.which.place());
    if request.agents {
        return agents::uninstall(&root, place, request.dry_run);
    }
    let target = target(place, &root.folder)?;
    let before = target.read()?;
    let mut out = anstream::stdout().lock();
    let refused = |refusal: settings::Refusal| target.refused(&refusal);
    let ours = if before.is_empty() {
        Vec::new()
    } else {
        settings::registered(&before, registration::all_events()).map_err(refused)?
    };
    let backup = files::read_text(&target.backup(), MAX_BYTES).ok();
    // If the file is just what installing made of it, it becomes just what it was.
    let orders = [registration::in_order(ours.clone()), ours.clone()];
    let made_of =
        |text: &str| orders.iter().any(|ours| settings::install(text, ours).is_ok_and(|made| made == before));
    let after = match &backup {
        _ if ours.is_empty() => Some(before.clone()),
        Some(original) if made_of(original) => Some(original.clone()),
        None if made_of("") => None,
        _ => Some(settings::uninstall(&before).map_err(refused)?),
    };
    if after.as_ref() == Some(&before) {
        writeln!(out, "{} has nothing of conclaude", target.path.display())?;
    } else if request.dry_run {
        diff::print(&mut out, &target.path, &before, after.as_deref().unwrap_or_default())?;
    } else {
        target.write(after.as_deref())?;
        let _ = std::fs::remove_file(target.backup());
        writeln!(out, "removed conclaude from {}", target.path.display())?;
    }
    if agents::has_any(&root, place) {
        writeln!(out, "agents still call conclaude themselves: `conclaude uninstall --agents` ends that")?;
    }
    Ok(Exit::Success)
}
