//! Step files. They are read leniently, because real ones differ. Writing keeps unknown fields, their order and the indentation.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use thiserror::Error;

use super::phases::name_of;
pub use super::phases::{Phase, PhaseStatus, configured_command, is_expected_to_fail};
use super::scope::{AllowedFiles, ScopePatternError};
use crate::paths::real_path;
use conclaude_core::finding::{Code, Finding};
use conclaude_os::files;

/// No log of a workflow is longer. The limit keeps reading fast.
const MAX_ENTRIES: usize = 500;

/// Why a text is not a step, in words after its name.
#[derive(Debug, Error)]
pub enum StepError {
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("it is not a JSON object")]
    NotAnObject,
    #[error("its phase log has {0} entries, at most {MAX_ENTRIES} are read")]
    TooManyEntries(usize),
    #[error("allowed_file_patterns is not a list of texts")]
    PatternsNotTexts,
    #[error(transparent)]
    Pattern(#[from] ScopePatternError),
}

/// A step: the original JSON, and a lenient view of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    json: Value,
}

impl Step {
    /// Reads a step from JSON text.
    ///
    /// # Errors
    /// The reason why it is not one.
    pub fn parse(text: &str) -> Result<Step, StepError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let json: Value = serde_json::from_str(text)?;
        if !json.is_object() {
            return Err(StepError::NotAnObject);
        }
        let step = Step { json };
        match step.cycle("phase_execution_log").and_then(Value::as_array).map_or(0, Vec::len) {
            entries if entries > MAX_ENTRIES => Err(StepError::TooManyEntries(entries)),
            _ => Ok(step),
        }
    }

    #[must_use]
    pub fn from_json(json: Map<String, Value>) -> Step {
        Step { json: Value::Object(json) }
    }

    /// A field of the root, which may also be inside `task_specification`.
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

    #[must_use]
    pub fn task_id(&self) -> Option<String> {
        self.text("task_id")
    }

    #[must_use]
    pub fn project_id(&self) -> Option<String> {
        self.text("project_id")
    }

    /// A name to show: `name`, `title` or `description`.
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

    /// `state.failure_reason`, unless it is empty.
    #[must_use]
    pub fn failure_reason(&self) -> Option<String> {
        self.text("state.failure_reason").filter(|reason| !reason.trim().is_empty())
    }

    /// Whether the step admits that it failed, and why: an agent may stop with an honest failure.
    #[must_use]
    pub fn is_honest_failure(&self) -> bool {
        matches!(self.state().as_str(), "FAILED" | "PARTIAL") && self.failure_reason().is_some()
    }

    #[must_use]
    pub fn has_phases(&self) -> bool {
        self.text("workflow_type").is_none_or(|kind| kind.trim() != "configuration_setup")
    }

    /// `allowed_file_patterns`. An empty list means no limit.
    ///
    /// # Errors
    /// If they exist and are invalid: a restriction must not turn into none.
    pub fn allowed_file_patterns(&self) -> Result<Vec<String>, StepError> {
        match self.field("allowed_file_patterns") {
            None => Ok(Vec::new()),
            Some(Value::String(one)) => Ok(vec![one.clone()]),
            Some(Value::Array(list)) => list
                .iter()
                .map(|one| one.as_str().map(str::to_owned).ok_or(StepError::PatternsNotTexts))
                .collect(),
            Some(_) => Err(StepError::PatternsNotTexts),
        }
    }

    /// The files that the step may touch.
    ///
    /// # Errors
    /// When the patterns cannot be understood or are broken.
    pub fn allowed_files(&self) -> Result<AllowedFiles, StepError> {
        Ok(AllowedFiles::new(self.allowed_file_patterns()?)?)
    }

    /// The fields by which an agent is judged. It may not change them while it works.
    #[must_use]
    pub fn rules(&self) -> Value {
        let names = [
            "allowed_file_patterns",
            "workflow_type",
            "safety",
            "affects_production",
            "is_destructive",
            "acceptance_criteria",
            "name",
            "title",
            "description",
        ];
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

    /// A step with only these rules.
    #[must_use]
    pub fn of_rules(rules: &Value) -> Option<Step> {
        rules.as_object().map(|rules| Step::from_json(rules.clone()))
    }

    /// `acceptance_criteria`, in any notation.
    #[must_use]
    pub fn acceptance_criteria(&self) -> Vec<String> {
        match self.field("acceptance_criteria") {
            Some(Value::Array(list)) => list.iter().filter_map(lenient_text).collect(),
            Some(other) => lenient_text(other).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// Why the step is unsafe to start, if it is.
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

    #[must_use]
    pub fn max_turns(&self) -> Option<f64> {
        self.cycle("max_turns").and_then(lenient_number)
    }

    /// The total time of all phases: `duration_minutes` and `total_extensions_minutes`.
    #[must_use]
    pub fn allowance_minutes(&self) -> Option<f64> {
        let minutes = self.cycle("duration_minutes").and_then(lenient_number)?;
        Some(minutes + self.cycle("total_extensions_minutes").and_then(lenient_number).unwrap_or(0.0))
    }

    fn cycle(&self, name: &str) -> Option<&Value> {
        self.field(&format!("tdd_cycle.{name}")).or_else(|| self.field(name))
    }

    /// The phase log. `None` if there is none.
    #[must_use]
    pub fn phases(&self) -> Option<Vec<Phase>> {
        let log = self.cycle("phase_execution_log")?.as_array()?;
        Some(log.iter().map(Phase::read).collect())
    }
}

/// Changes a step as JSON, so that unknown fields and their order stay.
impl Step {
    /// The entry of a phase, inserted at its position if it is missing.
    pub(super) fn phase_mut(&mut self, name: &str, phases: &[String]) -> Option<&mut Map<String, Value>> {
        let path = self.log_path();
        let root = self.json.as_object_mut()?;
        let mut here = root;
        for part in path {
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

    /// The path of the log: in the root's `tdd_cycle`, unless the file has it elsewhere.
    fn log_path(&self) -> Vec<String> {
        let paths: [&[&str]; 4] =
            [&["tdd_cycle"], &["task_specification", "tdd_cycle"], &[], &["task_specification"]];
        let found = paths.iter().find(|path| {
            let pointer: String = path.iter().map(|part| format!("/{part}")).collect();
            self.json.pointer(&format!("{pointer}/phase_execution_log")).is_some_and(Value::is_array)
        });
        found.unwrap_or(&paths[0]).iter().map(|part| (*part).to_owned()).collect()
    }

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

    fn render(&self, indent: &str) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
        serde::Serialize::serialize(&self.json, &mut serializer)?;
        Ok(out)
    }
}

/// No step file is larger.
pub(super) const MAX_BYTES: u64 = 16 << 20;

/// The real path of a marker's step file. It must be inside the root, even after following links.
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

/// Reads a step file, and also returns its text.
///
/// # Errors
/// A finding that says why not.
pub fn read(path: &Path, named: &str) -> Result<(Step, String), Finding> {
    let invalid = |reason: String| {
        let fix = "fix the JSON; `conclaude des new` makes a valid step file";
        Finding::new(Code::StepFileInvalid, format!("{named}: {reason}"), fix)
    };
    match files::read_text(path, MAX_BYTES) {
        Ok(text) => match Step::parse(&text) {
            Ok(step) => Ok((step, text)),
            Err(error) => Err(invalid(error.to_string())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let fix = "name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`";
            Err(Finding::new(Code::StepFileMissing, format!("{named} does not exist"), fix))
        }
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Writes the step like its previous text: with its indentation, its final newline and its permissions.
///
/// # Errors
/// If it cannot be written. The file is then unchanged.
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

pub(super) fn lenient_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A flag that warns of danger counts as set unless it is clearly false.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !matches!(text.trim().to_ascii_lowercase().as_str(), "" | "false" | "no"),
        _ => true,
    }
}

pub(super) fn lenient_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
