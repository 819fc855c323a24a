//! Step files: read leniently, since real ones differ; written so that what we did not mean to change stays.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::findings::{Code, Finding};
use super::paths::real_path;
use crate::files;

/// A step file of a person is never this large.
const MAX_BYTES: u64 = 16 << 20;
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// A log of a workflow is never this long; looking at one must not take long either.
const MOST_ENTRIES: usize = 500;

/// A phase's `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not begun.
    NotExecuted,
    /// Begun and not ended.
    InProgress,
    /// Ended, with an outcome.
    Executed,
    /// Left out, with a reason.
    Skipped,
}

impl Status {
    fn named(name: &str) -> Option<Status> {
        Some(match name.trim().to_ascii_uppercase().as_str() {
            "NOT_EXECUTED" => Status::NotExecuted,
            "IN_PROGRESS" => Status::InProgress,
            "EXECUTED" => Status::Executed,
            "SKIPPED" => Status::Skipped,
            _ => return None,
        })
    }
}

/// One entry of the phase log, as far as it can be understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phase {
    /// `phase_name`.
    pub name: String,
    /// `phase_index`.
    pub index: Option<i64>,
    /// `status` as written; nothing means NOT_EXECUTED.
    pub status: Option<String>,
    /// `outcome` as written.
    pub outcome: Option<String>,
    /// `blocked_by`: why it was skipped.
    pub blocked_by: Option<String>,
    /// `started_at`.
    pub started_at: Option<String>,
    /// `ended_at`.
    pub ended_at: Option<String>,
    /// `duration_seconds`.
    pub duration_seconds: Option<f64>,
    /// `turn_count`.
    pub turn_count: Option<f64>,
    /// Whether it carries the proof of a run.
    pub has_evidence: bool,
}

impl Phase {
    /// The status, or `None` where it is one that does not exist.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.status.as_deref().map_or(Some(Status::NotExecuted), Status::named)
    }

    /// Whether the phase needs nothing more.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.status(), Some(Status::Executed | Status::Skipped))
    }

    /// The word of the outcome in capitals, without what follows a colon.
    #[must_use]
    pub fn verdict(&self) -> Option<String> {
        let word = self.outcome.as_deref()?.split(':').next()?.trim().to_ascii_uppercase();
        (!word.is_empty()).then_some(word)
    }
}

/// A step: the JSON as it is, and a lenient view of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    json: Value,
}

