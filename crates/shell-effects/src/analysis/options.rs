//! Whether a command has an option, however it is written: `-uf`, `--delete`, `--dele`.

use crate::analysis::plain::Plain;
use crate::programs::arguments::{Takes, takes};
use crate::programs::table;
use crate::{Quoting, Unknown};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Given {
    Surely,
    /// If a part of it that is not known has a certain value.
    Perhaps,
}

impl Plain<'_> {
    /// Whether one of these options is given behind the subcommand, and before `--`. The value of another option is none.
    pub fn option(&self, wanted: &[String]) -> Option<Given> {
        let words: Vec<(usize, &str)> = self.words().collect();
        let name = |at: usize| words.get(at).map_or("", |(_, word)| word);
        let subcommand =
            table::by_name(name(0)).and_then(|program| program.subcommand(name(self.subcommand)));
        let flags = subcommand.map_or("", |subcommand| subcommand.options);
        let mut found = None;
        let first = self.subcommand + 1;
        let mut at = first;
        while let Some((index, word)) = words.get(at) {
            let hole = self.command.unknown.iter().find(|unknown| unknown.word == *index);
            if *word == "--" && hole.is_none() {
                break;
            }
            if hole.is_some_and(|hole| may_be_option(hole, word, at == first)) {
                found = Some(Given::Perhaps);
            }
            let known = hole.and_then(|hole| word.get(..hole.part.start)).unwrap_or(word);
            let (is_given, takes_next) = read(flags, known, wanted);
            if is_given {
                return Some(Given::Surely);
            }
            at += 1 + usize::from(takes_next);
        }
        found
    }
}

/// Whether a word that is not wholly known may be an option: without quotes directly behind the subcommand, or behind a dash.
fn may_be_option(hole: &Unknown, word: &str, is_first: bool) -> bool {
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
        // The program accepts what is short for one option only, and fails otherwise.
        let is_given = wanted.iter().any(|option| option.starts_with("--") && option.starts_with(name));
        return (is_given, !has_value && takes(flags, name) == Takes::Next);
    }
    if wanted.iter().any(|option| option == name) {
        return (true, false);
    }
    for (at, c) in word.char_indices().skip(1) {
        let name = format!("-{c}");
        if wanted.contains(&name) {
            return (true, false);
        }
        match takes(flags, &name) {
            Takes::Nothing => {}
            Takes::Next => return (false, at + c.len_utf8() == word.len()),
            Takes::Attached => break,
        }
    }
    (false, false)
}
