//! `conclaude init`: a config to start with, and the registration.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;

use super::clients::ClientArgs;
use super::{diff, install, project_dir};
use crate::cli::install::ScopeArgs;
use crate::cli::out::Out;
use conclaude_core::config::{ConclaudeConfig, Patterns, TEST_FILES};
use conclaude_core::dialect::claude::layout;
use conclaude_core::exit::Exit;
use conclaude_core::messages::short;
use conclaude_core::text::count;
use conclaude_engine::install::change::Change;
use conclaude_engine::install::import::ImportResult;
use conclaude_engine::install::scope::{Scope, SettingsTarget};
use conclaude_engine::install::settings::ORIGINAL;
use conclaude_engine::install::starter::Pack;
use conclaude_engine::install::templates::{STEP_COMMAND, STEP_COMMAND_PATH};
use conclaude_engine::install::user_file::UserFile;
use conclaude_engine::install::{InstallError, agents, duplicates, schema_file};
use conclaude_engine::lint;
use conclaude_os::files;
use conclaude_store::load::LOCAL;
use conclaude_store::root::{FILE_NAMES, Root};
use conclaude_store::{load, store};
use draft::Draft;

mod draft;
mod questions;

#[derive(Args)]
pub(super) struct InitRequest {
    #[command(flatten)]
    which: ScopeArgs,
    #[command(flatten)]
    clients: ClientArgs,
    /// Take the recommended answers instead of asking: the detected checks block, and packs of guards are on
    #[arg(long, short = 'y')]
    yes: bool,
    /// Enable these packs of guards, in addition to the recommended ones if those are taken; may be repeated
    #[arg(long = "pack", value_name = "NAME", value_delimiter = ',')]
    packs: Vec<String>,
    /// Import your own hooks from that settings file, and a config of the original conclaude (0.2.9); copies are kept
    #[arg(long)]
    import: bool,
    /// Also write .claude/commands/step.md: `/step 01` starts a gated step in Claude Code
    #[arg(long)]
    steps: bool,
    /// Replace an existing config; a copy is kept
    #[arg(long)]
    force: bool,
    /// Show what would change, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn run(request: &InitRequest) -> anyhow::Result<Exit> {
    let folder = project()?;
    let target = UserFile { path: existing(&folder).unwrap_or_else(|| folder.join(FILE_NAMES[0])) };
    let exists = target.path.symlink_metadata().is_ok();
    let packs = draft::packs(&request.packs)?;
    let named = request.clients.named()?;
    let mut out = Out::stdout();
    if exists && !request.force && !request.import {
        if request.steps {
            write_step_command(request, &folder, &mut out)?;
            return Ok(Exit::Success);
        }
        return Err(exists_already(&target, &packs));
    }
    let mut draft = Draft::new(request, packs, &folder, &target)?;
    draft.name_clients(named.as_deref().unwrap_or_default(), &target);
    // Problems of the settings are found before anything is written.
    let scope = request.which.scope();
    let config = effective(scope, &folder, &target.path, &draft.after)?;
    let clients = named.unwrap_or_else(|| config.clients());
    let targets: Vec<SettingsTarget> =
        clients.iter().map(|&client| SettingsTarget { client, scope }).collect();
    let changes = changes(&draft, &targets, &folder, &config)?;
    if request.dry_run {
        draft.show(&target, &mut out)?;
        write_cases(request, &folder, &draft.cases, &mut out)?;
        report(request, &draft, &folder, &mut out)?;
        changes.iter().try_for_each(|change| install::show(&mut out, change))?;
        install::exclude(&mut out, scope, &folder, true)?;
    } else {
        apply(&draft, &target, &mut out)?;
        finish(&folder, &mut out)?;
        write_cases(request, &folder, &draft.cases, &mut out)?;
        report(request, &draft, &folder, &mut out)?;
        changes.iter().try_for_each(|change| install::apply(&mut out, change))?;
        install::exclude(&mut out, scope, &folder, false)?;
        if clients.iter().any(|client| !client.is_translated()) {
            install::beyond(&mut out, scope, &Root::find(None, &folder), &folder)?;
        }
    }
    if request.steps {
        write_step_command(request, &folder, &mut out)?;
    }
    if !request.dry_run {
        name_next(&draft, &changes, &mut out)?;
    }
    Ok(Exit::Success)
}

