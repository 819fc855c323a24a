//! Functions and aliases: names that stand for commands.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::analysis::variables::Alternatives;
use crate::syntax::tree::Command;

/// The body of a function.
#[derive(Clone, Debug)]
pub(crate) struct FunctionBody(pub(crate) Rc<Command>);

impl PartialEq for FunctionBody {
    /// Usually both are one place in a script. A text that is evaluated again has equal content.
    fn eq(&self, other: &FunctionBody) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for FunctionBody {}

/// What a name stands for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Definition<T: PartialEq> {
    name: Rc<str>,
    /// One of these.
    pub(crate) bodies: Alternatives<T>,
    /// Whether it is certainly defined.
    pub(crate) is_certain: bool,
}

/// Names with what they stand for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Definitions<T: PartialEq>(
    /// Sorted by name.
    Rc<Vec<Definition<T>>>,
);

impl<T: PartialEq> Default for Definitions<T> {
    fn default() -> Definitions<T> {
        Definitions(Rc::new(Vec::new()))
    }
}

impl<T: Clone + PartialEq> Definitions<T> {
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|known| (*known.name).cmp(name))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Definition<T>> {
        self.0.get(self.position(name).ok()?)
    }

    pub(crate) fn define(&mut self, name: &str, body: T) {
        let definition = Definition { name: name.into(), bodies: Alternatives::one(body), is_certain: true };
        let definitions = Rc::make_mut(&mut self.0);
        match definitions.binary_search_by(|known| (*known.name).cmp(name)) {
            Ok(at) => {
                if let Some(old) = definitions.get_mut(at) {
                    *old = definition;
                }
            }
            Err(at) => definitions.insert(at, definition),
        }
    }

    /// The name may have lost its definition.
    pub(crate) fn undefine(&mut self, name: &str) {
        if let Ok(at) = self.position(name)
            && let Some(definition) = Rc::make_mut(&mut self.0).get_mut(at)
        {
            definition.is_certain = false;
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Ok(at) = self.position(name) {
            Rc::make_mut(&mut self.0).remove(at);
        }
    }

    /// Either these definitions or others.
    pub(crate) fn join(&self, other: &Definitions<T>) -> Definitions<T> {
        if Rc::ptr_eq(&self.0, &other.0) {
            return self.clone();
        }
        let mut all: Vec<Definition<T>> = Vec::with_capacity(self.len());
        for mine in self.0.iter() {
            all.push(match other.get(&mine.name) {
                Some(theirs) => Definition {
                    name: Rc::clone(&mine.name),
                    bodies: mine.bodies.union(&theirs.bodies),
                    is_certain: mine.is_certain && theirs.is_certain,
                },
                None => Definition { is_certain: false, ..mine.clone() },
            });
        }
        let new = other.0.iter().filter(|theirs| self.get(&theirs.name).is_none());
        all.extend(new.map(|theirs| Definition { is_certain: false, ..theirs.clone() }));
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Definitions(Rc::new(all))
    }

    /// Whether each definition in others is possible here too.
    #[cfg(test)]
    pub(crate) fn covers(&self, other: &Definitions<T>) -> bool {
        let has = |theirs: &Definition<T>| {
            self.get(&theirs.name).is_some_and(|mine| {
                mine.bodies.contains_all(&theirs.bodies) && (theirs.is_certain || !mine.is_certain)
            })
        };
        let is_open = |mine: &Definition<T>| !mine.is_certain || other.get(&mine.name).is_some();
        other.0.iter().all(has) && self.0.iter().all(is_open)
    }
}

impl Analyzer<'_> {
    /// Replaces an alias by its text. It is not replaced again inside that.
    pub(super) fn alias(&mut self, name: &str, text: &str, fields: &[Field]) {
        if !self.work(64 * (self.state.aliases.len() + 1) + 8 * text.len()) {
            return;
        }
        // The body of a here-document is not part of the alias. It comes after the command.
        if text.contains("<<") {
            return self.doubt_script(name);
        }
        // After an alias without words, the next word may be an assignment.
        let quoted = |field: &Field| match field.text.split_once('=') {
            Some((name, value)) if field.is_literal() && is_identifier(name) => {
                format!("{name}={}", crate::quoted(value))
            }
            // After an alias that ends a command, these are reserved.
            _ if matches!(field.text.as_str(), "!" | "coproc" | "time") => field.text.clone(),
            _ => field.as_word(),
        };
        let mut rest: Vec<String> = fields.iter().skip(1).map(quoted).collect();
        // If the alias ends with a blank, the next word is replaced too.
        let mut ends_blank = text.ends_with([' ', '\t']);
        for (word, field) in rest.iter_mut().zip(fields.iter().skip(1)) {
            if !ends_blank {
                break;
            }
            let Some(alias) = self.state.aliases.get(&field.text) else { break };
            let [text] = alias.bodies.as_slice() else { return self.doubt_script(name) };
            ends_blank = text.ends_with([' ', '\t']);
            word.clone_from(text);
        }
        self.restoring(
            |analyzer| &mut analyzer.state.aliases,
            |analyzer| {
                analyzer.state.aliases.remove(name);
                // A backslash at its end escapes the next character.
                let separator = if rest.is_empty() { "\n" } else { " " };
                analyzer.script_text(&format!("{text}{separator}{}", rest.join(" ")));
            },
        );
        self.streams.output = Stream::Nothing;
    }
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
