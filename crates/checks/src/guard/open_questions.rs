//! Questions to the user: what cannot be decided, if a rule could be against it, and rules that cannot be used.

use std::path::{Path, PathBuf};

use super::call::{Finding, ToolCall, doing, shown, start};
use super::comparison_log::ComparisonLog;
use super::resolve::{Effects, Ground, Uncertainty};
use super::rules::{Action, GuardRules, ToolRule};
use super::search::first_below;
use super::tool_checks::allows;
use conclaude_core::config::{GuardedCalls, UnusableRules, file_name};
use conclaude_core::dialect::claude::tools::{SHELL, ToolUse, is_ruled_as_shell};
use conclaude_core::rule::Rule;
use conclaude_core::text::clean_line;
use conclaude_os::git;
use shell_effects::{Access, Base, Doubt, Extent, WORK_TREE};

/// A question to the user, with the reason and an alternative.
struct UserQuestion {
    what: String,
    matched: String,
    rule: String,
    advice: &'static str,
}

pub(super) fn open_question(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    effects: &Effects,
    unclear: &Uncertainty,
) -> Option<Finding> {
    let question = match unclear {
        Uncertainty::Path { access, written } => unknown_path(rules, call, *access, written),
        Uncertainty::WorkTree { command, directory, extent } => {
            work_tree(rules, call, &WorkTreeChange { command, directory, extent: *extent })
        }
        Uncertainty::Doubt(doubt) => doubtful(rules, call, effects, doubt),
        Uncertainty::Input { field, access } => malformed(rules, call, field, *access),
        // `check` compares it with the rules for files.
        Uncertainty::Named { .. } => None,
    };
    let UserQuestion { what, matched, rule, advice } = question?;
    let origin = Rule::built_in("what cannot be decided is asked");
    Some(Finding { action: Action::Ask, what, rule, advice: advice.into(), origin, matched })
}

fn unknown_path(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    access: Access,
    written: &str,
) -> Option<UserQuestion> {
    let guards = if access == Access::Read { &rules.unreadable } else { &rules.uneditable };
    if guards.is_empty(call.agent) {
        return None;
    }
    let advice = if written.starts_with("the files in ") {
        "extract into a directory of its own (`-C`, `-d`), or let the user confirm it"
    } else if written.starts_with("the files of ") {
        "change the files one by one, or let the user confirm it"
    } else {
        "write the path itself"
    };
    Some(UserQuestion {
        what: format!("{} `{}`", doing(access), clean_line(written)),
        matched: written.to_owned(),
        rule: "which file that is cannot be known before it runs".into(),
        advice,
    })
}

/// A call without the file or the command that its tool needs. Claude Code does not make such calls.
fn malformed(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    field: &str,
    access: Option<Access>,
) -> Option<UserQuestion> {
    let is_for_tool = |rule: &ToolRule| {
        rule.action != Action::Allow && rule.agents.include(call.agent) && rule.is_for_tool(call.tool)
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
    if !is_guarded && !rules.tools.iter().any(is_for_tool) {
        return None;
    }
    Some(UserQuestion {
        what: format!("using {}", call.tool),
        matched: call.tool.to_owned(),
        rule: format!("its `{field}` is missing or cannot be read, so what it does is not known"),
        advice: "give it as one text, without NUL",
    })
}

/// A command that may change all files of a work tree.
struct WorkTreeChange<'a> {
    command: &'a str,
    directory: &'a Path,
    extent: Extent,
}

