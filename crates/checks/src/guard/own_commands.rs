//! conclaude as a program: the commands that it runs, and its subcommands that change its own rules and records. Like writes of
//! our own files, subagents may not use those.

use std::fs::Metadata;
use std::path::Path;

use super::call::{Finding, ToolCall, start};
use super::file_checks::against_own;
use super::resolve::{Effects, Touch, Uncertainty};
use super::shell_environment::ShellEnvironment;
use super::unknown_arguments;
use conclaude_core::event::EventKind;
use conclaude_core::text::clean_line;
use conclaude_os::budget::Budget;
use shell_effects::glob::is_pattern;
use shell_effects::{Access, Context, Doubt, Program, Script, SimpleCommand, Subcommand, program_name};

/// The name of the program.
pub const NAME: &str = "conclaude";

/// The names of its file.
pub const PROGRAM_NAMES: [&str; 2] = [NAME, "conclaude.exe"];

/// The entry for conclaude itself: `des run STEP PHASE -- COMMAND` runs a command, and some subcommands write a file.
const PROGRAMS: &[Program] = &[Program::new(&PROGRAM_NAMES)
    .options("-o=w --output=w")
    .subcommands(&[Subcommand::runs(&["des run"], "--expect= --turns=", 2)])];

/// The effects of a shell command in this directory.
pub fn read_shell(command: &str, home: Option<&str>, cwd: &Path, budget: &Budget) -> Script {
    let context = Context { home, environment: &ShellEnvironment { cwd, budget }, programs: PROGRAMS };
    shell_effects::read_in(command, &context)
}

/// The subcommands that a gated agent needs before it may stop. `des run` is not among them, because it runs commands.
const RECORDING: [&str; 4] = ["start", "finish", "skip", "fail"];

/// Whether a shell command only records phases or the failure of a step.
pub fn only_records(command: &str, home: Option<&str>, cwd: &Path, budget: &Budget) -> bool {
    let script = read_shell(command, home, cwd, budget);
    let records = |command: &SimpleCommand| match command.words.as_slice() {
        // A program with our name in some folder may be anything.
        [program, des, action, ..] => {
            PROGRAM_NAMES.contains(&program.as_str()) && des == "des" && RECORDING.contains(&action.as_str())
        }
        _ => false,
    };
    let does_nothing_else = |command: &SimpleCommand| {
        command.is_known
            && command.environment.is_empty()
            && command.redirects.is_empty()
            && !command.redirects_to_file
    };
    !script.commands.is_empty()
        && script.side_effects.is_empty()
        && script.awaiting_code.is_empty()
        && script.commands.iter().all(|command| records(command) && does_nothing_else(command))
}

/// The subcommands that register, trust, permit or raise, or that restart the audit trail.
pub const CHANGING: [&[&str]; 8] = [
    &["install"],
    &["uninstall"],
    &["init"],
    &["trust"],
    &["audit", "reset"],
    &["pack", "add"],
    &["allow"],
    &["budget", "raise"],
];

/// Events that start or end something. What guards and gates know of a session comes from them, and each block of a stop is counted, so
/// only the client may report them.
const REPORTED: [EventKind; 6] = [
    EventKind::SessionStart,
    EventKind::SessionEnd,
    EventKind::UserPromptSubmit,
    EventKind::SubagentStart,
    EventKind::SubagentStop,
    EventKind::Stop,
];

/// The name of a file that a search found in an unknown directory.
const FOUND: &str = "what was found";

/// Options with which a subcommand changes nothing.
pub const READ_ONLY_OPTIONS: [&str; 6] = ["--help", "-h", "--dry-run", "-n", "--list", "--version"];

pub(super) fn own_commands(call: &ToolCall<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    let is_ours = |command: &&SimpleCommand| {
        let Some((program, arguments)) = command.words.split_first() else { return false };
        // `xargs` may add any of its subcommands.
        let is_open = command.unknown.iter().any(|part| part.word == 1 && part.part.start == 0);
        (may_change(command, arguments) || is_open)
            && (is_our_name(program)
                || is_our_file(program, arguments, call, effects)
                || is_any_file(program, command))
    };
    for command in effects.commands.iter().filter(is_ours) {
        let reason = format!(
            "`{}` changes conclaude's own registration, trust, state or records.",
            clean_line(&command.text)
        );
        found.push(against_own(call, reason, &command.text));
    }
    for text in effects.unclear.iter().filter_map(text_of_unknown).filter(|text| names_changing(text)) {
        let reason = format!(
            "`{}` may run a command that changes conclaude's own registration, trust, state or records.",
            clean_line(start(&text))
        );
        found.push(against_own(call, reason, &text));
    }
}

