//! The rules against what a call touches. A denial counts more than a question, a question more than nothing.

use std::fmt;
use std::path::Path;

use super::resolve::{Effects, Ground, Touch, Unclear, first_below};
use super::rules::{Action, FileRule, FileRules, Origin, Rules, ToolRule};
use crate::deadline;
use crate::file_pattern::Location;
use crate::shell::{Access, Doubt};

/// A tool call and who makes it.
pub(crate) struct Call<'a> {
    pub(crate) ground: Ground<'a>,
    pub(crate) tool: &'a str,
    /// The text of a shell tool.
    pub(crate) command: Option<&'a str>,
    /// The subagent's name; `main` for the main thread.
    pub(crate) agent: &'a str,
    pub(crate) is_subagent: bool,
    /// The worktree that the agent works in.
    pub(crate) worktree: Option<&'a Path>,
    /// Whether a path is one of our own files, or of what registers us.
    pub(crate) is_own: &'a dyn Fn(&Path) -> bool,
    /// Whether git ignores a path.
    pub(crate) is_ignored: &'a dyn Fn(&Path) -> bool,
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) action: Action,
    /// What would happen to which path or command.
    pub(crate) what: String,
    /// The rule, and where it is written.
    pub(crate) rule: String,
    pub(crate) advice: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  {}", self.what, self.rule, self.advice)
    }
}

/// All that the rules have against a call; empty if it is free.
pub(crate) fn check(rules: &Rules, call: &Call<'_>, effects: &Effects) -> Vec<Finding> {
    let mut found = Vec::new();
    for touch in &effects.touches {
        if deadline::is_over() {
            found.push(Finding {
                action: Action::Block,
                what: format!("using {}", call.tool),
                rule: format!("the guards could not look at all that it touches: {}", deadline::exceeded()),
                advice: "do it in smaller steps, or let the user shorten the guards".into(),
            });
            return found;
        }
        own_files(call, touch, &mut found);
        fence(rules, call, touch, &mut found);
        files(rules, call, touch, &mut found);
        additions(rules, call, touch, &mut found);
    }
    tools(rules, call, effects, &mut found);
    for unclear in &effects.unclear {
        undecided(rules, call, unclear, &mut found);
    }
    found.dedup();
    found
}

fn writes(access: Access) -> bool {
    matches!(access, Access::Write | Access::Update | Access::MakeDirectory | Access::Link)
}

fn reads(access: Access) -> bool {
    matches!(access, Access::Read | Access::Link)
}

fn doing(access: Access) -> &'static str {
    match access {
        Access::Read => "reading",
        Access::Delete => "deleting",
        Access::MakeDirectory => "creating the directory",
        Access::Link => "linking",
        Access::Write | Access::Update => "writing",
    }
}

fn named(origin: &Origin, written: &str) -> String {
    match (written.is_empty(), origin.position.is_empty()) {
        (true, true) => format!("`{}`", origin.key),
        (true, false) => format!("`{}` in {}", origin.key, origin.position),
        (false, true) => format!("`{}` has `{written}`", origin.key),
        (false, false) => format!("`{}` has `{written}` in {}", origin.key, origin.position),
    }
}

fn own_files(call: &Call<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    if touch.access == Access::Read {
        return;
    }
    let is_own = |path: &Path| (call.is_own)(path);
    let lexical = touch.names.iter().any(|name| is_own(Path::new(&name.absolute)));
    let inside = touch.with_contents.then(|| first_below(&touch.path, |path, _| is_own(path)));
    if !lexical && !is_own(&touch.path) && !matches!(inside, Some(Some(Some(_)) | None)) {
        return;
    }
    let (action, advice) = if call.is_subagent {
        (Action::Block, "leave it as it is, and report what you would have changed")
    } else {
        (Action::Ask, "the user decides whether the rules change")
    };
    found.push(Finding {
        action,
        what: format!("{} {}", doing(touch.access), touch.shown()),
        rule: "it belongs to conclaude's own config, state or registration".into(),
        advice: advice.into(),
    });
}

fn fence(rules: &Rules, call: &Call<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    let (Some(switch), Some(worktree)) = (&rules.worktree_fence, call.worktree) else { return };
    let is_temporary = call.ground.is_temporary(&touch.path);
    let real = crate::des::paths::real_path(worktree);
    if touch.access == Access::Read || is_temporary || touch.path.starts_with(real) {
        return;
    }
    found.push(Finding {
        action: Action::Block,
        what: format!("{} {}", doing(touch.access), touch.shown()),
        rule: format!("{}: it is outside of this agent's worktree", named(&switch.origin, "")),
        advice: format!("write below {}", worktree.display()),
    });
}