impl Step {
    /// Reads a step from JSON text.
    ///
    /// # Errors
    /// Says why it is not one.
    pub fn parse(text: &str) -> Result<Step, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let json: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if !json.is_object() {
            return Err("it is not a JSON object".into());
        }
        let step = Step { json };
        match step.cycle("phase_execution_log").and_then(Value::as_array).map_or(0, Vec::len) {
            entries if entries > MOST_ENTRIES => {
                Err(format!("its phase log has {entries} entries, at most {MOST_ENTRIES} are read"))
            }
            _ => Ok(step),
        }
    }

    /// A step from JSON.
    #[must_use]
    pub fn from_json(json: Map<String, Value>) -> Step {
        Step { json: Value::Object(json) }
    }

    /// A field of the root, which may also stand inside `task_specification`.
    fn field(&self, path: &str) -> Option<&Value> {
        let pointer = format!("/{}", path.replace('.', "/"));
        let inside = || self.json.pointer(&format!("/task_specification{pointer}"));
        self.json
            .pointer(&pointer)
            .filter(|value| !value.is_null())
            .or_else(inside)
            .filter(|value| !value.is_null())
    }

    fn text(&self, path: &str) -> Option<String> {
        self.field(path).and_then(lenient_text)
    }

    /// `task_id`.
    #[must_use]
    pub fn task_id(&self) -> Option<String> {
        self.text("task_id")
    }

    /// `project_id`.
    #[must_use]
    pub fn project_id(&self) -> Option<String> {
        self.text("project_id")
    }

    /// A name for people: `name`, `title` or `description`.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        ["name", "title", "description"].iter().find_map(|field| self.text(field))
    }

    /// `state.status` in capitals.
    #[must_use]
    pub fn state(&self) -> String {
        self.text("state.status")
            .map_or_else(|| "TODO".to_owned(), |status| status.trim().to_ascii_uppercase())
    }

    /// `state.failure_reason`, if it says anything.
    #[must_use]
    pub fn failure_reason(&self) -> Option<String> {
        self.text("state.failure_reason").filter(|reason| !reason.trim().is_empty())
    }

    /// Whether the step admits that it failed, and why: an honest failure may stop.
    #[must_use]
    pub fn is_honest_failure(&self) -> bool {
        matches!(self.state().as_str(), "FAILED" | "PARTIAL") && self.failure_reason().is_some()
    }

    /// Whether the workflow has phases at all.
    #[must_use]
    pub fn has_phases(&self) -> bool {
        self.text("workflow_type").is_none_or(|kind| kind.trim() != "configuration_setup")
    }

    /// `allowed_file_patterns`; none means no limit.
    ///
    /// # Errors
    /// When they are there and cannot be understood: a restriction must not turn into none.
    pub fn allowed_file_patterns(&self) -> Result<Vec<String>, String> {
        let unclear = || "allowed_file_patterns is not a list of texts".to_owned();
        match self.field("allowed_file_patterns") {
            None => Ok(Vec::new()),
            Some(Value::String(one)) => Ok(vec![one.clone()]),
            Some(Value::Array(list)) => {
                list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(unclear)).collect()
            }
            Some(_) => Err(unclear()),
        }
    }

    /// What an agent is judged by, and may not change while it works.
    #[must_use]
    pub fn rules(&self) -> Value {
        let names =
            ["allowed_file_patterns", "workflow_type", "safety", "affects_production", "is_destructive"];
        let limits = ["max_turns", "duration_minutes", "total_extensions_minutes"];
        let fields = names
            .iter()
            .map(|name| (*name, self.field(name)))
            .chain(limits.iter().map(|name| (*name, self.cycle(name))));
        fields
            .map(|(name, value)| (name.to_owned(), value.cloned().unwrap_or_default()))
            .collect::<Map<_, _>>()
            .into()
    }

    /// `acceptance_criteria`, however they are written.
    #[must_use]
    pub fn acceptance_criteria(&self) -> Vec<String> {
        match self.field("acceptance_criteria") {
            Some(Value::Array(list)) => list.iter().filter_map(lenient_text).collect(),
            Some(other) => lenient_text(other).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// What makes the step unsafe to start, if anything.
    #[must_use]
    pub fn danger(&self) -> Option<&'static str> {
        let is = |name: &str| {
            [format!("safety.{name}"), name.to_owned()]
                .iter()
                .any(|path| self.field(path).is_some_and(is_true))
        };
        let plan = ["safety.rollback_plan", "rollback_plan"].iter().find_map(|path| self.field(path));
        let has_plan = match plan {
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(Value::Array(list)) => !list.is_empty(),
            Some(Value::Object(map)) => !map.is_empty(),
            _ => false,
        };
        if is("affects_production") {
            Some("safety.affects_production is true")
        } else if is("is_destructive") && !has_plan {
            Some("safety.is_destructive is true and there is no rollback_plan")
        } else {
            None
        }
    }

    /// `tdd_cycle.max_turns`.
    #[must_use]
    pub fn max_turns(&self) -> Option<f64> {
        self.cycle("max_turns").and_then(lenient_number)
    }

    /// The time that all phases together may take: `duration_minutes` and `total_extensions_minutes`.
    #[must_use]
    pub fn allowance_minutes(&self) -> Option<f64> {
        let minutes = self.cycle("duration_minutes").and_then(lenient_number)?;
        Some(minutes + self.cycle("total_extensions_minutes").and_then(lenient_number).unwrap_or(0.0))
    }

    fn cycle(&self, name: &str) -> Option<&Value> {
        self.field(&format!("tdd_cycle.{name}")).or_else(|| self.field(name))
    }

    /// The phase log, or `None` where there is none.
    #[must_use]
    pub fn phases(&self) -> Option<Vec<Phase>> {
        let log = self.cycle("phase_execution_log")?.as_array()?;
        Some(log.iter().map(phase_of).collect())
    }

    /// The entry of a phase, made if it is not there, to be changed.
    pub(super) fn phase_mut(&mut self, name: &str, phases: &[String]) -> Option<&mut Map<String, Value>> {
        let place = self.log_place();
        let root = self.json.as_object_mut()?;
        let mut here = root;
        for part in place {
            here = here.entry(part).or_insert_with(|| Value::Object(Map::new())).as_object_mut()?;
        }
        let log =
            here.entry("phase_execution_log").or_insert_with(|| Value::Array(Vec::new())).as_array_mut()?;
        let position = log.iter().position(|entry| name_of(entry).as_deref() == Some(name));
        let position = position.unwrap_or_else(|| {
            let rank = |entry: &Value| phases.iter().position(|known| Some(known) == name_of(entry).as_ref());
            let own = phases.iter().position(|known| known == name);
            let at = log.iter().position(|entry| rank(entry) > own).unwrap_or(log.len());
            log.insert(
                at,
                serde_json::json!({ "phase_name": name, "phase_index": own, "status": "NOT_EXECUTED" }),
            );
            at
        });
        log.get_mut(position)?.as_object_mut()
    }

    /// Where the log lies: in the root's `tdd_cycle` unless the file keeps it elsewhere.
    fn log_place(&self) -> Vec<String> {
        let places: [&[&str]; 4] =
            [&["tdd_cycle"], &["task_specification", "tdd_cycle"], &[], &["task_specification"]];
        let found = places.iter().find(|place| {
            let pointer: String = place.iter().map(|part| format!("/{part}")).collect();
            self.json.pointer(&format!("{pointer}/phase_execution_log")).is_some_and(Value::is_array)
        });
        found.unwrap_or(&places[0]).iter().map(|part| (*part).to_owned()).collect()
    }

    /// Changes a field of `state`.
    pub(super) fn set_state(&mut self, name: &str, value: Value) {
        let in_specification =
            self.json.get("state").is_none() && self.json.pointer("/task_specification/state").is_some();
        let Some(mut root) = self.json.as_object_mut() else { return };
        if in_specification {
            match root.get_mut("task_specification").and_then(Value::as_object_mut) {
                Some(inner) => root = inner,
                None => return,
            }
        }
        let state = root.entry("state").or_insert_with(|| Value::Object(Map::new()));
        if !state.is_object() {
            *state = Value::Object(Map::new());
        }
        if let Some(state) = state.as_object_mut() {
            state.insert(name.to_owned(), value);
        }
    }

    /// The JSON with this indentation.
    fn render(&self, indent: &str) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
        serde::Serialize::serialize(&self.json, &mut serializer)?;
        Ok(out)
    }
}

