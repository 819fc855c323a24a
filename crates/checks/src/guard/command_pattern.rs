//! The command pattern of a rule. It is compared with a simple command in each of its forms.

mod scope;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;
use std::sync::OnceLock;

use super::resolve::Ground;
use crate::paths::normalise;
use conclaude_core::config::OptionNames;
use conclaude_os::budget::Budget;
use shell_effects::glob::{Fingerprint, Glob, GlobError, GlobKind, Part};
use shell_effects::{OptionMatch, PlainCommand, SimpleCommand};

/// With fewer known characters, a program could have nearly any name.
const MIN_KNOWN: usize = 3;

/// The pipe in patterns and pipelines.
const PIPE: &str = " | ";

#[derive(Clone, Debug)]
pub struct CommandPattern {
    glob: Glob,
    /// `matchMode: prefix`: further words may follow.
    is_prefix: bool,
    /// The pattern for further words. Few commands need it.
    longer: OnceLock<Option<Glob>>,
    ignores_case: bool,
    /// The command must have one of these as well.
    options: Option<OptionNames>,
    /// The command must have none of these.
    without: Option<OptionNames>,
    /// Unknown words count as they are written.
    known_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match<'a> {
    /// The form that matches.
    As(&'a str),
    /// It would match if the unknown parts had certain values.
    Perhaps,
}

/// A simple command in each form that patterns are compared with.
pub struct CommandForms<'a> {
    pub plain: PlainCommand<'a>,
    environment: Vec<String>,
    /// The whole text, if this is its only command.
    pub whole: Option<&'a str>,
    /// How long comparing it may take.
    budget: &'a Budget,
    compared: OnceCell<ComparedForms>,
}

/// What all rules need of the forms.
struct ComparedForms {
    /// Each form without its substitutions, if it has any: each of these is compared as a separate command.
    without_substitutions: Vec<Option<String>>,
    fingerprint: Fingerprint,
}

impl<'a> CommandForms<'a> {
    pub fn of(
        command: &'a SimpleCommand,
        home: Option<&str>,
        whole: Option<&'a str>,
        budget: &'a Budget,
    ) -> CommandForms<'a> {
        let plain = command.plain(home);
        let mut environment = plain.with_environment();
        environment.extend(plain.with_options());
        environment.extend(plain.of_script());
        environment.extend(plain.on_other_machine());
        CommandForms { environment, plain, whole, budget, compared: OnceCell::new() }
    }

    /// Adds forms with absolute paths for directories outside of the project: `cd / && rm -rf *` becomes `rm -rf /*`.
    pub fn elsewhere(mut self, ground: &Ground<'_>) -> CommandForms<'a> {
        for directory in &self.plain.command.directories {
            let directory = normalise(&ground.cwd.join(directory));
            let is_inside = directory.starts_with(ground.root)
                || ground.worktree.is_some_and(|worktree| directory.starts_with(worktree));
            // A project that contains the home directory does not own it.
            let is_home = ground.home.is_some_and(|home| directory == Path::new(home));
            if !is_inside || is_home {
                self.environment.push(self.plain.command.as_if_in(&directory, ground.home));
            }
        }
        self
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let of_command = [Some(self.plain.command.text.as_str()), self.plain.text.as_deref(), self.whole];
        of_command.into_iter().flatten().chain(self.environment.iter().map(String::as_str))
    }

    fn compared(&self) -> &ComparedForms {
        self.compared.get_or_init(|| {
            let without: Vec<Option<String>> =
                self.texts().map(|text| without_substitutions(text, &self.plain)).collect();
            let mut fingerprint = Fingerprint::default();
            for text in self.texts().chain(without.iter().flatten().map(String::as_str)) {
                fingerprint.add(text);
                if let Cow::Owned(text) = without_pipes(text) {
                    fingerprint.add(&text);
                }
            }
            ComparedForms { without_substitutions: without, fingerprint }
        })
    }
}

/// A text without its substitutions. `None` if it has none.
fn without_substitutions(text: &str, plain: &PlainCommand<'_>) -> Option<String> {
    plain.substitutions().fold(None, |without: Option<String>, substitution| {
        let text = without.as_deref().unwrap_or(text);
        if text.contains(substitution) { Some(text.replace(substitution, "$()")) } else { without }
    })
}

/// A simple command without characters that look like a pipe: in its text, they are part of a word.
fn without_pipes(text: &str) -> Cow<'_, str> {
    if text.contains(PIPE) { text.replace(PIPE, " ").into() } else { text.into() }
}

impl CommandPattern {
    pub fn new(glob: Glob, is_prefix: bool) -> CommandPattern {
        let longer = OnceLock::new();
        CommandPattern {
            glob,
            is_prefix,
            longer,
            ignores_case: false,
            options: None,
            without: None,
            known_only: false,
        }
    }

