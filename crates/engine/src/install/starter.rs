//! The config that `conclaude init` writes, based on the content of the project. Its rules are commented out unless the user
//! enables them: users would not trust a tool that runs commands without being asked.

use serde_json::Value;

use super::import::ImportResult;
use conclaude_core::config::Reaction;

mod choices;
mod detect;

pub use choices::{Audience, Choices, PACKS, Pack, SuggestedCheck, suggested};
pub use detect::{ProjectKind, detect};

/// The path of the schema for editors, relative to the config.
pub const SCHEMA: &str = ".conclaude/schema.json";

/// Claude Code's own agent that can write. Explore and Plan only read.
pub const GENERAL: &str = "general-purpose";

/// The name by which one list of commands is used twice.
const ANCHOR: &str = "checks";

/// Timeout of one command and of all, in seconds. The second is Claude Code's own limit at a stop.
const MAX_SECONDS: usize = 600;
const MAX_TOTAL_SECONDS: usize = 3_600;

const START: &str = "\
## Commands when a subagent starts. They can show and prepare things, but never block.
# subagentStart:
#   commands:
#     \"*\":
#       - run: \"git status --short\"
";

const ENFORCE: &str = "\
## Who else keeps rules for files: the operating system, for commands, and Claude Code, for its file tools.
## `conclaude install` then registers what it needs, and `conclaude install --enforce` writes the rules into Claude Code's settings.
";

const DES: &str = "\
## The gates for prompts with the marker DES-VALIDATION: required are on without any of this.
# des:
#   scope: block          # block | warn | off: files outside of the step's patterns
#   evidence: []          # phases that only count if `conclaude des run` recorded them
";

const MAX_BLOCKS: &str = "\
## How often the stop of one agent is blocked, for whatever reason, before it is allowed (1-7).
# maxBlocks: 3
";

const NOTIFICATIONS: &str = "\
## A desktop notification when something failed.
# notifications:
#   enabled: true
#   hooks: [\"SubagentStop\"]
#   showErrors: true
#   showSystemEvents: false
";

#[derive(Clone, Copy, Debug)]
pub struct Starter<'a> {
    pub kinds: &'a [ProjectKind],
    /// The agents that can change files.
    pub writers: &'a [String],
    /// The enabled parts. Without choices, the recommended parts are commented out.
    pub choices: Option<&'a Choices>,
    /// The parts imported from hooks or an older config. They replace suggestions.
    pub imported: &'a ImportResult,
}

/// The commands of a section, and whether they are commented out.
struct CommandSection {
    checks: Vec<SuggestedCheck>,
    reaction: Reaction,
    is_live: bool,
}

