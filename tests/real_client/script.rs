//! What the model says: conversations, known by a text in their first message, and the turns of each.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

/// What the user types. By it the main conversation is known.
pub(crate) const PROMPT: &str = "Please play MAIN-PART of this test.";

/// The name of the main conversation.
pub(crate) const MAIN: &str = "MAIN-PART";

/// The conversations of one session.
pub(crate) struct Script {
    pub talks: Vec<Talk>,
}

/// One conversation.
pub(crate) struct Talk {
    /// A text in its first message.
    pub key: &'static str,
    pub turns: Vec<Turn>,
    /// Asked again each time, without tools and without what was said before, as a judge is.
    pub is_fresh: bool,
}

/// One answer of the model.
#[derive(Clone, Default)]
pub(crate) struct Turn {
    pub text: Option<String>,
    pub tools: Vec<Tool>,
    /// A folder that must have something in it before the model answers.
    pub after: Option<PathBuf>,
}

impl Turn {
    /// The model answers when there is something in the folder, and the client has had a second to notice why.
    pub(crate) fn after(mut self, folder: PathBuf) -> Turn {
        self.after = Some(folder);
        self
    }

    pub(crate) fn wait(&self) {
        let Some(folder) = &self.after else { return };
        let is_filled = || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        for _ in 0..300 {
            if is_filled() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// A use of a tool.
#[derive(Clone)]
pub(crate) struct Tool {
    pub name: &'static str,
    pub input: Value,
}

impl Script {
    /// The turns of the main conversation.
    pub(crate) fn main(turns: impl Into<Vec<Turn>>) -> Script {
        Script { talks: Vec::new() }.agent(MAIN, turns)
    }

    /// The turns of the subagent whose prompt has this text.
    pub(crate) fn agent(self, key: &'static str, turns: impl Into<Vec<Turn>>) -> Script {
        self.with(Talk { key, turns: turns.into(), is_fresh: false })
    }

    /// The answers, in order, to single questions that have this text.
    pub(crate) fn judge(self, key: &'static str, answers: &[&str]) -> Script {
        self.with(Talk { key, turns: answers.iter().map(says).collect(), is_fresh: true })
    }

    fn with(mut self, talk: Talk) -> Script {
        self.talks.push(talk);
        self
    }
}

/// The model says this, and is done.
pub(crate) fn says(text: impl ToString) -> Turn {
    Turn { text: Some(text.to_string()), ..Turn::default() }
}

/// The model uses these tools, all at once.
pub(crate) fn uses(tools: impl Into<Vec<Tool>>) -> Turn {
    Turn { tools: tools.into(), ..Turn::default() }
}

impl Tool {
    /// What the call says that the agent is to do, in a few words.
    pub(crate) fn described(mut self, description: &str) -> Tool {
        self.input["description"] = description.into();
        self
    }
}

/// A call of a subagent that the caller waits for.
pub(crate) fn agent(name: &str, prompt: &str) -> Tool {
    let input =
        json!({"subagent_type": name, "description": "A part", "prompt": prompt, "run_in_background": false});
    Tool { name: "Agent", input }
}

/// A call of a subagent in the background, as the client does it when nothing is said.
pub(crate) fn background_agent(name: &str, prompt: &str) -> Tool {
    let input = json!({"subagent_type": name, "description": "A part", "prompt": prompt});
    Tool { name: "Agent", input }
}

/// A shell command.
pub(crate) fn bash(command: &str) -> Tool {
    Tool { name: "Bash", input: json!({"command": command, "description": "Run it"}) }
}

/// Reads a file.
pub(crate) fn read(path: &str) -> Tool {
    Tool { name: "Read", input: json!({"file_path": path}) }
}

/// Replaces text in a file.
pub(crate) fn edit(path: &str, old: &str, new: &str) -> Tool {
    Tool { name: "Edit", input: json!({"file_path": path, "old_string": old, "new_string": new}) }
}

/// A new file.
pub(crate) fn write(path: &str, content: &str) -> Tool {
    Tool { name: "Write", input: json!({"file_path": path, "content": content}) }
}
