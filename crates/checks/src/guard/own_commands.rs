//! Commands of our own that change what conclaude watches over: like writes of our own files, they are not for subagents.

use super::call::{Finding, ToolCall};
use super::resolve::Effects;
use super::rules::Action;
use conclaude_core::rule::Rule;
use conclaude_core::text::clean_line;

/// What registers and trusts, and what starts the audit trail again.
const CHANGING: [&[&str]; 5] = [&["install"], &["uninstall"], &["init"], &["trust"], &["audit", "reset"]];

/// With one of these nothing is changed.
const LOOKING: [&str; 6] = ["--help", "-h", "--dry-run", "-n", "--list", "--version"];

pub(super) fn own_commands(call: &ToolCall<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    for command in effects.commands.iter().filter(|command| changes_us(&command.words)) {
        let (action, advice) = if call.is_subagent {
            (Action::Block, "leave it as it is, and report what you would have changed")
        } else {
            (Action::Ask, "the user decides what is registered and trusted")
        };
        found.push(Finding {
            action,
            what: format!("running `{}`", clean_line(&command.text)),
            rule: "it changes conclaude's own registration, trust or records".into(),
            advice: advice.into(),
            origin: Rule::built_in("conclaude's own files"),
            matched: command.text.clone(),
        });
    }
}

fn changes_us(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    if !matches!(name, "conclaude" | "conclaude.exe") {
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
