//! The command line that is registered: how it is made, and how it is recognised again.

use conclaude_core::event::EventKind;

/// The argument with which a registration for all projects of a user asks whether a project is trusted.
pub const IF_TRUSTED: &str = "--if-trusted";

/// Shown if a project registers conclaude and the machine does not have it. The shell prints it, so it has no single quotes and no
/// backslashes.
const MISSING: &str = r#"{"systemMessage":"conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: it is one binary. Copy it from the colleague who registered it (git log -1 .claude/settings.json) to a folder on your PATH, or run cargo install --path . in a checkout of its source."}"#;

/// The subcommand with which conclaude 0.2 was registered.
pub const ORIGINAL: &str = "Hooks";

/// The argument with which it was registered in the file of an agent.
pub const AGENT: &str = "--agent";

const LOOK: &str = "command -v ";
const OR: &str = " >/dev/null || ";
const SILENT: &str = "exit 0";
const THEN: &str = "; exec ";

/// A command line that calls us, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandLine<'a> {
    /// The program, without quotes.
    pub program: &'a str,
    pub event: &'a str,
    pub if_trusted: bool,
    /// A missing program is not an error.
    pub is_guarded: bool,
    /// The form of conclaude 0.2.
    pub is_original: bool,
    /// What is called, without the guard.
    pub call: &'a str,
}

/// The command line to register. Users of a shared settings file may not have the program: only the start of a session reports that,
/// all other events are silent. On Windows the shell may not know `command`.
pub fn make(program: &str, event: EventKind, if_trusted: bool) -> String {
    let flag = if if_trusted { format!(" {IF_TRUSTED}") } else { String::new() };
    let call = format!("{program} {}{flag}", event.name());
    if cfg!(windows) {
        return call;
    }
    let missing = match event {
        EventKind::SessionStart => format!("{{ echo '{MISSING}'; {SILENT}; }}"),
        _ => SILENT.to_owned(),
    };
    format!("{LOOK}{program}{OR}{missing}{THEN}{call}")
}

impl<'a> CommandLine<'a> {
    /// Parses a command line in the current form, in the plain form or in that of conclaude 0.2. Any other form belongs to the user.
    pub fn parse(command: &'a str) -> Option<CommandLine<'a>> {
        CommandLine::own(command.trim()).or_else(|| CommandLine::original(command.trim()))
    }

    fn own(command: &'a str) -> Option<CommandLine<'a>> {
        let (guard, call) = match command.rsplit_once(THEN) {
            Some((guard, call)) => (Some(guard), call),
            None => (None, command),
        };
        let (rest, if_trusted) = match call.strip_suffix(IF_TRUSTED) {
            Some(rest) => (rest.trim_end(), true),
            None => (call, false),
        };
        let (program, event) = rest.rsplit_once(' ')?;
        if guard.is_some_and(|guard| !is_guard(guard, program)) {
            return None;
        }
        let program = word(program.trim())?;
        Some(CommandLine {
            program,
            event,
            if_trusted,
            is_guarded: guard.is_some(),
            is_original: false,
            call,
        })
    }

    /// `conclaude Hooks Stop`, and in the file of an agent `conclaude Hooks Stop --agent coder`.
    fn original(command: &'a str) -> Option<CommandLine<'a>> {
        let last = |text: &'a str| text.trim_end().rsplit_once(char::is_whitespace);
        let call = match last(command).and_then(|(rest, name)| Some((last(rest)?, name))) {
            Some(((call, AGENT), name)) => word(name).and(Some(call))?,
            _ => command,
        };
        let (rest, event) = last(call)?;
        let (program, _) = last(rest).filter(|(_, subcommand)| *subcommand == ORIGINAL)?;
        let program = word(program.trim_end())?;
        Some(CommandLine {
            program,
            event,
            if_trusted: false,
            is_guarded: false,
            is_original: true,
            call: command,
        })
    }

    /// Whether this calls a program of our name for the event.
    pub(super) fn is_ours(&self, event: &str) -> bool {
        let name = self.program.rsplit(['/', '\\']).next().unwrap_or(self.program);
        self.event == event && matches!(name, "conclaude" | "conclaude.exe")
    }
}

/// A command line of ours in few words.
pub fn short(command: &str) -> &str {
    CommandLine::parse(command).map_or(command, |line| line.call)
}

/// Whether a text is our guard for this program. What it says of a missing one differs between versions.
fn is_guard(guard: &str, program: &str) -> bool {
    let missing = guard
        .strip_prefix(LOOK)
        .and_then(|rest| rest.strip_prefix(program))
        .and_then(|rest| rest.strip_prefix(OR));
    let says = |text: &str| {
        let said =
            text.strip_prefix("{ echo '").and_then(|text| text.strip_suffix(&format!("'; {SILENT}; }}")));
        said.is_some_and(|said| !said.contains('\''))
    };
    missing.is_some_and(|text| text == SILENT || says(text))
}

/// The word without its quotes. None if a shell would read several words, or expand it.
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
    use super::*;

    #[test]
    fn what_is_made_is_recognised() {
        for program in ["conclaude", "/opt/my-tools/conclaude", "'/my tools/conclaude'"] {
            for event in conclaude_core::event::ALL {
                for if_trusted in [false, true] {
                    let made = make(program, *event, if_trusted);
                    let line = CommandLine::parse(&made).unwrap_or_else(|| panic!("{made}"));
                    assert!(line.is_ours(event.name()), "{made}");
                    let expected = (program.trim_matches('\''), if_trusted, !cfg!(windows));
                    assert_eq!((line.program, line.if_trusted, line.is_guarded), expected, "{made}");
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
        assert!(!MISSING.contains(['\'', '\\']));
        let json: serde_json::Value = serde_json::from_str(MISSING).unwrap();
        assert!(json["systemMessage"].as_str().unwrap().contains("To install it: "));
    }
}