/// Prints what the user should do next.
fn name_next(draft: &Draft, changes: &[Change], out: &mut Out<'_>) -> anyhow::Result<()> {
    install::name_to_do(out, changes)?;
    let next = if changes.iter().any(Change::is_ignored) {
        "fix the settings as the warning says, then `conclaude doctor` checks the installation"
    } else {
        draft.next()
    };
    writeln!(out, "next: {next}")?;
    Ok(())
}

fn exists_already(target: &UserFile, packs: &[Pack]) -> anyhow::Error {
    let names: Vec<&str> = packs.iter().map(|pack| pack.name).collect();
    let add = if names.is_empty() {
        String::new()
    } else {
        format!("\n  `conclaude pack add {}` adds the packs that you named", names.join(" "))
    };
    anyhow!(
        "{} already exists, and is left unchanged{add}\n  `conclaude install` registers conclaude for it\n  `conclaude init --import` takes over hooks of your own, and a config of the original conclaude\n  `conclaude init --force` starts again, and keeps a copy",
        target.path.display()
    )
}

/// The changes of each client's settings. Only hooks of Claude Code are imported.
fn changes(
    draft: &Draft,
    targets: &[SettingsTarget],
    folder: &Path,
    config: &ConclaudeConfig,
) -> Result<Vec<Change>, InstallError> {
    let change = |target: &SettingsTarget| {
        let taken = if target.client.is_translated() { Vec::new() } else { draft.imported.removed() };
        Change::without(*target, folder, config, &taken)
    };
    targets.iter().map(change).collect()
}

/// The config to register for, by the scope of the settings. Commented suggestions register nothing.
fn effective(scope: Scope, folder: &Path, path: &Path, text: &str) -> anyhow::Result<ConclaudeConfig> {
    let (folder, config) = (folder.to_owned(), Some(path.to_owned()));
    let root = Root { work: folder.clone(), folder, config, untrusted: None };
    let loaded = match scope {
        Scope::User => load::of_user(&root, Patterns::All),
        Scope::Project => load::draft_of_project(&root, path, text),
        Scope::Local => load::draft(&root, path, text),
    };
    loaded.complete().map_err(|error| anyhow!("{error}"))
}

/// Writes the config, and a copy of the replaced one.
fn apply(draft: &Draft, target: &UserFile, out: &mut Out<'_>) -> anyhow::Result<()> {
    if !draft.is_needed {
        writeln!(out, "{} is left unchanged", target.path.display())?;
        return Ok(());
    }
    if let Some(before) = &draft.before {
        let copy = free_name(&target.path);
        files::write_atomically(&copy, before.as_bytes())?;
        writeln!(out, "the old config is kept in {}", copy.display())?;
    }
    target.write(Some(&draft.after))?;
    let based_on =
        if draft.based_on.is_empty() { String::new() } else { format!(", based on {}", draft.based_on) };
    writeln!(out, "wrote {}{based_on}", target.path.display())?;
    Ok(())
}

/// Writes what belongs to a project with a config.
fn finish(folder: &Path, out: &mut Out<'_>) -> io::Result<()> {
    store::expect_arrivals(folder);
    if let Err(error) = schema_file::write(folder) {
        writeln!(out, "warning: the schema for editors cannot be written: {error}")?;
    }
    Ok(())
}

/// Prints the hooks that are now in the config.
fn report_hooks(imported: &ImportResult, is_local: bool, out: &mut Out<'_>) -> io::Result<()> {
    for hook in &imported.hooks {
        let (command, event) = (hook.command().unwrap_or_default(), &hook.event);
        writeln!(
            out,
            "took over the hook `{}` of {event}: it is in the config now, and no longer in the settings",
            short(command)
        )?;
    }
    for hook in &imported.covered {
        let (command, event) = (short(hook.command().unwrap_or_default()), &hook.event);
        writeln!(
            out,
            "removed the hook `{command}` of {event} from the settings: the config runs it already"
        )?;
    }
    if is_local && !imported.hooks.is_empty() {
        writeln!(
            out,
            "warning: these hooks were yours alone, and {} is shared: everybody who gets it runs them too. Move them to {LOCAL} to keep them to yourself",
            FILE_NAMES[0]
        )?;
    }
    Ok(())
}

