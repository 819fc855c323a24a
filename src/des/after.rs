//! Gate 3: an agent wants to stop. Does its step file prove the work, and did it stay within its scope?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::check::check;
use super::context::{Call, Origin};
use super::findings::{Code, Finding};
use super::gates::{Opened, mismatch, open_step, shell_quote};
use super::markers::Markers;
use super::paths;
use super::scope::Allowed;
use super::step;
use super::unfinished;
use crate::audit::{Filter, Trail, genuine};
use crate::config::{DesConfig, ScopeMode};
use crate::git::{self, Baseline};
use crate::store::Session;
use crate::{log, transcript};

/// What Gate 3 looks at.
#[derive(Debug)]
pub struct Stopping<'a> {
    /// The markers of the prompt.
    pub markers: &'a Markers,
    /// Where the prompt was found.
    pub origin: &'a Origin,
    /// The agent's name.
    pub agent: &'a str,
    /// The session.
    pub session: &'a str,
    /// The project's root.
    pub root: &'a Path,
    /// Where the agent worked: the root, or its worktree.
    pub work: &'a Path,
    /// The main transcript.
    pub main: &'a Path,
    /// The agent's transcript.
    pub own: Option<&'a Path>,
    /// The settings.
    pub des: &'a DesConfig,
    /// The config cannot be read, and the settings are the defaults.
    pub config_is_broken: bool,
}

