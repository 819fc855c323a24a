//! A simple command as rules compare it: without the directory of its program, and without the options before its subcommand.
//! `/usr/bin/git -C x push` is `git push`.

use std::borrow::Cow;

use crate::glob::{Hole, Part};
use crate::programs::arguments::{Flags, ValueForm, takes_next, value_form};
use crate::programs::program::{DeletedFiles, Program};
use crate::programs::table;
use crate::{Quoting, SimpleCommand, UnknownPart};

/// A command, and its plain form.
pub struct PlainCommand<'a> {
    pub command: &'a SimpleCommand,
    /// The plain form, if it differs from the command's text.
    pub text: Option<String>,
    /// The words of the plain form with their indices in the command, if it differs.
    words: Option<Vec<(usize, Cow<'a, str>)>>,
    /// Which word of the plain form is the subcommand, or the program if that has none.
    pub(crate) subcommand: usize,
}

impl SimpleCommand {
    /// The plain form, with `~` for the home directory.
    pub fn plain(&self, home: Option<&str>) -> PlainCommand<'_> {
        let first = self.words.first().map(String::as_str).unwrap_or_default();
        let program = table::compared_name(first);
        let mut skipped = OptionSkipper { words: &self.words, at: 1, ranges: Vec::new() };
        let subcommand = self.entry.map_or(0, |program| skipped.options(program));
        let home = home.filter(|home| home.len() > 1);
        let in_home = |word: &String| home.is_some_and(|home| below(word, home).is_some());
        let differs = first != program || !skipped.ranges.is_empty();
        if !differs && !self.words.iter().any(in_home) {
            return PlainCommand { command: self, text: None, words: None, subcommand };
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
        PlainCommand { command: self, text: Some(text), words: Some(words), subcommand }
    }
}

/// The substitution in a part of a word, and where it starts.
fn substitution(part: &str) -> Option<(usize, &str)> {
    let start = part.find("$(")?;
    let end = part.rfind(')').filter(|end| *end > start)?;
    Some((start, part.get(start..=end)?))
}

/// The path below the home directory.
fn below<'a>(word: &'a str, home: &str) -> Option<&'a str> {
    word.strip_prefix(home.trim_end_matches('/')).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The options before a subcommand.
struct OptionSkipper<'a> {
    words: &'a [String],
    at: usize,
    ranges: Vec<std::ops::Range<usize>>,
}

impl OptionSkipper<'_> {
    /// Skips the options of a program. Returns how many words come before the subcommand.
    fn options(&mut self, program: &Program) -> usize {
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
            self.at += 1 + usize::from(takes_next(flags, word));
        }
        if self.at > start {
            self.ranges.push(start..self.at);
        }
    }
}

