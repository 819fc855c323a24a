//! The config that `init` writes: a new one, an imported older one, or the existing one with more sections.

use std::io;
use std::path::Path;

use anyhow::{anyhow, bail};

use super::{InitRequest, diff, questions};
use crate::cli::out::Out;
use conclaude_core::config::{self, ConclaudeConfig, PACK};
use conclaude_core::dialect::Dialect;
use conclaude_core::packs;
use conclaude_engine::install::import::{self, ImportResult};
use conclaude_engine::install::scope::Scope;
use conclaude_engine::install::starter::{self, Choices, PACKS, Pack, ProjectKind, Starter};
use conclaude_engine::install::templates::first_cases;
use conclaude_engine::install::user_file::UserFile;
use conclaude_engine::install::{agents, duplicates};
use conclaude_engine::lint;

const CLIENTS: &str = "\
## The clients for which `conclaude install`, `validate` and `doctor` work.
";

pub(super) struct Draft {
    /// The existing config.
    pub(super) before: Option<String>,
    pub(super) after: String,
    /// With all suggestions, as if the user wanted them.
    pub(super) config: ConclaudeConfig,
    pub(super) imported: ImportResult,
    /// The files that it is based on.
    pub(super) based_on: String,
    /// The additions that keep the behaviour of a config of conclaude 0.2.
    pub(super) added: Vec<String>,
    /// False if the existing config needs no additions.
    pub(super) is_needed: bool,
    /// The first cases for `conclaude test`.
    pub(super) cases: String,
    is_live: bool,
    /// Some command runs.
    has_checks: bool,
    /// Whether the operating system must enforce the rules for files.
    enforces: bool,
}

/// The inputs of a new config.
struct DraftBase {
    before: Option<String>,
    /// The packs that were named.
    packs: Vec<Pack>,
    imported: ImportResult,
}

impl Draft {
    pub(super) fn new(
        request: &InitRequest,
        packs: Vec<Pack>,
        folder: &Path,
        target: &UserFile,
    ) -> anyhow::Result<Draft> {
        let before = target.read()?;
        let base = DraftBase { before, packs, imported: ImportResult::default() };
        if !request.import {
            return Draft::starter(request, folder, target, base);
        }
        let scope = request.which.scope();
        if scope == Scope::User {
            bail!(
                "--import takes over hooks of a project, and yours are for all of them: use it without --user, or with --local"
            );
        }
        let hooks = duplicates::hooks(scope, folder).map(|(_, hooks)| hooks).unwrap_or_default();
        let Some(text) = base.before.clone().filter(|text| !text.trim().is_empty()) else {
            let mut imported = ImportResult::default();
            imported.add_hooks(hooks, None);
            return Draft::starter(request, folder, target, DraftBase { imported, ..base });
        };
        match ConclaudeConfig::parse(&text, &target.path) {
            Ok(config) => {
                let mut imported = ImportResult::default();
                imported.add_hooks(hooks, Some(&config));
                Draft::extended(target, text, DraftBase { imported, ..base })
            }
            Err(error) => {
                let mut imported = import::original(&text).ok_or_else(|| anyhow!("{error}"))?;
                let taken = parse(&imported.sections().concat(), target)?;
                imported.add_hooks(hooks, Some(&taken));
                Draft::starter(request, folder, target, DraftBase { imported, ..base })
            }
        }
    }

    /// A new config, with imported parts instead of suggestions.
    fn starter(
        request: &InitRequest,
        folder: &Path,
        target: &UserFile,
        base: DraftBase,
    ) -> anyhow::Result<Draft> {
        let DraftBase { before, packs, imported } = base;
        let kinds = starter::detect(folder);
        let writers = agents::writers(folder, Scope::Project);
        let choices = choices(request, &packs, &kinds)?;
        let starter =
            Starter { kinds: &kinds, writers: &writers, choices: choices.as_ref(), imported: &imported };
        let (after, is_live) = (starter.text(), starter.is_live());
        let (after, added) = match before.as_deref() {
            Some(original) if request.import => lint::taken_over(original, &after),
            _ => (after, Vec::new()),
        };
        let after = with_packs(after, &packs, target)?;
        let config = parse(&starter::uncommented(&after), target)?;
        Ok(Draft {
            before,
            after,
            config,
            cases: first_cases(choices.as_ref(), &starter::suggested(&kinds)),
            enforces: choices.as_ref().is_some_and(|choices| choices.enforces),
            has_checks: choices.is_some_and(|choices| !choices.checks.is_empty()) || !imported.is_empty(),
            based_on: starter::based_on(&kinds),
            is_needed: true,
            is_live,
            imported,
            added,
        })
    }

