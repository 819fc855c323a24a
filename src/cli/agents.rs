//! `conclaude install --agents`: hooks in the agents' own files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::diff;
use super::install::{Target, program};
use crate::answer::Exit;
use crate::config::{ConclaudeConfig, DesConfig, Root};
use crate::events::Event;
use crate::registration::{self, IF_TRUSTED, Place, WRITING_TOOLS};
use crate::settings::{Refusal, Registration};
use crate::text::count;
use crate::{files, frontmatter};

/// Folders below folders, as far as anyone sorts agents.
const DEEPEST: usize = 8;

/// An agent's file is never this large.
const MAX_BYTES: u64 = 4 << 20;

/// The folder of the agents' files.
pub(super) fn folder(root: &Root, place: Place) -> Option<PathBuf> {
    match place {
        Place::User => registration::user_folder().map(|folder| folder.join("agents")),
        Place::Project | Place::Local => Some(root.folder.join(".claude/agents")),
    }
}

/// The agents' files, in order.
pub(super) fn files_in(folder: &Path) -> Vec<PathBuf> {
    fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() && depth > 0 {
                walk(&path, depth - 1, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, DEEPEST, &mut found);
    found
}

/// Whether any agent's file has something of ours.
pub(super) fn has_any(root: &Root, place: Place) -> bool {
    let files = folder(root, place).map(|folder| files_in(&folder)).unwrap_or_default();
    files.iter().any(|path| {
        let text = files::read_text(path, MAX_BYTES).unwrap_or_default();
        frontmatter::registered(&text).is_ok_and(|ours| !ours.is_empty())
    })
}

fn needed(config: &ConclaudeConfig, program: &str, place: Place, agent: &str) -> Vec<Registration> {
    let gates_on = place == Place::User || config.des.as_ref().is_none_or(DesConfig::is_enabled);
    let argument = if place == Place::User { format!(" {IF_TRUSTED}") } else { String::new() };
    let one = |event: Event, matcher: Option<&str>, timeout| Registration {
        event,
        matcher: matcher.map(str::to_owned),
        command: format!("{program} {}{argument}", event.name()),
        timeout,
    };
    let seconds = registration::at_stop(config, Some(agent));
    // The same hour as in the user's settings, for projects that are not known yet.
    let seconds = if place == Place::User { seconds.max(3_600) } else { seconds };
    let gate = gates_on.then(|| one(Event::PreToolUse, Some(WRITING_TOOLS), 60));
    gate.into_iter().chain([one(Event::SubagentStop, None, seconds)]).collect()
}

pub(super) fn install(
    root: &Root,
    config: &ConclaudeConfig,
    place: Place,
    dry_run: bool,
) -> io::Result<Exit> {
    let program = program()?;
    let exit = each(root, place, dry_run, "calls conclaude now", |text| {
        let name = frontmatter::name(text).ok_or_else(|| Refusal("it has no `name`".into()))?;
        frontmatter::install(text, &needed(config, &program, place, &name))
    })?;
    let found = registration::found(&root.folder);
    if exit == Exit::Success && !dry_run && registration::homes(&found).is_empty() {
        let mut out = anstream::stdout().lock();
        writeln!(
            out,
            "note: what an agent's hooks have to show reaches you through the settings, and Gate 1 stands there: `conclaude install` registers them"
        )?;
    }
    Ok(exit)
}

pub(super) fn uninstall(root: &Root, place: Place, dry_run: bool) -> io::Result<Exit> {
    each(root, place, dry_run, "is as it was", |text| match frontmatter::name(text) {
        Some(_) => frontmatter::uninstall(text),
        None => Ok(text.to_owned()),
    })
}

/// Changes every agent's file that can be changed, and says what became of each.
fn each(
    root: &Root,
    place: Place,
    dry_run: bool,
    done: &str,
    change: impl Fn(&str) -> Result<String, Refusal>,
) -> io::Result<Exit> {
    let no_home = || io::Error::other("there is no home folder: set HOME or CLAUDE_CONFIG_DIR");
    let folder = folder(root, place).ok_or_else(no_home)?;
    let paths = files_in(&folder);
    if paths.is_empty() {
        return Err(io::Error::other(format!("there are no agents in {}", folder.display())));
    }
    let mut out = anstream::stdout().lock();
    let (mut refused, mut unchanged) = (0, 0_u64);
    for path in paths {
        let target = Target { path };
        let changed = target.read().and_then(|before| {
            let after = change(&before).map_err(|refusal| target.refused(&refusal))?;
            Ok((before, after))
        });
        match changed {
            Err(error) => {
                refused += 1;
                writeln!(out, "warning: {error}")?;
            }
            Ok((before, after)) if before == after => unchanged += 1,
            Ok((before, after)) if dry_run => diff::print(&mut out, &target.path, &before, &after)?,
            Ok((_, after)) => {
                target.write(Some(&after))?;
                writeln!(out, "{} {done}", target.path.display())?;
            }
        }
    }
    if unchanged > 0 {
        writeln!(out, "{} already as wanted", count(unchanged, "agent"))?;
    }
    Ok(if refused == 0 { Exit::Success } else { Exit::Failure })
}
