//! Files outside the scope that changed since the call, as far as the agent can be held responsible.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::StopRequest;
use crate::des::call::{GatedCall, is_denied};
use crate::des::gates::OpenStep;
use crate::des::protected::is_protected;
use crate::des::scope::Scope;
use crate::des::started_agents;
use crate::paths;
use conclaude_core::config::ScopeMode;
use conclaude_core::dialect::claude::layout;
use conclaude_core::finding::{Code, Finding};
use conclaude_os::budget::Budget;
use conclaude_os::git::{self, GitError, Snapshot, WorkTree};
use conclaude_os::log;
use conclaude_store::store::Session;
use conclaude_store::transcript;
use conclaude_store::transcript::FileWrite;

/// More files than this are counted and not named.
const MAX_NAMED: usize = 50;

/// The session's list of files that configured commands wrote.
const OWN_FILES: &str = "own-files";

/// Why the scope cannot be checked.
#[derive(Debug, Error)]
pub(super) enum ScopeError {
    #[error("the baseline that Gate 1 took is gone")]
    BaselineGone,
    #[error("Gate 1 did not see this call, so there is no baseline")]
    NoBaseline,
    #[error("this is not a git repository")]
    NoRepository,
    #[error(transparent)]
    Git(#[from] GitError),
    /// The message of the deadline.
    #[error("{0}")]
    TimedOut(String),
}

pub(super) fn violations(stopping: &StopRequest<'_>, opened: &OpenStep) -> Vec<Finding> {
    if stopping.des.scope() == ScopeMode::Off {
        return Vec::new();
    }
    let call = stopping.call();
    let scope = scope_of(stopping, opened);
    let outside = match files_outside(stopping, opened, &scope) {
        Ok(outside) => outside,
        Err(_) if !scope.is_limited() => return Vec::new(),
        Err(error) => return vec![unchecked(stopping, &error)],
    };
    if outside.is_empty() {
        return Vec::new();
    }
    let helpers = helpers(stopping, call);
    let own = if !stopping.is_in_worktree() && others_worked(stopping, call, &helpers) {
        own_files(stopping, &helpers)
    } else {
        None
    };
    let named = outside.iter().take(MAX_NAMED);
    let mut found: Vec<Finding> =
        named.map(|path| violation(stopping, path, own.as_deref(), &scope)).collect();
    if let Some(more) = outside.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        let finding = Finding::new(Code::ScopeViolation, format!("and {more} more files"), "revert them too");
        found.push(if found.iter().any(Finding::blocks) { finding } else { finding.warning() });
    }
    found
}

/// The finding if the scope cannot be checked. If there was a baseline at the call, the agent may have removed it.
fn unchecked(stopping: &StopRequest<'_>, error: &ScopeError) -> Finding {
    let what = format!("the scope cannot be checked: {error}");
    // An agent must not bypass the check by making it slow.
    let fix = if stopping.tree.budget.is_over() {
        "use fewer and shorter allowed_file_patterns, and remove files that nobody needs"
    } else {
        "restore it; if that cannot be done, say so in your report: the scope was not checked"
    };
    if (stopping.tree.budget.is_over() || stopping.tree.baseline.is_some() || stopping.lost_baseline())
        && stopping.des.scope() == ScopeMode::Block
    {
        return Finding::new(Code::ScopeViolation, what, fix);
    }
    let fix = "look yourself at what was changed: the scope was not checked";
    Finding::new(Code::ScopeViolation, what, fix).warning()
}

/// The changes since the call, in a few lines.
#[must_use]
pub fn changed_files(tree: &WorkTree, root: &Path) -> String {
    let Some(baseline) = &tree.baseline else { return "unknown: Gate 1 did not see the call".into() };
    let changes = tree.snapshot().and_then(|now| {
        let now = now.ok_or(GitError::Gone)?;
        let baseline = of_work(baseline, tree, root, now)?;
        Ok(baseline.summary_until(now, &tree.path, &tree.budget))
    });
    changes.unwrap_or_else(|error| format!("unknown: {error}"))
}

