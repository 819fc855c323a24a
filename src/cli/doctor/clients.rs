//! Each client that the config names or that has our registration: its settings, problems with them, and the arrived events.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use super::probe::Arrival;
use super::{Check, Installation, short};
use crate::cli::project_dir;
use conclaude_core::dialect::hook_settings::{HookEntry, TrustFile};
use conclaude_core::dialect::{self, Dialect, claude};
use conclaude_core::text::{clean_line, count};
use conclaude_engine::install::registration::{self, ScopeSettings};
use conclaude_engine::install::scope::{Scope, SettingsTarget, session_folder_of};
use conclaude_engine::install::settings::{self, CommandLine, Registration};
use conclaude_engine::install::user_file::MAX_BYTES;
use conclaude_os::files;
use conclaude_store::root::client_folder;
use conclaude_store::store;

#[derive(Default)]
pub(super) struct ClientReport {
    pub(super) checks: Vec<Check>,
    pub(super) arrivals: Vec<Arrival>,
}

pub(super) fn all(installation: &Installation) -> io::Result<ClientReport> {
    let mut report = ClientReport::default();
    for client in dialect::ALL {
        let project = session_folder_of(client, project_dir(), &installation.root.folder)?;
        let files = registration::current_of(client, &project);
        let is_registered = !registration::locations(&files).is_empty();
        let is_named = installation.is_named(client);
        if !is_named && !is_registered {
            continue;
        }
        let looked = CheckedClient { installation, client, project, files, is_named };
        let mut checks = if client.is_translated() { looked.checks() } else { looked.claudes() };
        // The worst comes first.
        checks.sort_by_key(|check| std::cmp::Reverse(check.status));
        report.checks.extend(checks);
        if client.is_translated() && is_registered {
            let events = looked.needed();
            let arrival = |need: &Registration| Arrival::of(&installation.root.folder, client, &need.name);
            report.arrivals.extend(events.iter().map(arrival));
        }
    }
    if !report.arrivals.is_empty() {
        store::expect_arrivals(&installation.root.folder);
    }
    Ok(report)
}

/// A client that is looked at.
struct CheckedClient<'a> {
    installation: &'a Installation,
    client: &'static Dialect,
    /// Where it looks for the settings of the project.
    project: PathBuf,
    files: Vec<ScopeSettings>,
    is_named: bool,
}

