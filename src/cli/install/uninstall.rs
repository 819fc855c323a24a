//! `conclaude uninstall`: restores the settings, and reports what stays.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{InstallRequest, enforce};
use crate::cli::out::Out;
use crate::cli::{diff, project_dir, root};
use conclaude_core::config::{Patterns, TEST_FILES};
use conclaude_core::dialect;
use conclaude_core::dialect::claude::layout::LOCAL_SETTINGS;
use conclaude_core::exit::Exit;
use conclaude_core::messages::short;
use conclaude_engine::install::change::{Removal, RemovedCopies};
use conclaude_engine::install::enforcement::EnforcedSettings;
use conclaude_engine::install::purge::Leftovers;
use conclaude_engine::install::scope::{Scope, SettingsTarget, session_folder, session_folder_of};
use conclaude_engine::install::settings::UserHook;
use conclaude_engine::install::{configured_hooks, duplicates, registration};
use conclaude_store::load;
use conclaude_store::root::Root;

#[derive(Args)]
pub(in crate::cli) struct UninstallRequest {
    #[command(flatten)]
    request: InstallRequest,
    /// Also remove .conclaude/, and this project's data in your own state: trust, the end of its audit trail, copies of settings.
    /// Never .conclaude.yaml, nor the only copy of imported hooks
    #[arg(long, conflicts_with = "enforce")]
    purge: bool,
}

pub(in crate::cli) fn uninstall(request: &UninstallRequest) -> anyhow::Result<Exit> {
    let (root, purge) = (root()?, request.purge);
    let InstallRequest { which, clients, enforce, dry_run } = &request.request;
    if *enforce {
        return enforce::uninstall(*dry_run);
    }
    let (dry_run, scope) = (*dry_run, which.scope());
    let named = clients.named()?;
    let clients = named.unwrap_or_else(|| load::all(&root, Patterns::All).config.clients());
    // Either all of them can be changed, or none is.
    let mut uninstallations = Vec::new();
    for client in clients {
        let project = session_folder_of(client, project_dir(), &root.folder)?;
        let target = SettingsTarget { client, scope };
        let removal = Removal::of(target, &project)?;
        uninstallations.push(Uninstallation { removal, target, root: &root, project });
    }
    let mut out = Out::stdout();
    for uninstallation in &uninstallations {
        uninstallation.run(&mut out, dry_run, purge)?;
    }
    let project = session_folder(project_dir(), &root.folder)?;
    let leftovers = Leftovers::of(&root.folder, &project);
    if purge {
        enforce::remove(&mut out, &root, &project, dry_run)?;
        remove(&mut out, &leftovers, dry_run)?;
    }
    if !dry_run {
        stays(&mut out, &root, &project, &leftovers)?;
    }
    Ok(Exit::Success)
}

/// A registration to remove.
struct Uninstallation<'a> {
    removal: Removal,
    target: SettingsTarget,
    root: &'a Root,
    project: PathBuf,
}

impl Uninstallation<'_> {
    fn run(&self, out: &mut Out<'_>, dry_run: bool, purge: bool) -> anyhow::Result<()> {
        let removal = &self.removal;
        if !removal.is_needed() {
            writeln!(out, "conclaude is not in {}", removal.path().display())?;
        } else if dry_run {
            let after = removal.after.as_deref().unwrap_or_default();
            diff::print(out, removal.path(), &removal.before, after)?;
        } else {
            self.apply(out, purge)?;
        }
        if let Some(lost) = &removal.lost {
            writeln!(
                out,
                "warning: hooks that `init --import` took over are not in it, since it was changed meanwhile: they are in {}",
                lost.display()
            )?;
        }
        name_lost_hooks(out, removal.path(), &self.lost_hooks())?;
        Ok(())
    }

    fn apply(&self, out: &mut Out<'_>, purge: bool) -> anyhow::Result<()> {
        let removal = &self.removal;
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
            writeln!(out, "the old file is kept in {}", copy.display())?;
        }
        Ok(())
    }

    /// The hooks that only the config has and that no longer run: the copy of the settings may be on another machine. Only hooks
    /// of Claude Code are imported.
    fn lost_hooks(&self) -> Vec<UserHook> {
        let scope = self.target.scope;
        let current = registration::current(&self.project);
        let is_registered = registration::locations(&current).into_iter().any(|file| file.scope != scope);
        if !self.removal.is_needed() || is_registered || self.target.client.is_translated() {
            return Vec::new();
        }
        let mut known = self.removal.known_hooks();
        for other in Scope::ALL.into_iter().filter(|other| *other != scope) {
            known.extend(duplicates::hooks(other, &self.project).into_iter().flat_map(|(_, hooks)| hooks));
        }
        let config = registration::config_for(scope, self.root).config;
        configured_hooks::not_among(&known, &config)
    }
}

/// Names lost hooks, with their form in a settings file.
fn name_lost_hooks(out: &mut Out<'_>, path: &Path, lost: &[UserHook]) -> io::Result<()> {
    if lost.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "warning: these hooks exist only in the config and no longer run. No settings backup has them."
    )?;
    for hook in lost {
        writeln!(out, "  {}: `{}`", hook.event, short(hook.command().unwrap_or_default()))?;
    }
    writeln!(out, "to keep them without conclaude, add this to {}:", path.display())?;
    out.json(&configured_hooks::as_settings(lost))
}

/// Removes the remaining files of a project, and reports them.
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
    let usual = load::all(root, Patterns::All).config.clients();
    for client in dialect::ALL {
        let project = session_folder_of(client, project_dir(), &root.folder)?;
        let found = registration::current_of(client, &project);
        for file in registration::locations(&found) {
            let (path, flags) = (file.path.display(), file.target().flags(&usual));
            writeln!(out, "stays: the registration in {path}; `conclaude uninstall {flags}` removes it")?;
        }
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