impl PlainCommand<'_> {
    /// The words of the plain form, with their indices in the command.
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        let plain = self.words.iter().flatten().map(|(index, word)| (*index, &**word));
        let own = if self.words.is_none() { self.command.words.as_slice() } else { &[] };
        plain.chain(own.iter().enumerate().map(|(index, word)| (index, word.as_str())))
    }

    /// The command with its variables, its redirections and the input that it runs; and the command with each of its variables
    /// alone. Empty if it has none of these.
    pub fn with_environment(&self) -> Vec<String> {
        let SimpleCommand { text, assigned, redirects, input, environment, .. } = self.command;
        let text = Some(self.text.as_ref().unwrap_or(text)).filter(|text| !text.is_empty());
        let mut forms = Vec::new();
        if !(assigned.is_empty() && redirects.is_empty() && input.is_none()) {
            let input = input.as_ref().map(|input| format!("<<< {input}"));
            let all = assigned.iter().chain(text).chain(redirects).chain(&input);
            forms.push(all.map(String::as_str).collect::<Vec<_>>().join(" "));
        }
        let is_new =
            assigned.len() != 1 || **environment != *assigned || forms.len() != 1 || !redirects.is_empty();
        if let Some(text) = text
            && is_new
        {
            forms.extend(environment.iter().map(|variable| format!("{variable} {text}")));
        }
        forms
    }

    /// With the options before its subcommand, but without the path of its program: `git -c a=b push`. `None` if it is already
    /// written so.
    pub fn with_options(&self) -> Option<String> {
        let (first, rest) = self.command.words.split_first()?;
        let program = table::compared_name(first);
        let is_short = self.words.as_ref().is_none_or(|words| words.len() == self.command.words.len());
        if program == first || is_short {
            return None;
        }
        Some([&[program.to_owned()], rest].concat().join(" "))
    }

    /// As a command that `ssh` runs on another machine: `ssh rm -rf x` for `ssh host 'cd y && sudo rm -rf x'`.
    pub fn on_other_machine(&self) -> Option<String> {
        let text = self.text.as_ref().unwrap_or(&self.command.text);
        if self.command.is_remote && !text.is_empty() { Some(format!("ssh {text}")) } else { None }
    }

    /// The script that an interpreter runs, as it would be called by itself: with its path, and by its name alone.
    pub fn of_script(&self) -> impl Iterator<Item = String> {
        let script = self.command.script.as_ref();
        let named = script.and_then(|script| {
            let (file, rest) = script.split_once(' ').unwrap_or((script, ""));
            let (_, name) = file.rsplit_once('/')?;
            Some(format!("{name} {rest}").trim_end().to_owned())
        });
        script.cloned().into_iter().chain(named)
    }

    /// The substitutions in its words whose output is unknown, as they are written. The commands in them are separate commands.
    pub fn substitutions(&self) -> impl Iterator<Item = &str> {
        self.command.unknown.iter().filter_map(|unknown| {
            let word = self.command.words.get(unknown.word)?;
            substitution(word.get(unknown.part.clone())?).map(|(_, text)| text)
        })
    }

    /// Its text in a pipeline: a program that runs the output of another one is only named.
    pub fn in_pipeline(&self) -> &str {
        let text = self.text.as_ref().unwrap_or(&self.command.text);
        match (self.command.unknown_code.is_some(), self.command.is_known) {
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

/// The possible values of a command's unknown parts.
impl PlainCommand<'_> {
    /// The plain form in parts, empty if it is fully known. An unquoted word directly after the subcommand may be an option, if
    /// `or_option`. Elsewhere it counts as a name, as nearly all are.
    pub fn parts(&self, or_option: bool) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        if self.command.unknown.is_empty() {
            return parts;
        }
        let mut is_known = true;
        for (position, (index, word)) in self.words().enumerate() {
            if position > 0 {
                parts.push(Part::Text(" "));
            }
            let mut at = 0;
            for unknown in self.command.unknown.iter().filter(|unknown| unknown.word == index) {
                let (hole, part) = match self.hole(unknown, word, position, or_option) {
                    Some(hole) => (hole, unknown.part.clone()),
                    // A number, a hash or a name.
                    None => match word.get(unknown.part.clone()).and_then(substitution) {
                        Some((start, text)) => {
                            let start = unknown.part.start + start;
                            (Hole::Name, start..start + text.len())
                        }
                        None => continue,
                    },
                };
                parts.push(Part::Text(word.get(at..part.start).unwrap_or_default()));
                parts.push(Part::Unknown(hole));
                at = part.end;
                is_known = false;
            }
            parts.push(Part::Text(word.get(at..).unwrap_or_default()));
        }
        if is_known {
            parts.clear();
        }
        parts
    }

    /// The known start of the plain form, up to its first unknown part.
    pub fn known_start(&self) -> &str {
        let text = self.text.as_ref().unwrap_or(&self.command.text);
        let mut length = 0;
        for (index, word) in self.words() {
            if let Some(unknown) = self.command.unknown.iter().find(|unknown| unknown.word == index) {
                length += unknown.part.start;
                break;
            }
            length += word.len() + 1;
        }
        text.get(..length).unwrap_or(text)
    }

    fn hole(&self, unknown: &UnknownPart, word: &str, position: usize, or_option: bool) -> Option<Hole> {
        let is_bare = unknown.quoting == Quoting::Bare;
        let before = word.get(..unknown.part.start).unwrap_or_default();
        // A quoted word starts with it only if nothing comes before it.
        if unknown.is_spelled && (unknown.quoting != Quoting::Quoted || before.is_empty()) {
            return Some(Hole::Words);
        }
        if unknown.quoting == Quoting::Glob {
            return if position <= self.subcommand { Some(Hole::Word) } else { None };
        }
        let is_whole = before.is_empty() && unknown.part.end >= word.len();
        let is_subcommand = is_whole && position == self.subcommand;
        if is_subcommand && position > 0 && is_bare {
            return Some(Hole::Words);
        }
        let is_option = is_whole && is_bare && or_option && position == self.subcommand + 1;
        let is_after_dash = !before.is_empty() && before.chars().all(|c| c == '-');
        let is_program = is_whole && position == 0;
        let is_any = is_program || is_subcommand || is_option || is_after_dash;
        Some(if is_any { Hole::Word } else { Hole::Name })
    }

    /// The unknown part that is shown to the user.
    pub fn unknown(&self) -> &str {
        let Some(unknown) = self.command.unknown.first() else { return "" };
        let word = self.command.words.get(unknown.word).map(String::as_str).unwrap_or_default();
        word.get(unknown.part.clone()).unwrap_or(word)
    }
}

