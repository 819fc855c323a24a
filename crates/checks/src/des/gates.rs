//! Gate 1, before a call, and Gate 2, during the work: what they check and find. The hook decides what follows.

use std::io;
use std::path::{Path, PathBuf};

use super::call::GatedCall;
use super::markers::Markers;
use super::protected::ProtectedPaths;
use super::scope::{AllowedFiles, Scope};
use super::step::{self, Step};
use super::step_folders::StepFolders;
use crate::paths;
use conclaude_core::config::DesConfig;
use conclaude_core::finding::{Code, Finding};
use conclaude_core::rule::Rule;
use conclaude_core::text::SECTION_MARKER;

/// A step file that was read.
#[derive(Clone, Debug)]
pub struct OpenStep {
    /// Its real path.
    pub path: PathBuf,
    /// Its path relative to the root: its name in records and messages.
    pub name: String,
    /// Like `name`, but links are not resolved, so that the file is found again later.
    pub named: String,
    /// Its text, as it was read.
    pub text: String,
    pub step: Step,
    pub allowed: AllowedFiles,
}

/// Finds and reads the step of a marker.
///
/// # Errors
/// A finding that says why not.
pub fn open_step(folders: &StepFolders<'_>, step_file: &str) -> Result<OpenStep, Finding> {
    let named = folders.resolve(step_file);
    let path = step::locate(folders.root, &named)?;
    if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        let fix = "name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`";
        let what = format!("{step_file} does not exist in {folders}");
        return Err(Finding::new(Code::StepFileMissing, what, fix));
    }
    let (step, text) = step::read(&path, &named)?;
    let allowed = step.allowed_files().map_err(|error| {
        Finding::new(Code::StepFileInvalid, format!("{named}: {error}"), "fix allowed_file_patterns")
    })?;
    Ok(OpenStep { path, name: step_name(folders.root, &named), named, text, step, allowed })
}

/// A step file's name in records and messages: its path relative to the root, after following links.
#[must_use]
pub fn step_name(root: &Path, step_file: &str) -> String {
    paths::relative(root, root, step_file).unwrap_or_else(|| step_file.to_owned())
}

/// A call that Gate 1 checks.
#[derive(Clone, Copy, Debug)]
pub struct CallRequest<'a> {
    pub markers: &'a Markers,
    pub prompt: &'a str,
    pub subagent_type: &'a str,
    pub folders: StepFolders<'a>,
    pub des: &'a DesConfig,
    /// The call of the gated agent that makes this one.
    pub caller: Option<&'a GatedCall>,
}

/// The result of Gate 1. The step is read once, so that the stored version is the checked one.
#[derive(Clone, Debug)]
pub struct CallResult {
    pub findings: Vec<Finding>,
    pub opened: Option<OpenStep>,
}

/// The findings of Gate 1 about the prompt, without the step file.
#[must_use]
pub fn of_prompt(request: &CallRequest<'_>) -> Vec<Finding> {
    let CallRequest { markers, prompt, subagent_type, des, .. } = *request;
    let mut found = markers.findings();
    if let Some(agent) = markers.agent.as_deref().filter(|agent| *agent != subagent_type) {
        found.push(mismatch(agent, subagent_type, "call that agent, or change the marker"));
    }
    for section in des.required_sections().into_iter().filter(|section| !has_section(prompt, section)) {
        let fix = format!("add a heading `## {section}`, or a marker `{SECTION_MARKER}` with this name");
        let what = format!("the prompt has no section {section}");
        found.push(Finding::new(Code::SectionMissing, what, fix).matching(section));
    }
    found
}

/// Gate 1, before the call: is the prompt valid, and may the step be started?
#[must_use]
pub fn before(request: &CallRequest<'_>) -> CallResult {
    let CallRequest { markers, folders, caller, .. } = *request;
    let mut found = of_prompt(request);
    let opened = markers.step_file.as_deref().map(|step_file| open_step(&folders, step_file));
    let opened = match opened {
        Some(Ok(opened)) => opened,
        Some(Err(finding)) => {
            found.push(finding);
            return CallResult { findings: found, opened: None };
        }
        None => return CallResult { findings: found, opened: None },
    };
    found.extend(caller.and_then(|caller| outside_of_caller(caller, &opened)));
    if opened.step.state() == "DONE" {
        let what = format!("{} is DONE already", opened.name);
        found.push(Finding::new(
            Code::StepDone,
            what,
            "continue with the next step, or let the user reopen this one",
        ));
    }
    if let Some(danger) = opened.step.danger() {
        let fix = "the user must look at this step: it is not started by an agent";
        found.push(Finding::new(Code::UnsafeStep, format!("{}: {danger}", opened.name), fix));
    }
    CallResult { findings: found, opened: Some(opened) }
}

