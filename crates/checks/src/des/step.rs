//! Step files: read leniently, since real ones differ; written so that what we did not mean to change stays.

use serde_json::{Map, Value};

mod edit;
mod file;
mod lenient;
mod phase;

pub use file::locate;
pub use file::{read, update, write};
use lenient::{is_true, lenient_number, lenient_text};
pub use phase::configured_command;
pub use phase::{Phase, PhaseStatus};

/// No log of a workflow is longer, and reading one must not take long.
const MAX_ENTRIES: usize = 500;

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
            entries if entries > MAX_ENTRIES => {
                Err(format!("its phase log has {entries} entries, at most {MAX_ENTRIES} are read"))
            }
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

    /// A step that says what these rules said, and nothing else.
    #[must_use]
    pub fn of_rules(rules: &Value) -> Option<Step> {
        rules.as_object().map(|rules| Step::from_json(rules.clone()))
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
        Some(log.iter().map(Phase::read).collect())
    }
}
