//! `conclaude install`: a client's settings, changed as little as possible and never lost.

use std::io;
use std::path::Path;

use anyhow::anyhow;
use clap::Args;

use super::clients::ClientArgs;
use super::{diff, project_dir, root};
use crate::cli::out::Out;
use conclaude_core::config::{ConclaudeConfig, Patterns};
use conclaude_core::event::RegistrationRule;
use conclaude_core::exit::Exit;
use conclaude_core::messages::short;
use conclaude_engine::install::change::Change;
use conclaude_engine::install::duplicates::{self, Duplicate};
use conclaude_engine::install::import::{self, Fate};
use conclaude_engine::install::local_file::{self, Exclusion};
use conclaude_engine::install::scope::{Scope, SettingsTarget, session_folder, session_folder_of};
use conclaude_engine::install::{registration, schema_file};
use conclaude_store::load::{self, LOCAL};
use conclaude_store::root::Root;
use conclaude_store::store;

mod enforce;
mod uninstall;

pub(super) use uninstall::{UninstallRequest, uninstall};

#[derive(Args, Clone, Default)]
pub(super) struct ScopeArgs {
    /// .claude/settings.json of the project, which is shared with others (the default)
    #[arg(long, conflicts_with_all = ["local", "user"])]
    project: bool,
    /// .claude/settings.local.json of the project, which is yours alone
    #[arg(long, conflicts_with = "user")]
    local: bool,
    /// Your own settings.json, for all projects; then commands of a project run only after `conclaude trust`
    #[arg(long)]
    user: bool,
}

impl ScopeArgs {
    pub(super) fn scope(&self) -> Scope {
        match (self.local, self.user) {
            (true, _) => Scope::Local,
            (_, true) => Scope::User,
            _ => Scope::Project,
        }
    }
}

#[derive(Args)]
pub(super) struct InstallRequest {
    #[command(flatten)]
    which: ScopeArgs,
    #[command(flatten)]
    clients: ClientArgs,
    /// Only the rules for files, in Claude Code's sandbox and permission rules (.claude/settings.local.json); the config must
    /// have `enforce`
    #[arg(long, conflicts_with_all = ["project", "local", "user", "clients"])]
    enforce: bool,
    /// Show what would change, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn install(request: &InstallRequest) -> anyhow::Result<Exit> {
    if request.enforce {
        return enforce::install(request.dry_run);
    }
    let named = request.clients.named()?;
    let (root, scope) = (root()?, request.which.scope());
    let config = config(&root, scope)?;
    let clients = named.unwrap_or_else(|| load::all(&root, Patterns::All).config.clients());
    // Either all of them can be changed, or none is.
    let mut changes = Vec::new();
    for client in clients {
        let project = session_folder_of(client, project_dir(), &root.folder)?;
        changes.push(Change::of(SettingsTarget { client, scope }, &project, &config)?);
    }
    let mut out = Out::stdout();
    for event in config
        .notified_events()
        .iter()
        .filter(|event| event.row().registered == RegistrationRule::WithCommands)
    {
        writeln!(
            out,
            "warning: notifications name {}, which is not registered: it would change what Claude Code does",
            event.name()
        )?;
    }
    if request.dry_run {
        changes.iter().try_for_each(|change| show(&mut out, change))?;
        exclude(&mut out, scope, &root.folder, true)?;
        return Ok(Exit::Success);
    }
    changes.iter().try_for_each(|change| apply(&mut out, change))?;
    if let Some(problem) = schema_file::refreshed(root.config.as_deref()) {
        writeln!(out, "warning: {problem}")?;
    }
    exclude(&mut out, scope, &root.folder, false)?;
    if scope != Scope::User {
        store::expect_arrivals(&root.folder);
        if changes.iter().any(|change| !change.target.client.is_translated()) {
            report_on_claude(&mut out, scope, &root)?;
        }
        if root.config.is_none() {
            name_init(&mut out, &root)?;
        }
    }
    name_to_do(&mut out, &changes)?;
    Ok(Exit::Success)
}

/// Other facts that matter in sessions of Claude Code.
fn report_on_claude(out: &mut Out<'_>, scope: Scope, root: &Root) -> io::Result<()> {
    let project = session_folder(project_dir(), &root.folder)?;
    beyond(out, scope, root, &project)?;
    let effective = load::all(root, Patterns::All).config;
    warn_of_duplicates(out, &duplicates::duplicates(&project, &effective), &effective)?;
    if project != std::env::current_dir()? {
        writeln!(
            out,
            "note: Claude Code reads that file in sessions that start in {}, not in folders below",
            project.display()
        )?;
    }
    Ok(())
}

/// Names `conclaude init`, because the project has no config.
fn name_init(out: &mut Out<'_>, root: &Root) -> io::Result<()> {
    let others = load::all(root, Patterns::All);
    let what = if others.origins.sources().is_empty() {
        "the gates of marked prompts do"
    } else {
        "your own config does"
    };
    writeln!(out, "next: `conclaude init` writes a .conclaude.yaml; without one only {what} anything")
}

