//! The names that other clients have for Claude Code's fields, in payloads and transcripts: some clients run its hooks too.

use serde_json::{Map, Value};

/// Other clients' names for the session and the event of a payload.
const IDENTITY: [&str; 2] = ["sessionId", "hookName"];

/// Whether a payload has another client's name for its session or its event.
pub fn is_named_otherwise(fields: &Map<String, Value>) -> bool {
    IDENTITY.into_iter().any(|name| fields.contains_key(name))
}

fn text<'a>(fields: &'a Map<String, Value>, names: [&str; 2]) -> Option<&'a str> {
    names.into_iter().find_map(|name| fields.get(name)?.as_str())
}

/// The session of a payload of any client.
pub fn session_id(fields: &Map<String, Value>) -> Option<&str> {
    text(fields, ["session_id", "sessionId"])
}

/// The agent of a payload of any client.
pub fn agent_id(fields: &Map<String, Value>) -> Option<&str> {
    text(fields, ["agent_id", "agentId"])
}

/// The prompts in the tool input of any client.
pub fn prompts(fields: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let inputs = ["tool_input", "toolInput", "toolArgs"].into_iter().filter_map(|name| fields.get(name));
    inputs.filter_map(|input| input.get("prompt")?.as_str())
}

/// The content of a transcript's line; Qwen Code writes `parts` where Claude Code writes `content`.
pub fn content(line: &Value) -> Option<&Value> {
    let message = line.get("message");
    message
        .and_then(|message| message.get("content").or_else(|| message.get("parts")))
        .or_else(|| line.get("content"))
}

/// Whether a transcript's line is one of Codex (`payload`) or Copilot (`data`). We cannot read prompts in their transcripts.
pub fn is_foreign(line: &Value) -> bool {
    let has = |name: &str| line.get(name).is_some();
    let has_object = |name: &str| line.get(name).is_some_and(Value::is_object);
    (has_object("payload") || has_object("data")) && !has("sessionId") && !has("uuid") && !has("message")
}

/// The task of a subagent in a line of Codex's transcript. OpenAI's service may have encrypted it. Then nobody can read it as a
/// prompt.
pub fn task(line: &Value) -> Option<String> {
    let payload = line.get("payload")?;
    if payload.get("type")?.as_str() != Some("agent_message") {
        return None;
    }
    let parts = payload.get("content")?.as_array()?;
    let texts = parts.iter().filter_map(|part| part.get("encrypted_content")?.as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    if text.is_empty() { None } else { Some(text) }
}