/// Whether the arguments may be those of a subcommand that changes our rules or records. Unknown arguments may be anything.
fn may_change(command: &SimpleCommand, arguments: &[String]) -> bool {
    if command.unknown.is_empty() {
        return is_changing(arguments);
    }
    let known = |(at, word): (usize, &String)| {
        let is_unknown = command.unknown.iter().any(|unknown| unknown.word == at + 1);
        if is_unknown { "$".to_owned() } else { word.clone() }
    };
    is_changing(&arguments.iter().enumerate().map(known).collect::<Vec<String>>())
}

/// The arguments of an unknown program, and code that runs programs: `tmux new -d 'conclaude allow'`.
fn text_of_unknown(unclear: &Uncertainty) -> Option<String> {
    let Uncertainty::Doubt(doubt) = unclear else { return None };
    match doubt {
        Doubt::UnknownProgram { words, .. } if words.first().is_some_and(|program| !is_our_name(program)) => {
            Some(unknown_arguments::without_texts(words).join(" "))
        }
        Doubt::InlineCode { text, access, .. } if access.runs => Some(text.clone()),
        _ => None,
    }
}

/// Whether one of the commands in a text has our name, followed by the words of a subcommand that changes our rules or records.
/// In a shell a line ends a command, in code a list of arguments may go on.
fn names_changing(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "./_-$".contains(c);
    let is_changed_by = |command: &str| {
        let words = command.split(|c: char| !is_part(c)).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_owned).collect();
        let mut names = words.iter().enumerate().filter(|(_, word)| is_our_name(word));
        names.any(|(at, _)| is_changing(words.get(at + 1..).unwrap_or_default()))
    };
    text.split([';', '|', '&']).any(|part| is_changed_by(part) || part.lines().any(is_changed_by))
}

pub(super) fn is_our_name(program: &str) -> bool {
    // PowerShell separates folders by backslashes.
    let name = program_name(program.rsplit('\\').next().unwrap_or(program));
    // A package may be named with its version: `npx conclaude@latest`.
    PROGRAM_NAMES.contains(&name.split(['@', '=', '<', '>', '~', '[']).next().unwrap_or(name))
}

/// Whether the arguments are those of a subcommand that changes our rules or records.
fn is_changing(arguments: &[String]) -> bool {
    // A word that is unknown before it runs may be anything.
    let is = |given: Option<&String>, name: &str| {
        given.is_some_and(|given| given == name || given.contains(['$', '`']))
    };
    let is_changing = |subcommand: &[&str]| {
        let mut given = arguments.iter().filter(|word| !word.starts_with('-'));
        subcommand.iter().all(|name| is(given.next(), name))
    };
    let is_reported = || {
        let event = arguments.iter().find(|word| !word.starts_with('-'));
        event.is_some_and(|event| REPORTED.iter().any(|reported| reported.name() == event))
    };
    (CHANGING.into_iter().any(is_changing) || is_reported())
        && !arguments.iter().any(|word| READ_ONLY_OPTIONS.contains(&word.as_str()))
}

/// Whether a program may be conclaude under another name: a pattern, a link, a copy, or a file that this command writes.
fn is_our_file(program: &str, arguments: &[String], call: &ToolCall<'_>, effects: &Effects) -> bool {
    if !program.contains('/') {
        return false;
    }
    let touch = call.ground.touch(Access::Read, program);
    let name_of = |touch: &Touch| touch.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_written = |other: &Touch| other.access != Access::Read && other.path == touch.path;
    let is_linked = || name_of(&touch).is_some_and(|name| is_our_name(&name));
    // A written script with `$x` as its argument is not ours, unless it may be made from our program.
    let is_told = || is_changing(arguments) && !arguments.iter().any(|word| word.contains(['$', '`']));
    let has_us = |touch: &Touch| name_of(touch).is_some_and(|name| is_our_name(&name) || is_pattern(&name));
    is_pattern(program)
        || is_linked()
        || effects.touches.iter().any(is_written) && (is_told() || effects.touches.iter().any(has_us))
        || is_copy_of_us(&touch.path)
}

/// Whether the program is any of the files that a search finds: `find DIRECTORY -exec {} uninstall \;`.
fn is_any_file(program: &str, command: &SimpleCommand) -> bool {
    !command.is_known && (program.contains(FOUND) || command.unknown.iter().all(|unknown| unknown.word > 0))
}