/// The baseline of the agent's work tree.
fn of_work<'a>(
    baseline: &'a Snapshot,
    tree: &WorkTree,
    root: &Path,
    now: &Snapshot,
) -> Result<Cow<'a, Snapshot>, GitError> {
    if tree.path == root {
        return Ok(Cow::Borrowed(baseline));
    }
    baseline.in_worktree(&tree.path, now, &tree.budget).map(Cow::Owned)
}

/// The files that changed since the call.
fn changed_since_call(stopping: &StopRequest<'_>) -> Result<BTreeSet<String>, ScopeError> {
    let (baseline, now) = snapshots(stopping)?;
    Ok(baseline.changed_until(now, &stopping.tree.path, &stopping.tree.budget)?)
}

/// The tree at the call and now.
fn snapshots<'a>(stopping: &StopRequest<'a>) -> Result<(Cow<'a, Snapshot>, &'a Snapshot), ScopeError> {
    let work = &stopping.tree.path;
    let Some(baseline) = &stopping.tree.baseline else {
        return Err(if stopping.lost_baseline() {
            ScopeError::BaselineGone
        } else if git::is_repository(work) {
            ScopeError::NoBaseline
        } else {
            ScopeError::NoRepository
        });
    };
    let now = stopping.tree.snapshot()?.ok_or(GitError::Gone)?;
    Ok((of_work(baseline, stopping.tree, stopping.root, now)?, now))
}

/// The scope at the call, or that of the step if Gate 1 did not see the call.
fn scope_of(stopping: &StopRequest<'_>, opened: &OpenStep) -> Scope {
    let at_call = stopping.call().and_then(|call| call.scope().ok());
    at_call.unwrap_or_else(|| Scope::of(opened.allowed.clone()))
}

/// The files in the scope that were written or deleted since the call, without the step file, which records write. A file that has its
/// old content again counts too.
pub(super) fn written_in_scope(
    stopping: &StopRequest<'_>,
    opened: &OpenStep,
) -> Result<Vec<String>, ScopeError> {
    let scope = scope_of(stopping, opened);
    let (baseline, now) = snapshots(stopping)?;
    let mut written = baseline.changed_until(now, &stopping.tree.path, &stopping.tree.budget)?;
    written.extend(baseline.rewritten_until(now).cloned());
    written.retain(|path| *path != opened.name && !is_protected(path) && scope.permits(path));
    Ok(written.into_iter().collect())
}

/// The files outside the scope that changed since the call, without those that configured commands wrote.
fn files_outside(
    stopping: &StopRequest<'_>,
    opened: &OpenStep,
    scope: &Scope,
) -> Result<Vec<String>, ScopeError> {
    let work = &stopping.tree.path;
    let changed = changed_since_call(stopping)?;
    let now = stopping.tree.snapshot()?.ok_or(GitError::Gone)?;
    // The path at the call counts, because the agent may have replaced the step file with a link.
    let step_file = stopping.call().map_or(&opened.name, |call| &call.step_file);
    let is_outside = |path: &String| path != step_file && (is_protected(path) || !scope.permits(path));
    let session = Session::new(stopping.root, stopping.session).within(&stopping.tree.budget);
    let of_commands: BTreeMap<String, String> = session.kept(OWN_FILES).unwrap_or_default();
    let is_agents =
        |path: &String| of_commands.get(path).is_none_or(|content| *content != now.content(work, path));
    let mut outside = Vec::new();
    for path in changed {
        if stopping.tree.budget.is_over() {
            return Err(ScopeError::TimedOut(Budget::exceeded()));
        }
        if is_outside(&path) && is_agents(&path) {
            outside.push(path);
        }
    }
    Ok(outside)
}

