//! Questions about doubts of the shell analysis: code in another language, unknown programs and scripts.

use std::path::Path;

use super::call::{Advice, Finding, OwnFiles, ToolCall, UnknownPart, start};
use super::file_checks::against_own;
use super::named_files::{NamedFiles, is_protected_by, joined, matched_files, named_files, named_word};
use super::open_questions::UserQuestion;
use super::own_commands::is_our_name;
use super::resolve::{Effects, Touch};
use super::rules::GuardRules;
use super::tool_checks::allows;
use super::unknown_arguments;
use crate::des::protected::ProtectedPaths;
use conclaude_core::text::clean_line;
use shell_effects::{Base, CodeAccess, Doubt};

pub(super) fn doubt_question(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    effects: &Effects,
    doubt: &Doubt,
) -> Option<UserQuestion> {
    match doubt {
        Doubt::InlineCode { interpreter, text, bases, access, .. } => {
            let code = Code { interpreter, text, bases, access: *access };
            code_question(rules, call, &code)
        }
        Doubt::UnknownProgram { words, patterns, bases } => {
            unknown_program(rules, call, &Arguments { words, patterns, bases })
        }
        _ if !rules.has_guards(call.agent) => None,
        Doubt::UnknownScript { command, .. } if allows(rules, call, effects, *command) => None,
        Doubt::UnknownScript { interpreter, .. } => {
            let interpreter = clean_line(interpreter);
            Some(unknown_commands(
                call,
                format!("The commands that {interpreter} runs are unknown before they run."),
                Advice::both("Write the commands themselves.", "Allow it if you know what they do."),
            ))
        }
        doubt => Some(unknown_commands(
            call,
            format!("The effect of this command is unknown: {doubt}."),
            Advice::both("Write it more simply, in several commands.", "Allow it if you know what it does."),
        )),
    }
}

/// Code in another language.
#[derive(Clone, Copy)]
struct Code<'a> {
    interpreter: &'a str,
    text: &'a str,
    /// Where it runs.
    bases: &'a [Base],
    access: CodeAccess,
}

fn code_question(rules: &GuardRules, call: &ToolCall<'_>, code: &Code<'_>) -> Option<UserQuestion> {
    let Code { interpreter, text, bases, access } = *code;
    let harmed = named_files(call, bases, text, &|touch| code_may_harm(rules, call, access, touch));
    let (word, names) = match harmed {
        Some(NamedFiles { first, names }) => (first, names),
        None if access.writes => (outside_word(rules, call, code)?, Some(Vec::new())),
        None => return None,
    };
    Some(UserQuestion {
        reason: format!("Code in {interpreter} names `{word}`, and its effect on that file is unknown."),
        advice: protected_word(),
        matched: word,
        unknown: NamedFiles::unknown(names),
    })
}

/// The words of an unknown program.
struct Arguments<'a> {
    words: &'a [String],
    /// The words that are shell patterns.
    patterns: &'a [String],
    /// Where it runs.
    bases: &'a [Base],
}

/// A program that is given a protected file, or a pattern that matches one.
fn unknown_program(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    arguments: &Arguments<'_>,
) -> Option<UserQuestion> {
    let Arguments { words, patterns, bases } = *arguments;
    let named = unknown_arguments::protected(rules, call, bases, words);
    let matched =
        matched_files(call, bases, patterns, &|touch| unknown_arguments::may_harm(rules, call, touch));
    let NamedFiles { first: word, names } = joined(named.into_iter().chain(matched))?;
    let program = clean_line(words.first()?);
    Some(UserQuestion {
        reason: format!("`{program}` is given `{word}`, and its effect on that file is unknown."),
        advice: protected_word(),
        matched: word,
        unknown: NamedFiles::unknown(names),
    })
}

/// A question about the whole text of a shell command.
fn unknown_commands(call: &ToolCall<'_>, reason: String, advice: Advice) -> UserQuestion {
    UserQuestion {
        reason,
        advice,
        matched: start(call.command.unwrap_or_default()).to_owned(),
        unknown: Some(UnknownPart::Commands.into()),
    }
}

