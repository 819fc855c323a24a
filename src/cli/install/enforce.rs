//! `conclaude install --enforce` and `uninstall --enforce`.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};

use crate::cli::out::Out;
use crate::cli::{diff, project_dir, root, rule_enforcement};
use conclaude_core::config::Patterns;
use conclaude_core::dialect::claude::sandbox::SettingsEntry;
use conclaude_core::exit::Exit;
use conclaude_engine::install::enforcement::{self, EnforceChange, EnforcedConfig, EnforcedSettings};
use conclaude_engine::install::local_file::Exclusion;
use conclaude_engine::install::registration;
use conclaude_engine::install::scope::session_folder;
use conclaude_engine::sandbox;
use conclaude_os::budget::Budget;
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::{FILE_NAMES, Root};
use conclaude_store::store;

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
    let compiled = enforced.compile_with(&settings, &Budget::unlimited())?;
    let change = settings.change(&compiled, enforcers)?;
    let mut out = Out::stdout();
    warn(&mut out, &change, settings.path(), enforcers.sandbox)?;
    for rule in compiled.incomplete() {
        let files = rule_enforcement::unlisted_files(rule);
        writeln!(out, "warning: {files} not protected by the sandbox, so guards ask as before")?;
    }
    if let Some(why) = compiled.own_links() {
        writeln!(out, "warning: {why}")?;
    }
    if !change.is_needed() {
        writeln!(out, "{} already has everything that is needed", settings.path().display())?;
        // An entry that the user has added meanwhile may equal ours.
        if !dry_run {
            change.write()?;
        }
    } else if dry_run {
        diff::print(&mut out, settings.path(), change.before().unwrap_or_default(), &change.after)?;
    } else {
        apply(&mut out, &change, settings.path(), &root)?;
    }
    drop(lock);
    for line in rule_enforcement::lines(&compiled.rules) {
        writeln!(out, "  {line}")?;
    }
    next(&mut out, &root, &project, &loaded)?;
    Ok(Exit::Success)
}

fn apply(out: &mut Out<'_>, change: &EnforceChange<'_>, path: &Path, root: &Root) -> anyhow::Result<()> {
    // Commands see a denied missing path as a file: a hook would find no folder there.
    store::expect_arrivals(&root.folder);
    let copy = change.apply()?;
    writeln!(out, "the rules for files are in {}", path.display())?;
    if let Some(copy) = copy {
        writeln!(out, "the old file is kept in {}", copy.display())?;
    }
    Ok(())
}

fn here() -> anyhow::Result<(Root, PathBuf)> {
    let root = root()?;
    let project = session_folder(project_dir(), &root.folder)?;
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
    let packages: Vec<&str> = sandbox::missing_programs().map(|program| program.package).collect();
    if has_sandbox && !packages.is_empty() {
        writeln!(
            out,
            "warning: the sandbox needs {}: until that is installed, Claude Code refuses to start, and a session that runs now has no sandbox",
            packages.join(" and ")
        )?;
    }
    Ok(())
}

/// The hook gives the reasons, enforces rules that are not compiled, and keeps the list up to date.
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
    let (root, project) = here()?;
    let mut out = Out::stdout();
    let is_excluded = remove_exclusion(&mut out, &root, dry_run)?;
    let is_removed = remove_entries(&mut out, &project, dry_run)?;
    let settings = EnforcedSettings::read(&project)?;
    // Some of the user's previous entries may look like ours.
    if is_removed && (dry_run || !settings.has_our_commands()) {
        return Ok(Exit::Success);
    }
    let path = settings.path().display();
    let entries = resembling(&settings, &root, &project);
    if entries.is_empty() {
        if !is_excluded && !is_removed {
            writeln!(out, "{path} has nothing that `conclaude install --enforce` wrote")?;
        }
        return Ok(Exit::Success);
    }
    let lines: String = entries.iter().map(|entry| format!("\n  {entry}")).collect();
    bail!(
        "the record of what `conclaude install --enforce` wrote is gone: none of it was removed\n{path} has entries that look like ours; remove those that are not yours:{lines}"
    );
}

/// The entries that look like ours, in settings without a record.
fn resembling(settings: &EnforcedSettings, root: &Root, project: &Path) -> Vec<SettingsEntry> {
    let loaded = load::all(root, Patterns::All);
    let LoadedConfig { config, origins, extended, .. } = &loaded;
    let enforced = EnforcedConfig { root, project, config, origins, extended };
    match enforced.compile_fully() {
        Ok(compiled) => settings.resembling(&compiled),
        Err(_) => Vec::new(),
    }
}

/// Removes what was written, if there is anything.
pub(super) fn remove(out: &mut Out<'_>, root: &Root, project: &Path, dry_run: bool) -> anyhow::Result<()> {
    remove_exclusion(out, root, dry_run)?;
    remove_entries(out, project, dry_run)?;
    Ok(())
}

/// Removes the lines that make git ignore files of the sandbox. Returns whether there were any.
fn remove_exclusion(out: &mut Out<'_>, root: &Root, dry_run: bool) -> anyhow::Result<bool> {
    let Some(change) = Exclusion::without_placeholders(&root.folder)? else { return Ok(false) };
    if dry_run {
        diff::print(out, change.path(), &change.before, &change.after)?;
    } else {
        change.apply()?;
        writeln!(out, "removed the files that only the sandbox shows from {}", change.path().display())?;
    }
    Ok(true)
}

fn remove_entries(out: &mut Out<'_>, project: &Path, dry_run: bool) -> anyhow::Result<bool> {
    if !EnforcedSettings::is_installed(project) {
        return Ok(false);
    }
    let lock = enforcement::lock(project, &Budget::unlimited())?;
    let settings = EnforcedSettings::read(project)?;
    let Some(removal) = settings.removal()? else { return Ok(false) };
    if dry_run {
        diff::print(out, settings.path(), removal.before(), removal.after.as_deref().unwrap_or_default())?;
        return Ok(true);
    }
    let copy = removal.apply()?;
    if removal.after.as_deref() != Some(removal.before()) {
        writeln!(out, "removed the rules for files from {}", settings.path().display())?;
    }
    if let Some(copy) = copy {
        writeln!(out, "the old file is kept in {}", copy.display())?;
    }
    drop(lock);
    Ok(true)
}
