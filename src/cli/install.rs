//! `conclaude install` and `uninstall`: Claude Code's settings, changed as little as possible and never lost.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::{agents, diff, root, trust};
use crate::config::ConclaudeConfig;
use crate::des::gates::shell_quote;
use crate::event;
use crate::exit::Exit;
use crate::files;
use crate::hooks::Environment;
use crate::install::registration::{self, MAX_BYTES, Place};
use crate::install::settings;
use crate::root::Root;

/// Which settings file.
#[derive(Args, Clone, Default)]
pub(super) struct Which {
    /// .claude/settings.json of the project, which is shared with others (the default)
    #[arg(long, conflicts_with_all = ["local", "user"])]
    project: bool,
    /// .claude/settings.local.json of the project, which is yours alone
    #[arg(long, conflicts_with = "user")]
    local: bool,
    /// settings.json of your own, for all projects; registered there, commands of a project run only after `conclaude trust`
    #[arg(long)]
    user: bool,
}

/// What install and uninstall are asked for.
#[derive(Args)]
pub(super) struct Request {
    #[command(flatten)]
    which: Which,
    /// The agents' own files (.claude/agents/*.md) instead: for these agents alone
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

/// Where the client looks for the project's settings: in the folder where its session starts. That is this one if it has
/// settings already, else most likely the project's top.
pub(super) fn session_folder(root: &Root) -> io::Result<PathBuf> {
    if let Some(project) = Environment::of_process().project_dir {
        return Ok(project);
    }
    let here = std::env::current_dir()?;
    Ok(if here.join(".claude").is_dir() { here } else { root.folder.clone() })
}

/// The project's config; none is an empty one.
pub(super) fn config(root: &Root) -> io::Result<ConclaudeConfig> {
    match &root.config {
        Some(path) => crate::root::load(path).map_err(|error| io::Error::other(error.to_string())),
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

    /// The file's text; none if there is no such file. What is not a plain file that we may write is not ours to replace.
    pub(super) fn read(&self) -> io::Result<Option<String>> {
        files::check_writable(&self.path).map_err(|error| self.refused(&error))?;
        match self.path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.refused(&error)),
            Ok(metadata) if metadata.is_symlink() => {
                return Err(self.refused(&"it is a link; change what it points to yourself"));
            }
            // Also where the user could write it all the same, as root can.
            Ok(metadata) if metadata.permissions().readonly() => {
                return Err(self.refused(&"it is read-only"));
            }
            Ok(_) => {}
        }
        files::read_text(&self.path, MAX_BYTES).map(Some).map_err(|error| self.refused(&error))
    }

    /// The file as it was before there was anything of ours in it.
    fn backup(&self) -> PathBuf {
        self.path.with_extension("json.before-conclaude")
    }

    /// If the file is just what installing made of it, just what it was: a text, or nothing at all.
    #[expect(clippy::option_option, reason = "unknown, known to be absent, and known are three things")]
    fn original(&self, now: &str, ours: &[settings::Registration]) -> Option<Option<String>> {
        if ours.is_empty() {
            return None;
        }
        let orders = [registration::in_order(ours.to_vec()), ours.to_vec()];
        let made_of = |text: &str| {
            orders.iter().any(|ours| settings::install(text, ours).is_ok_and(|made| made == now))
        };
        match files::read_text(&self.backup(), MAX_BYTES) {
            Ok(text) => made_of(&text).then_some(Some(text)),
            Err(_) => made_of("").then_some(None),
        }
    }

    /// The file as it was before we changed it last.
    fn previous(&self) -> PathBuf {
        self.path.with_extension("json.previous-conclaude")
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
    let target = Target { path: place.path(project).ok_or_else(no_home)? };
    // What is registered there without asking for trust would run the commands of every repository.
    if place != Place::User && registration::is_users_own(&target.path) {
        return Err(target.refused(
            &"these are your own settings, for all projects. Go to the folder of a project, or use --user",
        ));
    }
    Ok(target)
}

/// `conclaude` where the shell finds this very program under that name, else its path.
pub(super) fn program() -> io::Result<String> {
    let own = std::env::current_exe()?.canonicalize()?;
    // By its name we know our own entries again, when installing twice and when uninstalling.
    if own.file_name().is_none_or(|name| name != "conclaude" && name != "conclaude.exe") {
        let what = format!("this program is {}: name it conclaude before you install it", own.display());
        return Err(io::Error::other(what));
    }
    let found = registration::on_path("conclaude").and_then(|path| path.canonicalize().ok());
    Ok(if found.as_ref() == Some(&own) { "conclaude".into() } else { shell_quote(&own.to_string_lossy()) })
}

/// What installing would make of the settings.
pub(super) struct Change {
    target: Target,
    before: Option<String>,
    after: String,
    place: Place,
    program: String,
    lookalikes: Vec<String>,
}

impl Change {
    /// Reads the settings and adds what is needed.
    pub(super) fn of(place: Place, project: &Path, config: &ConclaudeConfig) -> io::Result<Change> {
        let (target, program) = (target(place, project)?, program()?);
        let before = target.read()?;
        let needed = registration::needed(config, &program, place);
        let text = before.as_deref().unwrap_or_default();
        let refused = |refusal: settings::Refusal| target.refused(&refusal);
        let ours = settings::registered(text, event::ALL).unwrap_or_default();
        // Installed once more, from what it was: nothing of an earlier registration is left behind.
        let original = target.original(text, &ours).map(Option::unwrap_or_default);
        let after = settings::install(original.as_deref().unwrap_or(text), &needed).map_err(refused)?;
        // What was needed once, and is no longer, goes.
        let after = settings::keep_only(&after, &needed).map_err(refused)?;
        // What could not be read or taken out again must not be put in.
        settings::registered(&after, event::ALL).map_err(refused)?;
        settings::uninstall(&after).map_err(refused)?;
        let lookalikes = settings::lookalikes(&after).unwrap_or_default();
        Ok(Change { before, after, place, program, lookalikes, target })
    }

