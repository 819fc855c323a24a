//! What cannot be decided is asked about, where a rule could have something against it.

use std::path::{Path, PathBuf};

use super::call::{Call, Finding, doing};
use super::resolve::{Ground, Unclear, first_below};
use super::rules::{Action, Rules};
use super::watch::Watch;
use crate::rule::Rule;
use crate::shell::{Access, Base, Doubt};

pub(super) fn undecided(rules: &Rules, call: &Call<'_>, unclear: &Unclear, found: &mut Vec<Finding>) {
    let has_uneditable = !rules.uneditable.is_empty(call.agent);
    let has_unreadable = !rules.unreadable.is_empty(call.agent);
    let mut ask = |what: String, matched: &str, rule: &str, advice: &str| {
        found.push(Finding {
            action: Action::Ask,
            what,
            rule: rule.into(),
            advice: advice.into(),
            origin: Rule::built_in("what cannot be decided is asked"),
            matched: matched.to_owned(),
        });
    };
    match unclear {
        Unclear::Path { access, written } => {
            let is_guarded = if *access == Access::Read { has_unreadable } else { has_uneditable };
            if is_guarded {
                let what = format!("{} `{}`", doing(*access), crate::text::clean_line(written));
                ask(
                    what,
                    written,
                    "which file that is cannot be known before it runs",
                    "write the path itself",
                );
            }
        }
        Unclear::WorkTree { command } => {
            let is_protected = |path: &Path, is_directory| {
                let location = call.ground.location(path, is_directory);
                rules.uneditable.protecting(&location, call.agent, Watch::default()).is_some()
            };
            if has_uneditable && !matches!(first_below(call.ground.root, is_protected), Some(None)) {
                let what = format!("running `{}`", crate::text::clean_line(command));
                ask(
                    what,
                    command,
                    "it may change protected files of the work tree",
                    "name the files that it should change",
                );
            }
        }
        Unclear::Doubt(Doubt::InlineCode { interpreter, text, bases }) => {
            if let Some(word) = guarded_word(rules, call, bases, text) {
                let what = format!("running code in {interpreter} that names `{word}`");
                ask(what, &word, "what it does to that file cannot be known", "use a tool for files instead");
            }
        }
        Unclear::Doubt(Doubt::UnknownProgram { words, bases }) => {
            // A word with blanks is a text, such as a title.
            let arguments = words.iter().skip(1).filter(|word| !word.contains(char::is_whitespace));
            let named = arguments.into_iter().find_map(|word| guarded_word(rules, call, bases, word));
            if let (Some(program), Some(word)) = (words.first(), named) {
                let what = format!("running `{}` with `{word}`", crate::text::clean_line(program));
                ask(what, &word, "what it does to that file is not known", "use a tool for files instead");
            }
        }
        Unclear::Doubt(doubt) => {
            if rules.has_guards(call.agent) {
                let why = doubt.to_string();
                let text = call.command.unwrap_or_default();
                ask("running this command".into(), text, &why, "write it more simply, in several commands");
            }
        }
    }
}

/// The first word of a text that is a protected file for what runs there.
fn guarded_word(rules: &Rules, call: &Call<'_>, bases: &[Base], text: &str) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || "./_-~@+*?".contains(c);
    let words = text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty());
    // `--file=x` and `-fx` name `x`.
    let candidates =
        words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]).flatten();
    let directories = call.ground.directories(bases);
    let is_guarded = |cwd: &PathBuf, word: &str| {
        let touch = Ground { cwd, ..call.ground }.touch(Access::Link, word);
        let mut guards = [&rules.uneditable, &rules.unreadable].into_iter();
        guards.any(|rules| rules.protecting_any(&touch.names, call.agent, Watch::default()).is_some())
    };
    candidates
        .take(10_000)
        .find(|word| directories.iter().any(|cwd| is_guarded(cwd, word)))
        .map(crate::text::clean_line)
}
