//! Sentences and contents in code of Python: `text.replace("old text", "new text")`, `notes = """…"""`. They name no file if they
//! only go where no file is opened: into a text that is printed, written or compared. Nor does the pattern of `re.sub`.
//!
//! The code is split into tokens. If it may take texts apart, run something or import what it wrote, all texts stay.

use crate::Doubt;
use crate::programs::attributes::END;
use crate::programs::code_access::runs_programs;
use crate::programs::code_reading::token::{SourceToken, is_in_import, tokens};
use crate::programs::languages::SourceLanguage;

/// Longer code is left as it is.
const MAX_TOKENS: usize = 8192;
/// Names with more uses may be used in any way, and so may what is deeper in a call.
const MAX_USES: usize = 16;
const MAX_ARGUMENTS: usize = 128;

/// Code without its sentences and patterns, and what follows its end as it is.
pub(crate) fn without_prose(interpreter: &str, text: &str) -> String {
    let (code, _) = text.split_once(END).unwrap_or((text, ""));
    if SourceLanguage::of(interpreter) != Some(SourceLanguage::Python) {
        return text.to_owned();
    }
    let Some(tokens) = tokens(SourceLanguage::Python, code).filter(|tokens| tokens.len() <= MAX_TOKENS)
    else {
        return text.to_owned();
    };
    let strips = tokens.iter().any(|token| matches!(token, SourceToken::Name("strip" | "lstrip" | "rstrip")));
    let reader = Prose { code, tokens: &tokens, strips };
    let (is_plain, has_patterns) = (reader.is_plain(), reader.has_patterns());
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for (index, token) in tokens.iter().enumerate() {
        let SourceToken::Text(inner) = token else { continue };
        let left = if is_plain && reader.is_prose(index, inner) {
            String::new()
        } else if has_patterns && reader.is_pattern(index) {
            if reader.is_replaced_by_text(index) { String::new() } else { without_signs(inner) }
        } else {
            continue;
        };
        let start = offset(code, inner);
        kept.push_str(text.get(at..start).unwrap_or_default());
        kept.push_str(&left);
        at = start + inner.len();
    }
    kept.push_str(text.get(at..).unwrap_or_default());
    kept
}

/// Files that a build runs or obeys, without being part of what it builds.
#[rustfmt::skip]
const BUILD_FILES: &[&str] = &[
    ".cargo/config", ".config.", ".npmrc", ".setup.", "CMakeLists", "Cargo.toml", "Directory.Build", "Makefile", "build.gradle", "build.rs",
    "config.toml", "conftest", "makefile", "package.json", "pom.xml", "pyproject.toml", "rust-toolchain", "settings.gradle", "setup.cfg",
    "setup.py", "setupTests", "tox.ini",
];

/// Whether code may write a file that a build runs by itself.
pub(crate) fn names_build_file(doubt: &Doubt) -> bool {
    matches!(doubt, Doubt::InlineCode { text, .. } if BUILD_FILES.iter().any(|name| text.contains(name)))
}

/// Where a part of a code starts.
fn offset(code: &str, part: &str) -> usize {
    part.as_ptr().addr().wrapping_sub(code.as_ptr().addr())
}

/// Names with which code may take a text apart, or run it.
const TAKING_APART: &[&str] = &[
    "eval",
    "exec",
    "compile",
    "getattr",
    "setattr",
    "globals",
    "locals",
    "vars",
    "shlex",
    "split",
    "rsplit",
    "splitlines",
    "partition",
    "rpartition",
    "importlib",
    "runpy",
    "builtins",
    "translate",
    "format_map",
];

/// Modules that do not run what the code wrote.
const MODULES: &[&str] = &[
    "argparse",
    "collections",
    "copy",
    "csv",
    "datetime",
    "difflib",
    "fnmatch",
    "functools",
    "glob",
    "hashlib",
    "html",
    "io",
    "itertools",
    "json",
    "math",
    "operator",
    "os",
    "pathlib",
    "random",
    "re",
    "shutil",
    "statistics",
    "string",
    "sys",
    "tempfile",
    "textwrap",
    "time",
    "tomllib",
    "typing",
    "unicodedata",
    "uuid",
    "yaml",
];

