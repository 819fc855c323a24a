//! Which records of the trail are wanted.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

/// Which records are wanted; what is not set matches all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The session, or the start of its id.
    pub session: Option<String>,
    /// The agent's name or id.
    pub agent: Option<String>,
    /// A part of the step file's path.
    pub step: Option<String>,
    pub event: Option<String>,
    pub decision: Option<String>,
    pub since: Option<Timestamp>,
}

impl Filter {
    pub(super) fn admits(&self, record: &Value) -> bool {
        self.admits_by(&|name| record.get(name).and_then(Value::as_str).map(Cow::Borrowed))
    }

    /// Whether a record is wanted of which this gives a field that is a text.
    pub(super) fn admits_by<'r>(&self, field: &dyn Fn(&str) -> Option<Cow<'r, str>>) -> bool {
        let text = |name: &str| field(name).unwrap_or_default();
        let is = |wanted: &Option<String>, test: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(test);
        let recent = || {
            text("time").parse::<Timestamp>().is_ok_and(|time| self.since.is_none_or(|since| time >= since))
        };
        is(&self.session, &|wanted| text("session").starts_with(wanted))
            && is(&self.agent, &|wanted| text("agent") == wanted || text("agent_id") == wanted)
            && is(&self.step, &|wanted| text("step").contains(wanted))
            && is(&self.event, &|wanted| text("event").eq_ignore_ascii_case(wanted))
            && is(&self.decision, &|wanted| text("decision").eq_ignore_ascii_case(wanted))
            && (self.since.is_none() || recent())
    }
}
