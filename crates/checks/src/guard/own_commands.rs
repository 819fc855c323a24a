//! conclaude as a program: what it runs, and which of its commands change what it watches over. Like writes of our own files, those
//! are not for subagents.

use std::path::Path;

use super::call::{Finding, ToolCall};
use super::file_checks::against_own;
use super::resolve::{Effects, ShellEnvironment};
use conclaude_core::text::clean_line;
use shell_effects::{Context, Program, Script, Subcommand, program_name};

const NAMES: &[&str] = &["conclaude", "conclaude.exe"];

/// What the table of programs does not know of us: `des run STEP PHASE -- COMMAND` runs a command.
const PROGRAMS: &[Program] =
    &[Program::new(NAMES).subcommands(&[Subcommand::runs(&["des run"], "--expect= --turns=", 2)])];

/// What a shell command does that is run in this directory.
pub fn read_shell(command: &str, home: Option<&str>, cwd: &Path) -> Script {
    let context = Context { home, environment: &ShellEnvironment { cwd }, programs: PROGRAMS };
    shell_effects::read_in(command, &context)
}

/// What registers and trusts, and what starts the audit trail again.
pub const CHANGING: [&[&str]; 6] =
    [&["install"], &["uninstall"], &["init"], &["trust"], &["audit", "reset"], &["pack", "add"]];

/// With one of these nothing is changed.
pub const LOOKING: [&str; 6] = ["--help", "-h", "--dry-run", "-n", "--list", "--version"];

pub(super) fn own_commands(call: &ToolCall<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    for command in effects.commands.iter().filter(|command| changes_us(&command.words)) {
        let reason = format!(
            "`{}` changes conclaude's own registration, trust or records.",
            clean_line(&command.text)
        );
        found.push(against_own(call, reason, &command.text));
    }
}

fn changes_us(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    // PowerShell separates folders by backslashes.
    let name = program_name(program.rsplit('\\').next().unwrap_or(program));
    if !NAMES.contains(&name) {
        return false;
    }
    // What is not known before it runs may be anything.
    let is = |given: Option<&String>, name: &str| {
        given.is_some_and(|given| given == name || given.contains(['$', '`']))
    };
    let is_changing = |subcommand: &[&str]| {
        let mut given = arguments.iter().filter(|word| !word.starts_with('-'));
        subcommand.iter().all(|name| is(given.next(), name))
    };
    CHANGING.into_iter().any(is_changing) && !arguments.iter().any(|word| LOOKING.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        command.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_command_of_des_run_is_a_command_like_any_other() {
        let commands = |command: &str| {
            let script = read_shell(command, None, Path::new("/work"));
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
            "conclaude audit reset --yes",
            "conclaude $X",
            "conclaude.exe uninstall --purge",
        ] {
            assert!(changes_us(&words(command)), "{command}");
        }
        for command in [
            "conclaude",
            "conclaude validate",
            "conclaude audit show",
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
            assert!(!changes_us(&words(command)), "{command}");
        }
    }
}