impl Starter<'_> {
    pub fn text(&self) -> String {
        let mut text = self.heading();
        for section in self.imported.sections() {
            text.push_str(&format!("\n{section}"));
        }
        let (agents, main) = (self.of_agents(), self.of_main());
        let (edits, packs, enforce) = (self.edits(), self.packs(), self.enforce());
        let suggestions = [
            ("subagentStop", agents.as_str()),
            ("stop", &main),
            ("postToolUse", &edits),
            ("subagentStart", START),
            ("extends", &packs),
            ("enforce", &enforce),
            ("des", DES),
            ("maxBlocks", MAX_BLOCKS),
            ("notifications", NOTIFICATIONS),
        ];
        for (_, section) in suggestions.iter().filter(|(name, _)| !self.imported.has(name)) {
            text.push_str(&format!("\n{section}"));
        }
        text
    }

    /// Whether something runs without editing the file.
    pub fn is_live(&self) -> bool {
        !self.imported.is_empty() || self.choices.is_some_and(|choices| !choices.is_empty())
    }

    fn heading(&self) -> String {
        let promise = match (self.choices, self.imported.is_empty()) {
            _ if !self.is_live() => "Nothing runs until you uncomment it.",
            (None, false) => "What was taken over runs; the rest does when you uncomment it.",
            _ => "What is not commented out runs.",
        };
        let left = self.imported.left.iter().map(|what| format!("## Not taken over: {}\n", one_line(what)));
        let left: String = left.collect();
        format!(
            "# yaml-language-server: $schema=./{SCHEMA}\n\
             ##\n\
             ## What conclaude does in this project. {promise}\n\
             ## `conclaude validate` checks this file, `conclaude doctor` the whole installation.\n\
             ##\n\
             ## {}.\n{left}",
            one_line(&self.found())
        )
    }

    fn found(&self) -> String {
        let files = based_on(self.kinds);
        let files = if files.is_empty() { "no build file of a known kind".into() } else { files };
        match self.writers {
            [] => format!("Found here: {files}; no agents of your own that can write"),
            agents => format!("Found here: {files}; agents that can write: {}", agents.join(", ")),
        }
    }

    /// The section for the agents, or for Claude itself.
    fn section(&self, is_for: fn(Audience) -> bool) -> CommandSection {
        match self.choices {
            Some(choices) if is_for(choices.audience) && !choices.checks.is_empty() => {
                CommandSection { checks: choices.checks.clone(), reaction: choices.reaction, is_live: true }
            }
            _ => CommandSection { checks: suggested(self.kinds), reaction: Reaction::Block, is_live: false },
        }
    }

    /// Whether both stops run the same commands, which are then written once.
    fn is_shared(&self) -> bool {
        self.section(Audience::has_agents).is_live && self.section(Audience::has_main).is_live
    }

    /// The checks, for the agents that can fix what they find.
    fn of_agents(&self) -> String {
        let section = self.section(Audience::has_agents);
        let anchor = if self.is_shared() { format!(" &{ANCHOR}") } else { String::new() };
        let mut lines = vec![
            "subagentStop:".to_owned(),
            "  commands:".to_owned(),
            format!("    {}:{anchor}", Value::from(self.pattern())),
        ];
        lines.extend(section.commands("      "));
        let hint = if section.checks.is_empty() {
            "## No lint or test command was found here: write yours instead of this one.\n"
        } else {
            ""
        };
        format!(
            "## Commands when a subagent stops, by its name: * ? [a-z] {{a,b}} work, and \"*\" is every one.\n\
             ## Agents that only read, such as Explore and Plan, cannot fix anything: a check should not block them.\n\
             {hint}{}",
            section.text(&lines)
        )
    }

    /// Like `of_agents`, for Claude itself.
    fn of_main(&self) -> String {
        let mut section = self.section(Audience::has_main);
        if !section.is_live {
            // One is enough as an example.
            section.checks.truncate(1);
        }
        let mut lines = vec!["stop:".to_owned()];
        if self.is_shared() {
            lines.push(format!("  commands: *{ANCHOR}"));
        } else {
            lines.push("  commands:".to_owned());
            lines.extend(section.commands("    "));
        }
        format!(
            "## Commands when Claude itself stops, at the end of each answer to you.\n{}",
            section.text(&lines)
        )
    }

    /// A check of a file that was just written. Claude reads its output at once, so it should be fast.
    fn edits(&self) -> String {
        let found = self.kinds.iter().find_map(|kind| Some((kind, kind.edits.as_ref()?)));
        let (run, files, folder) = match found {
            Some((kind, check)) => (check.run.as_str(), check.files, kind.folder.as_str()),
            None => ("git diff --check -- {files}", "*", ""),
        };
        let cwd = if folder.is_empty() {
            String::new()
        } else {
            format!("#         cwd: {}\n", Value::from(folder))
        };
        format!(
            "## Commands after a tool, here after each edit of such files. What they say goes to Claude at once, so they should be fast.\n\
             ## `conclaude install` then registers the event.\n\
             # postToolUse:\n\
             #   commands:\n\
             #     \"{{Write,Edit}}\":\n\
             #       - run: {}\n\
             {cwd}\
             #         files: [{}]\n\
             #         onFailure: block\n",
            Value::from(run),
            Value::from(files)
        )
    }

    fn packs(&self) -> String {
        let chosen = self.choices.map(|choices| choices.packs.as_slice()).unwrap_or_default();
        let list = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| format!("\"pack:{name}\"")).collect();
            format!("extends: [{}]\n", names.join(", "))
        };
        let about = "## Ready-made guards; `conclaude pack list` says what each is for.";
        if chosen.is_empty() {
            let all: Vec<&str> = PACKS.iter().map(|pack| pack.name).collect();
            return format!("{about} `conclaude install` then registers what they need.\n# {}", list(&all));
        }
        let names: Vec<&str> = chosen.iter().map(|pack| pack.name).collect();
        format!("{about}\n{}", list(&names))
    }

    fn enforce(&self) -> String {
        let is_live = self.choices.is_some_and(|choices| choices.enforces);
        let mark = if is_live { "" } else { "# " };
        format!("{ENFORCE}{mark}enforce: [sandbox, permissions]\n")
    }

    /// One pattern for all agents that can write. It cannot contain a name that is a pattern itself.
    fn pattern(&self) -> String {
        let is_plain =
            |name: &&str| *name != GENERAL && !name.contains(['*', '?', '[', ']', '{', '}', ',', '!', '\\']);
        let own = self.writers.iter().map(String::as_str).filter(is_plain);
        let names: Vec<&str> = std::iter::once(GENERAL).chain(own).collect();
        if names.len() == 1 { GENERAL.to_owned() } else { format!("{{{}}}", names.join(",")) }
    }
}