    /// The pattern with further words. `None` if it would be too long.
    fn longer(&self) -> Option<&Glob> {
        let longer = || Glob::new(&format!("{} *", self.glob.as_str()), GlobKind::Name).ok();
        if self.is_prefix { self.longer.get_or_init(longer).as_ref() } else { None }
    }

    /// This pattern without regard to case.
    ///
    /// # Errors
    /// Says what is wrong with the pattern.
    pub fn ignoring_case(self) -> Result<CommandPattern, GlobError> {
        let glob = match self.glob.as_str() {
            text if text.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                Glob::new(&text.to_ascii_lowercase(), GlobKind::Name)?
            }
            _ => self.glob,
        };
        Ok(CommandPattern { glob, ignores_case: true, ..self })
    }

    pub fn with_options(self, options: Option<OptionNames>) -> CommandPattern {
        CommandPattern { options, ..self }
    }

    pub fn known_only(self, known_only: bool) -> CommandPattern {
        CommandPattern { known_only, ..self }
    }

    pub fn without(self, without: Option<OptionNames>) -> CommandPattern {
        CommandPattern { without, ..self }
    }

    /// Whether it has a shell operator, and so concerns several commands.
    pub fn joins(&self) -> bool {
        joins(self.glob.as_str())
    }

    /// Whether it concerns only several commands, so that no value of a word makes a simple command match.
    fn is_of_pipelines(&self) -> bool {
        let pattern = self.glob.as_str();
        pattern.contains(PIPE) && !pattern.contains("$(")
    }

    /// Whether the pattern names an option.
    pub fn names(&self, option: &str) -> bool {
        self.count(option) > 0
    }

    /// How often the pattern names an option.
    pub fn count(&self, option: &str) -> usize {
        let words = self.glob.as_str().split(' ');
        let is_it = |part: &str| part.trim_end_matches('*') == option;
        words.filter(|word| is_it(word) || word.split('=').any(is_it)).count()
    }

    /// Whether it only has a statement that reads.
    pub fn reads_only(&self) -> bool {
        let pattern = self.glob.as_str().to_ascii_lowercase();
        pattern.contains("'select") || pattern.contains("\"select")
    }

    /// Whether the pattern allows a program with any arguments.
    pub fn is_program(&self) -> bool {
        let pattern = self.glob.as_str();
        let program = if self.is_prefix { Some(pattern) } else { pattern.strip_suffix('*') };
        program.map(str::trim_end).is_some_and(|program| {
            program.is_empty() || program == "*" || !program.contains([' ', '*', '?', '[', '{'])
        })
    }

    /// Whether it matches every command.
    pub fn is_any(&self) -> bool {
        self.glob.as_str() == "*" && self.options.is_none()
    }

    /// Whether the fingerprint of texts shows that it matches none of them.
    pub fn rules_out_all(&self, texts: &Fingerprint) -> bool {
        self.glob.rules_out_all(texts)
    }

    /// Whether a quick look shows that it matches no form of a command, whatever its unknown words are.
    pub fn rules_out(&self, forms: &CommandForms<'_>) -> bool {
        self.rules_out_all(&forms.compared().fingerprint) && !self.may_depend_on_unknown(&forms.plain)
    }

    /// Whether it matches. `if_out_of_time` is the answer once the time is over.
    pub fn matches(&self, command: &str, if_out_of_time: bool, budget: &Budget) -> bool {
        // Most rules concern other programs.
        if !self.glob.could_start(command, false, self.ignores_case) {
            return false;
        }
        let command =
            if self.ignores_case { Cow::Owned(command.to_ascii_lowercase()) } else { Cow::Borrowed(command) };
        let matches = |glob: &Glob| {
            // The cheap test comes before reading the clock.
            !glob.rules_out(&command)
                && if budget.is_over() { if_out_of_time } else { glob.matches_long(&command) }
        };
        // A pattern that cannot be extended counts as one that cannot be compared in time.
        matches(&self.glob) || self.is_prefix && self.longer().map_or(if_out_of_time, matches)
    }

    /// Whether it allows a command. The command is compared as written: another program with the same name, or an option before
    /// the subcommand, may do something else.
    pub fn allows<'f>(&self, forms: &'f CommandForms<'_>) -> Option<Match<'f>> {
        let texts = [Some(forms.plain.command.text.as_str()), forms.whole];
        let text = texts.into_iter().flatten().find(|text| self.matches(text, false, forms.budget))?;
        let has_option = self.option_match(&forms.plain) == Some(OptionMatch::Certain);
        if has_option { Some(Match::As(text)) } else { None }
    }

    /// Whether it denies a command, in any form. An unknown word counts as a possible option only for a rule that blocks: asking
    /// about each `git tag $NAME` would not help.
    pub fn denies<'f>(&self, forms: &'f CommandForms<'_>, blocked: bool) -> Option<Match<'f>> {
        let CommandForms { plain, budget, .. } = forms;
        let matches = |(text, without): (&'f str, &Option<String>)| {
            // A pattern may look into the substitutions.
            let compared = match without {
                Some(without) if !self.glob.as_str().contains("$(") => without,
                _ => text,
            };
            let has_pipe = self.glob.as_str().contains(PIPE);
            let compared = if has_pipe { without_pipes(compared) } else { compared.into() };
            if self.matches(&compared, true, budget) { Some(text) } else { None }
        };
        let text = forms.texts().zip(&forms.compared().without_substitutions).find_map(matches);
        if text.is_none() && !self.could_match(plain, blocked) {
            return None;
        }
        match (text, self.option_match(plain)?) {
            (Some(text), OptionMatch::Certain) => Some(Match::As(text)),
            (Some(_), OptionMatch::Possible) if !blocked => None,
            _ => Some(Match::Perhaps),
        }
    }

    /// Whether one of the options is given, and none of the excluded ones.
    fn option_match(&self, plain: &PlainCommand<'_>) -> Option<OptionMatch> {
        let booleans = self.options.as_ref().map(OptionNames::to_vec).unwrap_or_default();
        if self.without.as_ref().is_some_and(|names| plain.switches_on(&names.to_vec(), &booleans)) {
            return None;
        }
        if self.options.is_none() { Some(OptionMatch::Certain) } else { plain.option(&booleans) }
    }

    /// Whether it may match a command if the unknown words have certain values.
    fn may_depend_on_unknown(&self, plain: &PlainCommand<'_>) -> bool {
        if self.known_only || plain.command.unknown.is_empty() {
            return false;
        }
        // Most patterns concern another program.
        if !self.glob.could_start(plain.known_start(), true, self.ignores_case) || self.is_of_pipelines() {
            return false;
        }
        // An unknown program could be any. It counts only if the pattern compares more than the program.
        let knows_more = |pattern: &str| {
            let pattern = after_braces(pattern);
            pattern.split_once(' ').is_some_and(|(_, rest)| rest.contains(char::is_alphanumeric))
        };
        plain.command.is_known || names_program_in_part(plain) || knows_more(self.glob.as_str())
    }

    fn could_match(&self, plain: &PlainCommand<'_>, blocked: bool) -> bool {
        if !self.may_depend_on_unknown(plain) {
            return false;
        }
        let parts = plain.parts(blocked && self.options.is_none());
        let spells = is_of_unknown_program(plain);
        let could = |glob: &Glob, parts: &[Part<'_>]| {
            if spells { glob.could_match_by_known(parts) } else { glob.could_match(parts) }
        };
        let could_match = |glob: &Glob| {
            if !self.ignores_case {
                return could(glob, &parts);
            }
            let small: Vec<(String, &Part<'_>)> = parts.iter().map(|part| (lowercase(part), part)).collect();
            let parts = small.iter().map(|(text, part)| match part {
                Part::Text(_) => Part::Text(text),
                Part::Unknown(hole) => Part::Unknown(*hole),
            });
            could(glob, &parts.collect::<Vec<_>>())
        };
        !parts.is_empty() && (could_match(&self.glob) || self.longer().is_some_and(could_match))
    }
}