/// The remaining work for the user, for each client.
pub(super) fn name_to_do(out: &mut Out<'_>, changes: &[Change]) -> io::Result<()> {
    changes.iter().flat_map(Change::to_do).try_for_each(|what| writeln!(out, "next: {what}"))
}

/// The config to register. An empty one if there is none.
fn config(root: &Root, scope: Scope) -> anyhow::Result<ConclaudeConfig> {
    let loaded = registration::config_for(scope, root);
    loaded.complete().map_err(|error| anyhow!("{error}"))
}

/// The additional needs of the user's own files.
pub(super) fn beyond(out: &mut Out<'_>, scope: Scope, root: &Root, project: &Path) -> io::Result<()> {
    let loaded = load::all(root, Patterns::All);
    if scope != Scope::Project || !loaded.errors.is_empty() {
        return Ok(());
    }
    let found = registration::current(project);
    let problems = registration::out_of_sync(&found, &loaded.config, |scope| {
        registration::config_for(scope, root).config
    });
    let fixes = registration::fixes(&problems);
    for fix in fixes.into_iter().filter(|fix| !fix.ends_with(Scope::Project.flag())) {
        writeln!(
            out,
            "note: your own files need more, which is not for all who share these settings: `{fix}`"
        )?;
    }
    Ok(())
}

/// The local config should not be committed. Registering locally makes git ignore it. Otherwise a warning says that git does not.
pub(super) fn exclude(out: &mut Out<'_>, scope: Scope, folder: &Path, dry_run: bool) -> io::Result<()> {
    let exclusion = if scope == Scope::Local { Exclusion::needed(folder) } else { Ok(None) };
    match exclusion {
        Ok(Some(exclusion)) if dry_run => {
            writeln!(out, "would add {LOCAL} to {}", exclusion.path().display())?;
        }
        Ok(Some(exclusion)) => match exclusion.apply() {
            Ok(()) => {
                writeln!(out, "git ignores {LOCAL} here: added it to {}", exclusion.path().display())?;
            }
            Err(error) => {
                writeln!(out, "warning: {} cannot be written: {error}", exclusion.path().display())?;
            }
        },
        Ok(None) => {}
        Err(error) => writeln!(out, "warning: {error}")?,
    }
    match local_file::not_ignored(folder) {
        Some(problem) if !dry_run || scope != Scope::Local => writeln!(out, "warning: {problem}"),
        _ => Ok(()),
    }
}

pub(super) fn show(out: &mut Out<'_>, change: &Change) -> io::Result<()> {
    warn(out, change)?;
    if !change.is_needed() {
        return unchanged(out, change);
    }
    diff::print(out, change.path(), change.before.as_deref().unwrap_or_default(), &change.after)
}

pub(super) fn apply(out: &mut Out<'_>, change: &Change) -> anyhow::Result<()> {
    warn(out, change)?;
    for (from, to) in change.move_copies_out()? {
        writeln!(out, "moved {} out of the project, to {}", from.display(), to.display())?;
    }
    if !change.is_needed() {
        unchanged(out, change)?;
        return Ok(());
    }
    let copy = change.apply()?;
    writeln!(out, "registered conclaude in {}", change.path().display())?;
    if let Some(copy) = copy {
        writeln!(out, "the old file is kept in {}", copy.display())?;
    }
    if change.target.scope == Scope::User {
        writeln!(out, "in each project: `conclaude trust` lets the commands of its config run")?;
    }
    Ok(())
}

fn warn(out: &mut Out<'_>, change: &Change) -> io::Result<()> {
    change.warnings().iter().try_for_each(|warning| writeln!(out, "warning: {warning}"))
}

fn unchanged(out: &mut Out<'_>, change: &Change) -> io::Result<()> {
    writeln!(out, "{} already has everything that is needed", change.path().display())
}

/// Names the user's hooks that the config runs too.
pub(super) fn warn_of_duplicates<'a>(
    out: &mut Out<'_>,
    found: impl IntoIterator<Item = &'a Duplicate>,
    config: &ConclaudeConfig,
) -> io::Result<()> {
    for twice in found {
        let (run, event, path) = (short(&twice.run), twice.event, twice.path.display());
        let import = match import::fate(&twice.hook, Some(config)) {
            // One project must not import hooks of all projects.
            _ if twice.scope == Scope::User => String::new(),
            Fate::Leave(_) => String::new(),
            Fate::Advise(what) => format!("; {what}"),
            _ => format!(", or `conclaude init --import {}`", twice.scope.flag()),
        };
        writeln!(
            out,
            "warning: `{run}` is a hook of {event} in {path} as well, and would run twice: remove it there{import}"
        )?;
    }
    Ok(())
}
