//! `conclaude install --enforce` and `uninstall --enforce`.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};

use crate::cli::out::Out;
use crate::cli::{diff, enforced, root};
use conclaude_core::config::Patterns;
use conclaude_core::exit::Exit;
use conclaude_engine::hooks::Environment;
use conclaude_engine::install::enforcement::{self, EnforceChange, EnforcedConfig, EnforcedSettings};
use conclaude_engine::install::registration;
use conclaude_engine::install::scope::session_folder;
use conclaude_os::budget::Budget;
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::{FILE_NAMES, Root};
use conclaude_store::store;

/// The programs without which Claude Code's sandbox does not start on Linux, and packages that have them.
const PROGRAMS: [(&str, &str); 2] = [("bwrap", "bubblewrap"), ("socat", "socat")];

pub(super) fn install(dry_run: bool) -> anyhow::Result<Exit> {
    let (root, project) = here()?;
    let loaded = load::all(&root, Patterns::All);
    if let Some(error) = loaded.errors.first() {
        return Err(anyhow!("{error}"));
    }
    let LoadedConfig { config, origins, extended, .. } = &loaded;
    let enforcers = config.enforcers();
    if !enforcers.is_any() {
        let file = root.config.clone().unwrap_or_else(|| root.folder.join(FILE_NAMES[0]));
        bail!(
            "the config does not ask for it: nothing was written\n  add this line to {}:\n\n    enforce: [sandbox, permissions]\n",
            file.display()
        );
    }
    let lock = enforcement::lock(&project, &Budget::unlimited())?;
    let settings = EnforcedSettings::read(&project)?;
    let enforced = EnforcedConfig { root: &root, project: &project, config, origins, extended };
    let existing = conclaude_os::git::entries(&root.folder, &Budget::unlimited())?;
    let compiled = enforced.compile_for(&existing, &settings.denied_by_user())?;
    let change = settings.change(&compiled, enforcers)?;
    let mut out = Out::stdout();
    warn(&mut out, &change, settings.path(), enforcers.sandbox)?;
    if !change.is_needed() {
        writeln!(out, "{} has all that is needed already", settings.path().display())?;
        // What the user has added meanwhile may be what we would have.
        if !dry_run {
            change.write()?;
        }
    } else if dry_run {
        diff::print(&mut out, settings.path(), change.before().unwrap_or_default(), &change.after)?;
    } else {
        // What is denied and does not exist is a file for commands: a hook would find no folder there.
        store::expect_arrivals(&root.folder);
        let copy = change.apply()?;
        writeln!(out, "the rules for files are in {}", settings.path().display())?;
        if let Some(copy) = copy {
            writeln!(out, "the file as it was is kept in {}", copy.display())?;
        }
    }
    drop(lock);
    for line in enforced::lines(&compiled.rules) {
        writeln!(out, "  {line}")?;
    }
    next(&mut out, &root, &project, &loaded)?;
    Ok(Exit::Success)
}

fn here() -> anyhow::Result<(Root, PathBuf)> {
    let root = root()?;
    let project = session_folder(Environment::of_process().project_dir, &root.folder)?;
    Ok((root, project))
}

fn warn(out: &mut Out<'_>, change: &EnforceChange<'_>, path: &Path, has_sandbox: bool) -> anyhow::Result<()> {
    for entry in &change.kept {
        writeln!(
            out,
            "warning: {} has {entry}, which is yours and stays: until you remove it, the sandbox does not hold for every command",
            path.display()
        )?;
    }
    if !cfg!(target_os = "linux") || !has_sandbox {
        return Ok(());
    }
    let missing = PROGRAMS.iter().filter(|(program, _)| registration::on_path(program).is_none());
    let packages: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !packages.is_empty() {
        writeln!(
            out,
            "warning: the sandbox needs {}: until that is installed, Claude Code refuses to start",
            packages.join(" and ")
        )?;
    }
    Ok(())
}

/// The hook gives the reasons, keeps what is not compiled, and the list up to date.
fn next(out: &mut Out<'_>, root: &Root, project: &Path, loaded: &LoadedConfig) -> anyhow::Result<()> {
    let found = registration::current(project);
    if registration::locations(&found).is_empty() {
        writeln!(out, "next: `conclaude install` registers the hook, which does the rest")?;
        return Ok(());
    }
    let problems = registration::out_of_sync(&found, &loaded.config, |scope| {
        registration::config_for(scope, root).config
    });
    for fix in registration::fixes(&problems) {
        writeln!(out, "next: `{fix}` registers the events that this needs")?;
    }
    Ok(())
}

pub(super) fn uninstall(dry_run: bool) -> anyhow::Result<Exit> {
    let (_, project) = here()?;
    let mut out = Out::stdout();
    if !remove(&mut out, &project, dry_run)? {
        let path = EnforcedSettings::read(&project)?.path().display().to_string();
        writeln!(out, "{path} has nothing that `conclaude install --enforce` wrote")?;
    }
    Ok(Exit::Success)
}

/// Takes back what was written. Returns whether there was anything.
pub(super) fn remove(out: &mut Out<'_>, project: &Path, dry_run: bool) -> anyhow::Result<bool> {
    if !EnforcedSettings::is_installed(project) {
        return Ok(false);
    }
    let lock = enforcement::lock(project, &Budget::unlimited())?;
    let settings = EnforcedSettings::read(project)?;
    let Some(removal) = settings.removal() else { return Ok(false) };
    if dry_run {
        diff::print(out, settings.path(), removal.before(), removal.after.as_deref().unwrap_or_default())?;
        return Ok(true);
    }
    let copy = removal.apply()?;
    writeln!(out, "removed the rules for files from {}", settings.path().display())?;
    if let Some(copy) = copy {
        writeln!(out, "the file as it was is kept in {}", copy.display())?;
    }
    drop(lock);
    Ok(true)
}
