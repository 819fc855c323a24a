//! Rules for shell commands: each simple command must be allowed, at any depth, and any can be denied.

use super::Subject;
use crate::guard::{CommandForms, CommandPattern, Ground, Match, pipeline};
use conclaude_core::messages::short;
use conclaude_os::budget::Budget;
use shell_effects::{CodeLanguage, Doubt, Script, SimpleCommand};

/// Why a command cannot be read at all.
pub(super) fn unreadable(script: &Script) -> Option<String> {
    script.doubts.iter().find_map(|doubt| match doubt {
        Doubt::Unparsable(reason) => Some(format!("it cannot be parsed: {reason}")),
        Doubt::TooLong => Some("it is longer than 64 KiB".into()),
        Doubt::TooDeep | Doubt::OutOfTime | Doubt::TooMany(_) => Some(doubt.to_string()),
        Doubt::InlineCode { .. } | Doubt::UnknownScript { .. } | Doubt::UnknownProgram { .. } => None,
    })
}

/// Why it is unknown which commands run.
pub(super) fn unknown(script: &Script) -> Option<String> {
    let code = script.doubts.iter().find_map(|doubt| match doubt {
        Doubt::InlineCode { interpreter, language: CodeLanguage::Shell, .. } => {
            Some(format!("the code that `{interpreter}` runs is unknown before it runs"))
        }
        Doubt::UnknownScript { .. } => Some(doubt.to_string()),
        _ => None,
    });
    // The known part of its code is among the commands.
    let partly = || {
        let is_shell = |command: &&SimpleCommand| command.unknown_code == Some(CodeLanguage::Shell);
        let shell = script.commands.iter().filter(is_shell).find_map(|command| command.words.first())?;
        Some(format!("the code that `{}` runs is unknown before it runs", short(shell)))
    };
    let unnamed = || script.commands.iter().find(|command| !command.is_known && !command.words.is_empty());
    code.or_else(partly).or_else(|| {
        unnamed().map(|command| format!("the program that `{}` means is unknown", short(&command.text)))
    })
}

/// Why a script is not allowed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("{0}")]
    Unreadable(String),
    #[error("`{0}` is not a command, and may change what the others do")]
    NotACommand(String),
    #[error("it opens a connection by a redirection")]
    Connection,
    #[error("it has no command")]
    Empty,
    #[error("`{0}` writes to a file by a redirection")]
    Redirection(String),
    #[error("`{0}` evaluates a substitution in quotes")]
    Substitution(String),
    #[error("no rule allows `{0}`")]
    NoRule(String),
    #[error("`{command}` {does} by `{option}`, which the rule does not name")]
    UnnamedOption { command: String, does: String, option: String },
    #[error("no rule matches")]
    NoMatch,
}

/// Whether each simple command is allowed by one of the patterns. Returns the index of the pattern that allowed the last one.
pub(super) fn allowed(
    patterns: &[&CommandPattern],
    script: &Script,
    budget: &Budget,
) -> Result<usize, Refusal> {
    if let Some(why) = unreadable(script).or_else(|| unknown(script)) {
        return Err(Refusal::Unreadable(why));
    }
    if let Some(other) = script.side_effects.first() {
        return Err(Refusal::NotACommand(short(other)));
    }
    let connects = |path: String| path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
    if script.effects.iter().any(|effect| effect.literal().is_some_and(connects)) {
        return Err(Refusal::Connection);
    }
    let mut by = Err(Refusal::Empty);
    let mut outer: Option<&SimpleCommand> = None;
    for (index, command) in script.commands.iter().enumerate() {
        // Its words are part of the previous command, which is compared as a whole.
        if command.inside && outer.is_some_and(|outer| ends_with(outer, command)) {
            continue;
        }
        if !command.inside {
            outer = Some(command);
        }
        if command.redirects_to_file {
            return Err(Refusal::Redirection(short(&command.text)));
        }
        if command.evaluates_index() {
            return Err(Refusal::Substitution(short(&command.text)));
        }
        if command.only_controls() {
            continue;
        }
        let text = as_written(command);
        let found = patterns.iter().position(|pattern| pattern.matches(&text, false, budget));
        let found = found.ok_or_else(|| Refusal::NoRule(short(&text)))?;
        let unnamed = patterns.get(found).and_then(|pattern| unnamed_option(pattern, script, index));
        if let Some((does, option)) = unnamed {
            let (command, option) = (short(&text), short(option));
            return Err(Refusal::UnnamedOption { command, does, option });
        }
        by = Ok(found);
    }
    by
}