impl Stopping<'_> {
    /// The phases that count: those of the config, or where it cannot be read those of the call.
    fn phases(&self) -> Vec<String> {
        let remembered =
            self.origin.call.as_ref().filter(|call| self.config_is_broken && !call.phases.is_empty());
        remembered.map_or_else(|| self.des.phase_names(), |call| call.phases.clone())
    }

    fn evidence(&self) -> Vec<String> {
        match self.origin.call.as_ref().filter(|_| self.config_is_broken) {
            Some(call) => call.evidence.clone(),
            None => self.des.evidence().into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Gate 3, after the work: does the step file prove it?
#[must_use]
pub fn after(stopping: &Stopping<'_>) -> (Vec<Finding>, Option<Opened>) {
    let mut found = stopping.markers.findings();
    if let Some(agent) = stopping.markers.agent.as_deref().filter(|agent| *agent != stopping.agent) {
        found.push(mismatch(agent, stopping.agent, "only that agent can finish this step"));
    }
    let Some(step_file) = stopping.markers.step_file.as_deref() else { return (found, None) };
    let opened = match open_step(stopping.work, step_file) {
        Ok(opened) => opened,
        Err(finding) => {
            found.push(finding);
            return (found, None);
        }
    };
    if let Some(call) = stopping
        .origin
        .call
        .as_ref()
        .filter(|call| !call.rules.is_null() && call.rules != opened.step.rules())
    {
        let what = format!(
            "{} says something else than when the agent was called: {}",
            opened.name,
            difference(&call.rules, &opened.step.rules())
        );
        let fix = "put it back as it was; a person who means the change calls the agent anew";
        let finding = Finding::new(Code::RulesChanged, what, fix);
        // A worktree has the step as it was committed, which may differ from the one that Gate 1 saw.
        found.push(if stopping.work == stopping.root { finding } else { finding.warning() });
    }
    found.extend(check(&opened.step, &stopping.phases()));
    found.extend(missing_evidence(stopping, &opened));
    found.extend(out_of_scope(stopping, &opened));
    (found, Some(opened))
}

/// The names of the rules that differ.
fn difference(before: &Value, now: &Value) -> String {
    let names = before
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| now.get(name.as_str()) != Some(value));
    names.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The step file alone is the agent's to edit; what was really run is in the audit trail.
fn missing_evidence(stopping: &Stopping<'_>, opened: &Opened) -> Vec<Finding> {
    let wanted = stopping.evidence();
    if wanted.is_empty() {
        return Vec::new();
    }
    let trail = Trail::of(stopping.root, None);
    if let Err(error) = trail.take_along() {
        log::warn(|| format!("records that wait beside the audit trail cannot be taken along: {error}"));
    }
    let filter = Filter { event: Some("des run".into()), ..Filter::default() };
    let runs = genuine(&trail, &filter).unwrap_or_default();
    let log = opened.step.phases().unwrap_or_default();
    let mut found = Vec::new();
    for phase in log.iter().filter(|phase| wanted.contains(&phase.name)) {
        // A run from before the call proves nothing about this work, unless the phase was finished by then.
        let call = stopping.origin.call.as_ref().filter(|call| !call.finished.contains(&phase.name));
        let is_its = |record: &&Value| {
            record.get("step").and_then(Value::as_str) == Some(&opened.name)
                && record.get("phase").and_then(Value::as_str) == Some(&phase.name)
                && call.is_none_or(|call| is_after(record, call))
        };
        let last =
            runs.iter().rev().find(is_its).and_then(|record| record.get("decision")).and_then(Value::as_str);
        let what = match (phase.status(), last) {
            (Some(step::Status::Skipped), _)
                if phase
                    .blocked_by
                    .as_deref()
                    .is_some_and(|why| why.trim_start().starts_with("APPROVED_SKIP:")) =>
            {
                continue;
            }
            (Some(step::Status::Skipped), _) => {
                "it was skipped, though it needs the record of a real run".to_owned()
            }
            (Some(step::Status::Executed), None) => "there is no record of a real run".to_owned(),
            (Some(step::Status::Executed), Some(outcome)) if phase.verdict().as_deref() == Some(outcome) => {
                continue;
            }
            (Some(step::Status::Executed), Some(outcome)) => {
                format!(
                    "the step file says {}, the record of the run {outcome}",
                    phase.verdict().unwrap_or_default()
                )
            }
            _ => continue,
        };
        let fix =
            format!("run it: conclaude des run {} {} -- COMMAND", shell_quote(&opened.name), phase.name);
        found.push(Finding::new(Code::EvidenceMissing, what, fix).in_phase(&phase.name));
    }
    found
}

/// Whether a record was written after the call: by its number, since a clock may go back.
fn is_after(record: &Value, call: &Call) -> bool {
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    match (call.last_record, record.get("seq").and_then(Value::as_u64)) {
        (Some(last), seq) => seq.is_some_and(|seq| seq > last),
        // A call that an older version remembered.
        (None, _) => time(&call.time)
            .is_none_or(|since| record.get("time").and_then(Value::as_str).and_then(time) >= Some(since)),
    }
}

/// Files that were changed and may not be, as far as that can be told fairly.
fn out_of_scope(stopping: &Stopping<'_>, opened: &Opened) -> Vec<Finding> {
    if stopping.des.scope() == ScopeMode::Off {
        return Vec::new();
    }
    let call = stopping.origin.call.as_ref();
    let allowed = call
        .and_then(|call| Allowed::new(call.allowed.clone()).ok())
        .unwrap_or_else(|| opened.allowed.clone());
    let unknown = |what: String| {
        let fix = "look yourself at what was changed: the scope was not checked";
        if allowed.is_limited() {
            vec![Finding::new(Code::ScopeViolation, what, fix).warning()]
        } else {
            Vec::new()
        }
    };
    let Some(baseline) = call.and_then(|call| call.baseline.as_ref()) else {
        let repository = git::is_repository(stopping.work);
        let why = if repository {
            "Gate 1 did not see this call, so there is no baseline"
        } else {
            "this is not a git repository"
        };
        return unknown(format!("the scope cannot be checked: {why}"));
    };
    let in_worktree = stopping.work != stopping.root;
    let baseline = if in_worktree { &baseline.in_worktree(stopping.work) } else { baseline };
    let changed = match Baseline::changed(baseline, stopping.work) {
        Ok(changed) => changed,
        Err(error) => return unknown(format!("the scope cannot be checked: {error}")),
    };
    let is_outside =
        |path: &&String| **path != opened.name && (paths::is_protected(path) || !allowed.permits(path));
    let session = Session::new(stopping.root, stopping.session);
    let of_commands: BTreeMap<String, String> = session.read(OWN_FILES).unwrap_or_default();
    let is_agents = |path: &&String| {
        of_commands.get(*path).is_none_or(|content| *content != git::content(stopping.work, path))
    };
    let outside: Vec<&String> = changed.iter().filter(is_outside).filter(is_agents).collect();
    if outside.is_empty() {
        return Vec::new();
    }
    let helpers = helpers(stopping, call);
    let own =
        (!in_worktree && others_worked(stopping, call, &helpers)).then(|| own_files(stopping, &helpers));
    let patterns = allowed.patterns().join(", ");
    let mut found = Vec::new();
    for path in outside.iter().take(MOST_NAMED) {
        let fix = format!(
            "take the change back, or let a person widen allowed_file_patterns (now {patterns}) and call the agent anew"
        );
        let finding = Finding::new(Code::ScopeViolation, format!("{path} was changed"), fix);
        // What belongs to the gates may be changed by a person or by the client itself; the agent's own tools cannot.
        let certain = own.as_ref().is_none_or(|own| own.contains(path)) && !paths::is_protected(path);
        found.push(match (certain, stopping.des.scope()) {
            (true, ScopeMode::Block) => finding,
            (true, _) => finding.warning(),
            (false, _) => Finding {
                what: if paths::is_protected(path) {
                    format!("{path} was changed meanwhile, which belongs to the gates")
                } else {
                    format!("{path} was changed while others worked in the same tree")
                },
                ..finding.warning()
            },
        });
    }
    if let Some(more) = outside.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        let finding =
            Finding::new(Code::ScopeViolation, format!("and {more} more files"), "take them back too");
        found.push(if found.iter().any(Finding::blocks) { finding } else { finding.warning() });
    }
    found
}

/// What the session remembers of files that configured commands wrote: they are not the agent's doing.
pub const OWN_FILES: &str = "own-files";

/// Notes what configured commands changed in the tree.
pub fn note_own_files(session: &Session, before: &Baseline, after: &Baseline) {
    let written = after.dirty.iter().filter(|(path, content)| before.dirty.get(*path) != Some(content));
    let mut known: BTreeMap<String, String> = session.read(OWN_FILES).unwrap_or_default();
    known.extend(written.map(|(path, content)| (path.clone(), content.clone())));
    if let Err(error) = session.write(OWN_FILES, &known) {
        log::warn(|| format!("cannot note what the commands wrote: {error}"));
    }
}

/// More files than this are counted and not named.
const MOST_NAMED: usize = 50;

/// The transcripts of agents that this one called, which work within its boundaries.
fn helpers(stopping: &Stopping<'_>, call: Option<&Call>) -> Vec<PathBuf> {
    let Some((call, folder)) = call.zip(stopping.own.and_then(Path::parent)) else { return Vec::new() };
    let session = Session::new(stopping.root, stopping.session);
    let mut family = vec![call.tool_use_id.clone()];
    let calls = Call::all(&session);
    for _ in 0..8 {
        let more: Vec<String> = calls
            .iter()
            .filter(|other| {
                other.parent.as_ref().is_some_and(|parent| family.contains(parent))
                    && !family.contains(&other.tool_use_id)
            })
            .map(|other| other.tool_use_id.clone())
            .collect();
        family.extend(more);
    }
    unfinished::started(folder)
        .into_iter()
        .filter(|(_, id)| *id != call.tool_use_id && family.contains(id))
        .map(|(agent, _)| folder.join(format!("agent-{agent}.jsonl")))
        .collect()
}

/// Whether another agent or the main thread was at work in the same tree since the call.
fn others_worked(stopping: &Stopping<'_>, call: Option<&Call>, helpers: &[PathBuf]) -> bool {
    let Some(call) = call else { return true };
    let folder = stopping.own.and_then(Path::parent).map(std::fs::read_dir).and_then(Result::ok);
    let began = call.time.parse::<jiff::Timestamp>().ok().map(std::time::SystemTime::from);
    let another = folder.into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        let modified = path.metadata().and_then(|metadata| metadata.modified());
        path.extension().is_some_and(|extension| extension == "jsonl")
            && Some(path.as_path()) != stopping.own
            && !helpers.contains(&path)
            && modified.is_ok_and(|time| began.is_none_or(|began| time >= began))
    });
    another || (call.background && transcript::worked_since(stopping.main, &call.time))
}

/// The files that the tools of this agent and of its helpers wrote, relative to the work tree.
fn own_files(stopping: &Stopping<'_>, helpers: &[PathBuf]) -> Vec<String> {
    let transcripts = stopping.own.into_iter().chain(helpers.iter().map(PathBuf::as_path));
    let written = transcripts.filter_map(|path| transcript::written_files(path).ok()).flatten();
    written.filter_map(|path| paths::relative(stopping.work, stopping.work, &path)).collect()
}
