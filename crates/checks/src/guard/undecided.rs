//! What cannot be decided is asked about, where a rule could have something against it.

use std::path::{Path, PathBuf};

use super::call::{Call, Finding, doing, shown, start};
use super::resolve::{Effects, Ground, Unclear};
use super::rules::{Action, Rules, ToolRule};
use super::search::first_below;
use super::tools::allows;
use super::watch::Watch;
use conclaude_core::rule::Rule;
use conclaude_core::text::clean_line;
use conclaude_os::git;
use shell_effects::{Access, Base, Doubt, Extent, WORK_TREE};

/// What is asked about, why, and what to do instead.
struct Question {
    what: String,
    matched: String,
    rule: String,
    advice: &'static str,
}

pub(super) fn undecided(
    rules: &Rules,
    call: &Call<'_>,
    effects: &Effects,
    unclear: &Unclear,
) -> Option<Finding> {
    let question = match unclear {
        Unclear::Path { access, written } => unknown_path(rules, call, *access, written),
        Unclear::WorkTree { command, directory, extent } => {
            work_tree(rules, call, command, directory, *extent)
        }
        Unclear::Doubt(doubt) => doubtful(rules, call, effects, doubt),
        Unclear::Input { field, access } => malformed(rules, call, field, *access),
        // Compared with the rules for files.
        Unclear::Named { .. } => None,
    };
    let Question { what, matched, rule, advice } = question?;
    let origin = Rule::built_in("what cannot be decided is asked");
    Some(Finding { action: Action::Ask, what, rule, advice: advice.into(), origin, matched })
}

fn unknown_path(rules: &Rules, call: &Call<'_>, access: Access, written: &str) -> Option<Question> {
    let guards = if access == Access::Read { &rules.unreadable } else { &rules.uneditable };
    (!guards.is_empty(call.agent)).then(|| Question {
        what: format!("{} `{}`", doing(access), clean_line(written)),
        matched: written.to_owned(),
        rule: "which file that is cannot be known before it runs".into(),
        advice: match written {
            _ if written.starts_with("the files in ") => {
                "extract into a directory of its own (`-C`, `-d`), or let the user confirm it"
            }
            _ if written.starts_with("the files of ") => {
                "change the files one by one, or let the user confirm it"
            }
            _ => "write the path itself",
        },
    })
}

/// A call that names no file and no command where the tool needs one, as only another client makes it.
fn malformed(rules: &Rules, call: &Call<'_>, field: &str, access: Option<Access>) -> Option<Question> {
    let is_for_tool = |rule: &ToolRule| {
        rule.action != Action::Allow && rule.whom.is(call.agent) && rule.is_for_tool(call.tool)
    };
    let reads = || !rules.unreadable.is_empty(call.agent);
    let writes = || {
        !rules.uneditable.is_empty(call.agent)
            || !rules.additions.is_empty(call.agent)
            || rules.root_additions.is_some()
            || rules.git_ignored.is_some()
    };
    let is_guarded = match access {
        Some(Access::Read) => reads(),
        Some(_) => writes(),
        None => reads() || writes(),
    };
    (is_guarded || rules.tools.iter().any(is_for_tool)).then(|| Question {
        what: format!("using {}", call.tool),
        matched: call.tool.to_owned(),
        rule: format!("its `{field}` is missing or cannot be read, so what it does is not known"),
        advice: "give it as one text, without NUL",
    })
}

fn work_tree(
    rules: &Rules,
    call: &Call<'_>,
    command: &str,
    directory: &Path,
    extent: Extent,
) -> Option<Question> {
    if rules.uneditable.is_empty(call.agent) {
        return None;
    }
    let is_protected = |path: &Path, is_directory| {
        let location = call.ground.location(path, is_directory);
        rules.uneditable.protecting(&location, call.agent, Watch::default(), call.ground.budget).is_some()
    };
    let found = match git::files_of(directory, extent, call.ground.budget) {
        Ok(Some(files)) => {
            Some(files.into_iter().find(|file| call.ground.budget.is_over() || is_protected(file, false)))
        }
        // Where git cannot say which files are its own, all count. What it keeps itself is no part of the work tree.
        Ok(None) | Err(_) => {
            let is_kept = |path: &Path| path.file_name().is_some_and(|name| name == ".git");
            first_below(call.ground.root, call.visited, call.ground.budget, |path, kind| {
                !is_kept(path) && is_protected(path, kind.is_dir())
            })
        }
    };
    let such_as = match found {
        Some(None) => return None,
        Some(Some(path)) => format!(", such as {}", call.ground.location(&path, false).shown()),
        None => String::new(),
    };
    // Files that another command lists are not written in this one.
    let is_listed = command.split(' ').any(|word| word == WORK_TREE);
    let written = if is_listed { start(call.command.unwrap_or(command)) } else { command };
    Some(Question {
        what: format!("running `{}`", shown(written)),
        matched: written.to_owned(),
        rule: format!("it may change protected files of the work tree{such_as}"),
        advice: "name the files that it should change",
    })
}

fn doubtful(rules: &Rules, call: &Call<'_>, effects: &Effects, doubt: &Doubt) -> Option<Question> {
    match doubt {
        Doubt::InlineCode { interpreter, text, bases } => {
            let word = guarded_word(rules, call, bases, text)?;
            Some(Question {
                what: format!("running code in {interpreter} that names `{word}`"),
                matched: word,
                rule: "what it does to that file cannot be known".into(),
                advice: "use a tool for files instead",
            })
        }
        Doubt::UnknownProgram { words, bases } => {
            // A word with blanks is a text, such as a title.
            let mut arguments = words.iter().skip(1).filter(|word| !word.contains(char::is_whitespace));
            let word = arguments.find_map(|word| guarded_word(rules, call, bases, word))?;
            Some(Question {
                what: format!("running `{}` with `{word}`", clean_line(words.first()?)),
                matched: word,
                rule: "what it does to that file is not known".into(),
                advice: "use a tool for files instead",
            })
        }
        Doubt::UnknownScript { interpreter, command } => {
            let is_guarded = rules.has_guards(call.agent) && !allows(rules, call, effects, *command);
            is_guarded.then(|| Question {
                what: format!("running code in {}", clean_line(interpreter)),
                matched: start(call.command.unwrap_or_default()).to_owned(),
                rule: "which commands that are is not known before they run".into(),
                advice: "write the commands themselves",
            })
        }
        doubt => rules.has_guards(call.agent).then(|| Question {
            what: "running this command".into(),
            matched: start(call.command.unwrap_or_default()).to_owned(),
            rule: doubt.to_string(),
            advice: "write it more simply, in several commands",
        }),
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
        guards.any(|rules| {
            rules.protecting_any(&touch.names, call.agent, Watch::default(), call.ground.budget).is_some()
        })
    };
    candidates.take(10_000).find(|word| directories.iter().any(|cwd| is_guarded(cwd, word))).map(clean_line)
}
