//! The registered command line: how it is made and recognised.

use std::borrow::Cow;

use super::program_search::ProgramSearch;
use crate::install::channels;
use conclaude_checks::guard::own_commands::{NAME, PROGRAM_NAMES};
use conclaude_core::dialect::Dialect;
use conclaude_core::event::EventKind;

/// The argument of a registration for all projects of a user: the project must be trusted.
pub const IF_TRUSTED: &str = "--if-trusted";

/// The argument of the plugin's calls.
pub const PLUGIN: &str = "--plugin";

/// The argument that names the client.
pub(super) const CLIENT: &str = "--client";

/// Shown if conclaude is registered, but not installed on the machine. It has the form of a message that all clients know. The
/// shell prints it, so it has no single quotes and no backslashes.
fn missing(what: &str) -> String {
    let lines: Vec<&str> = channels::of_program().collect();
    let lines = lines.join(", or ");
    format!(
        r#"{{"systemMessage":"{what} not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: {lines}"}}"#
    )
}

/// The subcommand with which conclaude 0.2 was registered.
pub const ORIGINAL: &str = "Hooks";

/// The argument of its registration in the file of an agent.
pub const AGENT: &str = "--agent";

/// The characters that separate words in a shell.
const BLANKS: [char; 2] = [' ', '\t'];

const LOOK: &str = "command -v ";
const OR: &str = " >/dev/null || ";
const SILENT: &str = "exit 0";
const THEN: &str = "; exec ";

/// A command line that calls us, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandLine<'a> {
    /// The program, without quotes.
    pub program: &'a str,
    /// The other places where it is searched.
    pub search: Option<ProgramSearch>,
    /// The value of `--client`.
    pub client: Option<&'a str>,
    pub event: &'a str,
    pub if_trusted: bool,
    /// Whether a missing program is not an error.
    pub is_guarded: bool,
    /// The form of conclaude 0.2.
    pub is_original: bool,
    /// The call without the guard.
    pub call: &'a str,
}

/// The program that is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisteredProgram<'a> {
    /// As a shell reads it.
    Named(&'a str),
    Found(ProgramSearch),
}

impl<'a> From<&'a str> for RegisteredProgram<'a> {
    fn from(program: &'a str) -> Self {
        RegisteredProgram::Named(program)
    }
}

/// The caller, which decides when the call does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Project,
    /// The settings for all projects of a user.
    User,
    Plugin,
}

impl Caller {
    fn flag(self) -> Option<&'static str> {
        match self {
            Caller::Project => None,
            Caller::User => Some(IF_TRUSTED),
            Caller::Plugin => Some(PLUGIN),
        }
    }

    fn registers(self) -> &'static str {
        match self {
            Caller::Plugin => "the plugin of conclaude is enabled, but the program is",
            _ => "conclaude is registered here, but",
        }
    }
}

/// A call to register.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredLine<'a> {
    pub client: &'static Dialect,
    pub program: RegisteredProgram<'a>,
    /// By the client's name for it.
    pub event: &'a str,
    pub caller: Caller,
}

impl RegisteredLine<'_> {
    /// The command line to register. Users of a shared settings file may not have the program: only the start of a session reports
    /// that, all other events are silent. On Windows the shell may not know `command`.
    pub fn text(&self) -> String {
        let RegisteredLine { client, program, event, caller } = *self;
        let flag = caller.flag().map(|flag| format!(" {flag}")).unwrap_or_default();
        let named = if client.is_translated() { format!("{CLIENT} {} ", client.name) } else { String::new() };
        let call = format!("{named}{event}{flag}");
        let missing = if event == EventKind::SessionStart.name() {
            format!("{{ echo '{}'; {SILENT}; }}", missing(caller.registers()))
        } else {
            SILENT.to_owned()
        };
        match program {
            RegisteredProgram::Named(program) if cfg!(windows) => format!("{program} {call}"),
            RegisteredProgram::Named(program) => {
                format!("{LOOK}{program}{OR}{missing}{THEN}{program} {call}")
            }
            RegisteredProgram::Found(_) if cfg!(windows) => format!("conclaude {call}"),
            RegisteredProgram::Found(search) => {
                format!("{}{THEN}{FOUND} {call}", search.script(client.project, &missing))
            }
        }
    }
}

/// The program that a search has found.
const FOUND: &str = "\"$c\"";

