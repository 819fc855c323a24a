//! `conclaude install` and `uninstall`: Claude Code's settings, changed as little as possible and never lost.

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use clap::Args;

use crate::answer::Exit;
use crate::config::{Bounded, ConclaudeConfig, Root, SubagentConfig};
use crate::des::gates::shell_quote;
use crate::events::Event;
use crate::files;
use crate::hooks::Surroundings;
use crate::settings::{self, Registration};

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();

/// Settings of a person are never this large.
const MAX_BYTES: u64 = 16 << 20;

/// Which settings file.
#[derive(Args)]
pub(super) struct Which {
    /// Change .claude/settings.json of the project, which is shared with others (the default)
    #[arg(long, conflicts_with = "local")]
    project: bool,
    /// Change .claude/settings.local.json of the project, which is yours alone
    #[arg(long)]
    local: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

struct Target {
    root: Root,
    path: PathBuf,
    dry_run: bool,
}

impl Which {
    fn target(&self) -> io::Result<Target> {
        let root = Root::find(Surroundings::of_process().project_dir.as_deref(), &std::env::current_dir()?);
        let name = if self.local { "settings.local.json" } else { "settings.json" };
        let path = root.folder.join(".claude").join(name);
        Ok(Target { root, path, dry_run: self.dry_run })
    }
}

impl Target {
    /// The file's text; nothing if there is none. What is not a plain file is not ours to replace.
    fn read(&self) -> io::Result<String> {
        let refuse =
            |why: String| io::Error::other(format!("{} is left as it is: {why}", self.path.display()));
        match self.path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(refuse(error.to_string())),
            Ok(metadata) if metadata.is_symlink() => {
                return Err(refuse("it is a link; change what it points to yourself".into()));
            }
            Ok(metadata) if metadata.permissions().readonly() => {
                return Err(refuse("it is read-only".into()));
            }
            Ok(_) => {}
        }
        files::read_text(&self.path, MAX_BYTES).map_err(|error| refuse(error.to_string()))
    }

    fn backup(&self) -> PathBuf {
        self.path.with_extension("json.before-conclaude")
    }

    fn refused(&self, refusal: &settings::Refusal) -> io::Error {
        io::Error::other(format!("{} is left as it is: {refusal}", self.path.display()))
    }

    /// Replaces the file, or removes it where nothing is left to say.
    fn write(&self, text: Option<&str>) -> io::Result<()> {
        let Some(text) = text else { return std::fs::remove_file(&self.path) };
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        files::replace(&self.path, text.as_bytes())
    }
}

/// The events that are needed, in the order in which they are registered.
const EVENTS: [Event; 8] = [
    Event::SessionStart,
    Event::PreToolUse,
    Event::PostToolUse,
    Event::UserPromptSubmit,
    Event::SubagentStart,
    Event::SubagentStop,
    Event::Stop,
    Event::SessionEnd,
];

fn wanted(config: &ConclaudeConfig, program: &str) -> Vec<Registration> {
    let gates_on = config.des.as_ref().is_none_or(crate::config::DesConfig::is_enabled);
    let judge = config
        .des
        .as_ref()
        .and_then(|des| des.judge.as_ref())
        .map_or(0, |judge| judge.timeout.map_or(30, Bounded::get));
    EVENTS
        .iter()
        .filter(|event| **event != Event::PreToolUse || gates_on)
        .map(|event| {
            let (matcher, timeout) = match event {
                Event::PreToolUse => (Some("Agent|Write|Edit|MultiEdit|NotebookEdit"), 60),
                Event::PostToolUse => (Some("Agent"), 60),
                Event::SubagentStart => (None, seconds(config.subagent_start.as_ref())),
                Event::SubagentStop => (None, seconds(config.subagent_stop.as_ref()) + u64::from(judge)),
                Event::SessionEnd => (None, 10),
                _ => (None, 60),
            };
            Registration {
                event: *event,
                matcher: matcher.map(str::to_owned),
                command: format!("{program} {}", event.name()),
                timeout,
            }
        })
        .collect()
}

/// Long enough for all commands of the section together, and an hour where one has no limit.
fn seconds<R>(section: Option<&SubagentConfig<R>>) -> u64 {
    const MARGIN: u64 = 60;
    let commands =
        section.into_iter().flat_map(|section| section.entries().iter().flat_map(|(_, commands)| commands));
    let limits: Option<u64> =
        commands.map(|command| command.timeout.map(|limit| u64::from(limit.get()) + 2)).sum();
    limits.map_or(3_600, |sum| sum + MARGIN)
}

