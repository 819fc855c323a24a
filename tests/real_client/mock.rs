//! A stand-in for the Messages API that plays a script and remembers what it was asked.
//!
//! Nothing depends on the order in which requests come: the conversation is found by its first message, the turn by the
//! number of answers that are in it already. Agents that run side by side cannot get each other's lines.

use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::http;
use crate::script::{Script, Talk, Turn};

/// A request for an answer of the model.
#[derive(Clone)]
pub(crate) struct ModelRequest {
    /// The key of its conversation; nothing for questions of the client's own, a session's title for instance.
    pub talk: Option<&'static str>,
    pub turn: usize,
    /// Whether the script had an answer.
    pub is_scripted: bool,
    pub body: Value,
}

/// The server. It answers until the program ends.
pub(crate) struct Mock {
    pub url: String,
    shared: Arc<MockState>,
}

struct MockState {
    script: Script,
    asked: Mutex<Vec<ModelRequest>>,
    ids: AtomicU64,
}

impl Mock {
    /// Starts on a free port of loopback.
    pub(crate) fn start(script: Script) -> Mock {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let url = format!("http://{}", listener.local_addr().expect("a bound socket has an address"));
        let shared = Arc::new(MockState { script, asked: Mutex::default(), ids: AtomicU64::new(1) });
        let server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&server);
                // A client that was killed does not read its answer: no reason to fail.
                std::thread::spawn(move || shared.serve(&stream));
            }
        });
        Mock { url, shared }
    }

    /// Everything that was asked so far.
    pub(crate) fn asked(&self) -> Vec<ModelRequest> {
        self.shared.asked().clone()
    }
}

impl MockState {
    fn asked(&self) -> MutexGuard<'_, Vec<ModelRequest>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: &TcpStream) -> Option<()> {
        let request = http::read(stream)?;
        let is_post = request.method == "POST";
        if is_post && request.path.ends_with("/messages") {
            let body: Value = serde_json::from_slice(&request.body).ok()?;
            let turn = self.answer(&body);
            turn.wait();
            return self.reply(stream, &body, &turn).ok();
        }
        let other = if request.path.ends_with("/count_tokens") {
            json!({"input_tokens": request.body.len() / 4 + 1})
        } else {
            json!({"data": [], "has_more": false})
        };
        http::json(stream, &other).ok()
    }

    /// The script's answer to this request, which is noted.
    fn answer(&self, body: &Value) -> Turn {
        let first = messages(body).find(|message| message["role"] == "user").map(text_of).unwrap_or_default();
        let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        let is_this = |talk: &&Talk| talk.is_fresh != has_tools && first.contains(talk.key);
        let talk = self.script.talks.iter().find(is_this);
        let mut asked = self.asked();
        let turn = match talk {
            Some(talk) if talk.is_fresh => {
                asked.iter().filter(|before| before.talk == Some(talk.key)).count()
            }
            _ => messages(body).filter(|message| message["role"] == "assistant").count(),
        };
        let scripted = talk.and_then(|talk| talk.turns.get(turn)).cloned();
        let is_scripted = scripted.is_some();
        asked.push(ModelRequest { talk: talk.map(|talk| talk.key), turn, is_scripted, body: body.clone() });
        scripted.unwrap_or_else(|| crate::script::says("(the script says nothing here)"))
    }

    fn reply(&self, stream: &TcpStream, body: &Value, turn: &Turn) -> std::io::Result<()> {
        let blocks = self.blocks(turn);
        let reason = if turn.tools.is_empty() { "end_turn" } else { "tool_use" };
        let mut message = json!({
            "id": format!("msg_{:024}", self.id()), "type": "message", "role": "assistant", "model": body["model"],
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        });
        if body["stream"] != true {
            message["content"] = blocks.into();
            message["stop_reason"] = reason.into();
            return http::json(stream, &message);
        }
        let mut events = vec![json!({"type": "message_start", "message": message})];
        for (index, block) in blocks.into_iter().enumerate() {
            events.extend(parts(index, block));
        }
        events.push(json!({
            "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 10},
        }));
        events.push(json!({"type": "message_stop"}));
        http::events(stream, &events)
    }

    fn blocks(&self, turn: &Turn) -> Vec<Value> {
        let text = turn.text.iter().map(|text| json!({"type": "text", "text": text}));
        let tools = turn.tools.iter().map(|tool| {
            let id = format!("toolu_{:024}", self.id());
            json!({"type": "tool_use", "id": id, "name": tool.name, "input": tool.input})
        });
        text.chain(tools).collect()
    }

    fn id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }
}

/// A block as it is streamed: an empty one first, then what is in it.
fn parts(index: usize, mut block: Value) -> [Value; 3] {
    let delta = if block["type"] == "text" {
        json!({"type": "text_delta", "text": std::mem::replace(&mut block["text"], "".into())})
    } else {
        let input = std::mem::replace(&mut block["input"], json!({}));
        json!({"type": "input_json_delta", "partial_json": input.to_string()})
    };
    [
        json!({"type": "content_block_start", "index": index, "content_block": block}),
        json!({"type": "content_block_delta", "index": index, "delta": delta}),
        json!({"type": "content_block_stop", "index": index}),
    ]
}

/// The messages of a request.
pub(crate) fn messages(body: &Value) -> impl Iterator<Item = &Value> {
    body["messages"].as_array().into_iter().flatten()
}

/// All text of a message, tool results among it.
pub(crate) fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match block["text"].as_str() {
                Some(text) => text.to_owned(),
                None => text_of(block),
            });
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
