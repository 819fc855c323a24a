//! Rules for shell commands: each simple command must be allowed, at any depth, and any can be denied.

use super::Subject;
use crate::guard::{CommandForms, CommandPattern, Ground, Match, pipeline};
use conclaude_core::messages::short;
use conclaude_os::budget::Budget;
use shell_effects::{CodeLanguage, Doubt, Effect, Script, SimpleCommand};

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
    let mut outer: Option<(&SimpleCommand, Option<&CommandPattern>)> = None;
    for (index, command) in script.commands.iter().enumerate() {
        if let Some((around, pattern)) = outer
            && (command.inside && is_part(around, command) || is_given_more(pattern, around, command))
        {
            names_options(pattern, script, index)?;
            continue;
        }
        if !command.inside {
            outer = Some((command, None));
        }
        if command.redirects_to_file {
            return Err(Refusal::Redirection(short(&command.text)));
        }
        if command.evaluates_index() {
            return Err(Refusal::Substitution(short(&command.text)));
        }
        let texts = [as_written(command), without_showing(command)];
        let is_match =
            |pattern: &&CommandPattern| texts.iter().any(|text| pattern.matches(text, false, budget));
        let Some(found) = patterns.iter().position(is_match) else {
            if command.only_controls() {
                continue;
            }
            return Err(Refusal::NoRule(short(texts.first().map_or("", String::as_str))));
        };
        let pattern = patterns.get(found).copied();
        names_options(pattern, script, index)?;
        if !command.inside {
            outer = Some((command, pattern));
        }
        by = Ok(found);
    }
    by
}

/// Whether a command is what another one runs with more arguments, and the rule for that names its program: `xargs grep x`.
fn is_given_more(pattern: Option<&CommandPattern>, outer: &SimpleCommand, command: &SimpleCommand) -> bool {
    let Some((_, known)) = command.words.split_last() else { return false };
    let names = |program: &String| pattern.is_some_and(|pattern| pattern.names(program));
    outer.program() == "xargs" && known.first().is_some_and(names) && ends_with(outer, known)
}

/// Whether a command is part of the words of another one, which is compared as a whole.
fn is_part(outer: &SimpleCommand, command: &SimpleCommand) -> bool {
    if ends_with(outer, &command.words) {
        return true;
    }
    // `ssh host 'ls -la'`.
    let text = outer.words.last().filter(|word| word.contains(' '));
    outer.program() == "ssh"
        && outer.unknown.is_empty()
        && text.is_some_and(|text| command.words.iter().all(|word| text.contains(word.as_str())))
}

/// Whether an argument of a database client may change something. Who allows a `select` does not allow that.
fn writes(text: &str) -> bool {
    const WRITING: [&str; 20] = [
        "alter", "attach", "call", "copy", "create", "delete", "do", "drop", "execute", "grant", "insert",
        "into", "merge", "reindex", "replace", "revoke", "set", "truncate", "update", "vacuum",
    ];
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    text.contains(' ')
        && words.into_iter().any(|word| WRITING.iter().any(|writing| word.eq_ignore_ascii_case(writing)))
}

/// Whether a pattern names each option by which a command changes a file or runs something.
fn names_options(pattern: Option<&CommandPattern>, script: &Script, index: usize) -> Result<(), Refusal> {
    let (Some(pattern), Some(command)) = (pattern, script.commands.get(index)) else { return Ok(()) };
    let of_command = script.effects.iter().filter(|effect| effect.command == index);
    let changed = of_command.filter(|effect| effect.access.changes_files() && effect.option.is_none());
    let changed: Vec<String> = changed.filter_map(Effect::literal).collect();
    if pattern.is_exceeded_by(command, &as_written(command)) || pattern.leaves_out(command, &changed) {
        return Err(Refusal::NoRule(short(&command.text)));
    }
    if pattern.reads_only() && command.sql().is_some_and(|sql| sql.texts.iter().any(|text| writes(text))) {
        return Err(Refusal::NoRule(short(&command.text)));
    }
    match unnamed_option(pattern, script, index) {
        None => Ok(()),
        Some((does, option)) => {
            Err(Refusal::UnnamedOption { command: short(&as_written(command)), does, option: short(option) })
        }
    }
}

/// Whether a command is the operands of another one, which runs it: `uv run pytest`, `python -m pip`. The command in another
/// option is not (`git fetch --upload-pack=COMMAND`): who allows a fetch does not allow that.
fn ends_with(outer: &SimpleCommand, command: &[String]) -> bool {
    // The program may be implied by a word before its arguments: `yarn` in `yarn workspace api build`.
    let implied = command.split_first().and_then(|(program, arguments)| {
        let is_there = !arguments.is_empty() && outer.words.contains(program);
        if is_there { outer.words.strip_suffix(arguments) } else { None }
    });
    let Some(before) = outer.words.strip_suffix(command).or(implied) else { return false };
    before.last().is_some_and(|word| !word.starts_with('-') || matches!(word.as_str(), "--" | "-m"))
}