impl<'a> CommandLine<'a> {
    /// Parses a command line in the current form, in the plain form or in the form of conclaude 0.2. Any other form belongs to
    /// the user.
    pub fn parse(command: &'a str) -> Option<CommandLine<'a>> {
        // Line breaks may surround it. The shell treats other white space as a part of a word.
        let command = command.trim_matches([' ', '\t', '\n']);
        CommandLine::current(command).or_else(|| CommandLine::original(command))
    }

    fn current(command: &'a str) -> Option<CommandLine<'a>> {
        let (guard, call) = match command.rsplit_once(THEN) {
            Some((guard, call)) => (Some(guard), call),
            None => (None, command),
        };
        let (rest, if_trusted) = match call.strip_suffix(IF_TRUSTED) {
            Some(rest) => (rest.trim_end_matches(BLANKS), true),
            None => (call, false),
        };
        let (rest, event) = rest.rsplit_once(' ')?;
        let (program, client) = without_client(rest);
        let search = match guard.and_then(ProgramSearch::parse) {
            Some((search, missing)) if program == FOUND && is_missing(missing) => Some(search),
            _ if guard.is_some_and(|guard| !is_guard(guard, program)) => return None,
            _ => None,
        };
        let program = if search.is_some() { NAME } else { word(program.trim_matches(BLANKS))? };
        Some(CommandLine {
            program,
            search,
            client,
            event,
            if_trusted,
            is_guarded: guard.is_some(),
            is_original: false,
            call,
        })
    }

    /// `conclaude Hooks Stop`, and in the file of an agent `conclaude Hooks Stop --agent coder`.
    fn original(command: &'a str) -> Option<CommandLine<'a>> {
        let last = |text: &'a str| text.trim_end_matches(BLANKS).rsplit_once(BLANKS);
        let call = match last(command).and_then(|(rest, name)| Some((last(rest)?, name))) {
            Some(((call, AGENT), name)) => word(name).and(Some(call))?,
            _ => command,
        };
        let (rest, event) = last(call)?;
        let (program, _) = last(rest).filter(|(_, subcommand)| *subcommand == ORIGINAL)?;
        let program = word(program.trim_end_matches(BLANKS))?;
        Some(CommandLine {
            program,
            search: None,
            client: None,
            event,
            if_trusted: false,
            is_guarded: false,
            is_original: true,
            call: command,
        })
    }

    /// Whether this calls a program with our name for the event.
    pub(super) fn is_ours(&self, event: &str) -> bool {
        let name = self.program.rsplit(['/', '\\']).next().unwrap_or(self.program);
        self.event == event && PROGRAM_NAMES.contains(&name)
    }
}

/// The program, and the client that is named after it.
fn without_client(text: &str) -> (&str, Option<&str>) {
    let Some((rest, last)) = text.trim_end_matches(BLANKS).rsplit_once(' ') else { return (text, None) };
    if let Some(name) = last.strip_prefix(CLIENT).and_then(|rest| rest.strip_prefix('=')) {
        return (rest, Some(name));
    }
    // It is part of a path in quotes.
    if last.contains(['\'', '"']) {
        return (text, None);
    }
    match rest.trim_end_matches(BLANKS).strip_suffix(CLIENT).and_then(|program| program.strip_suffix(' ')) {
        Some(program) => (program, Some(last)),
        None => (text, None),
    }
}

/// A command line of ours in few words.
pub fn short(command: &str) -> Cow<'_, str> {
    let Some(line) = CommandLine::parse(command) else { return Cow::Borrowed(command) };
    match line.call.strip_prefix(FOUND) {
        Some(call) => Cow::Owned(format!("{NAME}{call}")),
        None => Cow::Borrowed(line.call),
    }
}

/// Whether a text is our guard for this program.
fn is_guard(guard: &str, program: &str) -> bool {
    let missing = guard
        .strip_prefix(LOOK)
        .and_then(|rest| rest.strip_prefix(program))
        .and_then(|rest| rest.strip_prefix(OR));
    missing.is_some_and(is_missing)
}

/// Whether a text is our fallback for a missing program. Its message differs between versions.
fn is_missing(text: &str) -> bool {
    let said = text.strip_prefix("{ echo '").and_then(|text| text.strip_suffix(&format!("'; {SILENT}; }}")));
    text == SILENT || said.is_some_and(|said| !said.contains('\''))
}

/// The word without its quotes. `None` if a shell would read several words, or expand it.
fn word(text: &str) -> Option<&str> {
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            let is_expanded = quote == '"' && inner.contains(['$', '`']);
            return if inner.contains(quote) || is_expanded { None } else { Some(inner) };
        }
    }
    let special = |c: char| c.is_whitespace() || "\"'$`;|&<>()*?[#~={}!".contains(c);
    if text.is_empty() || text.contains(special) { None } else { Some(text) }
}

#[cfg(test)]
mod tests {
    use conclaude_core::dialect::{self, claude};

    use super::*;

