//! What the model says: conversations, known by a text in their first message, and the turns of each.

use serde_json::{Value, json};

/// What the user types. By it the main conversation is known.
pub const PROMPT: &str = "Please play MAIN-PART of this test.";

/// The name of the main conversation.
pub const MAIN: &str = "MAIN-PART";

/// The conversations of one session.
pub struct Script {
    pub talks: Vec<Talk>,
}

/// One conversation.
pub struct Talk {
    /// A text in its first message.
    pub key: &'static str,
    pub turns: Vec<Turn>,
    /// Asked again each time, without tools and without what was said before, as a judge is.
    pub is_fresh: bool,
}

/// One answer of the model.
#[derive(Clone, Default)]
pub struct Turn {
    pub text: Option<String>,
    pub tools: Vec<Tool>,
}

/// A use of a tool.
#[derive(Clone)]
pub struct Tool {
    pub name: &'static str,
    pub input: Value,
}

impl Script {
    /// The turns of the main conversation.
    pub fn main(turns: impl Into<Vec<Turn>>) -> Script {
        Script { talks: Vec::new() }.agent(MAIN, turns)
    }

    /// The turns of the subagent whose prompt has this text.
    pub fn agent(self, key: &'static str, turns: impl Into<Vec<Turn>>) -> Script {
        self.with(Talk { key, turns: turns.into(), is_fresh: false })
    }

    /// The answers, in order, to single questions that have this text.
    pub fn judge(self, key: &'static str, answers: &[&str]) -> Script {
        self.with(Talk { key, turns: answers.iter().map(says).collect(), is_fresh: true })
    }

    fn with(mut self, talk: Talk) -> Script {
        self.talks.push(talk);
        self
    }
}

/// The model says this, and is done.
pub fn says(text: impl ToString) -> Turn {
    Turn { text: Some(text.to_string()), tools: Vec::new() }
}

/// The model uses these tools, all at once.
pub fn uses(tools: impl Into<Vec<Tool>>) -> Turn {
    Turn { text: None, tools: tools.into() }
}

impl Tool {
    /// What the call says that the agent is to do, in a few words.
    pub fn described(mut self, description: &str) -> Tool {
        self.input["description"] = description.into();
        self
    }
}

/// A call of a subagent that the caller waits for.
pub fn agent(name: &str, prompt: &str) -> Tool {
    let input =
        json!({"subagent_type": name, "description": "A part", "prompt": prompt, "run_in_background": false});
    Tool { name: "Agent", input }
}

/// A call of a subagent in the background, as the client does it when nothing is said.
pub fn background_agent(name: &str, prompt: &str) -> Tool {
    let input = json!({"subagent_type": name, "description": "A part", "prompt": prompt});
    Tool { name: "Agent", input }
}

/// A shell command.
pub fn bash(command: &str) -> Tool {
    Tool { name: "Bash", input: json!({"command": command, "description": "Run it"}) }
}

/// A new file.
pub fn write(path: &str, content: &str) -> Tool {
    Tool { name: "Write", input: json!({"file_path": path, "content": content}) }
}