/// `own` are the files that this agent's tools wrote, if others worked in the same tree.
fn violation(stopping: &StopRequest<'_>, path: &String, own: Option<&[String]>, scope: &Scope) -> Finding {
    let fix = format!(
        "revert it, or let the user widen allowed_file_patterns (now {scope}) and call the agent again"
    );
    let finding = |what: String| Finding::new(Code::ScopeViolation, what, fix).matching(path);
    // The user or Claude Code itself may change files of the gates; the agent's own tools cannot.
    if is_protected(path) {
        return finding(format!("{path} was changed meanwhile, which belongs to the gates")).warning();
    }
    // Git itself writes it (`git push -u`), and so do installers of hooks.
    if path.ends_with(".git/config") {
        return finding(format!("{path} was changed, which can make git run programs")).warning();
    }
    if own.is_some_and(|own| !own.contains(path)) {
        return finding(format!("{path} was changed while others worked in the same tree")).warning();
    }
    let finding = finding(format!("{path} was changed"));
    if stopping.des.scope() == ScopeMode::Block { finding } else { finding.warning() }
}

/// Stores which files configured commands changed in the tree. They do not count for the agent.
pub fn note_own_files(session: &Session, written: &BTreeMap<String, String>) {
    if written.is_empty() {
        return;
    }
    let mut known: BTreeMap<String, String> = session.kept(OWN_FILES).unwrap_or_default();
    known.extend(written.clone());
    if let Err(error) = session.keep(OWN_FILES, &known) {
        log::warn(|| format!("cannot remember what the commands wrote: {error}"));
    }
}

/// The transcripts of agents that this one called, with markers or without. They must stay within its boundaries.
fn helpers(stopping: &StopRequest<'_>, call: Option<&GatedCall>) -> Vec<PathBuf> {
    let Some((call, folder)) = call.zip(stopping.own.and_then(Path::parent)) else { return Vec::new() };
    let session = Session::new(stopping.root, stopping.session).within(&stopping.tree.budget);
    let calls = GatedCall::all(&session);
    let mut family = vec![call.tool_use_id.clone()];
    for _ in 0..8 {
        let is_child = |other: &&GatedCall| {
            other.parent.as_ref().is_some_and(|parent| family.contains(parent))
                && !family.contains(&other.tool_use_id)
        };
        let children: Vec<String> =
            calls.iter().filter(is_child).map(|other| other.tool_use_id.clone()).collect();
        family.extend(children);
    }
    // The file that names an agent's call can be deleted, so our own links are added.
    let agents: BTreeSet<(String, String)> =
        started_agents::started(folder).into_iter().chain(GatedCall::claimed(&session)).collect();
    agents
        .into_iter()
        .filter(|(_, id)| *id != call.tool_use_id && family.contains(id))
        .map(|(agent, _)| layout::transcript_of(folder, &agent))
        .collect()
}

/// Whether another agent or the main thread worked in the same tree since the call.
fn others_worked(stopping: &StopRequest<'_>, call: Option<&GatedCall>, helpers: &[PathBuf]) -> bool {
    let Some(call) = call else { return true };
    let folder = stopping.own.and_then(Path::parent).map(std::fs::read_dir).and_then(Result::ok);
    let started = call.time.parse::<jiff::Timestamp>().ok().map(std::time::SystemTime::from);
    let another = folder.into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        let modified = path.metadata().and_then(|metadata| metadata.modified());
        layout::is_transcript(&path)
            && Some(path.as_path()) != stopping.own
            && !helpers.contains(&path)
            && modified.is_ok_and(|time| started.is_none_or(|started| time >= started))
    });
    another || (call.background && transcript::worked_since(stopping.main, &call.time))
}

/// The files that the tools of this agent and of its helpers wrote, or may have written, relative to the work tree. `None` if the
/// agent's transcript is gone.
fn own_files(stopping: &StopRequest<'_>, helpers: &[PathBuf]) -> Option<Vec<String>> {
    let work = &stopping.tree.path;
    let session = Session::new(stopping.root, stopping.session).within(&stopping.tree.budget);
    let of_agent = transcript::writes(stopping.own?).ok()?;
    let of_helpers = helpers.iter().filter_map(|path| transcript::writes(path).ok()).flatten();
    // Transcripts are late: a call without a result may have succeeded, unless the gate denied it.
    let may_have_happened =
        |write: &FileWrite| !write.failed && !write.id.as_deref().is_some_and(|id| is_denied(&session, id));
    let happened = of_agent.into_iter().chain(of_helpers).filter(may_have_happened);
    Some(happened.filter_map(|write| paths::relative(work, work, &write.file)).collect())
}