/// The pattern after the alternatives at its start, even if these have alternatives themselves.
fn after_braces(pattern: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in pattern.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return if at == 0 { pattern } else { pattern.get(at + 1..).unwrap_or_default() };
        }
    }
    pattern
}

/// Whether nothing says which program it is. If its arguments are unknown too, any rule could forbid it. Code that another
/// command prints does not count: it is asked about separately.
fn is_of_unknown_program(plain: &PlainCommand<'_>) -> bool {
    !plain.command.is_known && !names_program_in_part(plain) && plain.command.unknown_code.is_none()
}

/// Whether the program's name is partly known: `${x}push`.
fn names_program_in_part(plain: &PlainCommand<'_>) -> bool {
    let Some(program) = plain.command.words.first() else { return false };
    let parts = plain.command.unknown.iter().filter(|unknown| unknown.word == 0);
    let unknown: usize = parts.map(|unknown| unknown.part.len()).sum();
    !program.contains('/') && program.len() >= unknown + MIN_KNOWN
}

fn lowercase(part: &Part<'_>) -> String {
    match part {
        Part::Text(text) => text.to_ascii_lowercase(),
        Part::Unknown(_) => String::new(),
    }
}

/// Whether a pattern has a shell operator. A simple command has none.
pub fn joins(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    memchr::memchr3(b'|', b'&', b';', bytes).is_some()
        || memchr::memchr3(b'<', b'>', b'`', bytes).is_some()
        || memchr::memchr2(b'\n', b'$', bytes).is_some() && (pattern.contains('\n') || pattern.contains("$("))
}