fn work_tree(rules: &GuardRules, call: &ToolCall<'_>, change: &WorkTreeChange<'_>) -> Option<UserQuestion> {
    let WorkTreeChange { command, directory, extent } = *change;
    if rules.uneditable.is_empty(call.agent) {
        return None;
    }
    let is_protected = |path: &Path, is_directory| {
        let location = call.ground.location(path, is_directory);
        rules
            .uneditable
            .protecting(&location, call.agent, ComparisonLog::default(), call.ground.budget)
            .is_some()
    };
    let found = match git::files_of(directory, extent, call.ground.budget) {
        Ok(Some(files)) => {
            Some(files.into_iter().find(|file| call.ground.budget.is_over() || is_protected(file, false)))
        }
        // If git cannot list its files, all files count. `.git` is not part of the work tree.
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
    // `git ls-files | xargs …`: the command itself does not name the files, so the whole text is shown.
    let is_listed = command.split(' ').any(|word| word == WORK_TREE);
    let written = if is_listed { start(call.command.unwrap_or(command)) } else { command };
    Some(UserQuestion {
        what: format!("running `{}`", shown(written)),
        matched: written.to_owned(),
        rule: format!("it may change protected files of the work tree{such_as}"),
        advice: "name the files that it should change",
    })
}

fn doubtful(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    effects: &Effects,
    doubt: &Doubt,
) -> Option<UserQuestion> {
    match doubt {
        Doubt::InlineCode { interpreter, text, bases, .. } => {
            let word = guarded_word(rules, call, bases, text)?;
            Some(UserQuestion {
                what: format!("running code in {interpreter} that names `{word}`"),
                matched: word,
                rule: "what it does to that file cannot be known".into(),
                advice: "use a tool for files instead",
            })
        }
        Doubt::UnknownProgram { words, bases } => {
            // A word with spaces is prose, such as a title.
            let mut arguments = words.iter().skip(1).filter(|word| !word.contains(char::is_whitespace));
            let word = arguments.find_map(|word| guarded_word(rules, call, bases, word))?;
            Some(UserQuestion {
                what: format!("running `{}` with `{word}`", clean_line(words.first()?)),
                matched: word,
                rule: "what it does to that file is not known".into(),
                advice: "use a tool for files instead",
            })
        }
        Doubt::UnknownScript { interpreter, command } => {
            let is_guarded = rules.has_guards(call.agent) && !allows(rules, call, effects, *command);
            if !is_guarded {
                return None;
            }
            Some(UserQuestion {
                what: format!("running code in {}", clean_line(interpreter)),
                matched: start(call.command.unwrap_or_default()).to_owned(),
                rule: "which commands that are is not known before they run".into(),
                advice: "write the commands themselves",
            })
        }
        _ if !rules.has_guards(call.agent) => None,
        doubt => Some(UserQuestion {
            what: "running this command".into(),
            matched: start(call.command.unwrap_or_default()).to_owned(),
            rule: doubt.to_string(),
            advice: "write it more simply, in several commands",
        }),
    }
}

/// The first word of a text that names a protected file in one of the directories.
fn guarded_word(rules: &GuardRules, call: &ToolCall<'_>, bases: &[Base], text: &str) -> Option<String> {
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
            rules
                .protecting_any(&touch.names, call.agent, ComparisonLog::default(), call.ground.budget)
                .is_some()
        })
    };
    candidates.take(10_000).find(|word| directories.iter().any(|cwd| is_guarded(cwd, word))).map(clean_line)
}

/// A call, for rules that cannot be used.
pub struct UncheckedCall<'a> {
    pub tool: &'a str,
    pub used: ToolUse<'a>,
    pub effects: &'a Effects,
    /// It is a `PermissionRequest`: the user is asked already, and a rule might answer.
    pub is_request: bool,
}

/// Asks the user if any of these rules might be against the call.
pub fn unusable_rules(rules: &[UnusableRules], call: &UncheckedCall<'_>, root: &Path) -> Option<Finding> {
    let mut concerned = rules.iter().filter(|rules| call.is_request || is_about(&rules.calls, call));
    let first = concerned.next()?;
    let file = file_name(&first.path, Some(root));
    let position = first.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    let more = match concerned.count() {
        0 => String::new(),
        more => format!(" (and {more} more like it)"),
    };
    let (what, matched) = match call.used {
        ToolUse::File { access, path } => (format!("{} {path}", doing(access)), path),
        ToolUse::Shell(command) | ToolUse::PowerShell(command) => ("running this command".into(), command),
        ToolUse::Other => (format!("using {}", call.tool), call.tool),
    };
    Some(Finding {
        action: Action::Ask,
        what,
        rule: format!("rules in {position} cannot be used, and might be against it: {}{more}", first.why),
        advice: "let the user fix the config; `conclaude validate` shows every problem".into(),
        origin: Rule::built_in("rules that cannot be used are asked about"),
        matched: matched.to_owned(),
    })
}

fn is_about(calls: &GuardedCalls, call: &UncheckedCall<'_>) -> bool {
    let touches = |wanted: fn(Access) -> bool| {
        let is_wanted = |unclear: &Uncertainty| match unclear {
            Uncertainty::Path { access, .. } | Uncertainty::Named { access, .. } => wanted(*access),
            Uncertainty::Input { access, .. } => access.is_none_or(wanted),
            Uncertainty::WorkTree { .. } | Uncertainty::Doubt(_) => true,
        };
        matches!(call.used, ToolUse::File { access, .. } if wanted(access))
            || call.effects.touches.iter().any(|touch| wanted(touch.access))
            || call.effects.unclear.iter().any(is_wanted)
    };
    match calls {
        GuardedCalls::Writing => touches(|access| access != Access::Read),
        GuardedCalls::Reading => touches(|access| matches!(access, Access::Read | Access::Link)),
        GuardedCalls::Anything => call.used != ToolUse::Other || touches(|_| true),
        GuardedCalls::Tools(glob) => {
            let matches = |tool: &str| glob.matches(tool).unwrap_or(true);
            matches(call.tool) || is_ruled_as_shell(call.tool, false) && matches(SHELL)
        }
        GuardedCalls::Permissions => false,
    }
}
