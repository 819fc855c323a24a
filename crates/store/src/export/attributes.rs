//! The attributes of a span or a log. If Claude Code's own telemetry has an attribute for something, ours has the same name, so
//! that one query finds both.

use serde_json::{Value, json};

use crate::audit::fields::{list, text};
use conclaude_core::event::EventKind;

/// Fields of a record with names of their own: an attribute for each name.
const NAMED: &[(&str, &[&str])] = &[
    ("session", &["session.id"]),
    ("agent_id", &["agent_id", "gen_ai.agent.id"]),
    ("agent", &["gen_ai.agent.name"]),
];

/// Like `NAMED`, for the fields of its tool call.
const OF_TOOL: &[(&str, &[&str])] = &[
    ("name", &["tool_name", "gen_ai.tool.name"]),
    ("use_id", &["tool_use_id", "gen_ai.tool.call.id"]),
    ("file", &["conclaude.tool.file"]),
    ("command", &["conclaude.tool.command"]),
];

/// Fields that a span or log has elsewhere, or that have no meaning outside the trail.
const LEFT_OUT: &[&str] = &["time", "started", "traceparent", "prev", "queued"];

/// All single values of a record. Lists become spans, events and the body of a log.
pub(super) fn of_record(record: &Value) -> Vec<Value> {
    let mut all = named(record, NAMED);
    let is_other = |name: &str| !LEFT_OUT.contains(&name) && NAMED.iter().all(|(field, _)| *field != name);
    let others = record.as_object().into_iter().flatten().filter(|(name, _)| is_other(name));
    all.extend(others.filter_map(|(name, value)| attribute(&format!("conclaude.{name}"), value)));
    all.extend(named(record.get("tool").unwrap_or(&Value::Null), OF_TOOL));
    if let Some(blocks) = record.get("blocks") {
        all.extend(of_object("conclaude.blocks", blocks));
    }
    // As Claude Code does: each agent is a conversation.
    let conversation = ["agent_id", "session"].iter().find_map(|name| record.get(*name));
    all.extend(conversation.and_then(|id| attribute("gen_ai.conversation.id", id)));
    all.extend(operation(record).and_then(|name| attribute("gen_ai.operation.name", &name.into())));
    let codes: Vec<Value> = list(record, "findings")
        .filter_map(|finding| Some(json!({ "stringValue": finding.get("code")?.as_str()? })))
        .collect();
    if !codes.is_empty() {
        all.push(array("conclaude.findings", codes));
    }
    all.extend(why(record));
    let outputs: Vec<Value> = list(record, "commands")
        .chain(record.get("evidence"))
        .filter_map(|command| Some(json!({ "stringValue": text(command, "output")? })))
        .collect();
    if !outputs.is_empty() {
        all.push(array("conclaude.output", outputs));
    }
    all
}

/// The operation of the agent, as OpenTelemetry's conventions name it.
fn operation(record: &Value) -> Option<&'static str> {
    if record.get("tool").is_some() {
        return Some("execute_tool");
    }
    match text(record, "event").and_then(EventKind::named)? {
        EventKind::UserPromptSubmit
        | EventKind::Stop
        | EventKind::SubagentStart
        | EventKind::SubagentStop => Some("invoke_agent"),
        _ => None,
    }
}

fn array(key: &str, values: Vec<Value>) -> Value {
    json!({ "key": key, "value": { "arrayValue": { "values": values } } })
}

/// The rules that decided, with the values that they matched and their messages: lists of the same length, in the same order.
fn why(record: &Value) -> Vec<Value> {
    let reasons: Vec<&Value> = reasons(record);
    if reasons.is_empty() {
        return Vec::new();
    }
    let of = |part: fn(&Value) -> String| -> Vec<Value> {
        reasons.iter().map(|reason| json!({ "stringValue": part(reason) })).collect()
    };
    let lists = [
        ("conclaude.rule.key", of(|reason| rule_part(reason, "key"))),
        ("conclaude.rule.pattern", of(|reason| rule_part(reason, "pattern"))),
        ("conclaude.rule.file", of(|reason| rule_part(reason, "file"))),
        ("conclaude.rule.line", of(|reason| rule_part(reason, "line"))),
        ("conclaude.matched", of(|reason| text(reason, "matched").unwrap_or_default().to_owned())),
        ("conclaude.message", of(|reason| message(reason).to_owned())),
    ];
    lists.into_iter().map(|(key, values)| array(key, values)).collect()
}

/// The findings, commands and other rules that decided. If nothing decided, the commands that ran.
pub(super) fn reasons(record: &Value) -> Vec<&Value> {
    let with_rule = || {
        let applied = list(record, "applied").filter(|one| one.get("verdict").is_some());
        let all = list(record, "findings").chain(list(record, "commands")).chain(applied);
        all.filter(|one| one.get("rule").is_some())
    };
    let against: Vec<&Value> = with_rule().filter(|one| text(one, "verdict") != Some("pass")).collect();
    if against.is_empty() { with_rule().collect() } else { against }
}

/// The message to the agent or the user: the advice of a finding, or the config's message about a failed command.
pub(super) fn message(reason: &Value) -> &str {
    let message = text(reason, "fix").or_else(|| text(reason, "message"));
    // The finding of a guard is the message of its rule.
    message.or_else(|| text(reason, "code").and_then(|_| text(reason, "what"))).unwrap_or_default()
}

/// A field of the rule of a reason; empty if there is none.
pub(super) fn rule_part(reason: &Value, name: &str) -> String {
    match reason.get("rule").and_then(|rule| rule.get(name)) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn named(object: &Value, names: &[(&str, &[&str])]) -> Vec<Value> {
    let values = names.iter().filter_map(|(field, names)| Some((object.get(*field)?, *names)));
    values.flat_map(|(value, names)| names.iter().filter_map(|name| attribute(name, value))).collect()
}

/// The values of an object below one name: `conclaude.finding.code`.
pub(super) fn of_object(prefix: &str, object: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        match value {
            // The source of the finding: the key, file and line of the rule.
            Value::Object(_) if name == "rule" => all.extend(of_object(&format!("{prefix}.rule"), value)),
            value => all.extend(attribute(&format!("{prefix}.{name}"), value)),
        }
    }
    all
}

/// `None` for an empty value, a list or an object.
pub(super) fn attribute(key: &str, value: &Value) -> Option<Value> {
    let value = match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Bool(is) => json!({ "boolValue": is }),
        // Not every JSON reader understands numbers of 64 bits.
        Value::Number(number) if !number.is_f64() => json!({ "intValue": number.to_string() }),
        Value::Number(number) => json!({ "doubleValue": number }),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(json!({ "key": key, "value": value }))
}