fn files(rules: &Rules, call: &Call<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    if writes(touch.access) || touch.access == Access::Delete {
        protected(&rules.uneditable, call, touch, "it may not be changed", found);
    }
    if reads(touch.access) {
        protected(&rules.unreadable, call, touch, "it may not be read", found);
    }
}

fn protected(rules: &FileRules, call: &Call<'_>, touch: &Touch, why: &str, found: &mut Vec<Finding>) {
    if rules.is_empty(call.agent) {
        return;
    }
    let mut add = |rule: &FileRule, path: &str| {
        found.push(Finding {
            action: Action::Block,
            what: format!("{} {path}", doing(touch.access)),
            rule: named(&rule.origin, &rule.written),
            advice: rule
                .message
                .clone()
                .unwrap_or_else(|| format!("{why}; do it another way, or ask the user")),
        });
    };
    if let Some(rule) = rules.protecting_any(&touch.names, call.agent) {
        return add(rule, touch.shown());
    }
    // What is unpacked outside of the project is not searched for names that are protected everywhere.
    let is_outside = touch.names.iter().all(|name| name.relative.is_none());
    if !touch.with_contents || touch.access == Access::Read || (is_outside && touch.access == Access::Write) {
        return;
    }
    let inside = first_below(&touch.path, |path, is_directory| {
        rules.protecting(&call.ground.location(path, is_directory), call.agent).is_some()
    });
    match inside {
        Some(None) => {}
        Some(Some(path)) => {
            let location = call.ground.location(&path, path.is_dir());
            if let Some(rule) = rules.protecting(&location, call.agent) {
                add(rule, &format!("{}, which contains {}", touch.shown(), location.shown()));
            }
        }
        None => found.push(Finding {
            // Nobody waits for an answer that took too long.
            action: if deadline::is_over() { Action::Block } else { Action::Ask },
            what: format!("{} {}", doing(touch.access), touch.shown()),
            rule: "the directory has too many files to look for protected ones in time".into(),
            advice: "name the files, or ask the user".into(),
        }),
    }
}

fn additions(rules: &Rules, call: &Call<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    if !writes(touch.access) {
        return;
    }
    let mut add = |rule: String, advice: String| {
        let what = format!("{} {}", doing(touch.access), touch.shown());
        found.push(Finding { action: Action::Block, what, rule, advice });
    };
    if !touch.exists {
        let is_in_root = |location: &Location| {
            location.relative.as_deref().is_some_and(|path| !path.is_empty() && !path.contains('/'))
        };
        if let Some(switch) = &rules.root_additions
            && touch.names.iter().any(is_in_root)
        {
            add(
                named(&switch.origin, ""),
                "new files belong into a directory below the project's root".into(),
            );
        }
        if let Some(rule) = rules.additions.protecting_any(&touch.names, call.agent) {
            let advice = rule.message.clone().unwrap_or_else(|| "change a file that exists instead".into());
            add(named(&rule.origin, &rule.written), advice);
        }
    }
    if let Some(switch) = &rules.git_ignored
        && touch.access != Access::MakeDirectory
        && (call.is_ignored)(&touch.path)
    {
        add(
            named(&switch.origin, ""),
            "git ignores this file, so it is made by something: change that instead".into(),
        );
    }
}

/// `toolUsageValidation`: for each simple command, or for the call itself, the first rule that matches decides.
fn tools(rules: &Rules, call: &Call<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    let units: Vec<Option<usize>> = match effects.commands.len() {
        0 => vec![None],
        several => (0..several).map(Some).collect(),
    };
    for unit in units {
        let Some(rule) = rules.tools.iter().find(|rule| matches(rule, call, effects, unit)) else { continue };
        if rule.action == Action::Allow {
            continue;
        }
        let what = match unit.and_then(|index| effects.commands.get(index)) {
            Some(command) => format!("running `{}`", crate::text::clean_line(command)),
            None => format!("using {}", call.tool),
        };
        found.push(Finding {
            action: rule.action,
            what,
            rule: named(&rule.origin, &rule.written),
            advice: rule.message.clone().unwrap_or_else(|| "do it another way, or ask the user".into()),
        });
    }
}