    /// The events of all clients.
    fn events() -> Vec<(&'static Dialect, &'static str)> {
        let ours = conclaude_core::event::names().map(|event| (&claude::DIALECT, event));
        let theirs = dialect::ALL
            .into_iter()
            .flat_map(|client| client.events.iter().map(move |one| (client, one.name)));
        ours.map(|(client, event)| (client as &'static Dialect, event)).chain(theirs).collect()
    }

    #[test]
    fn a_client_is_named_in_two_ways() {
        for (command, client) in [
            ("conclaude --client codex Stop", Some("codex")),
            ("conclaude --client=codex Stop", Some("codex")),
            ("'/my --client x/conclaude' Stop --if-trusted", None),
            ("'/my tools/conclaude' --client qwen Stop --if-trusted", Some("qwen")),
        ] {
            let line = CommandLine::parse(command).unwrap_or_else(|| panic!("{command}"));
            assert!(line.is_ours("Stop"), "{command}");
            assert_eq!(line.client, client, "{command}");
        }
        for not in
            ["conclaude --client codex x Stop", "conclaude --clients codex Stop", "x --client conclaude Stop"]
        {
            assert!(!CommandLine::parse(not).is_some_and(|line| line.is_ours("Stop")), "{not}");
        }
    }

    #[test]
    fn what_is_made_is_recognised() {
        for program in ["conclaude", "/opt/my-tools/conclaude", "'/my tools/conclaude'"] {
            for (client, event) in events() {
                for if_trusted in [false, true] {
                    let caller = if if_trusted { Caller::User } else { Caller::Project };
                    let made = RegisteredLine { client, program: program.into(), event, caller }.text();
                    let line = CommandLine::parse(&made).unwrap_or_else(|| panic!("{made}"));
                    assert!(line.is_ours(event), "{made}");
                    let expected = (program.trim_matches('\''), if_trusted, !cfg!(windows));
                    assert_eq!((line.program, line.if_trusted, line.is_guarded), expected, "{made}");
                    let named = if client.is_translated() { Some(client.name) } else { None };
                    assert_eq!(line.client, named, "{made}");
                    assert!(!line.call.contains("command"), "{made}");
                }
            }
        }
    }

    #[test]
    fn a_registration_of_conclaude_0_2_is_recognised() {
        for (command, program) in [
            ("conclaude Hooks Stop", "conclaude"),
            (" conclaude  Hooks Stop ", "conclaude"),
            ("conclaude Hooks Stop --agent coder", "conclaude"),
            ("conclaude Hooks Stop --agent Stop", "conclaude"),
            ("conclaude Hooks Stop --agent \"coder\"", "conclaude"),
            ("'/my Hooks Stop/conclaude' Hooks Stop", "/my Hooks Stop/conclaude"),
        ] {
            let line = CommandLine::parse(command).unwrap_or_else(|| panic!("{command}"));
            assert!(line.is_ours("Stop") && line.is_original && !line.is_guarded, "{command}");
            assert_eq!(line.program, program);
        }
        for not in [
            "conclaude Hooks Stop --agent $(x)",
            "conclaude Hooks Stop --agent coder --more",
            "conclaude Hooks Stop || true",
            "x && conclaude Hooks Stop",
            "conclaude Hooks",
            "conclaudeHooks Stop --agent x",
            "--agent x",
            "",
        ] {
            assert_eq!(CommandLine::parse(not).filter(|line| line.is_ours("Stop")), None, "{not}");
        }
    }

    /// The shell treats this character as a part of the program or of an argument.
    #[test]
    fn only_blanks_separate_words() {
        for c in ['\u{a0}', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{feff}', '\u{3000}'] {
            for line in ["@conclaude Stop", "conclaude@ Stop", "conclaude Stop@", "conclaude@Stop"] {
                for line in [line.to_owned(), line.replace("conclaude", "conclaude Hooks")] {
                    let line = line.replace('@', &c.to_string());
                    assert!(!CommandLine::parse(&line).is_some_and(|line| line.is_ours("Stop")), "{line:?}");
                }
            }
        }
        for line in ["conclaude Stop\n", "\n conclaude\t Stop", "conclaude Stop\t"] {
            assert!(CommandLine::parse(line).is_some_and(|line| line.is_ours("Stop")), "{line:?}");
        }
        assert!(!CommandLine::parse("conclaude Hooks\nStop").is_some_and(|line| line.is_ours("Stop")));
    }

    #[test]
    fn a_guard_of_the_users_own_is_not_ours() {
        for not in [
            "command -v other >/dev/null || exit 0; exec conclaude Stop",
            "command -v conclaude >/dev/null || exit 1; exec conclaude Stop",
            "command -v conclaude >/dev/null || { echo 'x'; rm y; echo 'z'; exit 0; }; exec conclaude Stop",
            "command -v conclaude >/dev/null || exit 0; log; exec conclaude Stop",
            "log; exec conclaude Stop",
            "command -v conclaude >/dev/null || exit 0; exec conclaude Stop || true",
        ] {
            assert_eq!(CommandLine::parse(not), None, "{not}");
        }
    }

    #[test]
    fn the_shell_can_print_what_it_says_of_a_missing_program() {
        for caller in [Caller::Project, Caller::User, Caller::Plugin] {
            let missing = missing(caller.registers());
            assert!(!missing.contains(['\'', '\\']));
            let json: serde_json::Value = serde_json::from_str(&missing).unwrap();
            let text = json["systemMessage"].as_str().unwrap();
            assert!(text.contains("npm install -g conclaude") && text.contains("uv tool install conclaude"));
        }
    }
}
