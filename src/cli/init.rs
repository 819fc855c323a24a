//! `conclaude init`: a config to start with, and the registration.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::diff;
use super::install::{self, Which};
use crate::config::ConclaudeConfig;
use crate::exit::Exit;
use crate::hooks::Environment;
use crate::install::change::Change;
use crate::install::scope::Scope;
use crate::install::user_file::UserFile;
use crate::install::{agents, schema_file, starter};
use crate::root::FILE_NAMES;
use crate::{files, store};

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
    let target = UserFile { path: existing(&folder).unwrap_or_else(|| folder.join(FILE_NAMES[0])) };
    let exists = target.path.symlink_metadata().is_ok();
    if exists && !request.force {
        return Err(io::Error::other(format!(
            "{} exists already, and is left as it is\n  `conclaude install` registers conclaude for it\n  `conclaude init --force` starts again, and keeps a copy",
            target.path.display()
        )));
    }
    let before = target.read()?.unwrap_or_default();
    let kinds = starter::detect(&folder);
    let after = starter::text(&kinds, &agents::names(&folder, Scope::Project));
    // What is registered should do for what is suggested, once the user wants it.
    let config = ConclaudeConfig::parse(&starter::uncommented(&after), &target.path)
        .map_err(|error| io::Error::other(error.to_string()))?;
    // Whatever is wrong with the settings is found before anything is written.
    let change = Change::of(request.which.scope(), &folder, &config)?;
    let mut out = anstream::stdout().lock();
    if request.dry_run {
        diff::print(&mut out, &target.path, &before, &after)?;
        install::show(&mut out, &change)?;
        return Ok(Exit::Success);
    }
    if exists {
        let copy = free_name(&target.path);
        files::write_atomically(&copy, before.as_bytes())?;
        writeln!(out, "the config as it was is kept in {}", copy.display())?;
    }
    target.write(Some(&after))?;
    store::expect_arrivals(&folder);
    if let Err(error) = schema_file::write(&folder) {
        writeln!(out, "warning: the schema for editors cannot be written: {error}")?;
    }
    writeln!(out, "wrote {}{}", target.path.display(), based_on(&kinds))?;
    install::apply(&mut out, &change)?;
    writeln!(out, "next: uncomment what you want there, then `conclaude doctor` checks the installation")?;
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

fn based_on(kinds: &[starter::Kind]) -> String {
    let files: Vec<&str> = kinds.iter().map(|kind| kind.file).collect();
    if files.is_empty() { String::new() } else { format!(", based on {}", files.join(", ")) }
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