/// `conclaude` where the shell finds this very program under that name, else its path.
fn program() -> io::Result<String> {
    let own = std::env::current_exe()?.canonicalize()?;
    // By its name we know our own entries again, when installing twice and when uninstalling.
    if own.file_stem().is_none_or(|name| name != "conclaude") {
        let what = format!("this program is {}: name it conclaude before you install it", own.display());
        return Err(io::Error::other(what));
    }
    let on_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path)
            .map(|folder| folder.join("conclaude"))
            .find(|candidate| candidate.is_file())
    });
    let found = on_path.and_then(|path| path.canonicalize().ok());
    Ok(if found.as_ref() == Some(&own) { "conclaude".into() } else { shell_quote(&own.to_string_lossy()) })
}

pub(super) fn install(which: &Which) -> io::Result<Exit> {
    let target = which.target()?;
    let config = match &target.root.config {
        Some(path) => ConclaudeConfig::load(path).map_err(|error| io::Error::other(error.to_string()))?,
        None => ConclaudeConfig::default(),
    };
    let before = target.read()?;
    let after = settings::install(&before, &wanted(&config, &program()?))
        .map_err(|refusal| target.refused(&refusal))?;
    let mut out = anstream::stdout().lock();
    if after == before {
        writeln!(out, "{} has all that is needed already", target.path.display())?;
        return Ok(Exit::Success);
    }
    if target.dry_run {
        difference(&mut out, &before, &after)?;
        return Ok(Exit::Success);
    }
    // Only what has nothing of ours in it is worth keeping for later.
    let is_fresh =
        !before.is_empty() && settings::registered(&before, &EVENTS).is_ok_and(|found| found.is_empty());
    if is_fresh {
        files::write_atomically(&target.backup(), before.as_bytes())?;
    }
    target.write(Some(&after))?;
    writeln!(out, "registered conclaude in {}", target.path.display())?;
    if is_fresh {
        writeln!(out, "the file as it was is kept in {}", target.backup().display())?;
    }
    if target.root.config.is_none() {
        writeln!(
            out,
            "next: write a .conclaude.yaml; without one only the gates of marked prompts do anything"
        )?;
    }
    Ok(Exit::Success)
}

pub(super) fn uninstall(which: &Which) -> io::Result<Exit> {
    let target = which.target()?;
    let before = target.read()?;
    let mut out = anstream::stdout().lock();
    let refused = |refusal: settings::Refusal| target.refused(&refusal);
    let ours = if before.is_empty() {
        Vec::new()
    } else {
        settings::registered(&before, &EVENTS).map_err(refused)?
    };
    let backup = files::read_text(&target.backup(), MAX_BYTES).ok();
    // If the file is just what installing made of it, it becomes just what it was.
    let made_of = |text: &str| settings::install(text, &ours).is_ok_and(|made| made == before);
    let after = match &backup {
        _ if ours.is_empty() => Some(before.clone()),
        Some(original) if made_of(original) => Some(original.clone()),
        None if made_of("") => None,
        _ => Some(settings::uninstall(&before).map_err(refused)?),
    };
    if after.as_ref() == Some(&before) {
        writeln!(out, "{} has nothing of conclaude", target.path.display())?;
        return Ok(Exit::Success);
    }
    if target.dry_run {
        difference(&mut out, &before, after.as_deref().unwrap_or_default())?;
        return Ok(Exit::Success);
    }
    target.write(after.as_deref())?;
    let _ = std::fs::remove_file(target.backup());
    writeln!(out, "removed conclaude from {}", target.path.display())?;
    Ok(Exit::Success)
}

/// What changes, line by line, between what both have in common at the beginning and at the end.
fn difference(out: &mut impl Write, before: &str, after: &str) -> io::Result<()> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    for line in old.get(start..old.len() - end).unwrap_or_default() {
        writeln!(out, "{REMOVED}- {line}{REMOVED:#}")?;
    }
    for line in new.get(start..new.len() - end).unwrap_or_default() {
        writeln!(out, "{ADDED}+ {line}{ADDED:#}")?;
    }
    Ok(())
}
