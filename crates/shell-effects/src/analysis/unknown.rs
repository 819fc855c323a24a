//! What the unknown parts of a command can become, for whoever compares it with a pattern.

use crate::analysis::plain::Plain;
use crate::glob::{Hole, Part};
use crate::{Quoting, Unknown};

impl Plain<'_> {
    /// The plain form in parts; empty where all of it is known. A word without quotes directly behind the subcommand may be an
    /// option, if `or_option`; elsewhere it is taken for a name, as nearly all are.
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
                let Some(hole) = self.hole(unknown, word, position, or_option) else { continue };
                parts.push(Part::Text(word.get(at..unknown.part.start).unwrap_or_default()));
                parts.push(Part::Unknown(hole));
                at = unknown.part.end;
                is_known = false;
            }
            parts.push(Part::Text(word.get(at..).unwrap_or_default()));
        }
        if is_known {
            parts.clear();
        }
        parts
    }

    /// What is known of the plain form up to its first unknown part.
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

    fn hole(&self, unknown: &Unknown, word: &str, position: usize, or_option: bool) -> Option<Hole> {
        let is_bare = unknown.quoting == Quoting::Bare;
        let before = word.get(..unknown.part.start).unwrap_or_default();
        if unknown.quoting == Quoting::Glob {
            return (position <= self.subcommand).then_some(Hole::Word);
        }
        let is_whole = before.is_empty() && unknown.part.end >= word.len();
        let is_subcommand = is_whole && position == self.subcommand;
        if is_subcommand && position > 0 && is_bare {
            return Some(Hole::Words);
        }
        let is_option = is_whole && is_bare && or_option && position == self.subcommand + 1;
        let is_behind_dash = !before.is_empty() && before.chars().all(|c| c == '-');
        let is_program = is_whole && position == 0;
        let is_any = is_program || is_subcommand || is_option || is_behind_dash;
        Some(if is_any { Hole::Word } else { Hole::Name })
    }

    /// The unknown part that is shown to the user.
    pub fn unknown(&self) -> &str {
        let Some(unknown) = self.command.unknown.first() else { return "" };
        let word = self.command.words.get(unknown.word).map(String::as_str).unwrap_or_default();
        word.get(unknown.part.clone()).unwrap_or(word)
    }
}