    /// The existing config with more sections.
    fn extended(target: &UserFile, before: String, base: DraftBase) -> anyhow::Result<Draft> {
        let DraftBase { packs, imported, .. } = base;
        let line_end = if before.ends_with('\n') { "" } else { "\n" };
        let sections: String = imported.sections().iter().map(|section| format!("\n{section}")).collect();
        let (start, added) = lint::taken_over(&before, &before);
        let after = if sections.is_empty() { start } else { format!("{start}{line_end}{sections}") };
        let after = with_packs(after, &packs, target)?;
        let config = parse(&after, target)?;
        let (is_needed, is_live) = (after != before, config.commands() > 0);
        Ok(Draft {
            before: Some(before),
            after,
            config,
            based_on: String::new(),
            cases: first_cases(None, &[]),
            has_checks: is_live,
            enforces: false,
            is_needed,
            is_live,
            imported,
            added,
        })
    }

    /// Adds the clients that the user named, so that `install` and `doctor` know them too. A config's own `clients` stays.
    pub(super) fn name_clients(&mut self, clients: &[&'static Dialect], target: &UserFile) {
        if clients.iter().all(|client| !client.is_translated()) || self.config.clients.is_some() {
            return;
        }
        let names: Vec<&str> = clients.iter().map(|client| client.name).collect();
        let line_end = if self.after.ends_with('\n') { "" } else { "\n" };
        let after = format!("{}{line_end}\n{CLIENTS}clients: [{}]\n", self.after, names.join(", "));
        // A config in braces stays as it is.
        if let Ok(config) = parse(&after, target)
            && config.clients() == clients
        {
            (self.after, self.is_needed) = (after, true);
        }
    }

    pub(super) fn show(&self, target: &UserFile, out: &mut Out<'_>) -> io::Result<()> {
        if !self.is_needed {
            return writeln!(out, "{} is left unchanged", target.path.display());
        }
        diff::print(out, &target.path, self.before.as_deref().unwrap_or_default(), &self.after)
    }

    /// The next step for the user.
    pub(super) fn next(&self) -> &'static str {
        match (self.is_live, self.has_checks) {
            _ if self.enforces => {
                "`conclaude install --enforce` writes the rules for files into Claude Code's settings; then `conclaude doctor` checks the installation"
            }
            (true, true) => {
                "`conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured"
            }
            (true, false) => {
                "guards are active in new sessions. No checks are configured: add yours, then run `conclaude doctor`"
            }
            (false, _) => "uncomment what you want there, then `conclaude doctor` checks the installation",
        }
    }
}

/// The packs with these names, in the order in which they are offered.
pub(super) fn packs(names: &[String]) -> anyhow::Result<Vec<Pack>> {
    for name in names {
        packs::find(name).map_err(|help| anyhow!("there is no pack `{name}`; {help}"))?;
    }
    Ok(PACKS.iter().filter(|pack| names.iter().any(|name| name == pack.name)).copied().collect())
}

/// The config with additional packs.
fn with_packs(mut text: String, packs: &[Pack], target: &UserFile) -> anyhow::Result<String> {
    for pack in packs {
        let name = format!("{PACK}{}", pack.name);
        text = config::with_extended(&text, &target.path, &name)?.unwrap_or(text);
    }
    Ok(text)
}

/// The enabled parts: the recommended ones, or the user's answers on a terminal. Named packs are always on.
fn choices(request: &InitRequest, named: &[Pack], kinds: &[ProjectKind]) -> anyhow::Result<Option<Choices>> {
    let mut recommended = Choices::recommended(kinds);
    // An import keeps the existing behaviour: guards would be new, and only `--yes` enables them.
    let takes_recommended = request.yes || !request.import;
    let is_wanted = |pack: &&Pack| named.contains(pack) || (pack.is_recommended && takes_recommended);
    recommended.packs = PACKS.iter().filter(is_wanted).copied().collect();
    if request.yes {
        return Ok(Some(recommended));
    }
    if !request.import && questions::can_ask() {
        return Ok(Some(questions::ask(recommended, &mut io::stdin().lock(), &mut Out::stdout())?));
    }
    if named.is_empty() {
        return Ok(None);
    }
    Ok(Some(Choices { checks: Vec::new(), packs: named.to_vec(), ..recommended }))
}

fn parse(text: &str, target: &UserFile) -> anyhow::Result<ConclaudeConfig> {
    ConclaudeConfig::parse(text, &target.path).map_err(|error| anyhow!("{error}"))
}
