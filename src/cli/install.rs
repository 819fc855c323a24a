//! `conclaude install` and `uninstall`: Claude Code's settings, changed as little as possible and never lost.

use std::io;
use std::path::Path;

use anyhow::anyhow;
use clap::Args;

use super::{diff, root};
use crate::cli::out::Out;
use conclaude_core::config::{ConclaudeConfig, Patterns, TEST_FILES};
use conclaude_core::dialect::claude::layout::LOCAL_SETTINGS;
use conclaude_core::event::RegistrationRule;
use conclaude_core::exit::Exit;
use conclaude_core::messages::short;
use conclaude_engine::hooks::Environment;
use conclaude_engine::install::change::{Change, Removal, RemovedCopies};
use conclaude_engine::install::configured_hooks;
use conclaude_engine::install::duplicates::{self, Duplicate};
use conclaude_engine::install::enforcement::EnforcedSettings;
use conclaude_engine::install::import::{self, Fate};
use conclaude_engine::install::local_file::{self, Exclusion};
use conclaude_engine::install::purge::Leftovers;
use conclaude_engine::install::scope::{Scope, session_folder};
use conclaude_engine::install::settings::UserHook;
use conclaude_engine::install::{registration, schema_file};
use conclaude_store::load::{self, LOCAL};
use conclaude_store::root::Root;
use conclaude_store::store;

mod enforce;

#[derive(Args, Clone, Default)]
pub(super) struct ScopeArgs {
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
    /// Only the rules for files, in Claude Code's sandbox and permission rules (.claude/settings.local.json); the config must have
    /// `enforce`
    #[arg(long, conflicts_with_all = ["project", "local", "user"])]
    enforce: bool,
    /// Show what would change, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

#[derive(Args)]
pub(super) struct UninstallRequest {
    #[command(flatten)]
    request: InstallRequest,
    /// Also remove .conclaude/, and what is kept of this project in your own state: trust, the end of its audit trail, copies of
    /// settings. Never .conclaude.yaml, nor the only copy of hooks that were taken over
    #[arg(long, conflicts_with = "enforce")]
    purge: bool,
}

pub(super) fn install(request: &InstallRequest) -> anyhow::Result<Exit> {
    if request.enforce {
        return enforce::install(request.dry_run);
    }
    let (root, scope) = (root()?, request.which.scope());
    let config = config(&root, scope)?;
    let project = session_folder(Environment::of_process().project_dir, &root.folder)?;
    let change = Change::of(scope, &project, &config)?;
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
        show(&mut out, &change)?;
        exclude(&mut out, scope, &root.folder, true)?;
        return Ok(Exit::Success);
    }
    apply(&mut out, &change)?;
    if let Some(problem) = schema_file::refreshed(root.config.as_deref()) {
        writeln!(out, "warning: {problem}")?;
    }
    exclude(&mut out, scope, &root.folder, false)?;
    if scope == Scope::User {
        return Ok(Exit::Success);
    }
    beyond(&mut out, scope, &root, &project)?;
    let effective = load::all(&root, Patterns::All).config;
    warn_of_duplicates(&mut out, &duplicates::duplicates(&project, &effective), &effective)?;
    store::expect_arrivals(&root.folder);
    if project != std::env::current_dir()? {
        writeln!(
            out,
            "note: Claude Code reads that file in sessions that start in {}, not in folders below",
            project.display()
        )?;
    }
    if root.config.is_none() {
        let others = load::all(&root, Patterns::All);
        let what = if others.origins.sources().is_empty() {
            "the gates of marked prompts do"
        } else {
            "your own config does"
        };
        writeln!(out, "next: `conclaude init` writes a .conclaude.yaml; without one only {what} anything")?;
    }
    Ok(Exit::Success)
}

/// The config that is to be registered for; none is an empty one.
fn config(root: &Root, scope: Scope) -> anyhow::Result<ConclaudeConfig> {
    let loaded = registration::config_for(scope, root);
    loaded.complete().map_err(|error| anyhow!("{error}"))
}

/// What the user's own files need beyond what is shared with others.
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

/// The local config should not be committed. Registering for oneself makes git ignore it; otherwise a warning says where git does
/// not.
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
        writeln!(out, "the file as it was is kept in {}", copy.display())?;
    }
    if change.scope == Scope::User {
        writeln!(out, "in each project: `conclaude trust` lets the commands of its config run")?;
    }
    Ok(())
}

fn warn(out: &mut Out<'_>, change: &Change) -> io::Result<()> {
    change.warnings().iter().try_for_each(|warning| writeln!(out, "warning: {warning}"))
}

fn unchanged(out: &mut Out<'_>, change: &Change) -> io::Result<()> {
    writeln!(out, "{} has all that is needed already", change.path().display())
}