fn lenient_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A flag that warns of danger is set unless it clearly is not.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !matches!(text.trim().to_ascii_lowercase().as_str(), "" | "false" | "no"),
        _ => true,
    }
}

fn lenient_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

fn name_of(entry: &Value) -> Option<String> {
    entry
        .get("phase_name")
        .or_else(|| entry.get("phase"))
        .or_else(|| entry.get("name"))
        .and_then(lenient_text)
}

fn phase_of(entry: &Value) -> Phase {
    let text = |name: &str| entry.get(name).and_then(lenient_text).filter(|text| !text.trim().is_empty());
    Phase {
        name: name_of(entry).unwrap_or_default(),
        index: entry.get("phase_index").and_then(Value::as_i64),
        status: text("status"),
        outcome: text("outcome"),
        blocked_by: text("blocked_by"),
        started_at: text("started_at"),
        ended_at: text("ended_at"),
        duration_seconds: entry.get("duration_seconds").and_then(lenient_number),
        turn_count: entry.get("turn_count").and_then(lenient_number),
        has_evidence: entry.get("evidence").is_some_and(|proof| !proof.is_null()),
    }
}

/// Where the step file of a marker lies, which must be inside the root also after following links.
///
/// # Errors
/// A finding that says why not.
pub fn locate(root: &Path, step_file: &str) -> Result<PathBuf, Finding> {
    let real_root = real_path(root);
    let path = real_path(&root.join(step_file));
    if path != real_root && path.starts_with(&real_root) {
        return Ok(path);
    }
    Err(Finding::new(
        Code::StepFileOutsideProject,
        format!("{step_file} lies outside the project {}", root.display()),
        "name a step file inside the project, relative to its root",
    ))
}

/// Reads a step file.
///
/// # Errors
/// A finding that says why not.
pub fn read(path: &Path, named: &str) -> Result<Step, Finding> {
    let invalid = |reason: String| {
        let fix = "mend the JSON; `conclaude des new` makes a valid step file";
        Finding::new(Code::StepFileInvalid, format!("{named}: {reason}"), fix)
    };
    match files::read_text(path, MAX_BYTES) {
        Ok(text) => Step::parse(&text).map_err(invalid),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let fix = "name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`";
            Err(Finding::new(Code::StepFileMissing, format!("{named} does not exist"), fix))
        }
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Reads a step file, changes it and writes it back, all under a lock: parallel agents lose no update.
///
/// # Errors
/// When it cannot be read, locked or written, or when the change refuses.
pub fn update<T>(
    path: &Path,
    lock: &Path,
    change: impl FnOnce(&mut Step) -> Result<T, String>,
) -> Result<T, String> {
    let in_words = |error: io::Error| format!("{}: {error}", path.display());
    let held = files::lock(lock, LOCK_WAIT).map_err(in_words)?;
    let _lock = held.ok_or_else(|| {
        format!("{}: another process has held its lock for {} s", path.display(), LOCK_WAIT.as_secs())
    })?;
    let text = files::read_text(path, MAX_BYTES).map_err(in_words)?;
    let mut step = Step::parse(&text).map_err(|reason| format!("{}: {reason}", path.display()))?;
    let done = change(&mut step)?;
    write(path, &step, &text).map_err(in_words)?;
    Ok(done)
}

/// Writes the step in the manner of the text that it replaces: its indentation, its last newline, its rights.
///
/// # Errors
/// When it cannot be written; the file is then as it was.
pub fn write(path: &Path, step: &Step, before: &str) -> io::Result<()> {
    let first_indent = before.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let indent: String = first_indent.map_or_else(
        || "  ".to_owned(),
        |line| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect(),
    );
    let mut content = step.render(&indent)?;
    if before.is_empty() || before.ends_with('\n') {
        content.push(b'\n');
    }
    files::replace(path, &content)
}
