//! What came of a session: what the model was sent, what the user was shown, what the hooks answered.

use serde_json::Value;

use crate::mock::{ModelRequest, messages, text_of};

/// A session that is over. A test that fails while one is at hand prints it.
pub(crate) struct SessionResult {
    /// Nothing if the client had to be killed.
    exit: Option<i32>,
    /// The client's messages, in order.
    stream: Vec<Value>,
    stderr: String,
    asked: Vec<ModelRequest>,
}

impl SessionResult {
    pub(crate) fn new(
        exit: Option<i32>,
        stdout: &str,
        stderr: String,
        asked: Vec<ModelRequest>,
    ) -> SessionResult {
        let stream = stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        SessionResult { exit, stream, stderr, asked }
    }

    /// Expects what holds for every session: it ended by itself and well, and the script had an answer to everything.
    #[track_caller]
    pub(crate) fn check(&self) {
        assert_eq!(self.exit, Some(0), "the client's exit code (None: it took too long and was killed)");
        let missing = self.asked.iter().find(|asked| asked.talk.is_some() && !asked.is_scripted);
        if let Some(asked) = missing {
            panic!("{:?} was asked for turn {}, which is not in the script", asked.talk, asked.turn);
        }
    }

    /// What the model was sent in this turn of a conversation and had not seen before.
    #[track_caller]
    pub(crate) fn sent(&self, talk: &str, turn: usize) -> Text {
        let asked = self.asked.iter().rfind(|asked| asked.talk == Some(talk) && asked.turn == turn);
        let asked = asked.unwrap_or_else(|| panic!("{talk} was never asked for turn {turn}"));
        Text { what: format!("what {talk} was sent in turn {turn}"), text: news(&asked.body) }
    }

    /// All that the model was sent in a conversation.
    pub(crate) fn all_sent(&self, talk: &str) -> Text {
        let asked = self.asked.iter().filter(|asked| asked.talk == Some(talk));
        let all: Vec<String> = asked.map(|asked| news(&asked.body)).collect();
        Text { what: format!("what {talk} was sent"), text: all.join("\n") }
    }

    /// How many turns a conversation had.
    pub(crate) fn turns(&self, talk: &str) -> usize {
        let turns = self.asked.iter().filter(|asked| asked.talk == Some(talk)).map(|asked| asked.turn + 1);
        turns.max().unwrap_or(0)
    }

    /// What the user was shown by hooks.
    pub(crate) fn shown(&self) -> Text {
        Text { what: "what the user was shown".into(), text: self.informational().join("\n") }
    }

    fn informational(&self) -> Vec<&str> {
        let messages = self.stream.iter().filter(|message| message["subtype"] == "informational");
        messages.filter_map(|message| message["content"].as_str()).collect()
    }

    /// The answers of the hooks of this event.
    pub(crate) fn hooks(&self, event: &str) -> Vec<&Value> {
        let of_event =
            |message: &&Value| message["subtype"] == "hook_response" && message["hook_event"] == event;
        self.stream.iter().filter(of_event).collect()
    }

    /// Claude's last message to the user.
    pub(crate) fn result(&self) -> Text {
        let text =
            self.stream.iter().rfind(|message| message["type"] == "result").map(|last| &last["result"]);
        Text { what: "the result".into(), text: text.and_then(Value::as_str).unwrap_or_default().into() }
    }

    /// The id that the client gave to the agent whose prompt has this text.
    #[track_caller]
    pub(crate) fn agent_id(&self, prompt: &str) -> String {
        let is_this = |message: &&Value| {
            message["subtype"] == "task_started"
                && message["prompt"].as_str().is_some_and(|text| text.contains(prompt))
        };
        let started = self.stream.iter().find(is_this).unwrap_or_else(|| panic!("{prompt} did not start"));
        started["task_id"].as_str().unwrap().to_owned()
    }

    /// All of it, for the one who looks for the cause of a failure.
    fn print(&self) {
        for asked in &self.asked {
            let Some(talk) = asked.talk else { continue };
            let scripted = if asked.is_scripted { "" } else { " (not in the script)" };
            eprintln!("--- {talk} was sent in turn {}{scripted}:\n{}", asked.turn, cut(&news(&asked.body)));
        }
        for message in self.stream.iter().filter(|message| message["subtype"] == "hook_response") {
            eprintln!(
                "--- hook {} exited with {}: {}{}",
                message["hook_name"], message["exit_code"], message["stdout"], message["stderr"]
            );
        }
        eprintln!("--- the user was shown:\n{}", self.informational().join("\n"));
        eprintln!("--- exit {:?}, result: {}", self.exit, self.result().text);
        let tail = self.stderr.len().saturating_sub(2_000);
        eprintln!("--- the client's stderr:\n{}", String::from_utf8_lossy(&self.stderr.as_bytes()[tail..]));
    }
}

impl Drop for SessionResult {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.print();
        }
    }
}

/// What a request adds to the one before: all that follows the model's last answer.
fn news(body: &Value) -> String {
    let all: Vec<&Value> = messages(body).collect();
    let start = all.iter().rposition(|message| message["role"] == "assistant").map_or(0, |last| last + 1);
    all[start..].iter().map(|message| text_of(message)).collect::<Vec<_>>().join("\n")
}

/// The first message of a conversation has much of the client's own in it: its middle is left out.
fn cut(text: &str) -> String {
    const KEPT: usize = 2_000;
    let length = text.chars().count();
    if length <= 2 * KEPT {
        return text.to_owned();
    }
    let head: String = text.chars().take(KEPT).collect();
    let tail: String = text.chars().skip(length - KEPT).collect();
    format!("{head}\n… {} characters left out …\n{tail}", length - 2 * KEPT)
}

/// A text that somebody read.
pub(crate) struct Text {
    what: String,
    pub text: String,
}

impl Text {
    /// Expects this in it.
    #[track_caller]
    pub(crate) fn has(&self, part: &str) -> &Text {
        assert!(self.text.contains(part), "{part:?} is not in {}:\n{}", self.what, self.text);
        self
    }

    /// Expects this in it once.
    #[track_caller]
    pub(crate) fn has_once(&self, part: &str) -> &Text {
        let count = self.text.matches(part).count();
        assert_eq!(count, 1, "{part:?} is {count} times in {}:\n{}", self.what, self.text);
        self
    }

    /// Expects that this is not in it.
    #[track_caller]
    pub(crate) fn lacks(&self, part: &str) -> &Text {
        assert!(!self.text.contains(part), "{part:?} is in {}:\n{}", self.what, self.text);
        self
    }
}