/// A file with the content of the program that runs now.
fn is_copy_of_us(path: &Path) -> bool {
    let Ok(own) = std::env::current_exe() else { return false };
    let length = |path: &Path| path.metadata().ok().filter(Metadata::is_file).map(|file| file.len());
    length(path).is_some_and(|one| Some(one) == length(&own))
        && std::fs::read(path).is_ok_and(|one| std::fs::read(own).is_ok_and(|own| one == own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes_us(command: &str) -> bool {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let (program, arguments) = words.split_first().unwrap();
        is_our_name(program) && is_changing(arguments)
    }

    #[test]
    fn recording_is_only_what_does_nothing_else() {
        let only = |command: &str| only_records(command, None, Path::new("/p"), &Budget::unlimited());
        for command in [
            "conclaude des fail steps/01-01.json --reason \"no budget; it's over\"",
            "conclaude des start a.json GREEN && conclaude des finish a.json GREEN --fail --details 'red (2 of 3)'",
            "conclaude des skip a.json REFACTOR --reason 'NOT_APPLICABLE: none'",
        ] {
            assert!(only(command), "{command}");
        }
        for command in [
            "",
            "ls",
            "conclaude des run a.json GREEN -- rm x",
            "conclaude des run a.json GREEN",
            "conclaude des fail a.json; rm x",
            "conclaude des fail a.json --reason \"$(rm x)\"",
            "conclaude des fail a.json > x",
            "{ conclaude des fail a.json; } > x",
            "conclaude des fail a.json | sh",
            "PATH=. conclaude des fail a.json",
            "export PATH=.; conclaude des fail a.json",
            "PATH=.; conclaude des fail a.json",
            "./conclaude des fail a.json",
            "conclaude() { rm x; }; conclaude des fail a.json",
            "conclaude des fail a.json <(rm x)",
            "conclaude allow",
        ] {
            assert!(!only(command), "{command}");
        }
    }

    #[test]
    fn the_command_of_des_run_is_a_command_like_any_other() {
        let commands = |command: &str| {
            let script = read_shell(command, None, Path::new("/work"), &Budget::unlimited());
            let effects =
                script.effects.iter().map(|effect| format!("{} {:?}", effect.access.does(), effect.target));
            let texts = script.commands.iter().map(|command| command.text.clone());
            texts.chain(effects).skip(1).collect::<Vec<_>>().join(" · ")
        };
        let run = "conclaude des run steps/1.json RED";
        assert_eq!(commands(&format!("{run} -- git push --force")), "git push --force");
        assert_eq!(
            commands(&format!("{run} --turns 3 -- sh -c 'rm .env'")),
            "sh -c rm .env · rm .env · deletes Path(\".env\")"
        );
        assert_eq!(
            commands("/usr/bin/conclaude des run --expect fail a.json GREEN -- rm x"),
            "rm x · deletes Path(\"x\")"
        );
        for command in [run, "conclaude des check a -- rm x", "conclaude run des -- rm x"] {
            assert_eq!(commands(command), "", "{command}");
        }
    }

    #[test]
    fn only_what_changes_registration_trust_or_records_is_ours_to_keep() {
        for command in [
            "conclaude uninstall",
            "/usr/local/bin/conclaude install --project",
            "./target/release/conclaude trust --yes",
            "conclaude trust -y",
            "conclaude trust --revoke",
            "conclaude init --force",
            "conclaude allow",
            "conclaude allow --session 17",
            "conclaude budget raise",
            "conclaude budget --json raise --by 900%",
            "conclaude audit reset --yes",
            "conclaude $X",
            "conclaude.exe uninstall --purge",
            "conclaude@latest trust --yes",
            "conclaude==0.3.0 uninstall",
            // The start mark of a session cannot be forged.
            "conclaude SessionStart",
            "conclaude SubagentStop < payload.json",
            "conclaude Stop",
            "conclaude --if-trusted UserPromptSubmit",
        ] {
            assert!(changes_us(command), "{command}");
        }
        for command in [
            "conclaude",
            "conclaude validate",
            "conclaude audit show",
            "conclaude budget",
            "conclaude budget --json",
            "conclaude audit verify",
            "conclaude des run steps/1.json RED",
            "conclaude install --dry-run",
            "conclaude uninstall -n",
            "conclaude trust --list",
            "conclaude trust --help",
            "conclaude --version",
            "conclaude PreToolUse",
            "conclaude explain PreToolUse --command 'conclaude trust'",
            "echo conclaude uninstall",
            "notconclaude uninstall",
        ] {
            assert!(!changes_us(command), "{command}");
        }
    }
}