impl CheckedClient<'_> {
    /// The clients without a separate check: Claude Code has its own checks.
    fn claudes(&self) -> Vec<Check> {
        self.foreign_lines().into_iter().chain(self.unnamed()).collect()
    }

    fn checks(&self) -> Vec<Check> {
        let mut checks = self.unreadable();
        let locations = registration::locations(&self.files);
        if locations.is_empty() {
            // Registering again in a file that cannot be read would not help.
            if checks.is_empty() {
                let text = format!("conclaude is not registered with {} for this project", self.client.title);
                checks.push(self.problem(text, self.install()));
            }
            checks.extend(self.switched_off());
            return checks;
        }
        checks.extend(self.switched_off());
        checks.extend(self.foreign_lines());
        checks.extend(self.out_of_sync());
        checks.extend(self.without_program());
        checks.extend(self.misread_timeouts());
        checks.extend(self.ignored_claudes());
        checks.extend(self.twice());
        checks.extend(self.unnamed());
        if let Some(trust) = &self.client.settings.conditions.trust {
            checks.extend(self.trust(trust));
        }
        checks.extend(self.no_arrival());
        if checks.iter().all(|check| check.status != super::Status::Problem) {
            let paths: Vec<String> = locations.iter().map(|file| self.short(&file.path)).collect();
            let number = locations.iter().map(|file| file.registered().len() as u64).sum();
            let text = format!("{} registered in {}", count(number, "event"), paths.join(", "));
            checks.push(Check::good(self.client.name, text));
        }
        checks
    }

    fn problem(&self, text: String, fix: String) -> Check {
        Check::problem(self.client.name, text, fix)
    }

    fn warning(&self, text: String, fix: String) -> Check {
        Check::warning(self.client.name, text, fix)
    }

    fn short(&self, path: &Path) -> String {
        short(path, &self.project)
    }

    fn editor(path: &Path) -> String {
        format!("${{EDITOR:-vi}} {}", path.display())
    }

    /// The command that repeats the registration in the same place.
    fn install(&self) -> String {
        let first = registration::locations(&self.files).first().map(|file| file.scope);
        self.install_in(first.unwrap_or(Scope::Project))
    }

    fn install_in(&self, scope: Scope) -> String {
        let flag = if scope == Scope::Project { String::new() } else { format!(" {}", scope.flag()) };
        format!("conclaude install --client {}{flag}", self.client.name)
    }

    fn needed(&self) -> Vec<Registration> {
        let target = SettingsTarget { client: self.client, scope: Scope::Project };
        registration::needed(&self.installation.effective_config(), "conclaude", target)
    }

    fn registered(&self) -> impl Iterator<Item = (&ScopeSettings, &Registration)> {
        self.files.iter().flat_map(|file| file.registered().iter().map(move |one| (file, one)))
    }

    fn unreadable(&self) -> Vec<Check> {
        let check = |file: &ScopeSettings| {
            let refusal = file.settings.as_ref().err()?;
            let text = format!("{} cannot be read: {refusal}", self.short(&file.path));
            Some(self.problem(text, Self::editor(&file.path)))
        };
        self.files.iter().filter_map(check).collect()
    }

    fn switched_off(&self) -> Vec<Check> {
        let check = |file: &ScopeSettings| {
            let why = (self.client.settings.conditions.switched_off)(&json(&file.path)?)?;
            let text = format!("{}: {why}: no hook is ever called", self.short(&file.path));
            Some(self.problem(text, format!("{}  # remove that", Self::editor(&file.path))))
        };
        self.files.iter().filter_map(check).collect()
    }

    /// Lines that name another client, or none: the payload would be read and answered as that client's.
    fn foreign_lines(&self) -> Vec<Check> {
        let mut found: Vec<Check> = Vec::new();
        for (file, one) in self.registered() {
            let named = CommandLine::parse(&one.command).and_then(|line| line.client);
            let is_own = named == Some(self.client.name) || (named.is_none() && !self.client.is_translated());
            if is_own {
                continue;
            }
            let what = match named {
                Some(other) => format!("with `--client {}`", clean_line(other)),
                None => format!("without `--client {}`", self.client.name),
            };
            let text = format!("{} in {} calls conclaude {what}", one.name, self.short(&file.path));
            found.push(self.problem(text, self.install_in(file.scope)));
        }
        found
    }

    fn out_of_sync(&self) -> Vec<Check> {
        let registered: Vec<&Registration> = self.registered().map(|(_, one)| one).collect();
        let differences = registration::differences(&self.needed(), &registered);
        differences.into_iter().map(|what| self.problem(what, self.install())).collect()
    }

    fn without_program(&self) -> Option<Check> {
        let lacks = |one: &Registration| registration::program_in(&self.project, &one.command).is_none();
        let (file, one) = self.registered().find(|(_, one)| lacks(one))?;
        let text = format!("`{}` starts nothing: there is no such program", settings::short(&one.command));
        Some(self.problem(text, self.install_in(file.scope)))
    }

    fn misread_timeouts(&self) -> Vec<Check> {
        let check = |(file, one): (&ScopeSettings, &Registration)| {
            let settings = &self.client.settings;
            if one.timeout == settings.timeouts.of(&one.name, one.event) {
                return None;
            }
            let read = (settings.conditions.misread_timeout)(one.timeout)?;
            let text = format!(
                "{} in {} has the timeout {}, which {} reads as {read}",
                one.name,
                self.short(&file.path),
                one.timeout,
                self.client.title
            );
            Some(self.problem(text, self.install_in(file.scope)))
        };
        self.registered().filter_map(check).collect()
    }

    /// The client also reads the hooks of Claude Code, and one of those entries can make it ignore the file.
    fn ignored_claudes(&self) -> Vec<Check> {
        let check = |scope: Scope| {
            let path = SettingsTarget { client: &claude::DIALECT, scope }.path(&self.project).ok()?;
            let why = (self.client.settings.conditions.ignored_claudes)(&json(&path)?)?;
            let text = format!("{} ignores all of {}: {why}", self.client.title, self.short(&path));
            Some(self.warning(text, format!("{}  # correct that entry", Self::editor(&path))))
        };
        [Scope::Project, Scope::Local].into_iter().filter_map(check).collect()
    }

    fn twice(&self) -> Option<Check> {
        let locations = registration::locations(&self.files);
        let user = locations.iter().find(|file| file.scope == Scope::User)?;
        let project = locations.iter().find(|file| file.scope != Scope::User)?;
        let (user, project) = (self.short(&user.path), self.short(&project.path));
        let text = format!("registered in {user} and in {project}: each event runs twice");
        Some(self.warning(text, format!("conclaude uninstall --client {} --user", self.client.name)))
    }

    fn unnamed(&self) -> Option<Check> {
        let file = registration::locations(&self.files).into_iter().next()?;
        if self.is_named {
            return None;
        }
        let (name, title) = (self.client.name, self.client.title);
        let text = format!(
            "registered with {title} in {}, and `{name}` is not in `clients`: `install` and `validate` leave it out",
            self.short(&file.path)
        );
        let flag =
            if file.scope == Scope::Project { String::new() } else { format!(" {}", file.scope.flag()) };
        Some(
            self.warning(
                text,
                format!("add {name} to `clients`, or conclaude uninstall --client {name}{flag}"),
            ),
        )
    }

    fn arrivals_since(&self, time: Option<SystemTime>) -> bool {
        let last = |event: &str| store::last_arrival(&self.installation.root.folder, self.client, event);
        let events = self.client.events.iter().filter_map(|event| last(event.name));
        events.into_iter().any(|arrival| time.is_none_or(|time| arrival >= time))
    }

    fn no_arrival(&self) -> Option<Check> {
        if self.arrivals_since(None) {
            return None;
        }
        let title = self.client.title;
        let text =
            format!("no event has arrived from {title} yet, so nothing proves that it calls conclaude here");
        Some(self.warning(text, format!("start a session of {title} in this project, then look again")))
    }

    /// What the user must review and trust before hooks run.
    fn trust(&self, trust: &TrustFile) -> Vec<Check> {
        let kept = client_folder(self.client).map(|folder| folder.join(trust.name));
        let kept = kept.and_then(|path| files::read_text(&path, MAX_BYTES).ok()).unwrap_or_default();
        let mut checks: Vec<Check> = Vec::new();
        for file in registration::locations(&self.files) {
            checks.extend(self.unreviewed(file, trust, &kept));
            let beside = file.path.with_file_name(trust.name);
            let text = files::read_text(&beside, MAX_BYTES).unwrap_or_default();
            if (trust.has_hooks)(&text) {
                let text = format!(
                    "hooks are both in {} and in {}: {} reads both, with a warning",
                    self.short(&file.path),
                    self.short(&beside),
                    self.client.title
                );
                checks.push(self.warning(text, format!("{}  # keep them in one", Self::editor(&beside))));
            }
        }
        let is_of_project = self.registered().any(|(file, _)| file.scope != Scope::User);
        let is_trusted = real(&self.project).iter().any(|project| (trust.trusts)(&kept, project));
        if is_of_project && !is_trusted {
            let text = format!("{} does not trust this project, so its hooks may not run", self.client.title);
            checks.push(self.warning(text, self.review()));
        }
        checks
    }

    /// Entries that the user has not reviewed, unless something proves that they run anyway.
    fn unreviewed(&self, file: &ScopeSettings, trust: &TrustFile, kept: &str) -> Option<Check> {
        let text = files::read_text(&file.path, MAX_BYTES).ok()?;
        let paths = real(&file.path);
        let is_reviewed = |entry: &settings::EntryPosition| {
            let of = |path: &PathBuf| {
                let entry =
                    HookEntry { file: path, event: &entry.event, group: entry.group, hook: entry.hook };
                (trust.has_reviewed)(kept, &entry)
            };
            paths.iter().any(of)
        };
        let mut events: Vec<String> = settings::positions(&text)
            .into_iter()
            .filter(|entry| !is_reviewed(entry))
            .map(|entry| entry.event)
            .collect();
        events.dedup();
        let written = file.path.metadata().and_then(|metadata| metadata.modified()).ok();
        if events.is_empty() || self.arrivals_since(written) {
            return None;
        }
        let text = format!(
            "the user has not reviewed {} in {}: {} skips such hooks without a message",
            events.join(", "),
            self.short(&file.path),
            self.client.title
        );
        Some(self.problem(text, self.review()))
    }

    fn review(&self) -> String {
        let name = self.client.name;
        format!("start `{name}` in {} and trust the folder and its hooks (`/hooks`)", self.project.display())
    }
}

/// A path as it is written, and without links.
fn real(path: &Path) -> Vec<PathBuf> {
    [Some(path.to_owned()), path.canonicalize().ok()].into_iter().flatten().collect()
}

/// A settings file, as far as it is plain JSON.
fn json(path: &Path) -> Option<Value> {
    settings::value_of(&files::read_text(path, MAX_BYTES).ok()?)
}