/// The agent of a step writes its step file, so a nested call must not name one that its caller may not write.
fn outside_of_caller(caller: &GatedCall, opened: &OpenStep) -> Option<Finding> {
    let scope = match caller.scope() {
        Ok(scope) => scope,
        Err(error) => {
            let fix = "let the main thread call this agent";
            return Some(Finding::new(Code::StepFileInvalid, error.to_string(), fix));
        }
    };
    let is_inside = opened.name == caller.step_file || scope.permits(&opened.name);
    if is_inside {
        return None;
    }
    let what =
        format!("the step file {} is outside the scope of the agent that calls ({scope})", opened.name);
    let fix = "let the main thread call this agent, or name a step file inside the scope";
    Some(Finding::new(Code::ScopeViolation, what, fix))
}

pub(super) fn mismatch(marker: &str, agent: &str, fix: &str) -> Finding {
    Finding::new(Code::AgentMismatch, format!("DES-AGENT is {marker}, but this is {agent}"), fix)
        .matching(agent)
}

/// A heading of any level with this name, or a marker of it.
fn has_section(prompt: &str, name: &str) -> bool {
    prompt.lines().any(|line| {
        let line = line.trim();
        let heading = line.trim_start_matches('#');
        let is_heading = heading.len() < line.len()
            && heading.trim().trim_end_matches('#').trim().eq_ignore_ascii_case(name);
        let marker =
            line.split("<!--").skip(1).filter_map(|comment| comment.trim_start().strip_prefix("DES-SECTION"));
        let marked = marker.filter_map(|rest| rest.trim_start().strip_prefix(':')?.split_once("-->"));
        is_heading || marked.map(|(value, _)| value.trim()).any(|value| value == name)
    })
}

/// A write in a gated agent, before it happens.
#[derive(Clone, Copy, Debug)]
pub struct WriteRequest<'a> {
    /// The step file of the agent's markers.
    pub step_file: &'a str,
    /// The state that Gate 1 stored.
    pub call: Option<&'a GatedCall>,
    pub root: &'a Path,
    /// Where the agent works: the root, or its worktree.
    pub work: &'a Path,
    pub protected: &'a ProtectedPaths,
    pub cwd: &'a Path,
    /// The file, as the tool names it.
    pub file: &'a str,
    /// Whether it would be deleted.
    pub deletes: bool,
}

/// Gate 2: the gates' own files may never be written, whatever the scope is.
#[must_use]
pub fn protected(request: &WriteRequest<'_>) -> Option<Finding> {
    let named = paths::normalise(&request.cwd.join(request.file));
    if !request.protected.covers(&named, &paths::real_path(&named)) {
        return None;
    }
    let done = if request.deletes { "delete" } else { "write" };
    let what = format!("{} belongs to the gates and is not for agents to {done}", request.file);
    let rule = Rule::built_in("what belongs to the gates");
    Some(Finding::new(Code::ScopeViolation, what, "leave it as it is").by(Some(rule), request.file))
}

/// Gate 2, while the agent works: may this file be written?
#[must_use]
pub fn during(request: &WriteRequest<'_>) -> Option<Finding> {
    if let Some(moved) = request.call.and_then(|call| moved(call, request.root)) {
        return Some(moved);
    }
    let path = paths::relative(request.work, request.cwd, request.file);
    // The step file is always allowed: otherwise a broken one could not be fixed. The path at the call counts, because the agent
    // may have replaced the file with a link.
    let step_file = request
        .call
        .map_or_else(|| step_name(request.work, request.step_file), |call| call.step_file.clone());
    if path.as_ref() == Some(&step_file) {
        return None;
    }
    let scope = match request.call {
        Some(call) => call.scope().map_err(|error| {
            Finding::new(Code::StepFileInvalid, error.to_string(), "fix allowed_file_patterns")
        }),
        None => {
            let folders = StepFolders { root: request.work, cwd: request.cwd };
            open_step(&folders, request.step_file).map(|opened| Scope::of(opened.allowed))
        }
    };
    let scope = match scope {
        Ok(scope) => scope,
        Err(finding) => return Some(finding),
    };
    let permitted = path.as_deref().map_or(!scope.is_limited(), |path| scope.permits(path));
    if permitted {
        return None;
    }
    let file = path.as_deref().unwrap_or(request.file);
    let (what, limit) = if request.deletes {
        (format!("it deletes {file}, which is"), "delete only in")
    } else {
        (format!("{file} is"), "write only to")
    };
    let what = format!("{what} outside the scope of {}", request.step_file);
    let fix = format!(
        "{limit} {scope}; if that is too narrow, let the user widen allowed_file_patterns and call the agent again"
    );
    let rule = Rule::key("allowed_file_patterns").pattern(&scope.to_string());
    Some(Finding::new(Code::ScopeViolation, what, fix).by(Some(rule), file))
}

/// A finding if a config appeared or disappeared since the call, because that moves the root.
#[must_use]
pub(super) fn moved(call: &GatedCall, root: &Path) -> Option<Finding> {
    let is_same = call.root.as_os_str().is_empty() || paths::real_path(&call.root) == paths::real_path(root);
    if is_same {
        return None;
    }
    let what = format!(
        "the project's root was {} when the agent was called, and is {} now",
        call.root.display(),
        root.display()
    );
    let fix = "remove the config that was added, or restore the one that was removed";
    Some(Finding::new(Code::RulesChanged, what, fix))
}
