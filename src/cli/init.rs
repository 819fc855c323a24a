//! `conclaude init`: a config to begin with, and the registration.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::install::{Change, Target, Which};
use super::{diff, trust};
use crate::config::{self, ConclaudeConfig};
use crate::exit::Exit;
use crate::hooks::Environment;
use crate::install::registration::Place;
use crate::install::{agents, starter};
use crate::root::FILE_NAMES;
use crate::{files, store};

/// What is asked for.
#[derive(Args)]
pub(super) struct Request {
    #[command(flatten)]
    which: Which,
    /// Replace a config that exists; it is kept as a copy
    #[arg(long)]
    force: bool,
    /// Show what would change, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn run(request: &Request) -> io::Result<Exit> {
    let folder = project()?;
    let target = Target { path: existing(&folder).unwrap_or_else(|| folder.join(FILE_NAMES[0])) };
    let exists = target.path.symlink_metadata().is_ok();
    if exists && !request.force {
        return Err(io::Error::other(format!(
            "{} exists already, and is left as it is\n  `conclaude install` registers conclaude for it\n  `conclaude init --force` begins anew, and keeps a copy",
            target.path.display()
        )));
    }
    let before = target.read()?.unwrap_or_default();
    let kinds = starter::detect(&folder);
    let after = starter::text(&kinds, &agent_names(&folder));
    // The client's time-outs should do for the commands that are suggested, once a person wants them.
    let config = ConclaudeConfig::parse(&starter::uncommented(&after), &target.path)
        .map_err(|error| io::Error::other(error.to_string()))?;
    // Whatever is wrong with the settings is found before anything is written.
    let change = Change::of(request.which.place(), &folder, &config)?;
    let mut out = anstream::stdout().lock();
    if request.dry_run {
        diff::print(&mut out, &target.path, &before, &after)?;
        change.show(&mut out)?;
        return Ok(Exit::Success);
    }
    if exists {
        let copy = free_name(&target.path);
        files::write_atomically(&copy, before.as_bytes())?;
        writeln!(out, "the config as it was is kept in {}", copy.display())?;
    }
    target.write(Some(&after))?;
    trust::note_arrivals(&folder);
    // For editors; the config is as good without it.
    let ours = folder.join(store::FOLDER);
    let schema = store::make_folder(&folder, &ours).and_then(|()| {
        files::write_atomically(&folder.join(starter::SCHEMA), config::schema_text().as_bytes())
    });
    if let Err(error) = schema {
        writeln!(out, "warning: the schema for editors cannot be written: {error}")?;
    }
    writeln!(out, "wrote {}{}", target.path.display(), fitted(&kinds))?;
    change.make(&mut out)?;
    writeln!(
        out,
        "next: take the `# ` away from what you want there, then `conclaude doctor` looks over it all"
    )?;
    Ok(Exit::Success)
}

/// The project's folder: a config further up belongs to something larger.
fn project() -> io::Result<PathBuf> {
    let start = match Environment::of_process().project_dir {
        Some(folder) => folder,
        None => std::env::current_dir()?,
    };
    // A folder with settings or a config of its own is where sessions start.
    if start.join(".claude").is_dir() || existing(&start).is_some() {
        return Ok(start);
    }
    let top = start.ancestors().find(|folder| folder.join(".git").exists());
    Ok(top.unwrap_or(&start).to_owned())
}

fn existing(folder: &Path) -> Option<PathBuf> {
    FILE_NAMES.iter().map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_ok())
}

fn agent_names(folder: &Path) -> Vec<String> {
    agents::all(folder, Place::Project).into_iter().map(|agent| agent.name).collect()
}

fn fitted(kinds: &[starter::Kind]) -> String {
    let files: Vec<&str> = kinds.iter().map(|kind| kind.file).collect();
    if files.is_empty() { String::new() } else { format!(", fitted to {}", files.join(", ")) }
}

/// A name for the copy that nothing has yet.
fn free_name(path: &Path) -> PathBuf {
    let name = |n: u32| {
        let number = if n == 1 { String::new() } else { format!("-{n}") };
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".before-init{number}"));
        PathBuf::from(name)
    };
    let mut n = 1;
    while name(n).symlink_metadata().is_ok() {
        n += 1;
    }
    name(n)
}
