//! The config that `conclaude init` writes, based on what is in the project. Its rules are commented out unless the user
//! wants them live: a tool that starts to run commands unasked is not one to trust.

use serde_json::Value;

use super::import::ImportResult;

mod detect;

pub use detect::{ProjectKind, detect};

/// The path of the schema for editors, relative to the config.
pub const SCHEMA: &str = ".conclaude/schema.json";

/// The agent of Claude Code itself that does the work; Explore and Plan only look around.
const GENERAL: &str = "general-purpose";

const LINES: &str = "maxOutputLines: 50   # of what it prints, which is shown when it fails";
const BLOCK: &str = "onFailure: block     # the agent must fix it first; `warn` only reports it";

/// The most that one command gets, in seconds, and what all get together: Claude Code waits no longer for a stop.
const MAX_SECONDS: usize = 600;
const MAX_TOTAL_SECONDS: usize = 3_600;

const START: &str = "\
## Commands when a subagent starts. They can show and prepare things, but never block.
# subagentStart:
#   commands:
#     \"*\":
#       - run: \"git status --short\"
";

const PACKS: &str = "\
## Ready-made guards; `conclaude pack list` says what each is for. `conclaude install` then registers what they need.
# extends: [\"pack:secrets\", \"pack:git-safety\", \"pack:destructive-commands\", \"pack:lockfiles\"]
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
    /// The checks are switched on, not commented out.
    pub live: bool,
    /// What is taken over from hooks or an older config. It replaces what would be suggested.
    pub imported: &'a ImportResult,
}

/// One command that checks the project.
struct CheckCommand<'a> {
    run: &'a str,
    what: &'static str,
    folder: &'a str,
}

impl Starter<'_> {
    pub fn text(&self) -> String {
        let mut text = self.heading();
        for section in self.imported.sections() {
            text.push_str(&format!("\n{section}"));
        }
        let stop = self.stop();
        let suggestions = [
            ("subagentStop", stop.as_str()),
            ("subagentStart", START),
            ("extends", PACKS),
            ("des", DES),
            ("maxBlocks", MAX_BLOCKS),
            ("notifications", NOTIFICATIONS),
        ];
        for (_, section) in suggestions.iter().filter(|(name, _)| !self.imported.has(name)) {
            text.push_str(&format!("\n{section}"));
        }
        text
    }

    /// Whether something runs without any edit.
    pub fn is_live(&self) -> bool {
        !self.imported.is_empty() || (self.live && !self.checks().is_empty())
    }

    fn heading(&self) -> String {
        let promise = match (self.live, self.imported.is_empty()) {
            _ if !self.is_live() => "Nothing runs until you uncomment it.",
            (false, false) => "What was taken over runs; the rest does when you uncomment it.",
            _ => "What is not commented out runs.",
        };
        let left = self.imported.left.iter().map(|what| format!("## Not taken over: {}\n", one_line(what)));
        let left: String = left.collect();
        format!(
            "# yaml-language-server: $schema=./{SCHEMA}\n\
             ##\n\
             ## What conclaude does when subagents start and stop. {promise}\n\
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

    /// The checks, for the agents that can fix what they find.
    fn stop(&self) -> String {
        let checks = self.checks();
        let mut lines = vec![
            "subagentStop:".to_owned(),
            "  commands:".to_owned(),
            format!("    {}:", Value::from(self.pattern())),
        ];
        if checks.is_empty() {
            lines.push("      - run: \"git diff --check\"".into());
            lines.push("        message: \"Conflict markers or white space at the end of a line\"".into());
            lines.extend([LINES, BLOCK].iter().map(|line| format!("        {line}")));
        }
        let seconds = (MAX_TOTAL_SECONDS / checks.len().max(1)).min(MAX_SECONDS);
        for check in &checks {
            lines.extend(check.lines(seconds));
        }
        let mark = if self.live && !checks.is_empty() { "" } else { "# " };
        let lines: String = lines.iter().map(|line| format!("{mark}{line}\n")).collect();
        let hint = if checks.is_empty() {
            "## No lint or test command was found here: write yours instead of this one.\n"
        } else {
            ""
        };
        format!(
            "## Commands when a subagent stops, by its name: * ? [a-z] {{a,b}} work, and \"*\" is every one.\n\
             ## Agents that only read, such as Explore and Plan, cannot fix anything: a check should not block them.\n\
             {hint}{lines}"
        )
    }

    /// One pattern for all that can write. A name that is a pattern itself cannot be in it.
    fn pattern(&self) -> String {
        let is_plain =
            |name: &&str| *name != GENERAL && !name.contains(['*', '?', '[', ']', '{', '}', ',', '!', '\\']);
        let own = self.writers.iter().map(String::as_str).filter(is_plain);
        let names: Vec<&str> = std::iter::once(GENERAL).chain(own).collect();
        if names.len() == 1 { GENERAL.to_owned() } else { format!("{{{}}}", names.join(",")) }
    }

    /// Lints first: they are fast, and what they find often explains a test that fails.
    fn checks(&self) -> Vec<CheckCommand<'_>> {
        let lints = self.kinds.iter().map(|kind| (kind, kind.lint.as_deref(), "Linting failed"));
        let tests = self.kinds.iter().map(|kind| (kind, kind.test.as_deref(), "Tests failed"));
        lints
            .chain(tests)
            .filter_map(|(kind, run, what)| Some(CheckCommand { run: run?, what, folder: &kind.folder }))
            .collect()
    }
}

