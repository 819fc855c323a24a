//! The files that an event concerns, or that an agent wrote until its stop.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use conclaude_checks::guard::{Ground, Uncertainty};
use conclaude_checks::paths::{Links, real_path};
use conclaude_core::agent::Agent;
use conclaude_core::dialect::claude::fields::FILE_PATH;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::event::Changes;
use conclaude_core::file_pattern::Location;
use conclaude_core::plan::UnknownChanges;
use conclaude_core::types::Event;
use conclaude_os::budget::Budget;
use conclaude_os::files::{self, expand_home};
use conclaude_os::git::{self, FileSelection};
use conclaude_os::log;
use conclaude_store::store;
use conclaude_store::transcript::{self, ToolChange};
use shell_effects::{Access, Script, apply_patch, glob};

/// An event, and the work tree in which files were changed.
pub(super) struct ChangeSite<'a> {
    pub(super) event: &'a Event,
    pub(super) work: &'a Path,
    /// The time limit for finding them.
    pub(super) budget: &'a Budget,
}

impl ChangeSite<'_> {
    /// The changed files, each once, in the order of the changes. If they are not all known, also files that may have been
    /// changed, and why. For that, git compares the work tree, which may run filters of the repository: only if it is trusted.
    pub(super) fn changed(
        &self,
        agent: Option<&Agent>,
        is_trusted: bool,
    ) -> (Vec<Location>, Option<UnknownChanges>) {
        let work = self.work;
        let (changes, is_over) = match named(self.event, agent) {
            Ok(found) => found,
            Err(error) => {
                let (files, why) =
                    perhaps(work, &[UnknownWrites::in_all_of(work, error.to_string())], is_trusted);
                log::warn(|| why.clone());
                return (files, Some(UnknownChanges::Unreadable(why)));
            }
        };
        let ResolvedChanges { mut files, somewhere } = self.resolved(&changes);
        // A file that is gone at a stop needs no check.
        files.retain(|file| !is_over || Path::new(&file.absolute).exists());
        if somewhere.is_empty() {
            return (files, None);
        }
        let (more, why) = perhaps(work, &somewhere, is_trusted);
        for file in more {
            if !files.iter().any(|known| known.absolute == file.absolute) {
                files.push(file);
            }
        }
        (files, Some(UnknownChanges::Unclear(why)))
    }

    /// The changed files, as far as they are known by name.
    pub(super) fn known(&self, agent: Option<&Agent>) -> Vec<Location> {
        match named(self.event, agent) {
            Ok((changes, _)) => self.resolved(&changes).files,
            Err(_) => Vec::new(),
        }
    }

    /// Files with these names, as the event would name them.
    pub(super) fn located(&self, names: &[String]) -> Vec<Location> {
        let changes: Vec<ToolChange> = names.iter().cloned().map(ToolChange::File).collect();
        self.resolved(&changes).files
    }

    fn resolved(&self, changes: &[ToolChange]) -> ResolvedChanges {
        let ChangeSite { event, work, budget } = *self;
        // At a stop the session's folder may be another one.
        let is_stop = event.kind.row().changes == Changes::SincePrompt;
        let own_cwd = if is_stop { work } else { Path::new(event.payload.cwd()) };
        let links = Links::default();
        let mut written = ResolvedChanges::default();
        for change in changes {
            let cwd = match change {
                ToolChange::Shell { cwd: Some(cwd), .. } => work.join(cwd),
                _ => own_cwd.to_owned(),
            };
            let other = git::root_in_worktree(work, &cwd);
            let worktree = other.as_deref();
            let ground = Ground { root: work, cwd: &cwd, links: &links, home: None, worktree, budget };
            match change {
                // No path contains a NUL, and no script could name it.
                ToolChange::File(name) if name.contains('\0') => {}
                ToolChange::File(name) => {
                    written.add(ground.location(&links.real_path(&cwd.join(name)), false))
                }
                ToolChange::Shell { script, .. } => written.add_script(&ground, script),
            }
        }
        written
    }
}

/// The resolved changes on this disk.
#[derive(Default)]
struct ResolvedChanges {
    files: Vec<Location>,
    somewhere: Vec<UnknownWrites>,
}

/// A directory with unknown writes.
struct UnknownWrites {
    directory: PathBuf,
    /// The work tree that it is in.
    work: PathBuf,
    why: String,
}

impl UnknownWrites {
    fn in_all_of(work: &Path, why: String) -> UnknownWrites {
        UnknownWrites { directory: real_path(work), work: work.to_owned(), why }
    }
}

impl ResolvedChanges {
    fn add(&mut self, file: Location) {
        if !self.files.contains(&file) {
            self.files.push(file);
        }
    }

    fn add_script(&mut self, ground: &Ground<'_>, script: &Script) {
        let work = ground.worktree.unwrap_or(ground.root);
        let effects = ground.on_files(script);
        for touch in effects.touches {
            // A pattern that matches nothing names no file.
            if touch.path.is_dir() {
                let why = format!("in `{}`", touch.shown());
                self.somewhere.push(UnknownWrites { directory: touch.path, work: work.to_owned(), why });
            } else if touch.exists || !glob::is_pattern(touch.named()) {
                self.add(ground.location(&touch.path, false));
            }
        }
        for unclear in effects.unclear {
            let why = match unclear {
                Uncertainty::Names { written, among: (base, pattern), .. } => {
                    let directory = pattern.rsplit_once('/').map_or("", |(directory, _)| directory);
                    self.somewhere.push(UnknownWrites {
                        directory: ground.links.real_path(&base.join(directory)),
                        work: work.to_owned(),
                        why: format!("`{written}`"),
                    });
                    continue;
                }
                Uncertainty::Path { written, .. } => format!("`{written}`"),
                Uncertainty::WorkTree { command, .. } => format!("`{command}`"),
                Uncertainty::Doubt(doubt) => doubt.to_string(),
                // It is read.
                Uncertainty::Somewhere { .. } => continue,
                Uncertainty::Named { .. } | Uncertainty::Input { .. } => continue,
            };
            self.somewhere.push(UnknownWrites::in_all_of(work, why));
        }
    }
}

