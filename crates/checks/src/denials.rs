//! Finds the rule if the sandbox or a permission rule refused something. Neither gives a reason.

use std::path::Path;

use crate::enforce::{CompiledRules, RuleEnforcement};
use crate::guard::{self, Ground, Touch};
use conclaude_core::dialect::claude::sandbox::refusal::{SandboxRefusal, refusal_in};
use shell_effects::Access;

/// The rest of a longer output is not searched.
const MAX_LINES: usize = 2_000;

/// Further words of a line, or of a command, are not compared.
const MAX_WORDS: usize = 2_000;

/// A refused file and its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial<'a> {
    pub rule: &'a RuleEnforcement,
    /// As messages show it.
    pub file: String,
    pub writes: bool,
}

/// A finished shell command and its output.
pub struct FinishedShell<'a> {
    pub ground: Ground<'a>,
    pub command: &'a str,
    pub output: &'a str,
}

/// The files of a command, as far as its text shows them.
struct CommandFiles {
    touches: Vec<Touch>,
    /// It does nothing to other files.
    are_all: bool,
    /// Whether the effects of each simple command are complete.
    tells_all: Vec<bool>,
}

impl CommandFiles {
    /// Whether the command may have tried to use a file.
    fn may_have(&self, file: &Touch) -> bool {
        let is_above = |touch: &Touch| Path::new(file.named()).starts_with(touch.named());
        !self.are_all || self.touches.iter().any(is_above)
    }

    /// Whether it prints a file that is not denied, as `cat build.log` does. Then a line that names no file may come from that
    /// one.
    fn prints_others(&self, is_denied: impl Fn(&Touch) -> bool) -> bool {
        let tells_all = |touch: &Touch| {
            touch.command.and_then(|command| self.tells_all.get(command)).copied().unwrap_or(false)
        };
        self.touches.iter().any(|touch| {
            touch.access == Access::Read && touch.exists && tells_all(touch) && !is_denied(touch)
        })
    }
}

impl<'a> FinishedShell<'a> {
    /// The files that the sandbox refused, each rule once. A line that names other files is skipped.
    #[must_use]
    pub fn denials<'c>(&self, compiled: &'c CompiledRules) -> Vec<Denial<'c>> {
        let mut found: Vec<Denial<'c>> = Vec::new();
        let lines = self.output.lines().take(MAX_LINES);
        let mut files: Option<CommandFiles> = None;
        for (line, refusal) in lines.filter_map(|line| Some((line, refusal_in(line)?))) {
            let files = files.get_or_insert_with(|| self.files());
            for denial in self.of_line(line, refusal, files, compiled) {
                if !found.iter().any(|known| known.rule.rule == denial.rule.rule) {
                    found.push(denial);
                }
            }
        }
        found
    }

    fn of_line<'c>(
        &self,
        line: &str,
        refusal: SandboxRefusal,
        files: &CommandFiles,
        compiled: &'c CompiledRules,
    ) -> Vec<Denial<'c>> {
        let (mut found, mut names_other) = (Vec::new(), false);
        for word in words(line) {
            let named = self.named(word, &files.touches);
            let denials: Vec<Denial<'c>> = named
                .iter()
                .filter(|touch| files.may_have(touch))
                .filter_map(|touch| denial(touch, refusal, compiled))
                .collect();
            names_other |= denials.is_empty() && named.iter().any(|touch| word.contains('/') || touch.exists);
            found.extend(denials);
        }
        let is_denied = |touch: &Touch| denial(touch, refusal, compiled).is_some();
        if !found.is_empty() || names_other || files.prints_others(is_denied) {
            return found;
        }
        // `Error: Permission denied (os error 13)`: only the command shows the file.
        let spoken: Vec<Touch> = words(self.command).flat_map(|word| self.named(word, &[])).collect();
        let spoken = spoken.iter().filter(|touch| files.may_have(touch));
        files.touches.iter().chain(spoken).filter_map(|touch| denial(touch, refusal, compiled)).collect()
    }

    fn files(&self) -> CommandFiles {
        let script = guard::read_shell(self.command, self.ground.home, self.ground.cwd, self.ground.budget);
        let effects = self.ground.on_files(&script);
        let tells_all: Vec<bool> = script.commands.iter().map(|command| command.tells_all()).collect();
        let are_all = effects.unclear.is_empty() && tells_all.iter().all(|tells_all| *tells_all);
        CommandFiles { touches: effects.touches, are_all, tells_all }
    }

    /// The files that a word may name: in the current directory, or in another one that the command names.
    fn named(&self, word: &str, touches: &[Touch]) -> Vec<Touch> {
        let ending = format!("/{}", word.trim_start_matches("./"));
        let elsewhere = touches.iter().filter(|touch| touch.named().ends_with(&ending)).cloned();
        let here = self.ground.touch(Access::Read, word);
        elsewhere.chain([here]).collect()
    }
}

/// The possible paths in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "'\"`‘’“”()[]{}<>:;,=|&".contains(c);
    let words = text.split(is_between).map(|word| word.trim_end_matches('.'));
    words.filter(|word| !word.is_empty() && !word.starts_with('-') && *word != "/").take(MAX_WORDS)
}

fn denial<'c>(touch: &Touch, refusal: SandboxRefusal, compiled: &'c CompiledRules) -> Option<Denial<'c>> {
    let covering = |writes: bool| {
        let named = touch.names.iter().filter_map(|name| Some((name, compiled.covering(name, writes)?)));
        let mut denied = named.filter(|(name, rule)| compiled.denies(rule, name, writes));
        denied.next().map(|(_, rule)| rule)
    };
    let (rule, writes) = match refusal {
        SandboxRefusal::Unreadable => (covering(false)?, false),
        // An unreadable file is unwritable as well.
        SandboxRefusal::Unwritable => (covering(true).or_else(|| covering(false))?, true),
        SandboxRefusal::Busy => {
            let inside = || touch.names.iter().find_map(|name| compiled.inside(&name.absolute));
            (covering(true).or_else(|| covering(false)).or_else(inside)?, true)
        }
    };
    Some(Denial { rule, file: touch.shown().to_owned(), writes })
}

/// The rule for a file that a tool of Claude Code names, if a permission rule refused the call.
#[must_use]
pub fn of_file<'c>(touch: &Touch, compiled: &'c CompiledRules) -> Option<Denial<'c>> {
    let writes = touch.access != Access::Read;
    let covering = |writes: bool| touch.names.iter().find_map(|name| compiled.covering(name, writes));
    let rule = if writes { covering(true).or_else(|| covering(false)) } else { covering(false) }?;
    if !rule.has_permission {
        return None;
    }
    Some(Denial { rule, file: touch.shown().to_owned(), writes })
}

/// Like `of_file`, but for a shell command that did not run because of its files.
#[must_use]
pub fn of_unrun<'c>(ground: &Ground<'_>, command: &str, compiled: &'c CompiledRules) -> Vec<Denial<'c>> {
    let script = guard::read_shell(command, ground.home, ground.cwd, ground.budget);
    let mut found: Vec<Denial<'c>> = Vec::new();
    for denial in ground.on_files(&script).touches.iter().filter_map(|touch| of_file(touch, compiled)) {
        if !found.iter().any(|known| known.rule.rule == denial.rule.rule) {
            found.push(denial);
        }
    }
    found
}