/// Prints what was imported, what was not, and what would run twice.
fn report(request: &InitRequest, draft: &Draft, folder: &Path, out: &mut Out<'_>) -> io::Result<()> {
    let is_local = request.which.scope() == Scope::Local;
    report_hooks(&draft.imported, is_local, out)?;
    draft.added.iter().try_for_each(|what| writeln!(out, "{what}"))?;
    let left = &draft.imported.left;
    left.iter().try_for_each(|what| writeln!(out, "not taken over: {what}"))?;
    draft.imported.notes.iter().try_for_each(|note| writeln!(out, "note: {note}"))?;
    if request.import {
        report_agents(folder, out)?;
    }
    if request.import
        && !is_local
        && let Some((path, hooks)) = duplicates::hooks(Scope::Local, folder)
        && !hooks.is_empty()
    {
        let (number, path) = (count(hooks.len() as u64, "hook"), path.display());
        writeln!(
            out,
            "note: {number} of your own in {path}, not taken over: `conclaude init --import --local` does that"
        )?;
    }
    // Hooks of the imported scope are in one of the lists above.
    let is_reported = |scope| request.import && scope == request.which.scope();
    let now = ConclaudeConfig::parse(&draft.after, &folder.join(FILE_NAMES[0])).unwrap_or_default();
    let before = if request.import { draft.before.as_deref().unwrap_or_default() } else { "" };
    for remark in lint::of_text(before, &now) {
        writeln!(out, "note: {}", remark.in_one_line())?;
    }
    let found = duplicates::duplicates(folder, &draft.config);
    install::warn_of_duplicates(out, found.iter().filter(|one| !is_reported(one.scope)), &now)
}

/// The files of agents with hooks that are not ours to change.
fn report_agents(folder: &Path, out: &mut Out<'_>) -> io::Result<()> {
    agents::with_original_hooks(folder).iter().try_for_each(|path| {
        let path = path.display();
        writeln!(
            out,
            "note: {path} has a hook of conclaude 0.2 (`conclaude {ORIGINAL}`): remove it there, it is not needed beside the settings"
        )
    })
}

/// The project's folder. A config further up belongs to a larger project.
fn project() -> io::Result<PathBuf> {
    let start = match project_dir() {
        Some(folder) => folder,
        None => std::env::current_dir()?,
    };
    // A folder with settings or a config of its own is where sessions start.
    if start.join(layout::FOLDER).is_dir() || existing(&start).is_some() {
        return Ok(start);
    }
    let top = start.ancestors().find(|folder| folder.join(".git").exists());
    Ok(top.unwrap_or(&start).to_owned())
}

fn existing(folder: &Path) -> Option<PathBuf> {
    FILE_NAMES.iter().map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_ok())
}

/// An unused name for the copy.
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

/// Writes the first cases for `conclaude test`. Existing cases are never replaced.
fn write_cases(request: &InitRequest, folder: &Path, cases: &str, out: &mut Out<'_>) -> anyhow::Result<()> {
    let [name, _] = TEST_FILES;
    if TEST_FILES.iter().any(|name| folder.join(name).symlink_metadata().is_ok()) {
        return Ok(());
    }
    let file = UserFile { path: folder.join(name) };
    if request.dry_run {
        diff::print(out, &file.path, "", cases)?;
        return Ok(());
    }
    file.write(Some(cases))?;
    writeln!(out, "wrote {}: cases for `conclaude test`", file.path.display())?;
    Ok(())
}

/// Writes the slash command that starts a step. Another one is replaced only with `--force`, and a copy is kept.
fn write_step_command(request: &InitRequest, folder: &Path, out: &mut Out<'_>) -> anyhow::Result<()> {
    let file = UserFile { path: folder.join(STEP_COMMAND_PATH) };
    let path = file.path.display();
    match file.read()? {
        Some(text) if text == STEP_COMMAND => {
            writeln!(out, "{path} is there already")?;
            return Ok(());
        }
        Some(_) if !request.force => {
            writeln!(
                out,
                "warning: {path} is another command, and is left unchanged; `--force` replaces it, and keeps a copy"
            )?;
            return Ok(());
        }
        before if request.dry_run => {
            diff::print(out, &file.path, before.as_deref().unwrap_or_default(), STEP_COMMAND)?;
            return Ok(());
        }
        Some(before) => {
            let copy = free_name(&file.path);
            files::write_atomically(&copy, before.as_bytes())?;
            writeln!(out, "the old command is kept in {}", copy.display())?;
        }
        None => {}
    }
    file.write(Some(STEP_COMMAND))?;
    writeln!(out, "wrote {path}: `/step 01` in Claude Code starts the step whose file name starts with 01")?;
    Ok(())
}