pub(super) fn uninstall(request: &UninstallRequest) -> anyhow::Result<Exit> {
    let (root, purge) = (root()?, request.purge);
    let InstallRequest { which, enforce, dry_run } = &request.request;
    if *enforce {
        return enforce::uninstall(*dry_run);
    }
    let project = session_folder(Environment::of_process().project_dir, &root.folder)?;
    let removal = Removal::of(which.scope(), &project)?;
    let mut out = Out::stdout();
    if !removal.is_needed() {
        writeln!(out, "{} has nothing of conclaude", removal.path().display())?;
    } else if *dry_run {
        let after = removal.after.as_deref().unwrap_or_default();
        diff::print(&mut out, removal.path(), &removal.before, after)?;
    } else {
        let RemovedCopies { previous, forgotten } = removal.apply()?;
        writeln!(out, "removed conclaude from {}", removal.path().display())?;
        for copy in &forgotten {
            writeln!(out, "removed its copy {}: the file is again what that was", copy.display())?;
        }
        match removal.restored() {
            0 => {}
            1 => writeln!(out, "your hook that the config had taken over is back in it")?,
            restored => {
                writeln!(out, "your {restored} hooks that the config had taken over are back in it")?;
            }
        }
        if let Some(copy) = previous
            && !purge
        {
            writeln!(out, "the file as it was is kept in {}", copy.display())?;
        }
    }
    if let Some(lost) = &removal.lost {
        writeln!(
            out,
            "warning: hooks that `init --import` took over are not in it, since it was changed meanwhile: they are in {}",
            lost.display()
        )?;
    }
    let uninstallation =
        Uninstallation { removal: &removal, scope: which.scope(), root: &root, project: &project };
    name_lost_hooks(&mut out, removal.path(), &uninstallation.lost_hooks())?;
    let leftovers = Leftovers::of(&root.folder, &project);
    if purge {
        enforce::remove(&mut out, &project, *dry_run)?;
        remove(&mut out, &leftovers, *dry_run)?;
    }
    if !*dry_run {
        stays(&mut out, &root, &project, &leftovers)?;
    }
    Ok(Exit::Success)
}

/// A registration that is removed.
struct Uninstallation<'a> {
    removal: &'a Removal,
    scope: Scope,
    root: &'a Root,
    project: &'a Path,
}

impl Uninstallation<'_> {
    /// The hooks that only the config has and that nothing runs any more: the copy of the settings may be on another machine.
    fn lost_hooks(&self) -> Vec<UserHook> {
        let current = registration::current(self.project);
        let is_registered =
            registration::locations(&current).into_iter().any(|file| file.scope != self.scope);
        if !self.removal.is_needed() || is_registered {
            return Vec::new();
        }
        let mut known = self.removal.known_hooks();
        for scope in Scope::ALL.into_iter().filter(|scope| *scope != self.scope) {
            known.extend(duplicates::hooks(scope, self.project).into_iter().flat_map(|(_, hooks)| hooks));
        }
        let config = registration::config_for(self.scope, self.root).config;
        configured_hooks::not_among(&known, &config)
    }
}

/// Names hooks that are lost, and how the settings file would have them.
fn name_lost_hooks(out: &mut Out<'_>, path: &Path, lost: &[UserHook]) -> io::Result<()> {
    if lost.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "warning: these hooks are only in the config now, and nothing runs them any more. No copy of the settings on this machine has them:"
    )?;
    for hook in lost {
        writeln!(out, "  {}: `{}`", hook.event, short(hook.command().unwrap_or_default()))?;
    }
    writeln!(out, "to keep them without conclaude, add this to {}:", path.display())?;
    out.json(&configured_hooks::as_settings(lost))
}

/// Names hooks of the user's settings that the config runs too.
pub(super) fn warn_of_duplicates<'a>(
    out: &mut Out<'_>,
    found: impl IntoIterator<Item = &'a Duplicate>,
    config: &ConclaudeConfig,
) -> io::Result<()> {
    for twice in found {
        let (run, event, path) = (short(&twice.run), twice.event, twice.path.display());
        let import = match import::fate(&twice.hook, Some(config)) {
            // One project must not take over hooks for all projects.
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

/// Removes what is left of a project, and says what that was.
fn remove(out: &mut Out<'_>, leftovers: &Leftovers, dry_run: bool) -> anyhow::Result<()> {
    let existing = leftovers.existing();
    if !dry_run {
        leftovers.remove()?;
    }
    let word = if dry_run { "would remove" } else { "removed" };
    if existing.is_empty() {
        writeln!(out, "nothing else of this project is kept")?;
    }
    for one in &existing {
        writeln!(out, "{word} {} ({})", one.path.display(), one.what)?;
    }
    Ok(())
}

fn stays(out: &mut Out<'_>, root: &Root, project: &Path, leftovers: &Leftovers) -> io::Result<()> {
    let found = registration::current(project);
    for file in registration::locations(&found) {
        let (path, flag) = (file.path.display(), file.scope.flag());
        writeln!(out, "stays: the registration in {path}; `conclaude uninstall {flag}` removes it")?;
    }
    if EnforcedSettings::is_installed(project) {
        writeln!(
            out,
            "stays: the rules for files in {LOCAL_SETTINGS}; `conclaude uninstall --enforce` removes them"
        )?;
    }
    if let Some(config) = &root.config {
        writeln!(out, "stays: {}, which is yours", config.display())?;
    }
    let cases = TEST_FILES.iter().map(|name| root.folder.join(name));
    for path in cases.filter(|path| path.symlink_metadata().is_ok()) {
        writeln!(out, "stays: {} (cases for `conclaude test`)", path.display())?;
    }
    let existing = leftovers.existing();
    for one in &existing {
        writeln!(out, "stays: {} ({})", one.path.display(), one.what)?;
    }
    for path in leftovers.only_copies() {
        writeln!(out, "stays: {} (the only copy of hooks that were taken over)", path.display())?;
    }
    if !existing.is_empty() {
        writeln!(out, "`conclaude uninstall --purge` removes what conclaude keeps of this project")?;
    }
    Ok(())
}