/// The files that may have been changed: those that differ from the last commit, or any file. Also a sentence that says so.
fn perhaps(work: &Path, somewhere: &[UnknownWrites], is_trusted: bool) -> (Vec<Location>, String) {
    let mut files = Vec::new();
    let mut which = "what differs from the last commit";
    let mut trees: Vec<&Path> = somewhere.iter().map(|one| one.work.as_path()).collect();
    trees.dedup();
    for tree in trees {
        let is_there = |path: &Path| somewhere.iter().any(|one| path.starts_with(&one.directory));
        let (found, is_all) = candidates(tree, is_trusted, is_there);
        which = if is_all { "all files of the project" } else { which };
        files.extend(found.into_iter().map(|(path, file)| {
            let (relative, in_worktree) = if tree == work { (Some(file), None) } else { (None, Some(file)) };
            let absolute = path.to_string_lossy().into_owned();
            Location { absolute, relative, in_worktree, is_directory: false }
        }));
    }
    let mut reasons: Vec<&str> = somewhere.iter().map(|one| one.why.as_str()).collect();
    reasons.dedup();
    let more = match reasons.len() {
        0..=1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let first = reasons.first().copied().unwrap_or_default();
    let why = format!("what was written is not known ({first}{more}): `files` are compared with {which}");
    (files, why)
}

/// The files of a work tree that may have been changed, on this disk and from its top level, and whether these are all.
fn candidates(
    work: &Path,
    is_trusted: bool,
    is_there: impl Fn(&Path) -> bool,
) -> (Vec<(PathBuf, String)>, bool) {
    let top = real_path(work);
    let inside = |files: Vec<String>| -> Vec<(PathBuf, String)> {
        files.into_iter().map(|file| (top.join(&file), file)).filter(|(path, _)| is_there(path)).collect()
    };
    let listed = |which| {
        if !is_trusted {
            return None;
        }
        git::list(work, which).ok().flatten().map(inside).filter(|files| !files.is_empty())
    };
    if let Some(files) = listed(FileSelection::Changed) {
        return (files, false);
    }
    let all = listed(FileSelection::All).or_else(|| store::files_below(work).ok().map(inside));
    (all.unwrap_or_default(), true)
}

/// A transcript with the changes cannot be read.
#[derive(Debug, Error)]
#[error("{}: {error}", .path.display())]
struct TranscriptError {
    path: PathBuf,
    error: io::Error,
}

/// The named changes, and whether all of them have happened.
///
/// # Errors
/// Says why that is not known.
fn named(event: &Event, agent: Option<&Agent>) -> Result<(Vec<ToolChange>, bool), TranscriptError> {
    let fields = &event.fields;
    let written = |path: &Path, since_prompt: bool| {
        transcript::changes(path, since_prompt, files::home().as_deref())
            .map_err(|error| TranscriptError { path: path.to_owned(), error })
    };
    Ok(match event.kind.row().changes {
        Changes::SincePrompt => (written(&expand_home(event.payload.transcript_path()), true)?, true),
        Changes::Agent => {
            let own = agent.and_then(|agent| agent.transcript.as_deref()).map(expand_home);
            (own.map(|path| written(&path, false)).transpose()?.unwrap_or_default(), true)
        }
        Changes::Tools(list) => {
            let calls = fields.get(list).and_then(Value::as_array).into_iter().flatten();
            (calls.filter_map(Value::as_object).flat_map(of_tool).collect(), false)
        }
        Changes::Tool => (of_tool(fields), false),
        Changes::Named => {
            let path = fields.get(FILE_PATH).and_then(Value::as_str);
            (path.map(|path| ToolChange::File(path.to_owned())).into_iter().collect(), false)
        }
    })
}

/// The writes of a tool, or of a shell's commands.
fn of_tool(call: &serde_json::Map<String, Value>) -> Vec<ToolChange> {
    let name = call.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let Some(input) = call.get("tool_input").and_then(Value::as_object) else { return Vec::new() };
    match tools::what(name, input) {
        ToolUse::File { access: Access::Write, path } => vec![ToolChange::File(path.to_owned())],
        ToolUse::Patch(patch) => written_by(patch),
        ToolUse::Shell(command) => {
            let script = shell_effects::writes(command, files::home().as_deref()).map(Box::new);
            script.map(|script| ToolChange::Shell { script, cwd: None }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The files of a patch that exist afterwards.
fn written_by(patch: &str) -> Vec<ToolChange> {
    let files = apply_patch::files(patch).unwrap_or_default();
    let is_gone = |path: &str| {
        files.iter().rfind(|file| file.path == path).is_some_and(|last| last.access == Access::Delete)
    };
    let written = files.iter().filter(|file| file.access == Access::Write && !is_gone(&file.path));
    written.map(|file| ToolChange::File(file.path.clone())).collect()
}
