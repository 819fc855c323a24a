//! A simple command as rules that deny compare it: however its program is named, and without the options before its
//! subcommand. `/usr/bin/git -C x push` is `git push`.

use std::borrow::Cow;

use crate::Simple;
use crate::programs::arguments::{self, Flags};
use crate::programs::table;

/// A command, and its plain form.
pub struct Plain<'a> {
    pub command: &'a Simple,
    /// The plain form, where it differs from the command's text.
    pub text: Option<String>,
    /// The words of the plain form with their indices in the command, where it differs.
    words: Option<Vec<(usize, Cow<'a, str>)>>,
    /// Which word of the plain form is the subcommand, or the program where that has none.
    pub(crate) subcommand: usize,
}

impl Simple {
    /// The plain form, with `~` for what is in the home directory.
    pub fn plain(&self, home: Option<&str>) -> Plain<'_> {
        let first = self.words.first().map(String::as_str).unwrap_or_default();
        let program = first.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(first);
        let mut skipped = Skipped { words: &self.words, at: 1, ranges: Vec::new() };
        let subcommand = skipped.options(program);
        let home = home.filter(|home| home.len() > 1);
        let in_home = |word: &String| home.is_some_and(|home| below(word, home).is_some());
        let differs = first.len() != program.len() || !skipped.ranges.is_empty();
        if !differs && !self.words.iter().any(in_home) {
            return Plain { command: self, text: None, words: None, subcommand };
        }
        let mut words = vec![(0, Cow::Borrowed(program))];
        for (index, word) in self.words.iter().enumerate().skip(1) {
            if !skipped.ranges.iter().any(|range| range.contains(&index)) {
                let rest = home.and_then(|home| below(word, home));
                let word = rest.map_or(Cow::Borrowed(word.as_str()), |rest| Cow::Owned(format!("~{rest}")));
                words.push((index, word));
            }
        }
        let text = words.iter().map(|(_, word)| &**word).collect::<Vec<_>>().join(" ");
        Plain { command: self, text: Some(text), words: Some(words), subcommand }
    }
}

/// What follows the home directory in a path below it.
fn below<'a>(word: &'a str, home: &str) -> Option<&'a str> {
    word.strip_prefix(home.trim_end_matches('/')).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The options before a subcommand.
struct Skipped<'a> {
    words: &'a [String],
    at: usize,
    ranges: Vec<std::ops::Range<usize>>,
}

impl Skipped<'_> {
    /// Skips the options of a program; how many words come before the subcommand then.
    fn options(&mut self, program: &str) -> usize {
        let Some(program) = table::by_name(program) else { return 0 };
        let Some(flags) = program.subcommand_options else { return 0 };
        self.skip(flags);
        let flags = self.words.get(self.at).and_then(|word| program.group_options(word));
        let Some(flags) = flags else { return 1 };
        self.at += 1;
        self.skip(flags);
        2
    }

    fn skip(&mut self, flags: Flags) {
        let start = self.at;
        while let Some(word) = self.words.get(self.at) {
            let is_option =
                word.len() > 1 && (word.starts_with('-') || word.starts_with('+') && flags.starts_with('+'));
            if !is_option {
                break;
            }
            self.at += 1 + usize::from(arguments::takes_next(flags, word));
        }
        if self.at > start {
            self.ranges.push(start..self.at);
        }
    }
}

impl Plain<'_> {
    /// The words of the plain form, with their indices in the command.
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        let plain = self.words.iter().flatten().map(|(index, word)| (*index, &**word));
        let own = self.command.words.iter().enumerate().filter(|_| self.words.is_none());
        plain.chain(own.map(|(index, word)| (index, word.as_str())))
    }

    /// With the variables that are set for it, its redirections, and its input where that is run; and with each variable alone
    /// that it is given. Empty where it has none of these.
    pub fn with_environment(&self) -> Vec<String> {
        let Simple { text, assigned, redirects, input, environment, .. } = self.command;
        let text = Some(self.text.as_ref().unwrap_or(text)).filter(|text| !text.is_empty());
        let mut forms = Vec::new();
        if !(assigned.is_empty() && redirects.is_empty() && input.is_none()) {
            let input = input.as_ref().map(|input| format!("<<< {input}"));
            let all = assigned.iter().chain(text).chain(redirects).chain(&input);
            forms.push(all.map(String::as_str).collect::<Vec<_>>().join(" "));
        }
        let is_new =
            assigned.len() != 1 || **environment != *assigned || forms.len() != 1 || !redirects.is_empty();
        if let Some(text) = text.filter(|_| is_new) {
            forms.extend(environment.iter().map(|variable| format!("{variable} {text}")));
        }
        forms
    }

    /// How it is shown in a pipeline: what runs the output of others is only named.
    pub fn in_pipeline(&self) -> &str {
        let text = self.text.as_ref().unwrap_or(&self.command.text);
        match (self.command.runs_unknown, self.command.is_known) {
            (false, _) => text,
            (true, false) => "eval",
            // Without its minor version.
            (true, true) => {
                let name = text.split(' ').next().unwrap_or(text);
                name.split('.').next().filter(|name| !name.is_empty()).unwrap_or(name)
            }
        }
    }
}