/// The first path in code that leads out of the agent's worktree. It is for code that may write.
fn outside_word(rules: &GuardRules, call: &ToolCall<'_>, code: &Code<'_>) -> Option<String> {
    let Code { text, bases, .. } = *code;
    let worktree = call.ground.links.real_path(call.worktree?);
    let root = call.ground.root.to_string_lossy();
    let may_leave = text.contains("..") || text.contains(root.as_ref());
    if rules.worktree_fence.is_none() || !may_leave {
        return None;
    }
    let words = || {
        let words = text.split(['"', '\'', '`', '(', ')', ',', ' ', '\n', '>', '<', '+', '=']);
        words.filter(|word| !word.is_empty())
    };
    // `join('..', '..', 'a')`.
    let ups = "../".repeat(words().filter(|word| *word == "..").count());
    let leaving = words().filter(|word| word.starts_with("../") || word.starts_with(root.as_ref()));
    let leading_up = leaving.chain([ups.as_str()]).collect::<Vec<_>>().join(" ");
    named_word(call, bases, &leading_up, &|touch| {
        !touch.path.starts_with(&worktree) && !call.ground.is_temporary(&touch.path)
    })
}

/// The advice for a protected file with an unknown use.
fn protected_word() -> Advice {
    Advice::both("Use a tool for files instead.", "Allow it if the file may be used that way.")
}

/// One of our own files that code in another language or an unknown program names: it may change it.
pub(super) fn names_own_file(call: &ToolCall<'_>, doubt: &Doubt) -> Option<Finding> {
    let own = call.own.map(OwnFiles::files)?;
    let is_own = |touch: &Touch| own.covers(Path::new(touch.named()), &touch.path);
    let (what, word) = match doubt {
        Doubt::InlineCode { interpreter, text, bases, access, .. } => {
            let code = Code { interpreter, text, bases, access: *access };
            let changes = access.writes || access.runs;
            let named = named_word(call, bases, text, &is_own);
            let named = named.or_else(|| if changes { own_in_code(call, own, &code) } else { None });
            (format!("Code in {interpreter}"), named?)
        }
        Doubt::UnknownProgram { words, patterns, bases } => {
            let (program, arguments) = words.split_first()?;
            if is_our_name(program) {
                return None;
            }
            let word = arguments.iter().find_map(|word| named_word(call, bases, word, &is_own));
            let word = word.or_else(|| Some(matched_files(call, bases, patterns, &is_own)?.first))?;
            (format!("`{}`", clean_line(program)), word)
        }
        _ => return None,
    };
    let reason =
        format!("{what} may change {word}, which belongs to conclaude's own config, state or registration.");
    Some(against_own(call, reason, &word))
}

/// A pattern in code that matches one of our own files, or a folder with some that code names and may move or delete.
fn own_in_code(call: &ToolCall<'_>, own: &ProtectedPaths, code: &Code<'_>) -> Option<String> {
    let Code { text, bases, access: CodeAccess { moves, .. }, .. } = *code;
    let ground = call.ground;
    let root = ground.links.real_path(ground.root);
    let has_own = |touch: &Touch| {
        moves
            && touch.path.is_dir()
            && !root.starts_with(&touch.path)
            && own.is_below(&touch.path, ground.links)
    };
    let folder = if moves { named_word(call, bases, text, &has_own) } else { None };
    let is_own = |touch: &Touch| own.covers(Path::new(touch.named()), &touch.path) || has_own(touch);
    folder
        .or_else(|| Some(matched_files(call, bases, &shell_effects::written_patterns(text), &is_own)?.first))
}

/// Whether code may do to a file what a rule forbids. A readable file counts only if the code may write it.
fn code_may_harm(rules: &GuardRules, call: &ToolCall<'_>, access: CodeAccess, touch: &Touch) -> bool {
    let may_write = access.writes || access.runs;
    is_protected_by(&rules.unreadable, call, touch)
        || may_write && is_protected_by(&rules.uneditable, call, touch)
}
