//! The literal texts that every match of an expression contains.
//!
//! Searching a prompt with an expression takes far longer than searching it for a word, and most rules do not match most prompts.

use std::{iter::Peekable, str::Chars};

/// Deeper groups are not examined.
const MAX_DEPTH: u32 = 16;

/// False only if the expression certainly matches nowhere in the text. The expression must be valid.
pub(super) fn may_match(expression: &str, text: &str) -> bool {
    let mut reader = Reader { rest: expression.chars().peekable(), depth: 0 };
    let Some(literals) = reader.alternatives() else { return true };
    let text = text.to_ascii_lowercase();
    literals.iter().any(|literal| text.contains(literal))
}

/// Reads an expression. Unknown syntax is `None`: then nothing is known about the whole expression.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    depth: u32,
}

/// A match contains at least one of them, in lower case.
type AnyOf = Vec<String>;

/// What is known about one alternative.
#[derive(Default)]
struct Branch {
    run: String,
    best: AnyOf,
}

impl Branch {
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        self.consider(vec![run]);
    }

    /// A longer literal is in fewer texts.
    fn consider(&mut self, literals: AnyOf) {
        let shortest = |literals: &AnyOf| literals.iter().map(String::len).min().unwrap_or_default();
        if shortest(&literals) > shortest(&self.best) {
            self.best = literals;
        }
    }
}

impl Reader<'_> {
    /// Up to the end, or the parenthesis that closes the group.
    fn alternatives(&mut self) -> Option<AnyOf> {
        let mut all = Vec::new();
        loop {
            let literals = self.branch()?;
            if literals.is_empty() {
                return None;
            }
            all.extend(literals);
            if self.rest.next_if_eq(&'|').is_none() {
                return Some(all);
            }
        }
    }

    fn branch(&mut self) -> Option<AnyOf> {
        let mut branch = Branch::default();
        while let Some(c) = self.rest.next_if(|c| !matches!(c, '|' | ')')) {
            match c {
                '(' => {
                    branch.end_run();
                    let literals = self.group()?;
                    if !self.is_repeated() {
                        branch.consider(literals);
                    }
                }
                '[' => {
                    branch.end_run();
                    self.class()?;
                    self.is_repeated();
                }
                '.' | '^' | '$' => {
                    branch.end_run();
                    self.is_repeated();
                }
                '\\' => match self.rest.next()? {
                    'b' | 'B' | 'A' | 'z' | 'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'n' | 'r' | 't' => {
                        branch.end_run();
                        self.is_repeated();
                    }
                    c if c.is_ascii_punctuation() => self.literal(c, &mut branch),
                    _ => return None,
                },
                '?' | '*' | '+' | '{' => return None,
                c => self.literal(c, &mut branch),
            }
        }
        branch.end_run();
        Some(branch.best)
    }

    fn literal(&mut self, c: char, branch: &mut Branch) {
        let is_repeated = self.is_repeated();
        if is_repeated || !c.is_ascii() {
            branch.end_run();
        } else {
            branch.run.push(c.to_ascii_lowercase());
        }
    }

    /// After the opening parenthesis, up to and with the closing one.
    fn group(&mut self) -> Option<AnyOf> {
        if self.rest.next_if_eq(&'?').is_some() {
            loop {
                match self.rest.next()? {
                    ':' | '>' => break,
                    // Flags without a group.
                    ')' => return Some(Vec::new()),
                    // Blanks and comments would be part of the expression.
                    'x' if self.rest.peek() != Some(&'>') => return None,
                    _ => {}
                }
            }
        }
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let literals = self.alternatives();
        self.depth -= 1;
        self.rest.next_if_eq(&')')?;
        literals
    }

    /// After the opening bracket, up to and with the closing one.
    fn class(&mut self) -> Option<()> {
        self.rest.next_if_eq(&'^');
        self.rest.next_if_eq(&']');
        loop {
            match self.rest.next()? {
                ']' => return Some(()),
                '\\' => drop(self.rest.next()?),
                // A class in a class.
                '[' => return None,
                _ => {}
            }
        }
    }

    /// Reads the repetitions after a part.
    fn is_repeated(&mut self) -> bool {
        let mut is_repeated = false;
        while let Some(c) = self.rest.next_if(|c| matches!(c, '?' | '*' | '+' | '{')) {
            is_repeated = true;
            if c == '{' {
                self.rest.by_ref().find(|c| *c == '}');
            }
        }
        is_repeated
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_without_the_words_of_an_expression_is_not_searched() {
        for expression in [
            r"(?i)\b(deploy|release)-3\s+\w+",
            "Migrat(e|ion)s?",
            "auth|login",
            r"^(?:sidebar|header(?P<n>s)?)\.tsx$",
            r"[Mm]igration guides?",
            r"(?s:a.*)?schema+\b",
        ] {
            assert!(!may_match(expression, "fix the failing tests of the parser"), "{expression}");
        }
    }

    #[test]
    fn what_cannot_be_said_is_searched() {
        for expression in
            [r"\x41", "a?", "(a|)", "[a]", r"(?x) a b", r"\p{Lu}b", ".", "(é)", "a|b?", "[[:alpha:]]z"]
        {
            assert!(may_match(expression, "fix it"), "{expression}");
        }
    }

    proptest! {
        #[test]
        fn no_match_is_lost(
            expression in r"((\(\?i\)|\(\?x\)|\(\?P<x>)?(a|B|-|\(|\)|\||\[ab\]|\[\^\]a\]|\.|\\b|\\w|\\-|\\x41|\^|\$| |é)(\?|\*|\+|\{0,2\}|\+\?)?){1,7}",
            text in "[aAbB\\- é]{0,8}", case_insensitive: bool,
        ) {
            let built = regex_lite::RegexBuilder::new(&expression).case_insensitive(case_insensitive).build();
            if let Ok(compiled) = built && compiled.is_match(&text) {
                prop_assert!(may_match(&expression, &text), "{expression:?} matches {text:?}");
            }
        }
    }
}
