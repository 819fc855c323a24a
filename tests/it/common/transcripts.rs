//! Transcripts as Claude Code writes them, in the home of a test.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The transcripts of one session of a project.
pub(crate) struct Transcripts {
    root: PathBuf,
    /// The folder that has the home of the test.
    home: PathBuf,
    session: String,
    start: Timestamp,
    seconds: i64,
}

impl Transcripts {
    pub(crate) fn of(root: &Path, session: &str) -> Transcripts {
        let start = "2026-01-31T12:00:00Z".parse().unwrap();
        Transcripts {
            root: root.to_owned(),
            home: root.to_owned(),
            session: session.to_owned(),
            start,
            seconds: 0,
        }
    }

    /// For a session that was started below this folder, which has the home.
    pub(crate) fn below(mut self, home: &Path) -> Transcripts {
        home.clone_into(&mut self.home);
        self
    }

    /// Lines are of this time on.
    pub(crate) fn at(&mut self, start: Timestamp) -> &mut Self {
        self.start = start;
        self
    }

    fn folder(&self) -> PathBuf {
        let name: String = self
            .root
            .to_str()
            .unwrap()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        self.home.join(".home/.claude/projects").join(name)
    }

    /// The file of the main thread, or of a subagent.
    pub(crate) fn path(&self, agent: Option<&str>) -> PathBuf {
        let folder = self.folder();
        match agent {
            None => folder.join(format!("{}.jsonl", self.session)),
            Some(agent) => folder.join(&self.session).join(format!("subagents/agent-{agent}.jsonl")),
        }
    }

    /// Adds to a file as it is.
    pub(crate) fn raw(&mut self, agent: Option<&str>, text: &str) -> &mut Self {
        use std::io::Write;
        let path = self.path(agent);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        self
    }

    /// Adds a line, a second after the one before it.
    pub(crate) fn line(&mut self, agent: Option<&str>, mut line: Value) -> &mut Self {
        self.seconds += 1;
        let time = self.start + SignedDuration::from_secs(self.seconds);
        let fields = line.as_object_mut().unwrap();
        fields.insert("timestamp".into(), json!(format!("{time:.3}")));
        fields.insert("cwd".into(), json!(self.root));
        fields.insert("sessionId".into(), json!(self.session));
        fields.insert("version".into(), json!("2.1.325"));
        if let Some(agent) = agent {
            fields.insert("agentId".into(), json!(agent));
            fields.insert("isSidechain".into(), json!(true));
        }
        self.raw(agent, &format!("{line}\n"))
    }

    /// What the user types, or a subagent is given.
    pub(crate) fn prompt(&mut self, agent: Option<&str>, text: &str) -> &mut Self {
        let line = json!({"type": "user", "permissionMode": "default", "message": {"role": "user", "content": text}});
        self.line(agent, line)
    }

    /// What comes while Claude works, as Claude Code writes it.
    pub(crate) fn queued(&mut self, mode: &str, prompt: &Value) -> &mut Self {
        let attachment = json!({
            "type": "queued_command", "prompt": prompt, "source_uuid": "u", "commandMode": mode,
            "origin": {"kind": if mode == "prompt" { "human" } else { mode }},
        });
        self.line(None, json!({"type": "attachment", "attachment": attachment, "rendered": []}))
    }

    fn answer(&mut self, agent: Option<&str>, block: Value) -> &mut Self {
        let id = format!("msg_{}_{}", self.session, self.seconds);
        let usage = json!({"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 1});
        let message = json!({"id": id, "role": "assistant", "model": "claude-test-1", "content": [block], "usage": usage});
        self.line(agent, json!({"type": "assistant", "message": message}))
    }

    pub(crate) fn says(&mut self, agent: Option<&str>, text: &str) -> &mut Self {
        self.answer(agent, json!({"type": "text", "text": text}))
    }

    pub(crate) fn calls(&mut self, agent: Option<&str>, id: &str, tool: &str, input: Value) -> &mut Self {
        self.answer(agent, json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
    }

    pub(crate) fn result(&mut self, agent: Option<&str>, id: &str, text: &str, is_error: bool) -> &mut Self {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
        self.line(agent, json!({"type": "user", "message": {"role": "user", "content": [block]}}))
    }

    /// A hook that Claude Code shows nobody.
    pub(crate) fn failed_hook(&mut self, agent: Option<&str>, attachment: Value) -> &mut Self {
        self.line(agent, json!({"type": "attachment", "attachment": attachment}))
    }

    /// What Claude Code writes about a subagent beside its transcript.
    pub(crate) fn meta(&mut self, agent: &str, kind: &str, description: &str) -> &mut Self {
        let path = self.path(Some(agent)).with_extension("meta.json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, json!({"agentType": kind, "description": description, "toolUseId": format!("call-{agent}"), "spawnDepth": 1}).to_string()).unwrap();
        self
    }
}

/// Makes a file old, so that nobody is taken to be still at work on it.
pub(crate) fn make_old(path: &Path) {
    let time = std::time::SystemTime::now() - std::time::Duration::from_hours(24);
    std::fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}