/// Options that take no value, unless the entry of the program says otherwise.
const BOOLEANS: &[&str] = &[
    "--all",
    "--all-namespaces",
    "--delete",
    "-av",
    "-avz",
    "-avzh",
    "-avh",
    "-avP",
    "-rv",
    "--force",
    "--now",
    "--recursive",
    "--wait",
    "--yes",
    "-y",
    "--quiet",
    "-q",
    "--verbose",
    "-auto-approve",
    "--auto-approve",
    "--ignore-not-found",
    "--all-features",
    "--allow-dirty",
    "--build",
    "--frozen",
    "--json",
    "--list",
    "--locked",
    "--offline",
    "--provenance",
];

/// Whether a command has an option, in any spelling: `-uf`, `--delete`, `--dele`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OptionMatch {
    Certain,
    /// If an unknown part of it has a certain value.
    Possible,
}

impl PlainCommand<'_> {
    /// Whether one of these options comes after the subcommand and before `--`. Values of other options do not count.
    pub fn option(&self, wanted: &[String]) -> Option<OptionMatch> {
        let words: Vec<(usize, &str)> = self.words().collect();
        let name = |at: usize| words.get(at).map_or("", |(_, word)| word);
        let subcommand = self.command.entry.and_then(|program| program.subcommand(name(self.subcommand)));
        let flags = subcommand.map_or("", |subcommand| subcommand.options);
        let mut found = None;
        let first = self.subcommand + 1;
        let mut at = first;
        while let Some((index, word)) = words.get(at) {
            let hole = self.command.unknown.iter().find(|unknown| unknown.word == *index);
            if *word == "--" && hole.is_none() {
                break;
            }
            // The first words of `find` are directories.
            let finds = self.command.entry.is_some_and(|program| program.deletes == DeletedFiles::Found);
            // A program that is not known may have a subcommand.
            let is_first = at == first || at == first + 1 && !self.command.is_known;
            if hole.is_some_and(|hole| may_be_option(hole, word, is_first && !finds)) {
                found = Some(OptionMatch::Possible);
            }
            let known = hole.and_then(|hole| word.get(..hole.part.start)).unwrap_or(word);
            let (is_given, takes_next) = read(flags, known, wanted);
            if is_given {
                return Some(OptionMatch::Certain);
            }
            at += 1 + usize::from(takes_next);
        }
        found
    }
}

