//! Whether a glob could match a text with unknown parts.

use super::program::Op;
use super::states::States;

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    Text(&'a str),
    Unknown(Hole),
}

/// What an unknown part may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    /// Any words, or none. Without a word, the blank before it is missing too.
    Words,
    /// Any word.
    Word,
    /// A word that is not an option: a name or a path. It starts with a letter, a digit or one of `_/~@`. A pattern matches a
    /// dash in it only after another character, so `*--force` does not match.
    Name,
}

impl Hole {
    fn may_start_with(self, c: char) -> bool {
        match self {
            Hole::Words => true,
            Hole::Word => c == '-' || Hole::Name.may_start_with(c),
            Hole::Name => c.is_alphanumeric() || matches!(c, '_' | '/' | '~' | '@'),
        }
    }

    /// Whether it may continue with this character, which is at this position of a pattern.
    fn may_hold(self, program: &[Op], at: usize, c: char) -> bool {
        let is_inside = || match at.checked_sub(1).and_then(|before| program.get(before)) {
            Some(Op::Char(before)) => !before.is_whitespace() && *before != '-',
            _ => false,
        };
        match self {
            Hole::Words => true,
            Hole::Word => is_of_word(c),
            Hole::Name => is_of_word(c) && (c != '-' || is_inside()),
        }
    }
}

/// Whether the character occurs in names, paths, options and their values. An unknown part with blanks, quotes or parentheses is
/// text or code, and nobody writes rules for that.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_/~@.-:+%=,^#".contains(c)
}

/// Whether a program takes a text that differs from this one in its unknown parts.
pub(super) fn could_match(program: &[Op], parts: &[Part<'_>]) -> bool {
    let mut now = States::start(program);
    let mut spare = States::new(program.len());
    // The states before the last blank.
    let mut before_blank = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => {
                for c in text.chars() {
                    if c == ' ' {
                        before_blank.clone_from(&now.list);
                    }
                    if !now.advance(&mut spare, program, c) {
                        break;
                    }
                }
            }
            Part::Unknown(hole) => {
                fill(&mut now, program, *hole);
                if *hole == Hole::Words {
                    before_blank.iter().for_each(|at| now.add(program, *at));
                }
            }
        }
        if now.list.is_empty() {
            return false;
        }
    }
    now.has_end(program)
}

/// Adds the states after any text that the hole may hold.
fn fill(states: &mut States, program: &[Op], hole: Hole) {
    let mut open = Vec::new();
    for at in states.list.clone() {
        match program.get(at) {
            Some(Op::Char(c)) if !hole.may_start_with(*c) => {}
            Some(Op::Char(_) | Op::Any { .. } | Op::Class { .. }) => open.push(at + 1),
            Some(Op::Many { .. }) => open.push(at),
            _ => {}
        }
    }
    let mut inside = States::new(program.len());
    open.iter().for_each(|at| inside.add(program, *at));
    let mut done = 0;
    while let Some(at) = inside.list.get(done).copied() {
        done += 1;
        match program.get(at) {
            Some(Op::Char(c)) if hole.may_hold(program, at, *c) => inside.add(program, at + 1),
            Some(Op::Any { .. } | Op::Class { .. }) => inside.add(program, at + 1),
            _ => {}
        }
    }
    inside.list.iter().for_each(|at| states.add(program, *at));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glob::{Glob, Kind};

    fn could(pattern: &str, parts: &[Part<'_>]) -> bool {
        Glob::new(pattern, Kind::Name).unwrap().could_match(parts)
    }

    #[test]
    fn an_unknown_part_becomes_what_it_can_be() {
        use Part::{Text, Unknown};
        let git = |hole, rest| [Text("git "), Unknown(hole), Text(rest)];
        let push = |hole| [Text("git push "), Unknown(hole), Text("")];
        for (pattern, parts) in [
            ("git push*", git(Hole::Words, "")),
            ("git push --force*", git(Hole::Words, "")),
            ("git push --force*", git(Hole::Words, " --force")),
            ("git push --force*", git(Hole::Words, " push --force")),
            ("git push --force*", git(Hole::Word, " --force")),
            ("git push --force*", push(Hole::Word)),
            ("git push *--force*", push(Hole::Word)),
            ("git push {main,release-*}", push(Hole::Name)),
            ("git push rele*-1", push(Hole::Word)),
        ] {
            assert!(could(pattern, &parts), "{pattern} {parts:?}");
        }
        for (pattern, parts) in [
            ("git push --force*", git(Hole::Word, "")),
            ("git push --force*", git(Hole::Name, " origin")),
            ("git push --force*", push(Hole::Name)),
            ("git push *--force*", push(Hole::Name)),
            ("git push {-f,--force}*", push(Hole::Name)),
            ("git push * :*", push(Hole::Name)),
            ("git checkout .", [Text("git checkout "), Unknown(Hole::Word), Text("")]),
            ("kill -* -1", [Text("kill -9 "), Unknown(Hole::Name), Text("")]),
            ("kill -* -1", [Text("kill "), Unknown(Hole::Word), Text("")]),
            ("git push*", [Text("echo "), Unknown(Hole::Words), Text("")]),
        ] {
            assert!(!could(pattern, &parts), "{pattern} {parts:?}");
        }
    }
}