/// Whether a command is the operands of another one, which runs it: `uv run pytest`. A command in an option does not count (`git
/// fetch --upload-pack=COMMAND`): a rule that allows a fetch does not allow that.
fn ends_with(outer: &SimpleCommand, command: &SimpleCommand) -> bool {
    let Some(before) = outer.words.strip_suffix(command.words.as_slice()) else { return false };
    before.last().is_some_and(|word| !word.starts_with('-') || word == "--")
}

/// The option by which a command changes a file or runs something, unless the pattern names it.
fn unnamed_option<'s>(
    pattern: &CommandPattern,
    script: &'s Script,
    command: usize,
) -> Option<(String, &'s str)> {
    let effects = script.effects.iter().filter(|effect| effect.command == command);
    let mut options = effects
        .filter(|effect| effect.access.changes_files())
        .filter_map(|effect| Some((effect.access, effect.option.as_deref()?)));
    if let Some((access, option)) = options.find(|(_, option)| !pattern.names(option)) {
        return Some((format!("{} files", access.does()), option));
    }
    let mut acting = script.commands.get(command)?.acts_by.iter();
    let option = acting.find(|option| !pattern.names(option))?;
    Some(("may run or write something".to_owned(), option))
}

/// The simple command or the pipeline that a pattern denies, in any form.
pub(super) fn denied(
    pattern: &CommandPattern,
    script: &Script,
    text: &str,
    ground: &Ground<'_>,
) -> Option<Subject> {
    let (home, budget) = (ground.home, ground.budget);
    let found = script.commands.iter().find(|command| {
        let forms = CommandForms::of(command, home, None, budget);
        let declared = format!("{} {}", command.text, command.assigned.join(" "));
        matches!(pattern.denies(&forms, true), Some(Match::As(_)))
            || pattern.matches(declared.trim_end(), true, budget)
            || pattern.matches(&as_written(command), true, budget)
    });
    let commands = |indices: &Vec<usize>| -> Vec<&SimpleCommand> {
        indices.iter().filter_map(|index| script.commands.get(*index)).collect()
    };
    if let Some(command) = found {
        return Some(Subject::command(&command.text));
    }
    if pattern.matches(text.trim(), true, budget) {
        return Some(Subject::command(text));
    }
    if !pattern.joins() {
        return None;
    }
    let mut pipelines = script.pipelines.iter().map(|indices| pipeline(&commands(indices), home));
    Some(Subject::command(&pipelines.find(|one| pattern.matches(one, true, budget))?))
}

/// Why a pattern could deny a command with unknown parts.
pub(super) fn could_deny(pattern: &CommandPattern, script: &Script, ground: &Ground<'_>) -> Option<String> {
    script.commands.iter().find_map(|command| {
        let forms = CommandForms::of(command, ground.home, None, ground.budget);
        if pattern.denies(&forms, true) != Some(Match::Perhaps) {
            return None;
        }
        let unknown = forms.plain.unknown();
        Some(format!("the value of `{}` in `{}` is unknown", short(unknown), short(&command.text)))
    })
}

/// The command as a user would type it: with its variables, and with quotes around words that contain spaces.
fn as_written(command: &SimpleCommand) -> String {
    let words = command.assigned.iter().chain(&command.words);
    let quoted = |word: &String| {
        let is_plain = !word.is_empty() && !word.contains(char::is_whitespace);
        if is_plain { word.clone() } else { format!("'{word}'") }
    };
    words.map(quoted).collect::<Vec<_>>().join(" ")
}