impl PlainCommand<'_> {
    /// Whether one of these options is certainly given, and nothing switches it off again: a value that does not plainly switch
    /// it on, or `--no-…`. `booleans` are options without a value.
    pub fn switches_on(&self, wanted: &[String], booleans: &[String]) -> bool {
        let is_off = |(index, word): (usize, &str)| {
            let (name, value) =
                word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let negated =
                name.strip_prefix("--no-").or_else(|| name.strip_prefix("-no-")).unwrap_or_default();
            let is_negated =
                |option: &String| !negated.is_empty() && option.trim_start_matches('-').starts_with(negated);
            // It may be abbreviated.
            let is_wanted = wanted.iter().any(|option| {
                option == name || name.len() > 2 && name.starts_with("--") && option.starts_with(name)
            });
            let is_on = value.is_none_or(|value| matches!(value, "true" | "client" | "server"));
            let is_known = !self.command.unknown.iter().any(|unknown| unknown.word == index);
            wanted.iter().any(is_negated) || is_wanted && !(is_known && is_on)
        };
        self.option_alone(wanted, booleans) && !self.words().any(is_off)
    }

    /// Whether one of these options is given, and is not the value of an option before it.
    fn option_alone(&self, wanted: &[String], booleans: &[String]) -> bool {
        if self.option(wanted) != Some(OptionMatch::Certain) {
            return false;
        }
        // It is known which options of git take a value.
        let words: Vec<&str> = self.words().map(|(_, word)| word).skip(self.subcommand).collect();
        let is_listed = words
            .first()
            .is_some_and(|name| self.command.entry.is_some_and(|program| program.subcommand(name).is_some()));
        let described = self.command.entry.map_or("", |program| program.options);
        let is_boolean = |word: &str| {
            let is_usual = BOOLEANS.contains(&word) && !takes_next(described, word);
            is_usual
                || word.starts_with("--no-")
                || booleans.iter().chain(wanted).any(|boolean| boolean == word)
        };
        let may_take_value =
            |word: &str| word.len() > 1 && word.starts_with('-') && !word.contains('=') && !is_boolean(word);
        let is_alone = |pair: &[&str]| match pair {
            [before, word] => read("", word, wanted).0 && (is_listed || !may_take_value(before)),
            _ => false,
        };
        words.windows(2).any(is_alone)
    }
}

/// Whether a partly unknown word may be an option: it is unquoted directly after the subcommand, or follows a dash.
fn may_be_option(hole: &UnknownPart, word: &str, is_first: bool) -> bool {
    if hole.is_spelled && (hole.quoting != Quoting::Quoted || hole.part.start == 0) {
        return true;
    }
    if hole.part.start == 0 {
        return is_first && hole.quoting == Quoting::Bare && hole.part.end == word.len();
    }
    word.starts_with('-') && !word.get(..hole.part.start).is_some_and(|known| known.contains('='))
}

/// Whether a word is one of these options, and whether the next word is the value of an option in it.
fn read(flags: &str, word: &str, wanted: &[String]) -> (bool, bool) {
    if word.len() < 2 || !word.starts_with('-') {
        return (false, false);
    }
    let (name, has_value) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
    if word.starts_with("--") {
        // An abbreviation must be unique, otherwise the program fails.
        let is_given = wanted.iter().any(|option| option.starts_with("--") && option.starts_with(name));
        return (is_given, !has_value && value_form(flags, name) == ValueForm::Next);
    }
    if wanted.iter().any(|option| option == name) {
        return (true, false);
    }
    for (at, c) in word.char_indices().skip(1) {
        let name = format!("-{c}");
        if wanted.contains(&name) {
            return (true, false);
        }
        match value_form(flags, &name) {
            ValueForm::Nothing => {}
            ValueForm::Next => return (false, at + c.len_utf8() == word.len()),
            ValueForm::Attached => break,
        }
    }
    (false, false)
}
