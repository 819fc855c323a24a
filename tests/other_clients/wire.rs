//! The APIs that the clients speak with a model, in one shape.

use serde_json::{Value, json};

use crate::model::Turn;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// The Responses API.
    Responses,
    /// Chat Completions.
    Chat,
    /// generateContent.
    Gemini,
}

/// A tool call as the client's model makes it.
#[derive(Clone)]
pub(crate) struct ToolCall {
    pub name: &'static str,
    pub input: Value,
    /// The group of the tool, in the Responses API.
    pub namespace: Option<&'static str>,
}

/// A message of a conversation.
pub(crate) struct Message {
    pub is_of_model: bool,
    /// Neither instructions nor the model's own.
    pub is_given: bool,
    pub text: String,
}

/// A request for an answer.
pub(crate) struct Request {
    pub messages: Vec<Message>,
    pub has_tools: bool,
}

/// All text in a value, whatever its form.
fn text_of(value: &Value) -> String {
    const HOLDERS: [&str; 9] = [
        "text",
        "encrypted_content",
        "content",
        "output",
        "parts",
        "functionResponse",
        "response",
        "error",
        "arguments",
    ];
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let held = HOLDERS.iter().filter_map(|name| fields.get(*name)).map(text_of);
            held.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

impl Wire {
    /// The API of a path.
    pub(crate) fn of(path: &str) -> Option<Wire> {
        if path.ends_with("/responses") {
            Some(Wire::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Wire::Chat)
        } else if path.to_lowercase().ends_with("generatecontent") {
            Some(Wire::Gemini)
        } else {
            None
        }
    }

    pub(crate) fn read(self, body: &Value) -> Request {
        let list = |name: &str| body[name].as_array().cloned().unwrap_or_default();
        let mut has_tools = !list("tools").is_empty();
        let mut messages = Vec::new();
        let key = match self {
            Wire::Responses => "input",
            Wire::Chat => "messages",
            Wire::Gemini => "contents",
        };
        for item in list(key) {
            let (kind, role) = (item["type"].as_str().unwrap_or("message"), item["role"].as_str());
            if kind == "additional_tools" {
                has_tools = true;
            }
            if matches!(kind, "additional_tools" | "reasoning") {
                continue;
            }
            let is_of_model = matches!(role, Some("assistant" | "model")) || kind.ends_with("_call");
            let is_given = !is_of_model && !matches!(role, Some("system" | "developer"));
            messages.push(Message { is_of_model, is_given, text: text_of(&item) });
        }
        Request { messages, has_tools }
    }

    /// The answer, as one JSON object or as events of a stream.
    pub(crate) fn answer(self, turn: &Turn, body: &Value, number: u64) -> Answer {
        match self {
            Wire::Responses => responses(turn, number),
            Wire::Chat => chat(turn, body, number),
            Wire::Gemini => gemini(turn),
        }
    }
}

pub(crate) enum Answer {
    /// Events that have their type as a name.
    Named(Vec<Value>),
    /// Lines of `data:`.
    Data { whole: Value, parts: Vec<Value>, ends_with_done: bool },
}

fn responses(turn: &Turn, number: u64) -> Answer {
    let mut output = Vec::new();
    if !turn.text.is_empty() {
        let content = json!([{"type": "output_text", "text": turn.text, "annotations": []}]);
        output.push(json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant", "content": content}));
    }
    for (at, tool) in turn.tools.iter().enumerate() {
        let id = format!("call_{number}_{at}");
        let mut item = match tool.input.as_str() {
            Some(text) => json!({"type": "custom_tool_call", "input": text}),
            None => json!({"type": "function_call", "arguments": tool.input.to_string()}),
        };
        item["id"] = format!("fc_{number}_{at}").into();
        item["call_id"] = id.into();
        item["name"] = tool.name.into();
        if let Some(namespace) = tool.namespace {
            item["namespace"] = namespace.into();
        }
        output.push(item);
    }
    let id = format!("resp_{number}");
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    });
    let mut events = vec![json!({"type": "response.created", "response": {"id": id}})];
    for (at, item) in output.iter().enumerate() {
        for kind in ["response.output_item.added", "response.output_item.done"] {
            events.push(json!({"type": kind, "output_index": at, "item": item}));
        }
    }
    let whole =
        json!({"id": id, "object": "response", "status": "completed", "output": output, "usage": usage});
    events.push(json!({"type": "response.completed", "response": whole}));
    Answer::Named(events)
}

fn chat(turn: &Turn, body: &Value, number: u64) -> Answer {
    let calls: Vec<Value> = turn
        .tools
        .iter()
        .enumerate()
        .map(|(at, tool)| {
            let function = json!({"name": tool.name, "arguments": tool.input.to_string()});
            json!({"index": at, "id": format!("call_{number}{at:04}"), "type": "function", "function": function})
        })
        .collect();
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let mut message = json!({"role": "assistant", "content": turn.text});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    let of_kind = |kind: &str, choice: Value, usage: &Value| {
        let id = format!("chatcmpl-{number}");
        json!({
            "id": id, "object": kind, "created": 1_790_000_000, "model": body["model"], "choices": [choice], "usage": usage,
        })
    };
    let chunk = "chat.completion.chunk";
    let whole = json!({"index": 0, "message": message, "finish_reason": reason});
    let first = json!({"index": 0, "delta": message, "finish_reason": null});
    let last = json!({"index": 0, "delta": {}, "finish_reason": reason});
    Answer::Data {
        whole: of_kind("chat.completion", whole, &usage),
        parts: vec![of_kind(chunk, first, &Value::Null), of_kind(chunk, last, &usage)],
        ends_with_done: true,
    }
}

fn gemini(turn: &Turn) -> Answer {
    let mut parts = Vec::new();
    if !turn.text.is_empty() || turn.tools.is_empty() {
        parts.push(json!({"text": turn.text}));
    }
    parts.extend(
        turn.tools.iter().map(|tool| json!({"functionCall": {"name": tool.name, "args": tool.input}})),
    );
    let whole = json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
    });
    Answer::Data { parts: vec![whole.clone()], whole, ends_with_done: false }
}