    fn is_needed(&self) -> bool {
        self.before.as_ref() != Some(&self.after)
    }

    /// Whether the file has nothing of ours yet.
    fn is_fresh(&self) -> bool {
        let has_ours =
            |text: &String| settings::registered(text, event::ALL).is_ok_and(|found| !found.is_empty());
        !self.before.as_ref().is_some_and(has_ours)
    }

    /// What a person should know about what is registered.
    fn warnings(&self) -> Vec<String> {
        let calls = self.lookalikes.iter().map(|line| {
            format!("`{line}` calls conclaude as well, and is left as it is: it may be called twice")
        });
        let is_path = self.place == Place::Project && self.program != "conclaude";
        let path = is_path.then(|| {
            format!("{} is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local", self.program)
        });
        calls.chain(path).collect()
    }

    pub(super) fn show(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.is_needed() {
            return self.unchanged(out);
        }
        diff::print(out, &self.target.path, self.before.as_deref().unwrap_or_default(), &self.after)
    }

    fn unchanged(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{} has all that is needed already", self.target.path.display())
    }

    pub(super) fn make(&self, out: &mut impl Write) -> io::Result<()> {
        for warning in self.warnings() {
            writeln!(out, "warning: {warning}")?;
        }
        if !self.is_needed() {
            return self.unchanged(out);
        }
        let copy = if self.is_fresh() { self.target.backup() } else { self.target.previous() };
        if let Some(before) = &self.before {
            files::write_atomically(&copy, before.as_bytes())?;
        }
        self.target.write(Some(&self.after))?;
        writeln!(out, "registered conclaude in {}", self.target.path.display())?;
        if self.before.is_some() {
            writeln!(out, "the file as it was is kept in {}", copy.display())?;
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
    let project = session_folder(&root)?;
    if request.agents {
        return agents::install(&project, &config, place, request.dry_run);
    }
    let change = Change::of(place, &project, &config)?;
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
        if project != std::env::current_dir()? {
            writeln!(
                out,
                "note: Claude Code reads that file in sessions that start in {}, not in folders below",
                project.display()
            )?;
        }
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
    let project = session_folder(&root)?;
    if request.agents {
        return agents::uninstall(&project, place, request.dry_run);
    }
    let target = target(place, &project)?;
    let before = target.read()?.unwrap_or_default();
    let mut out = anstream::stdout().lock();
    let refused = |refusal: settings::Refusal| target.refused(&refusal);
    let ours = if before.trim().is_empty() {
        Vec::new()
    } else {
        settings::registered(&before, event::ALL).map_err(refused)?
    };
    let original = target.original(&before, &ours);
    let after = match &original {
        _ if ours.is_empty() => Some(before.clone()),
        Some(original) => original.clone(),
        None => Some(settings::uninstall(&before).map_err(refused)?),
    };
    if after.as_ref() == Some(&before) {
        writeln!(out, "{} has nothing of conclaude", target.path.display())?;
    } else if request.dry_run {
        diff::print(&mut out, &target.path, &before, after.as_deref().unwrap_or_default())?;
    } else {
        let is_exact = original.is_some();
        if !is_exact {
            files::write_atomically(&target.previous(), before.as_bytes())?;
        }
        target.write(after.as_deref())?;
        let _ = std::fs::remove_file(target.backup());
        writeln!(out, "removed conclaude from {}", target.path.display())?;
        if is_exact {
            let _ = std::fs::remove_file(target.previous());
        } else {
            writeln!(out, "the file as it was is kept in {}", target.previous().display())?;
        }
    }
    if agents::has_any(&project, place) {
        writeln!(out, "agents still call conclaude themselves: `conclaude uninstall --agents` ends that")?;
    }
    Ok(Exit::Success)
}