/// Methods that put their arguments into a text, search for them in it, or write them into a file.
const METHODS: &[&str] = &["replace", "write", "write_text", "count", "index", "rindex", "find", "rfind"];
const FUNCTIONS: &[&str] = &["print", "len"];

/// Functions of `re` whose first argument is a pattern.
const PATTERNS: &[&str] = &["sub", "subn", "search", "match", "fullmatch", "findall", "finditer"];

/// Words before a comparison.
const BEFORE_COMPARISON: &[&str] = &["if", "elif", "assert", "and", "or", "not"];

/// Words that continue an expression.
const CONTINUING: &[&str] = &["if", "else", "for", "in", "not", "is", "and", "or", "async", "lambda"];

struct Prose<'t, 'c> {
    code: &'c str,
    tokens: &'t [SourceToken<'c>],
    /// Whether it strips a text of blanks and line breaks.
    strips: bool,
}

impl<'c> Prose<'_, 'c> {
    fn token(&self, at: usize) -> Option<SourceToken<'c>> {
        self.tokens.get(at).copied()
    }

    fn before(&self, at: usize, places: usize) -> Option<SourceToken<'c>> {
        self.token(at.checked_sub(places)?)
    }

    /// Whether the code does no more with texts than is known here, and the listed names have their usual meaning.
    fn is_plain(&self) -> bool {
        self.tokens.iter().enumerate().all(|(at, token)| match token {
            SourceToken::Name("import") => self.imports_known(at),
            SourceToken::Name(name) if METHODS.contains(name) || FUNCTIONS.contains(name) => {
                self.token(at + 1) == Some(SourceToken::Sign('('))
                    && self.before(at, 1) != Some(SourceToken::Name("def"))
            }
            SourceToken::Name(name) => {
                !TAKING_APART.contains(name) && !runs_programs(&name.to_ascii_lowercase())
            }
            _ => true,
        })
    }

    /// Whether `re` is the module: it is imported, and the code only calls its functions.
    fn has_patterns(&self) -> bool {
        let mut uses = self.tokens.iter().enumerate().filter(|(_, token)| **token == SourceToken::Name("re"));
        uses.all(|(at, _)| self.is_in_import(at) || self.is_module(at))
    }

    /// `import re`, `import os, re`
    fn is_in_import(&self, at: usize) -> bool {
        if matches!(
            self.token(at + 1),
            Some(SourceToken::Name("as" | "in" | "if") | SourceToken::Sign('.' | '='))
        ) {
            return false;
        }
        is_in_import(self.tokens, at)
    }

    /// `re.sub(…)`, and no `re.sub = …`.
    fn is_module(&self, at: usize) -> bool {
        let is_other = matches!(
            self.before(at, 1),
            Some(SourceToken::Name("as" | "class" | "def" | "for") | SourceToken::Sign('.'))
        );
        let member = (self.token(at + 1), self.token(at + 2), self.token(at + 3));
        let is_set =
            member.2 == Some(SourceToken::Sign('=')) && self.token(at + 4) != Some(SourceToken::Sign('='));
        !is_other
            && matches!(member, (Some(SourceToken::Sign('.')), Some(SourceToken::Name(_)), _))
            && !is_set
    }

    /// `import re, sys`, `from pathlib import Path`
    fn imports_known(&self, mut at: usize) -> bool {
        let is_known = |token| matches!(token, Some(SourceToken::Name(name)) if MODULES.contains(&name));
        if self.before(at, 2) == Some(SourceToken::Name("from")) {
            return is_known(self.before(at, 1));
        }
        loop {
            if !is_known(self.token(at + 1)) {
                return false;
            }
            match self.token(at + 2) {
                Some(SourceToken::Sign(',')) => at += 2,
                Some(SourceToken::Sign('.') | SourceToken::Name("as")) => return false,
                _ => return true,
            }
        }
    }

    /// Whether a text is a sentence, or the content of a file, that goes where no file is opened.
    fn is_prose(&self, at: usize, inner: &str) -> bool {
        // Stripped of its line breaks, a single word may be a file.
        let is_sentence = inner.trim().contains([' ', '\n']) || inner.contains('\n') && !self.strips;
        is_sentence && (self.is_used(at) || self.is_named_prose(at) || self.is_appended_prose(at))
    }

    /// Whether a text or a name is an argument of a harmless call, or compared.
    fn is_used(&self, at: usize) -> bool {
        let (before, after) = (self.before(at, 1), self.token(at + 1));
        let compares = matches!(before, Some(SourceToken::Name(word)) if BEFORE_COMPARISON.contains(&word))
            && matches!(after, Some(SourceToken::Name("in" | "not")));
        let follows = matches!(before, Some(SourceToken::Sign('(' | ',' | '+')));
        let ends = matches!(after, Some(SourceToken::Sign(')' | ',' | '+')));
        compares || follows && ends && self.is_in_harmless_call(at)
    }

    fn is_in_harmless_call(&self, at: usize) -> bool {
        let mut depth = 0_usize;
        let is_between = self.before(at, 1) == Some(SourceToken::Sign('+'))
            && self.token(at + 1) == Some(SourceToken::Sign('+'));
        for open in (0..at).rev().take(MAX_ARGUMENTS) {
            match self.token(open) {
                Some(SourceToken::Sign(')' | ']' | '}')) => depth += 1,
                Some(SourceToken::Sign('(')) if depth == 0 => return self.is_harmless_call(open),
                Some(SourceToken::Sign('[' | '{')) if depth == 0 => return false,
                Some(SourceToken::Sign('(' | '[' | '{')) => depth = depth.saturating_sub(1),
                // `x = x[:i] + "…" + x[i:]`
                Some(SourceToken::Sign('=')) if depth == 0 && is_between && self.assigns(open) => {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// Whether a `=` is that of a statement, and names no argument.
    fn assigns(&self, at: usize) -> bool {
        matches!(self.before(at, 1), Some(SourceToken::Name(_)))
            && !matches!(self.before(at, 2), Some(SourceToken::Sign('(' | ',')))
    }

    fn is_harmless_call(&self, open: usize) -> bool {
        match (self.before(open, 2), self.before(open, 1)) {
            (Some(SourceToken::Sign('.')), Some(SourceToken::Name(name))) => METHODS.contains(&name),
            (_, Some(SourceToken::Name(name))) => FUNCTIONS.contains(&name),
            _ => false,
        }
    }

    /// `name = "…"`, if each use of the name is harmless.
    fn is_named_prose(&self, at: usize) -> bool {
        let (Some(SourceToken::Sign('=')), Some(SourceToken::Name(name))) =
            (self.before(at, 1), self.before(at, 2))
        else {
            return false;
        };
        if !self.is_assignment(at) {
            return false;
        }
        let mut uses = self.tokens.iter().enumerate().filter(|(_, token)| **token == SourceToken::Name(name));
        let mut count = 0;
        uses.all(|(used, _)| {
            count += 1;
            let is_text = matches!(self.token(used + 2), Some(SourceToken::Text(_)));
            let is_assigned = self.token(used + 1) == Some(SourceToken::Sign('=')) && is_text;
            count <= MAX_USES
                && self.before(used, 1) != Some(SourceToken::Sign('.'))
                && (is_assigned && self.is_assignment(used + 2) || self.is_used(used))
        })
    }

    /// `name += "…"`, if the name is otherwise only assigned, changed by a method of its own, or used in a harmless way.
    fn is_appended_prose(&self, at: usize) -> bool {
        let (Some(SourceToken::Sign('=')), Some(SourceToken::Sign('+')), Some(SourceToken::Name(name))) =
            (self.before(at, 1), self.before(at, 2), self.before(at, 3))
        else {
            return false;
        };
        let is_statement = |used: usize| match self.before(used, 1) {
            None | Some(SourceToken::Text(_) | SourceToken::Sign(')' | ']' | '}' | ';')) => true,
            Some(SourceToken::Name(word)) => !CONTINUING.contains(&word),
            Some(SourceToken::Sign(_)) => false,
        };
        let is_target = |used: usize| match (self.token(used + 1), self.token(used + 2)) {
            (Some(SourceToken::Sign('=')), Some(next)) => next != SourceToken::Sign('='),
            (Some(SourceToken::Sign('+')), Some(SourceToken::Sign('='))) => {
                matches!(self.token(used + 3), Some(SourceToken::Text(text)) if self.ends_statement(text))
            }
            _ => false,
        };
        // `name = name.replace(…)`
        let is_changed = |used: usize| {
            let is_own = (self.before(used, 1), self.before(used, 2))
                == (Some(SourceToken::Sign('=')), Some(SourceToken::Name(name)));
            let is_method = matches!(
                (self.token(used + 1), self.token(used + 2)),
                (Some(SourceToken::Sign('.')), Some(SourceToken::Name(method))) if METHODS.contains(&method)
            );
            is_own && is_method
        };
        let uses = self.tokens.iter().enumerate().filter(|(_, token)| **token == SourceToken::Name(name));
        let uses: Vec<usize> = uses.map(|(used, _)| used).take(MAX_USES + 1).collect();
        uses.len() <= MAX_USES
            && uses.into_iter().all(|used| {
                self.before(used, 1) != Some(SourceToken::Sign('.'))
                    && (is_statement(used) && is_target(used) || is_changed(used) || self.is_used(used))
            })
    }

    /// Whether a text is the whole value of an assignment that is a statement.
    fn is_assignment(&self, at: usize) -> bool {
        let starts = match self.before(at, 3) {
            None | Some(SourceToken::Text(_) | SourceToken::Sign(')' | ']' | '}' | ';')) => true,
            Some(SourceToken::Name(word)) => !CONTINUING.contains(&word),
            Some(SourceToken::Sign(_)) => false,
        };
        let ends = matches!(self.token(at), Some(SourceToken::Text(text)) if self.ends_statement(text));
        starts && ends
    }

    /// Whether a text is the last of its line.
    fn ends_statement(&self, text: &str) -> bool {
        let end = offset(self.code, text) + text.len();
        let rest = self.code.get(end..).unwrap_or_default().trim_start_matches(['"', '\'']);
        let rest = rest.trim_start_matches([' ', '\t']);
        rest.is_empty() || rest.starts_with(['\n', ';', '#'])
    }

    /// Whether a text is the first argument of a function of `re`.
    fn is_pattern(&self, at: usize) -> bool {
        let start = at.checked_sub(4).and_then(|start| self.tokens.get(start..at));
        let is_function = matches!(
            start,
            Some([SourceToken::Name("re"), SourceToken::Sign('.'), SourceToken::Name(name), SourceToken::Sign('(')])
                if PATTERNS.contains(name)
        );
        is_function && matches!(self.token(at + 1), Some(SourceToken::Sign(',' | ')')))
    }

    /// `re.sub("…", "text", x)`: a function as the replacement would get what matches.
    fn is_replaced_by_text(&self, at: usize) -> bool {
        matches!(self.before(at, 2), Some(SourceToken::Name("sub" | "subn")))
            && matches!(self.token(at + 2), Some(SourceToken::Text(_)))
            && self.token(at + 3) == Some(SourceToken::Sign(','))
    }
}

/// The variables of JavaScript in a pattern, which are not files.
const VARIABLES: &[&str] = &["process\\.env", "process.env", "import\\.meta\\.env", "import.meta.env"];

/// A pattern without what would be a pattern for names of files.
fn without_signs(pattern: &str) -> String {
    let mut kept = pattern.to_owned();
    for name in VARIABLES {
        kept = kept.replace(name, " ");
    }
    kept.replace(['*', '?', '[', ']'], " ")
}

#[cfg(test)]
mod tests;
