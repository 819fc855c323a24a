//! `conclaude install --agents`: hooks in the agents' own files.

use std::io::{self, Write};
use std::path::Path;

use super::diff;
use super::install::{Target, program};
use crate::config::ConclaudeConfig;
use crate::exit::Exit;
use crate::install::agents::{self, AgentFile};
use crate::install::frontmatter;
use crate::install::registration::{self, Place};
use crate::install::settings::Refusal;
use crate::text::count;

/// Whether any agent's file has something of ours.
pub(super) fn has_any(project: &Path, place: Place) -> bool {
    let has = |agent: &AgentFile| agent.registered.as_ref().is_ok_and(|ours| !ours.is_empty());
    agents::all(project, place).iter().any(has)
}

pub(super) fn install(
    project: &Path,
    config: &ConclaudeConfig,
    place: Place,
    dry_run: bool,
) -> io::Result<Exit> {
    let program = program()?;
    let found = registration::found(project);
    let homes = registration::homes(&found);
    // The client runs equal command lines once, and different ones both: ours is that of the settings.
    let of_user = !homes.is_empty() && homes.iter().all(|file| file.place == Place::User);
    let asks_for_trust = place == Place::User || of_user;
    let exit = each(project, place, dry_run, "calls conclaude now", |text| {
        let name = frontmatter::name(text).ok_or_else(|| Refusal("it has no `name`".into()))?;
        let needed = registration::needed_in_agent(config, &program, place, asks_for_trust, &name);
        frontmatter::install(text, &needed)
    })?;
    if exit == Exit::Success && !dry_run && homes.is_empty() {
        let mut out = anstream::stdout().lock();
        writeln!(
            out,
            "note: what an agent's hooks have to show reaches you through the settings, and Gate 1 stands there: `conclaude install` registers them"
        )?;
    }
    Ok(exit)
}

pub(super) fn uninstall(project: &Path, place: Place, dry_run: bool) -> io::Result<Exit> {
    each(project, place, dry_run, "is as it was", |text| match frontmatter::name(text) {
        Some(_) => frontmatter::uninstall(text),
        None => Ok(text.to_owned()),
    })
}

/// Changes every agent's file that can be changed, and says what became of each.
fn each(
    project: &Path,
    place: Place,
    dry_run: bool,
    done: &str,
    change: impl Fn(&str) -> Result<String, Refusal>,
) -> io::Result<Exit> {
    let no_home = || io::Error::other("there is no home folder: set HOME or CLAUDE_CONFIG_DIR");
    let folder = agents::folder(project, place).ok_or_else(no_home)?;
    let paths = agents::files_in(&folder);
    if paths.is_empty() {
        return Err(io::Error::other(format!("there are no agents in {}", folder.display())));
    }
    let mut out = anstream::stdout().lock();
    let (mut refused, mut unchanged) = (0, 0_u64);
    for path in paths {
        let target = Target { path };
        let changed = target.read().and_then(|before| {
            let before = before.unwrap_or_default();
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