impl CommandSection {
    /// The lines of a section, commented out unless it is live.
    fn text(&self, lines: &[String]) -> String {
        let mark = if self.is_live { "" } else { "# " };
        lines.iter().map(|line| format!("{mark}{line}\n")).collect()
    }

    /// The list of commands. The comments of the first explain the keys.
    fn commands(&self, indent: &str) -> Vec<String> {
        let seconds = (MAX_TOTAL_SECONDS / self.checks.len().max(1)).min(MAX_SECONDS);
        let placeholder = SuggestedCheck {
            run: "git diff --check".into(),
            message: "Conflict markers or white space at the end of a line".into(),
            folder: String::new(),
        };
        let checks = if self.checks.is_empty() { std::slice::from_ref(&placeholder) } else { &self.checks };
        let (reaction, about) = match self.reaction {
            Reaction::Block => ("block", "it must be fixed first; `warn` only reports it"),
            Reaction::Warn => ("warn", "it is only reported; `block`: it must be fixed first"),
        };
        let explained = [
            ("maxOutputLines: 50".to_owned(), "of what it prints, which is shown when it fails"),
            (format!("timeout: {seconds}"), "seconds; then it is killed with all its children"),
            (format!("onFailure: {reaction}"), about),
        ];
        let mut lines = Vec::new();
        for (at, check) in checks.iter().enumerate() {
            lines.push(format!("{indent}- run: {}", Value::from(check.run.as_str())));
            if !check.folder.is_empty() {
                lines.push(format!("{indent}  cwd: {}", Value::from(check.folder.as_str())));
            }
            lines.push(format!("{indent}  message: {}", Value::from(check.message.as_str())));
            let keys = explained.iter().map(|(key, about)| match at {
                0 => format!("{indent}  {key:<21}# {about}"),
                _ => format!("{indent}  {key}"),
            });
            lines.extend(keys);
        }
        lines
    }
}

/// The files that show the kinds of projects.
pub fn based_on(kinds: &[ProjectKind]) -> String {
    let path = |kind: &ProjectKind| match kind.folder.as_str() {
        "" => kind.file.to_owned(),
        folder => format!("{folder}/{}", kind.file),
    };
    kinds.iter().map(path).collect::<Vec<_>>().join(", ")
}

/// Names of files and agents must not end a comment early.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// The config with everything uncommented: the registration must be sufficient for that, too.
pub fn uncommented(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("##")).skip(1);
    lines.map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line))).collect()
}

#[cfg(test)]
mod tests;
