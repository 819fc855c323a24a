//! Which files an event is about, or an agent wrote until its stop.

use std::path::Path;

use serde_json::Value;

use crate::agent::Agent;
use crate::des::paths;
use crate::dialect::claude::fields::FILE_PATH;
use crate::dialect::claude::tools::{self, Use};
use crate::event::Changes;
use crate::file_pattern::Location;
use crate::files::expand_home;
use crate::git::{self, Listed};
use crate::log;
use crate::shell::{self, Access};
use crate::store;
use crate::transcript;
use crate::types::Event;

/// The changed files, each once, in the order of the changes. Where these cannot be known, those that may have been changed, and
/// why.
pub(super) fn changed(event: &Event, agent: Option<&Agent>, work: &Path) -> (Vec<Location>, Option<String>) {
    let (named, is_over, unknown) = match named(event, agent) {
        Ok((named, is_over)) => (named, is_over, None),
        Err(why) => {
            let (named, which) = perhaps(work);
            let why = format!("what was written is not known ({why}): `files` are compared with {which}");
            log::warn(|| why.clone());
            (named, true, Some(why))
        }
    };
    let mut found: Vec<Location> = Vec::new();
    // No path has a NUL, and no script could name it.
    for name in named.into_iter().filter(|name| !name.contains('\0')) {
        let location = locate(event, work, &name);
        // What is gone by the time of a stop needs no check.
        let is_gone = is_over && !Path::new(&location.absolute).exists();
        if !is_gone && !found.contains(&location) {
            found.push(location);
        }
    }
    (found, unknown)
}

/// What may have been changed: what differs from the last commit, or any file.
fn perhaps(work: &Path) -> (Vec<String>, &'static str) {
    let listed =
        |which| git::list(work, which).ok().flatten().filter(|files: &Vec<String>| !files.is_empty());
    let inside = |files: Vec<String>| {
        files.iter().map(|file| work.join(file).to_string_lossy().into_owned()).collect()
    };
    if let Some(files) = listed(Listed::Changed) {
        return (inside(files), "what differs from the last commit");
    }
    let all = listed(Listed::All).or_else(|| store::files_below(work).ok()).unwrap_or_default();
    (inside(all), "all files of the project")
}

/// These files, as they are named at the event.
pub(super) fn located(event: &Event, names: &[String], work: &Path) -> Vec<Location> {
    names.iter().map(|name| locate(event, work, name)).collect()
}

/// The files as they were named, and whether all of it has happened.
///
/// # Errors
/// Says why that is not known.
fn named(event: &Event, agent: Option<&Agent>) -> Result<(Vec<String>, bool), String> {
    let fields = &event.fields;
    let written = |path: &Path, since_prompt: bool| {
        transcript::changed_files(path, since_prompt, home().as_deref())
            .map_err(|error| format!("{}: {error}", path.display()))
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
            (path.map(str::to_owned).into_iter().collect(), false)
        }
    })
}

/// The files that a tool writes, or the commands of a shell.
pub(super) fn of_tool(call: &serde_json::Map<String, Value>) -> Vec<String> {
    let name = call.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let Some(input) = call.get("tool_input").and_then(Value::as_object) else { return Vec::new() };
    match tools::what(name, input) {
        Use::File { access: Access::Write, path } => vec![path.to_owned()],
        Use::Shell(command) => shell::written_files(command, home().as_deref()),
        _ => Vec::new(),
    }
}

fn home() -> Option<String> {
    std::env::home_dir().map(|home| home.to_string_lossy().into_owned())
}

fn locate(event: &Event, work: &Path, name: &str) -> Location {
    // By the time of a stop the session's folder may be another one.
    let cwd =
        if event.kind.row().changes == Changes::SincePrompt { work } else { Path::new(event.payload.cwd()) };
    let real = paths::real_path(&cwd.join(name));
    let relative = paths::relative(work, cwd, name);
    Location { absolute: real.to_string_lossy().into_owned(), relative, is_directory: false }
}
