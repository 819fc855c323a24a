//! Settings of a shell that change the meaning of its words, and attributes of its variables.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ShellOptions {
    /// Whether globs may match names that start with a dot.
    dotglob: bool,
    /// Whether globs may ignore case.
    nocaseglob: bool,
    /// Whether the last command of a pipeline may run in this shell.
    pub(crate) lastpipe: bool,
    /// Whether `cd NAME` may go to the directory that a variable of this name holds.
    pub(crate) cdable_vars: bool,
    /// Whether there may be variables whose values are arithmetic.
    pub(crate) has_integers: bool,
    /// Whether an unknown file or unknown code may have set variables.
    pub(crate) has_sourced: bool,
    /// Whether the current declaration changes the case of values.
    pub(crate) changes_case: bool,
    /// Variables that may hold something else than what they are given: in lower case, or set again by a trap. Sorted.
    unsteady: Rc<Vec<String>>,
}

impl ShellOptions {
    /// `shopt -s NAME`, `bash -O NAME`.
    pub(crate) fn switch_on(&mut self, name: &str) {
        match name {
            "dotglob" => self.dotglob = true,
            "nocaseglob" => self.nocaseglob = true,
            "lastpipe" => self.lastpipe = true,
            "cdable_vars" => self.cdable_vars = true,
            _ => {}
        }
    }

    pub(crate) fn switch_off(&mut self, name: &str) {
        match name {
            "dotglob" => self.dotglob = false,
            "nocaseglob" => self.nocaseglob = false,
            "lastpipe" => self.lastpipe = false,
            "cdable_vars" => self.cdable_vars = false,
            _ => {}
        }
    }

    pub(crate) fn make_unsteady(&mut self, name: &str) {
        if let Err(at) = self.unsteady.binary_search_by(|unsteady| unsteady.as_str().cmp(name)) {
            Rc::make_mut(&mut self.unsteady).insert(at, name.to_owned());
        }
    }

    pub(crate) fn is_unsteady(&self, name: &str) -> bool {
        self.unsteady.iter().any(|unsteady| unsteady == name)
    }

    /// Either these or others.
    pub(crate) fn join(&self, other: &ShellOptions) -> ShellOptions {
        if self == other {
            return self.clone();
        }
        let mut joined = ShellOptions {
            dotglob: self.dotglob || other.dotglob,
            nocaseglob: self.nocaseglob || other.nocaseglob,
            lastpipe: self.lastpipe || other.lastpipe,
            cdable_vars: self.cdable_vars || other.cdable_vars,
            has_integers: self.has_integers || other.has_integers,
            has_sourced: self.has_sourced || other.has_sourced,
            changes_case: false,
            unsteady: Rc::clone(&self.unsteady),
        };
        other.unsteady.iter().for_each(|name| joined.make_unsteady(name));
        joined
    }

    #[cfg(test)]
    pub(crate) fn covers(&self, other: &ShellOptions) -> bool {
        self.join(other) == *self
    }
}

impl Analyzer<'_> {
    /// The additional files that globs match, with the options of the shell.
    pub(super) fn with_glob_options(&self, fields: Vec<Field>) -> Vec<Field> {
        let ShellOptions { dotglob, nocaseglob, .. } = self.state.options;
        if !dotglob && !nocaseglob {
            return fields;
        }
        let mut all = Vec::with_capacity(fields.len());
        for field in fields {
            if field.kind != FieldKind::Glob {
                all.push(field);
                continue;
            }
            let pattern = if nocaseglob { without_case(&field.text) } else { field.text.clone() };
            if dotglob {
                all.extend(
                    hidden(&pattern).into_iter().map(|pattern| Field { text: pattern, ..field.clone() }),
                );
            }
            all.push(Field { text: pattern, ..field });
        }
        all
    }
}

/// A pattern for the hidden names, if the pattern starts with a wildcard.
fn hidden(pattern: &str) -> Option<String> {
    let dotted = |part: &str| match part.chars().next() {
        Some('*') => format!(".{part}"),
        Some('?') => format!(".{}", part.get(1..).unwrap_or_default()),
        Some('[') => match part.split_once(']') {
            Some((_, rest)) => format!(".{rest}"),
            None => part.to_owned(),
        },
        _ => part.to_owned(),
    };
    let (folder, name) = pattern.rsplit_once('/').map_or(("", pattern), |(folder, name)| (folder, name));
    let hidden = if folder.is_empty() && !pattern.starts_with('/') {
        dotted(name)
    } else {
        format!("{folder}/{}", dotted(name))
    };
    if hidden == pattern { None } else { Some(hidden) }
}

/// A pattern that matches names in any case, or more.
fn without_case(pattern: &str) -> String {
    let mut out = String::with_capacity(4 * pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                out.push(c);
                out.extend(chars.next());
            }
            '[' => match chars.as_str().split_once(']') {
                Some((_, rest)) => {
                    out.push('?');
                    chars = rest.chars();
                }
                None => out.push(c),
            },
            c if c.is_ascii_alphabetic() => {
                out.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
            }
            c => out.push(c),
        }
    }
    out
}