fn matches(rule: &ToolRule, call: &Call<'_>, effects: &Effects, unit: Option<usize>) -> bool {
    let is_allowing = rule.action == Action::Allow;
    if !rule.tool.matches(call.tool).unwrap_or(!is_allowing) || !rule.whom.is(call.agent) {
        return false;
    }
    let of_unit = |touch: &&Touch| touch.command == unit || touch.command.is_none();
    let file = rule.pattern.as_ref().is_none_or(|pattern| {
        let mut touched = effects.touches.iter().filter(of_unit).peekable();
        let covers = |touch: &Touch| touch.names.iter().any(|name| pattern.covers(name));
        // Every file must be allowed, any file can be blocked.
        if is_allowing { touched.peek().is_some() && touched.all(covers) } else { touched.any(covers) }
    });
    let command = rule.command.as_ref().is_none_or(|pattern| {
        let own = unit.and_then(|index| effects.commands.get(index));
        // The whole text only blocks: what follows an allowed command is not allowed by it.
        let whole = call.command.filter(|_| !is_allowing || effects.commands.len() <= 1);
        own.is_some_and(|text| pattern.matches(text, !is_allowing))
            || whole.is_some_and(|text| pattern.matches(text.trim(), !is_allowing))
    });
    file && command
}

/// What cannot be decided is asked about, where a rule could have something against it.
fn undecided(rules: &Rules, call: &Call<'_>, unclear: &Unclear, found: &mut Vec<Finding>) {
    let has_uneditable = !rules.uneditable.is_empty(call.agent);
    let has_unreadable = !rules.unreadable.is_empty(call.agent);
    let mut ask = |what: String, rule: &str, advice: &str| {
        found.push(Finding { action: Action::Ask, what, rule: rule.into(), advice: advice.into() });
    };
    match unclear {
        Unclear::Path { access, written } => {
            let is_guarded = if *access == Access::Read { has_unreadable } else { has_uneditable };
            if is_guarded {
                let what = format!("{} `{}`", doing(*access), crate::text::clean_line(written));
                ask(what, "which file that is cannot be known before it runs", "write the path itself");
            }
        }
        Unclear::WorkTree { command } => {
            let inside = first_below(call.ground.root, |path, is_directory| {
                rules.uneditable.protecting(&call.ground.location(path, is_directory), call.agent).is_some()
            });
            if has_uneditable && !matches!(inside, Some(None)) {
                let what = format!("running `{}`", crate::text::clean_line(command));
                ask(
                    what,
                    "it may change protected files of the work tree",
                    "name the files that it should change",
                );
            }
        }
        Unclear::Doubt(Doubt::InlineCode { interpreter, text }) => {
            if let Some(word) = guarded_word(rules, call, text) {
                let what = format!("running code in {interpreter} that names `{word}`");
                ask(what, "what it does to that file cannot be known", "use a tool for files instead");
            }
        }
        Unclear::Doubt(Doubt::UnknownProgram { words }) => {
            // A word with blanks is a text, such as a title.
            let arguments = words.iter().skip(1).filter(|word| !word.contains(char::is_whitespace));
            let named = arguments.into_iter().find_map(|word| guarded_word(rules, call, word));
            if let (Some(program), Some(word)) = (words.first(), named) {
                let what = format!("running `{}` with `{word}`", crate::text::clean_line(program));
                ask(what, "what it does to that file is not known", "use a tool for files instead");
            }
        }
        Unclear::Doubt(doubt) => {
            if rules.has_guards(call.agent) {
                let why = match doubt {
                    Doubt::TooLong => "it is longer than 64 KiB".to_owned(),
                    Doubt::TooDeep => "it is nested too deeply".to_owned(),
                    Doubt::Unparsable(reason) => format!("it cannot be parsed: {reason}"),
                    _ => "it cannot be understood".to_owned(),
                };
                ask("running this command".into(), &why, "write it more simply, in several commands");
            }
        }
    }
}

/// The first word of a text that is a protected file.
fn guarded_word(rules: &Rules, call: &Call<'_>, text: &str) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || "./_-~@+*?".contains(c);
    let words = text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty());
    // `--file=x` and `-fx` name `x`.
    let candidates =
        words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]).flatten();
    candidates.take(10_000).find_map(|word| {
        let touch = call.ground.touch(Access::Link, word);
        let is_guarded = rules.uneditable.protecting_any(&touch.names, call.agent).is_some()
            || rules.unreadable.protecting_any(&touch.names, call.agent).is_some();
        is_guarded.then(|| crate::text::clean_line(word))
    })
}
