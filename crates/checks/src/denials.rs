//! Which rule it was when the sandbox or a permission rule refused something. Neither gives a reason.

use std::path::Path;

use crate::enforce::{Compiled, EnforcementClass, RuleEnforcement};
use crate::guard::{self, Ground, Touch};
use conclaude_core::dialect::claude::sandbox::refusal::{SandboxRefusal, refusal_in};
use shell_effects::Access;

/// A longer output is not searched to its end.
const MAX_LINES: usize = 2_000;

/// Further words of a line, or of a command, are not compared.
const MAX_WORDS: usize = 2_000;

/// A file that was refused, and the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial<'a> {
    pub rule: &'a RuleEnforcement,
    /// As messages show it.
    pub file: String,
    pub writes: bool,
}

/// A shell command that has run, and what it printed.
pub struct FinishedShell<'a> {
    pub ground: Ground<'a>,
    pub command: &'a str,
    pub output: &'a str,
}

impl<'a> FinishedShell<'a> {
    /// The files that the sandbox refused, each rule once. A line that names other files is not about ours.
    #[must_use]
    pub fn denials<'c>(&self, compiled: &'c Compiled) -> Vec<Denial<'c>> {
        let mut found: Vec<Denial<'c>> = Vec::new();
        let lines = self.output.lines().take(MAX_LINES);
        let mut touches: Option<Vec<Touch>> = None;
        for (line, refusal) in lines.filter_map(|line| Some((line, refusal_in(line)?))) {
            let touches = touches.get_or_insert_with(|| self.touches());
            for denial in self.of_line(line, refusal, touches, compiled) {
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
        touches: &[Touch],
        compiled: &'c Compiled,
    ) -> Vec<Denial<'c>> {
        let (mut found, mut names_other) = (Vec::new(), false);
        for word in words(line) {
            let named = self.named(word, touches);
            let denials: Vec<Denial<'c>> =
                named.iter().filter_map(|touch| denial(touch, refusal, compiled)).collect();
            names_other |= denials.is_empty() && named.iter().any(|touch| word.contains('/') || touch.exists);
            found.extend(denials);
        }
        if !found.is_empty() || names_other {
            return found;
        }
        // `Error: Permission denied (os error 13)`: only the command says which file it was.
        let spoken: Vec<Touch> = words(self.command).flat_map(|word| self.named(word, &[])).collect();
        touches.iter().chain(&spoken).filter_map(|touch| denial(touch, refusal, compiled)).collect()
    }

    /// The files of the command, as far as its text shows them.
    fn touches(&self) -> Vec<Touch> {
        let script = guard::read_shell(self.command, self.ground.home, self.ground.cwd);
        self.ground.on_files(&script).touches
    }

    /// The files that a word may be: in the current directory, or one that the command names in another.
    fn named(&self, word: &str, touches: &[Touch]) -> Vec<Touch> {
        let ending = format!("/{}", word.trim_start_matches("./"));
        let elsewhere = touches.iter().filter(|touch| touch.named().ends_with(&ending)).cloned();
        let here = self.ground.touch(Access::Read, word);
        elsewhere.chain([here]).collect()
    }
}

/// What may be paths in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "'\"`‘’“”()[]{}<>:;,=|&".contains(c);
    let words = text.split(is_between).map(|word| word.trim_end_matches('.'));
    words.filter(|word| !word.is_empty() && !word.starts_with('-') && *word != "/").take(MAX_WORDS)
}

fn denial<'c>(touch: &Touch, refusal: SandboxRefusal, compiled: &'c Compiled) -> Option<Denial<'c>> {
    let covering = |writes: bool| {
        let mut names = touch.names.iter().filter_map(|name| compiled.covering(name, writes));
        names.find(|rule| is_in_force(rule, touch, compiled))
    };
    let (rule, writes) = match refusal {
        SandboxRefusal::Unreadable => (covering(false)?, false),
        // What may not be read may not be written either.
        SandboxRefusal::Unwritable => match covering(true) {
            Some(rule) => (rule, true),
            None => (covering(false)?, true),
        },
    };
    Some(Denial { rule, file: touch.shown().to_owned(), writes })
}

/// Whether the settings have the file. One that a pattern for writing matches may be too new.
fn is_in_force(rule: &RuleEnforcement, touch: &Touch, compiled: &Compiled) -> bool {
    let is_listed = |listed: &str| {
        let relative = touch.names.iter().filter_map(|name| name.relative.as_deref());
        relative.into_iter().any(|path| Path::new(path).starts_with(listed))
    };
    match rule.class {
        EnforcementClass::Os => true,
        EnforcementClass::ExistingFiles => compiled.listed.iter().any(|file| is_listed(&file.path)),
        EnforcementClass::HookOnly => false,
    }
}

/// The rule for a file that a tool of Claude Code names, where a permission rule refused the call.
#[must_use]
pub fn of_file<'c>(touch: &Touch, compiled: &'c Compiled) -> Option<Denial<'c>> {
    let writes = touch.access != Access::Read;
    let covering = |writes: bool| touch.names.iter().find_map(|name| compiled.covering(name, writes));
    let rule = if writes { covering(true).or_else(|| covering(false)) } else { covering(false) }?;
    if rule.class == EnforcementClass::HookOnly {
        return None;
    }
    Some(Denial { rule, file: touch.shown().to_owned(), writes })
}

/// The same for a shell command that was not run because of the files that it names.
#[must_use]
pub fn of_unrun<'c>(ground: &Ground<'_>, command: &str, compiled: &'c Compiled) -> Vec<Denial<'c>> {
    let script = guard::read_shell(command, ground.home, ground.cwd);
    let mut found: Vec<Denial<'c>> = Vec::new();
    for denial in ground.on_files(&script).touches.iter().filter_map(|touch| of_file(touch, compiled)) {
        if !found.iter().any(|known| known.rule.rule == denial.rule.rule) {
            found.push(denial);
        }
    }
    found
}
