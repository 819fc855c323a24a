//! Gate 3 without a session: its findings about an agent, from its transcript and its step file.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::context::{DesContext, PromptOrigin, TranscriptPaths};
use super::gates::OpenStep;
use super::markers::{Markers, Validation};
use super::step_folders::StepFolders;
use super::stop::{self, StopRequest};
use crate::paths;
use conclaude_core::config::{DesConfig, ScopeMode};
use conclaude_core::finding::{Code, Finding};
use conclaude_os::git::WorkTree;
use conclaude_store::transcript::{self, identity::Meta};

#[derive(Debug, Error)]
pub enum OfflineError {
    #[error("{}: {error}", .path.display())]
    Transcript { path: PathBuf, error: io::Error },
    #[error("{}: there is no user message in it, so no prompt", .0.display())]
    NoPrompt(PathBuf),
}

/// The agent's prompt in a transcript: its own, or that of the thread that called it.
///
/// # Errors
/// When there is no prompt in the transcript.
pub fn origin(path: &Path) -> Result<PromptOrigin, OfflineError> {
    conclaude_os::files::open_regular(path)
        .map_err(|error| OfflineError::Transcript { path: path.to_owned(), error })?;
    PromptOrigin::in_transcript(path).ok_or_else(|| OfflineError::NoPrompt(path.to_owned()))
}

#[derive(Clone, Copy, Debug)]
pub struct OfflineStep<'a> {
    /// The step's name, relative to the work tree.
    pub step: &'a str,
    /// The agent's own transcript, or that of the thread that called it.
    pub transcript: &'a Path,
    /// The project's root, with the audit trail.
    pub root: &'a Path,
    pub tree: &'a WorkTree,
    /// The folder that the caller works in.
    pub cwd: &'a Path,
    pub des: &'a DesConfig,
}

#[derive(Clone, Debug)]
pub struct OfflineReport {
    /// The prompt asks for validation.
    pub is_gated: bool,
    /// The prompt's markers, with the times of the transcript.
    pub context: DesContext,
    pub findings: Vec<Finding>,
}

/// All findings at once. Empty for an agent whose prompt requires no validation.
///
/// # Errors
/// When there is no prompt in the transcript.
pub fn judge(work: &OfflineStep<'_>) -> Result<OfflineReport, OfflineError> {
    let path = work.transcript;
    let origin = origin(path)?;
    let markers = Markers::of(&origin.prompt);
    let paths = TranscriptPaths::new(None, path.to_owned(), Some(path.to_owned()));
    let context = DesContext::of(&markers).with_times(&paths, &origin);
    let is_gated = markers.apply();
    let mut findings = if is_gated { findings(work, &markers, &origin) } else { Vec::new() };
    if markers.validation == Validation::Unclear {
        findings = findings.into_iter().map(Finding::warning).collect();
    }
    Ok(OfflineReport { is_gated, context, findings })
}

fn findings(work: &OfflineStep<'_>, markers: &Markers, origin: &PromptOrigin) -> Vec<Finding> {
    let mut found = markers.findings();
    let folders = StepFolders { root: &work.tree.path, cwd: work.cwd };
    let named = markers.step_file.as_deref().map(|file| folders.resolve(file));
    let named = named.and_then(|file| paths::relative(&work.tree.path, &work.tree.path, &file));
    if let Some(other) = named.filter(|name| name != work.step) {
        let what = format!("DES-STEP-FILE is {other}, but this is {}", work.step);
        found.push(Finding::new(Code::MarkerInvalid, what, "check that step, or take this one's transcript"));
    }
    let own_type = Meta::of_transcript(work.transcript).and_then(|meta| meta.agent_type);
    let agent = origin.agent.clone().or(own_type).or_else(|| markers.agent.clone()).unwrap_or_default();
    // There is no baseline of the tree: the writes in the transcript are checked instead.
    let des = DesConfig { scope: Some(ScopeMode::Off), ..work.des.clone() };
    let (of_stop, opened) = stop::inspect(&StopRequest {
        markers: &Markers { step_file: Some(work.step.to_owned()), problems: Vec::new(), ..markers.clone() },
        origin,
        agent: &agent,
        session: "",
        root: work.root,
        tree: work.tree,
        cwd: work.cwd,
        main: work.transcript,
        own: Some(work.transcript),
        des: &des,
        config_now: None,
    });
    found.extend(of_stop);
    // The transcript of the calling thread contains that thread's writes.
    if let Some(opened) = opened
        && origin.agent.is_none()
    {
        found.extend(written_outside(work, &opened));
    }
    found
}

/// The files outside the scope that the agent's own tools wrote; denied writes do not count.
fn written_outside(work: &OfflineStep<'_>, opened: &OpenStep) -> Vec<Finding> {
    let (tree, allowed) = (&work.tree.path, &opened.allowed);
    if work.des.scope() == ScopeMode::Off || !allowed.is_limited() {
        return Vec::new();
    }
    let written = match transcript::writes(work.transcript) {
        Ok(written) => written,
        Err(error) => {
            let what = format!("the scope cannot be checked: {error}");
            return vec![
                Finding::new(Code::ScopeViolation, what, "look yourself at what was changed").warning(),
            ];
        }
    };
    let mut outside: Vec<String> = written
        .into_iter()
        .filter(|write| !write.failed)
        .map(|write| write.file)
        .map(|file| paths::relative(tree, tree, &file).unwrap_or(file))
        .filter(|file| *file != opened.name && !allowed.permits(file))
        .collect();
    outside.sort_unstable();
    outside.dedup();
    let fix = format!("revert it, or widen allowed_file_patterns (now {})", allowed.patterns().join(", "));
    let finding = |file: String| {
        let finding = Finding::new(Code::ScopeViolation, format!("{file} was written"), fix.clone());
        if work.des.scope() == ScopeMode::Block { finding } else { finding.warning() }
    };
    outside.into_iter().map(finding).collect()
}
