//! A server that plays a script. Nothing depends on the order of requests: a text in the first message says whose conversation it is, and
//! the number of answers in it which turn is due.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::http;
use crate::wire::{Answer, Message, Request, ToolCall, Wire};

/// What the model says in a turn.
#[derive(Clone, Default)]
pub(crate) struct Turn {
    pub text: String,
    pub tools: Vec<ToolCall>,
}

/// What the model says to the user, and to the caller of an agent whose task has this key.
pub(crate) struct Script {
    pub main: Vec<Turn>,
    pub agent: Vec<Turn>,
}

/// The text in the task of an agent.
pub(crate) const AGENT_KEY: &str = "CODER-PART";

/// What the model was sent in a turn and had not seen before.
#[derive(Clone)]
pub(crate) struct SentTurn {
    pub is_of_agent: bool,
    pub turn: usize,
    pub text: String,
}

pub(crate) struct Model {
    pub port: u16,
    script: Script,
    sent: Mutex<Vec<SentTurn>>,
}

impl Model {
    /// Starts on a free port of loopback, and answers until the program ends.
    pub(crate) fn start(script: Script) -> Arc<Model> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let model = Arc::new(Model { port, script, sent: Mutex::default() });
        let server = Arc::clone(&model);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let model = Arc::clone(&server);
                // A client that was killed does not read its answer.
                std::thread::spawn(move || model.serve(&stream));
            }
        });
        model
    }

    pub(crate) fn sent(&self) -> Vec<SentTurn> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn serve(&self, stream: &TcpStream) -> Option<()> {
        let request = http::read(stream)?;
        let wire = if request.method == "POST" { Wire::of(&request.path) } else { None };
        let Some(wire) = wire else {
            let other = json!({"object": "list", "data": [{"id": "mock", "object": "model"}], "models": [], "totalTokens": 10});
            return http::json(stream, &other).ok();
        };
        let body: Value = serde_json::from_slice(&request.body).ok()?;
        let turn = self.turn(&wire.read(&body), &body);
        let number = self.sent().len() as u64 * 1_000 + u64::from(stream.peer_addr().ok()?.port());
        let is_stream = body["stream"] == true || request.path.contains("stream");
        match wire.answer(&turn, &body, number) {
            Answer::Named(events) => http::events(stream, &events).ok(),
            Answer::Data { parts, ends_with_done, .. } if is_stream => {
                data(stream, &parts, ends_with_done).ok()
            }
            Answer::Data { whole, .. } => http::json(stream, &whole).ok(),
        }
    }

    /// What the script says to this request, which is noted.
    fn turn(&self, request: &Request, body: &Value) -> Turn {
        if !request.has_tools {
            return Turn { text: made_up(body), ..Turn::default() };
        }
        let messages = &request.messages;
        let first = messages.iter().take_while(|message| !message.is_of_model);
        let is_of_agent =
            first.filter(|message| message.is_given).any(|message| message.text.contains(AGENT_KEY));
        let is_start = |at: usize| messages[at].is_of_model && (at == 0 || !messages[at - 1].is_of_model);
        let turn = (0..messages.len()).filter(|at| is_start(*at)).count();
        let turns = if is_of_agent { &self.script.agent } else { &self.script.main };
        let text = news(messages);
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(SentTurn { is_of_agent, turn, text });
        let nothing = Turn { text: "(the script says nothing here)".into(), ..Turn::default() };
        turns.get(turn).cloned().unwrap_or(nothing)
    }
}

fn news(messages: &[Message]) -> String {
    let start = messages.iter().rposition(|message| message.is_of_model).map_or(0, |last| last + 1);
    messages[start..].iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn data(mut stream: &TcpStream, parts: &[Value], ends_with_done: bool) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    for part in parts {
        write!(stream, "data: {part}\n\n")?;
    }
    if ends_with_done {
        write!(stream, "data: [DONE]\n\n")?;
    }
    stream.flush()
}

/// An answer to a question of the client's own: a text, or what its schema asks for.
fn made_up(body: &Value) -> String {
    let pointers = [
        "/generationConfig/responseJsonSchema",
        "/generationConfig/responseSchema",
        "/response_format/json_schema/schema",
        "/text/format/schema",
    ];
    match pointers.iter().find_map(|pointer| body.pointer(pointer)) {
        Some(schema) => value_of(schema).to_string(),
        None => "(nothing)".into(),
    }
}

fn value_of(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str().unwrap_or_default().to_lowercase().as_str() {
        "object" => {
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            fields.into_iter().map(|(name, of)| (name, value_of(&of))).collect()
        }
        "boolean" => false.into(),
        "number" | "integer" => 0.into(),
        "array" => json!([]),
        _ => "nothing".into(),
    }
}