/// The option by which a command changes a file or runs something, unless the pattern names it.
fn unnamed_option<'s>(
    pattern: &CommandPattern,
    script: &'s Script,
    index: usize,
) -> Option<(String, &'s str)> {
    let effects = script.effects.iter().filter(|effect| effect.command == index);
    let mut options = effects
        .filter(|effect| effect.access.changes_files())
        .filter_map(|effect| Some((effect.access, effect.option.as_deref()?)));
    if let Some((access, option)) = options.find(|(_, option)| !pattern.names(option)) {
        return Some((format!("{} files", access.does()), option));
    }
    let command = script.commands.get(index)?;
    let by_name = acting_by_name(unlisted_words(script, index));
    let mut acting = command.acts_by.iter().map(String::as_str).chain(by_name);
    let option =
        acting.find(|option| !pattern.names(option)).or_else(|| unlisted_option(pattern, command))?;
    Some(("may run or write something".to_owned(), option))
}

/// The words of a command that no list of options covers. If a program has such a list, the names of its options do not count.
fn unlisted_words(script: &Script, index: usize) -> &[String] {
    let Some(command) = script.commands.get(index) else { return &[] };
    let words = command.words.as_slice();
    if command.lists_options() {
        let end = words.iter().position(|word| word == "--");
        return end.and_then(|at| words.get(at..)).unwrap_or_default();
    }
    let parts = script.commands.iter().skip(index + 1).take_while(|part| part.inside);
    let listed = parts.filter(|part| part.lists_options() && ends_with(command, &part.words)).last();
    let length = listed.map_or(words.len(), |part| words.len().saturating_sub(part.words.len()));
    words.get(..length).unwrap_or_default()
}

/// An option that is not known to be harmless, unless the pattern names it as often. Who allows any code of an interpreter allows its
/// options as well.
fn unlisted_option<'s>(pattern: &CommandPattern, command: &'s SimpleCommand) -> Option<&'s str> {
    if command.interprets() && pattern.is_program() {
        return None;
    }
    let unlisted = command.unlisted_options();
    let is_named = |at: usize| {
        let Some(one) = unlisted.get(at) else { return false };
        let flag = one.flag.map(|flag| format!("-{flag}"));
        let name = flag.as_deref().unwrap_or(one.name);
        let before =
            unlisted.iter().take(at).filter(|other| other.name == one.name && other.flag == one.flag);
        pattern.count(name).max(pattern.count(one.word)) > before.count()
    };
    let at = (0..unlisted.len()).find(|at| !is_named(*at))?;
    unlisted.get(at).map(|one| one.word)
}

/// Options of any program whose names say that they run or write something.
fn acting_by_name(words: &[String]) -> impl Iterator<Item = &str> {
    const ACTING: [&str; 29] = [
        "bind",
        "cmd",
        "command",
        "config",
        "delete",
        "editor",
        "emit",
        "eval",
        "exec",
        "execute",
        "fix",
        "hook",
        "linker",
        "loader",
        "logfile",
        "out",
        "outdir",
        "outfile",
        "output",
        "pager",
        "plugin",
        "preview",
        "remove",
        "require",
        "runner",
        "setup",
        "transform",
        "wrapper",
        "write",
    ];
    // `--output-format`, `--no-fix`: they only say how, or switch something off.
    const HARMLESS: [&str; 10] =
        ["color", "format", "keep", "level", "list", "no", "skip", "style", "type", "without"];
    let options = words.iter().skip(1).filter_map(|word| word.strip_prefix("--").map(|name| (word, name)));
    options.filter_map(|(word, name)| {
        let name = name.split('=').next().unwrap_or_default();
        let parts = || name.split(['-', '_', '.', ':']).flat_map(capitals_apart);
        let is_in = |list: &[&str]| {
            parts()
                .any(|part| list.iter().any(|known| part.trim_end_matches('s').eq_ignore_ascii_case(known)))
        };
        if is_in(&ACTING) && !is_in(&HARMLESS) { word.get(..2 + name.len()) } else { None }
    })
}

/// `globalSetup` as `global` and `Setup`.
fn capitals_apart(name: &str) -> impl Iterator<Item = &str> {
    let mut starts: Vec<usize> =
        name.match_indices(|c: char| c.is_ascii_uppercase()).map(|(at, _)| at).collect();
    starts.insert(0, 0);
    starts.push(name.len());
    let ends = starts.clone().into_iter().skip(1);
    let parts: Vec<&str> =
        starts.into_iter().zip(ends).filter_map(|(start, end)| name.get(start..end)).collect();
    parts.into_iter().filter(|part| !part.is_empty())
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
    joined(command.assigned.iter().chain(&command.words))
}

/// Like `as_written`, but without variables that only change what is printed: `NO_COLOR=1`.
fn without_showing(command: &SimpleCommand) -> String {
    joined(command.steering_variables().chain(&command.words))
}

fn joined<'w>(words: impl Iterator<Item = &'w String>) -> String {
    let quoted = |word: &String| {
        let is_plain = !word.is_empty() && !word.contains(char::is_whitespace);
        if is_plain { word.clone() } else { format!("'{word}'") }
    };
    words.map(quoted).collect::<Vec<_>>().join(" ")
}