impl CheckCommand<'_> {
    fn lines(&self, seconds: usize) -> Vec<String> {
        let mut lines = vec![format!("      - run: {}", Value::from(self.run))];
        let mut key = |line: &str| lines.push(format!("        {line}"));
        if self.folder.is_empty() {
            key(&format!("message: {}", Value::from(self.what)));
        } else {
            key(&format!("cwd: {}", Value::from(self.folder)));
            key(&format!("message: {}", Value::from(format!("{} in {}", self.what, self.folder))));
        }
        key(LINES);
        key(&format!(
            "{:<21}# seconds; then it is killed with all its children",
            format!("timeout: {seconds}")
        ));
        key(BLOCK);
        lines
    }
}

/// The files that say what kinds of project there are.
pub fn based_on(kinds: &[ProjectKind]) -> String {
    let path = |kind: &ProjectKind| match kind.folder.as_str() {
        "" => kind.file.to_owned(),
        folder => format!("{folder}/{}", kind.file),
    };
    kinds.iter().map(path).collect::<Vec<_>>().join(", ")
}

/// Foreign names of files and agents must not end a comment early.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// The config with everything uncommented: the registration should be enough for that, too.
pub fn uncommented(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("##")).skip(1);
    lines.map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use conclaude_core::config::ConclaudeConfig;

    fn kind(file: &'static str, folder: &str, lint: Option<&str>) -> ProjectKind {
        let text = |run: &str| run.to_owned();
        ProjectKind { file, folder: folder.into(), lint: lint.map(text), test: Some("npm run test".into()) }
    }

    #[test]
    fn what_is_written_is_valid_as_it_is_live_and_uncommented() {
        let kinds = [kind("package.json", "", Some("npm run \"lint\": x")), kind("go.mod", "a b/#c", None)];
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for writers in [own(&[]), own(&["coder", "qa: \"strict\"", "x\n- y", "{a"]), own(&[GENERAL])] {
            for kinds in [&kinds[..], &kinds[..1], &[]] {
                let starter =
                    Starter { kinds, writers: &writers, live: false, imported: &ImportResult::default() };
                let path = Path::new("x.yaml");
                let parse = |text: &str| {
                    ConclaudeConfig::parse(text, path).unwrap_or_else(|error| panic!("{error}\n{text}"))
                };
                assert_eq!(parse(&starter.text()), ConclaudeConfig::default());
                let all = parse(&uncommented(&starter.text()));
                assert!(all.commands() >= 2);
                assert_eq!(all.warnings(), Vec::new());
                let live = Starter { live: true, ..starter };
                assert_eq!(parse(&live.text()).commands() > 0, !kinds.is_empty());
                assert_eq!(live.is_live(), !kinds.is_empty());
            }
        }
    }

    #[test]
    fn checks_are_for_agents_that_can_write() {
        let kinds = [kind("Cargo.toml", "", Some("lint"))];
        let writers = ["coder".to_owned(), "bad,name".to_owned(), "tester".to_owned()];
        let starter =
            Starter { kinds: &kinds, writers: &writers, live: true, imported: &ImportResult::default() };
        let config = ConclaudeConfig::parse(&starter.text(), Path::new("x")).unwrap();
        let section = config.section(conclaude_core::event::EventKind::SubagentStop).unwrap();
        let [(pattern, commands)] = section.entries() else { panic!("{:?}", section.entries()) };
        assert_eq!(pattern.as_str(), "{general-purpose,coder,tester}");
        for (name, expected) in
            [("general-purpose", true), ("tester", true), ("Explore", false), ("Plan", false)]
        {
            assert_eq!(pattern.matches(name, None).unwrap(), expected, "{name}");
        }
        let runs: Vec<&str> = commands.iter().map(|command| command.run.as_str()).collect();
        assert_eq!(runs, ["lint", "npm run test"]);
    }
}
