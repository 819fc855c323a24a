//! The pattern of a rule for commands, against one simple command in each form that it has.

use crate::deadline;
use crate::glob::{Glob, GlobError, Kind, Part};
use crate::shell::{Given, Plain, Simple};

#[derive(Clone, Debug)]
pub(crate) struct CommandPattern {
    glob: Glob,
    /// What follows the pattern at a word boundary, for `matchMode: prefix`.
    longer: Option<Glob>,
    ignores_case: bool,
    /// One of these must be given as well, unless there is none.
    options: Vec<String>,
}

/// How a pattern matches a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match<'a> {
    /// In this form.
    As(&'a str),
    /// If what is unknown of it has a certain value.
    Perhaps,
}

/// A simple command in each form that patterns are compared with.
pub(crate) struct Forms<'a> {
    pub(crate) plain: Plain<'a>,
    environment: Option<String>,
    /// The whole text, of which it is the only command.
    pub(crate) whole: Option<&'a str>,
}

impl<'a> Forms<'a> {
    pub(crate) fn of(command: &'a Simple, home: Option<&str>, whole: Option<&'a str>) -> Forms<'a> {
        let plain = command.plain(home);
        Forms { environment: plain.with_environment(), plain, whole }
    }
}

impl CommandPattern {
    /// # Errors
    /// Says what is wrong with the pattern.
    pub(crate) fn new(glob: Glob, is_prefix: bool) -> Result<CommandPattern, GlobError> {
        let longer = || Glob::new(&format!("{} *", glob.as_str()), Kind::Name);
        let longer = is_prefix.then(longer).transpose()?;
        Ok(CommandPattern { glob, longer, ignores_case: false, options: Vec::new() })
    }

    /// The same for capital and small letters.
    ///
    /// # Errors
    /// Says what is wrong with the pattern.
    pub(crate) fn ignoring_case(self) -> Result<CommandPattern, GlobError> {
        let small = |glob: &Glob| Glob::new(&glob.as_str().to_ascii_lowercase(), Kind::Name);
        let longer = self.longer.as_ref().map(small).transpose()?;
        Ok(CommandPattern { glob: small(&self.glob)?, longer, ignores_case: true, ..self })
    }

    pub(crate) fn with_options(self, options: Vec<String>) -> CommandPattern {
        CommandPattern { options, ..self }
    }

    /// Whether it is about several commands, since it has an operator of the shell.
    pub(crate) fn joins(&self) -> bool {
        joins(self.glob.as_str())
    }

    /// Whether it matches whatever command there is.
    pub(crate) fn is_any(&self) -> bool {
        self.glob.as_str() == "*" && self.options.is_empty()
    }

    /// Out of time it matches, unless that would allow the command.
    pub(crate) fn matches(&self, command: &str, if_out_of_time: bool) -> bool {
        if self.ignores_case {
            // Of a long script few commands are for the program of a rule.
            return !self.glob.rules_out_start(command)
                && self.matches_text(&command.to_ascii_lowercase(), if_out_of_time);
        }
        self.matches_text(command, if_out_of_time)
    }

    fn matches_text(&self, command: &str, if_out_of_time: bool) -> bool {
        let matches = |glob: &Glob| {
            // The clock is asked where a comparison takes time.
            !glob.rules_out(command)
                && if deadline::is_over() { if_out_of_time } else { glob.matches_long(command) }
        };
        matches(&self.glob) || self.longer.as_ref().is_some_and(matches)
    }

    /// Whether it allows a command, which is compared as it is written: another program of the same name, or an option before the
    /// subcommand, may do something else.
    pub(crate) fn allows<'f>(&self, forms: &'f Forms<'_>) -> Option<Match<'f>> {
        let texts = [Some(forms.plain.command.text.as_str()), forms.whole];
        let text = texts.into_iter().flatten().find(|text| self.matches(text, false))?;
        let has_option = self.options.is_empty() || forms.plain.option(&self.options) == Some(Given::Surely);
        has_option.then_some(Match::As(text))
    }

    /// Whether it denies a command, in whatever form. What is unknown of it may be an option only where that is `blocked`: a
    /// question about each `git tag $NAME` is no help.
    pub(crate) fn denies<'f>(&self, forms: &'f Forms<'_>, blocked: bool) -> Option<Match<'f>> {
        let Forms { plain, environment, whole } = forms;
        let texts = [Some(&*plain.command.text), plain.text.as_deref(), environment.as_deref(), *whole];
        let text = texts.into_iter().flatten().find(|text| self.matches(text, true));
        if text.is_none() && !self.could_match(plain, blocked) {
            return None;
        }
        let given = if self.options.is_empty() { Some(Given::Surely) } else { plain.option(&self.options) };
        match (text, given?) {
            (Some(text), Given::Surely) => Some(Match::As(text)),
            (Some(_), Given::Perhaps) if !blocked => None,
            _ => Some(Match::Perhaps),
        }
    }

    fn could_match(&self, plain: &Plain<'_>, blocked: bool) -> bool {
        if plain.command.unknown.is_empty() {
            return false;
        }
        // Any program could be any other: it is one that is meant only if the pattern knows more of it.
        let knows_more = |pattern: &str| {
            let program = pattern.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            let pattern = program.map_or(pattern, |(_, rest)| rest);
            pattern.split_once(' ').is_some_and(|(_, rest)| rest.contains(char::is_alphanumeric))
        };
        if !plain.command.is_known && !knows_more(self.glob.as_str()) {
            return false;
        }
        let parts = plain.parts(blocked && self.options.is_empty());
        let could_match = |glob: &Glob| {
            if !self.ignores_case {
                return glob.could_match(&parts);
            }
            let small: Vec<(String, &Part<'_>)> = parts.iter().map(|part| (lowercase(part), part)).collect();
            let parts = small.iter().map(|(text, part)| match part {
                Part::Text(_) => Part::Text(text),
                Part::Unknown(hole) => Part::Unknown(*hole),
            });
            glob.could_match(&parts.collect::<Vec<_>>())
        };
        !parts.is_empty() && (could_match(&self.glob) || self.longer.as_ref().is_some_and(could_match))
    }
}

fn lowercase(part: &Part<'_>) -> String {
    match part {
        Part::Text(text) => text.to_ascii_lowercase(),
        Part::Unknown(_) => String::new(),
    }
}

/// Whether a pattern has an operator of the shell, which no simple command has.
pub(crate) fn joins(pattern: &str) -> bool {
    pattern.contains(['|', '&', ';', '<', '>', '\n', '`']) || pattern.contains("$(")
}
