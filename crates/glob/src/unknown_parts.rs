//! Whether a glob could match a text with unknown parts.

use super::program::Instruction;
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
    fn may_hold(self, program: &[Instruction], at: usize, c: char) -> bool {
        let is_inside = || match at.checked_sub(1).and_then(|before| program.get(before)) {
            Some(Instruction::Char(before)) => !before.is_whitespace() && *before != '-',
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
pub(super) fn could_match(program: &[Instruction], parts: &[Part<'_>]) -> bool {
    let mut walk = Walk::start(program, false);
    walk.follow(parts);
    walk.all.has_end(program)
}

/// Like `could_match`, but the pattern must spell a letter or digit of a known part.
pub(super) fn could_match_by_known(program: &[Instruction], parts: &[Part<'_>]) -> bool {
    let mut walk = Walk::start(program, true);
    walk.follow(parts);
    walk.spelled.has_end(program)
}

/// Nearly any command could have a word with fewer letters and digits, such as `-f`.
const MIN_TELLING: usize = 2;

/// The states of a program after a part of a text.
struct Walk<'p> {
    program: &'p [Instruction],
    all: States,
    /// The states before which the pattern spelled a letter or digit of a known part.
    spelled: States,
    /// Whether `spelled` is needed.
    tells_spelled: bool,
    spare: States,
}

impl Walk<'_> {
    fn start(program: &[Instruction], tells_spelled: bool) -> Walk<'_> {
        let empty = || States::new(program.len());
        Walk { program, all: States::start(program), spelled: empty(), tells_spelled, spare: empty() }
    }

    fn follow(&mut self, parts: &[Part<'_>]) {
        // The states before the last blank.
        let mut before_blank = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                Part::Text(text) => {
                    for word in text.split_inclusive(' ') {
                        let tells = word.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_TELLING;
                        for c in word.chars() {
                            if c == ' ' {
                                before_blank.0.clone_from(&self.all.list);
                                before_blank.1.clone_from(&self.spelled.list);
                            }
                            self.advance(c, tells);
                        }
                    }
                }
                Part::Unknown(hole) => {
                    fill(&mut self.all, self.program, *hole);
                    fill(&mut self.spelled, self.program, *hole);
                    if *hole == Hole::Words {
                        before_blank.0.iter().for_each(|at| self.all.add(self.program, *at));
                        before_blank.1.iter().for_each(|at| self.spelled.add(self.program, *at));
                    }
                }
            }
            if self.all.list.is_empty() {
                return;
            }
        }
    }

    /// Moves past a character. `tells` is whether its word tells something.
    fn advance(&mut self, c: char, tells: bool) {
        if !self.tells_spelled {
            self.all.advance(&mut self.spare, self.program, c);
            return;
        }
        let spells = |at: &&usize| {
            tells
                && c.is_alphanumeric()
                && matches!(self.program.get(**at), Some(Instruction::Char(spelled)) if *spelled == c)
        };
        let next: Vec<usize> = self.all.list.iter().filter(spells).map(|at| at + 1).collect();
        self.all.advance(&mut self.spare, self.program, c);
        self.spelled.advance(&mut self.spare, self.program, c);
        next.into_iter().for_each(|at| self.spelled.add(self.program, at));
    }
}

/// Adds the states after any text that the hole may hold.
fn fill(states: &mut States, program: &[Instruction], hole: Hole) {
    let mut open = Vec::new();
    for at in states.list.clone() {
        match program.get(at) {
            Some(Instruction::Char(c)) if !hole.may_start_with(*c) => {}
            Some(Instruction::Char(_) | Instruction::Any { .. } | Instruction::Class { .. }) => {
                open.push(at + 1)
            }
            Some(Instruction::Many { .. }) => open.push(at),
            _ => {}
        }
    }
    let mut inside = States::new(program.len());
    open.iter().for_each(|at| inside.add(program, *at));
    let mut done = 0;
    while let Some(at) = inside.list.get(done).copied() {
        done += 1;
        match program.get(at) {
            Some(Instruction::Char(c)) if hole.may_hold(program, at, *c) => inside.add(program, at + 1),
            Some(Instruction::Any { .. } | Instruction::Class { .. }) => inside.add(program, at + 1),
            _ => {}
        }
    }
    inside.list.iter().for_each(|at| states.add(program, *at));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Glob, GlobKind};

    fn could(pattern: &str, parts: &[Part<'_>]) -> bool {
        Glob::new(pattern, GlobKind::Name).unwrap().could_match(parts)
    }

    #[test]
    fn a_known_part_is_spelled_by_the_pattern() {
        use Part::{Text, Unknown};
        let run = |rest| [Unknown(Hole::Word), Text(" "), Unknown(Hole::Name), Text(rest)];
        let known = |pattern: &str, parts: &[Part<'_>]| {
            Glob::new(pattern, GlobKind::Name).unwrap().could_match_by_known(parts)
        };
        for (pattern, rest) in [
            ("git push *--force*", " --force"),
            ("git {,* }push*", " push"),
            ("dd *of=/dev/sd*", " of=/dev/sda"),
        ] {
            assert!(known(pattern, &run(rest)), "{pattern} {rest}");
        }
        for (pattern, rest) in
            [("git push*", " --force"), ("git {,* }push*", " x"), ("a b *", " c d"), ("git push *-f*", " x")]
        {
            assert!(!known(pattern, &run(rest)), "{pattern} {rest}");
        }
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
