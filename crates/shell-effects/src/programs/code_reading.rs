//! Whether code in another language only reads files. The code is split into tokens. Every function that it calls must be on a
//! short list, and nothing may redefine a name on that list. Code that is not understood may write.

use self::harmless_names::{
    AWK, FS, HarmlessNames, JAVASCRIPT, NAMED, OS_PATH, PERL, PHP, PYTHON, READ_MODES, RUBY,
};
use self::token::{SourceToken, arguments, tokens};
use crate::programs::languages::SourceLanguage;

mod harmless_names;
pub(super) mod token;

/// What code of a language may call. Code of other languages may do anything.
fn lists(language: SourceLanguage) -> Option<&'static HarmlessNames> {
    match language {
        SourceLanguage::Python => Some(&PYTHON),
        SourceLanguage::JavaScript => Some(&JAVASCRIPT),
        SourceLanguage::Perl => Some(&PERL),
        SourceLanguage::Ruby => Some(&RUBY),
        SourceLanguage::Php => Some(&PHP),
        SourceLanguage::Awk => Some(&AWK),
        _ => None,
    }
}

/// The language of an interpreter, if its code is read.
pub(super) fn language_of(interpreter: &str) -> Option<SourceLanguage> {
    SourceLanguage::of(interpreter).filter(|language| lists(*language).is_some())
}

/// Whether code only reads files.
pub(super) fn only_reads(kind: SourceLanguage, code: &str) -> bool {
    let Some(lists) = lists(kind) else { return false };
    let Some(tokens) = tokens(kind, code) else { return false };
    let reader = Reader { tokens: &tokens, kind, lists };
    (0..tokens.len()).all(|at| reader.is_harmless(at).is_some())
}

struct Reader<'t, 'c> {
    tokens: &'t [SourceToken<'c>],
    kind: SourceLanguage,
    lists: &'static HarmlessNames,
}

/// Each function checks one token. `None` means that it may do more than read.
impl<'c> Reader<'_, 'c> {
    fn token(&self, at: usize) -> Option<SourceToken<'c>> {
        self.tokens.get(at).copied()
    }

    /// The token some places before another one.
    fn before(&self, at: usize, places: usize) -> Option<SourceToken<'c>> {
        self.token(at.checked_sub(places)?)
    }

    fn is_sign(&self, at: usize, sign: char) -> bool {
        self.token(at) == Some(SourceToken::Sign(sign))
    }

    fn is_harmless(&self, at: usize) -> Option<()> {
        match self.token(at)? {
            SourceToken::Text(_) => Some(()),
            SourceToken::Sign('(') => self.parenthesis(at),
            SourceToken::Sign(sign) => self.sign(at, sign),
            SourceToken::Name(name) => {
                self.name(at, name)?;
                match self.kind {
                    SourceLanguage::Python => self.python_name(at, name),
                    SourceLanguage::JavaScript => self.javascript_name(at, name),
                    SourceLanguage::Ruby if name == "require" => {
                        if self.token(at + 1) == Some(SourceToken::Text("json")) { Some(()) } else { None }
                    }
                    _ => Some(()),
                }
            }
        }
    }

    /// A call: the name is checked on its own.
    fn parenthesis(&self, at: usize) -> Option<()> {
        let lists = self.lists;
        match self.before(at, 1) {
            Some(SourceToken::Name(name)) if self.before(at, 2) == Some(SourceToken::Sign('.')) => {
                if lists.methods.contains(&name) { Some(()) } else { None }
            }
            Some(SourceToken::Name(name)) => {
                let is_variable = matches!(self.kind, SourceLanguage::Perl | SourceLanguage::Php)
                    && matches!(self.before(at, 2), Some(SourceToken::Sign('$' | '@' | '%')));
                let is_known = lists.functions.contains(&name) || lists.words.contains(&name);
                if is_known && !is_variable { Some(()) } else { None }
            }
            Some(SourceToken::Text(_) | SourceToken::Sign(')' | ']' | '}' | '.')) => None,
            Some(SourceToken::Sign('>')) if self.before(at, 2) == Some(SourceToken::Sign('-')) => None,
            _ => Some(()),
        }
    }

    fn sign(&self, at: usize, sign: char) -> Option<()> {
        let is_twice = self.is_sign(at + 1, sign) || self.before(at, 1) == Some(SourceToken::Sign(sign));
        let next = self.token(at + 1);
        let is_clear = match (self.kind, sign) {
            (SourceLanguage::Python, '@') => false,
            (SourceLanguage::Python, '*') => !is_twice,
            (SourceLanguage::JavaScript, '=') => next != Some(SourceToken::Sign('>')),
            (SourceLanguage::JavaScript, '.') => !is_twice,
            // `<!--` and `-->` start comments.
            (SourceLanguage::JavaScript, '#' | '@') => false,
            // A block after a condition, not an object or a function.
            (SourceLanguage::JavaScript, '{') => {
                matches!(self.before(at, 1), Some(SourceToken::Sign(')') | SourceToken::Name("else")))
            }
            (SourceLanguage::JavaScript, '<') => next != Some(SourceToken::Sign('!')),
            (SourceLanguage::JavaScript, '>') => self.before(at, 1) != Some(SourceToken::Sign('-')),
            (SourceLanguage::Perl, '*' | '?' | '~') => false,
            (SourceLanguage::Perl | SourceLanguage::Php, '$') => {
                matches!(next, Some(SourceToken::Name(_))) && !is_arrow(self, at)
            }
            (SourceLanguage::Perl, '@') => matches!(next, Some(SourceToken::Name(_))),
            (SourceLanguage::Perl | SourceLanguage::Ruby | SourceLanguage::Php, '&') => is_twice,
            (SourceLanguage::Perl | SourceLanguage::Ruby | SourceLanguage::Php, '<') => !is_twice,
            (SourceLanguage::Ruby, '%' | '$' | '@' | '?' | ':' | '*' | '|') => false,
            (SourceLanguage::Php, '?' | '@' | ':') => false,
            (SourceLanguage::Awk, '@') => false,
            _ => true,
        };
        if is_clear { Some(()) } else { None }
    }

    /// A listed name must have its listed meaning.
    fn name(&self, at: usize, name: &str) -> Option<()> {
        let lists = self.lists;
        // `from pathlib import Path`
        let is_imported = matches!(name, "Path" | "Counter" | "defaultdict")
            && self.before(at, 1) == Some(SourceToken::Name("import"));
        let is_called = self.is_sign(at + 1, '(') || is_imported;
        let is_after_dot = self.before(at, 1) == Some(SourceToken::Sign('.'));
        let needs_no_parenthesis =
            matches!(self.kind, SourceLanguage::Perl | SourceLanguage::Ruby | SourceLanguage::Awk);
        let is_clear = match self.kind {
            SourceLanguage::Awk => !matches!(name, "ARGV" | "ARGC" | "PROCINFO" | "function" | "func"),
            SourceLanguage::Perl | SourceLanguage::Ruby | SourceLanguage::Php => self.is_listed(at, name),
            _ if is_after_dot => is_called || !lists.methods.contains(&name),
            _ => true,
        };
        // `defaultdict(list)`
        let is_type = matches!(name, "dict" | "int" | "list" | "set" | "str")
            && self.before(at, 1) == Some(SourceToken::Sign('('))
            && self.before(at, 2) == Some(SourceToken::Name("defaultdict"))
            && self.is_sign(at + 1, ')');
        if !is_clear
            || lists.functions.contains(&name)
                && !is_after_dot
                && !is_called
                && !is_type
                && !needs_no_parenthesis
        {
            return None;
        }
        // `from collections import Counter`
        if name == "collections" && self.before(at, 1) == Some(SourceToken::Name("from")) {
            return Some(());
        }
        let owner = lists.owners.iter().find(|(owner, _)| *owner == name && !is_after_dot);
        let Some((_, members)) = owner else { return Some(()) };
        match (self.token(at + 1), self.token(at + 2)) {
            (Some(SourceToken::Sign('.')), Some(SourceToken::Name(member))) if members.contains(&member) => {
                Some(())
            }
            _ if self.declares_module(at) => Some(()),
            _ => None,
        }
    }

    /// Perl and Ruby call functions without parentheses, so each name must be known.
    fn is_listed(&self, at: usize, name: &str) -> bool {
        let lists = self.lists;
        let is_number = name.starts_with(|c: char| c.is_ascii_digit());
        match self.before(at, 1) {
            Some(SourceToken::Sign('$' | '@' | '%')) => {
                !matches!(name, "ARGV" | "GLOBALS" | "ENV" | "SIG" | "INC")
            }
            Some(SourceToken::Sign('.')) => lists.methods.contains(&name),
            // `$h->{key}`, `$object->property`
            Some(SourceToken::Sign('{')) if self.before(at, 2) == Some(SourceToken::Sign('>')) => {
                self.is_sign(at + 1, '}')
            }
            Some(SourceToken::Sign('>')) if self.before(at, 2) == Some(SourceToken::Sign('-')) => {
                self.kind == SourceLanguage::Php && !self.is_sign(at + 1, '(')
            }
            _ => {
                is_number
                    || lists.words.contains(&name)
                    || lists.functions.contains(&name)
                    || lists.owners.iter().any(|(owner, _)| *owner == name)
            }
        }
    }

    /// `import json`, `const fs = require('fs')`
    fn declares_module(&self, at: usize) -> bool {
        let before = self.before(at, 1);
        match self.kind {
            SourceLanguage::Python => {
                before == Some(SourceToken::Name("import"))
                    || before == Some(SourceToken::Sign(',')) && token::is_in_import(self.tokens, at)
            }
            SourceLanguage::JavaScript => {
                let rest = self.tokens.get(at..at + 6).unwrap_or_default();
                matches!(before, Some(SourceToken::Name("const" | "let" | "var")))
                    && matches!(
                        rest,
                        [
                            SourceToken::Name("fs"),
                            SourceToken::Sign('='),
                            SourceToken::Name("require"),
                            SourceToken::Sign('('),
                            SourceToken::Text("fs" | "node:fs"),
                            SourceToken::Sign(')')
                        ]
                    )
                    && matches!(
                        self.token(at + 6),
                        None | Some(SourceToken::Sign(';') | SourceToken::Name(_))
                    )
            }
            _ => false,
        }
    }
}

/// Whether `->` is before a token.
fn is_arrow(reader: &Reader<'_, '_>, at: usize) -> bool {
    reader.before(at, 1) == Some(SourceToken::Sign('>'))
        && reader.before(at, 2) == Some(SourceToken::Sign('-'))
}

impl<'c> Reader<'_, 'c> {
    fn python_name(&self, at: usize, name: &str) -> Option<()> {
        let is_after_dot = self.before(at, 1) == Some(SourceToken::Sign('.'));
        let is_clear = match name {
            "path" if is_after_dot && self.before(at, 2) == Some(SourceToken::Name("os")) => {
                self.is_sign(at + 1, '.')
                    && matches!(self.token(at + 2), Some(SourceToken::Name(called)) if OS_PATH.contains(&called))
                    && self.is_sign(at + 3, '(')
            }
            _ if is_after_dot => true,
            "def" | "class" | "lambda" | "exec" | "eval" | "compile" | "getattr" | "setattr" => false,
            "as" => self.before(at, 1) == Some(SourceToken::Sign(')')),
            "from" => matches!(
                self.tokens.get(at + 1..at + 4),
                Some(
                    [SourceToken::Name("pathlib"), SourceToken::Name("import"), SourceToken::Name("Path")]
                        | [
                            SourceToken::Name("collections"),
                            SourceToken::Name("import"),
                            SourceToken::Name("Counter" | "defaultdict")
                        ]
                )
            ),
            "pathlib" => self.before(at, 1) == Some(SourceToken::Name("from")),
            "import" => match self.token(at + 1) {
                Some(SourceToken::Name("Path")) => self.before(at, 1) == Some(SourceToken::Name("pathlib")),
                Some(SourceToken::Name("Counter" | "defaultdict")) => {
                    self.before(at, 1) == Some(SourceToken::Name("collections"))
                }
                Some(SourceToken::Name(module)) => PYTHON.owners.iter().any(|(owner, _)| *owner == module),
                _ => false,
            },
            "open" => self.opens_for_reading(at + 1),
            _ => true,
        };
        // `import json, os`
        let is_imported =
            self.before(at, 1) == Some(SourceToken::Sign(',')) && token::is_in_import(self.tokens, at);
        let is_module = PYTHON.owners.iter().any(|(owner, _)| *owner == name);
        if is_clear && (!is_imported || is_module) && !self.is_other_named(at, name) {
            Some(())
        } else {
            None
        }
    }

    /// Whether it is the name of an argument that may be a function, a file or a mode.
    fn is_other_named(&self, at: usize, name: &str) -> bool {
        let is_named = matches!(self.before(at, 1), Some(SourceToken::Sign('(' | ',')))
            && self.is_sign(at + 1, '=')
            && !self.is_sign(at + 2, '=');
        let is_read_mode = name == "mode"
            && matches!(self.token(at + 2), Some(SourceToken::Text(mode)) if READ_MODES.contains(&mode))
            && matches!(self.token(at + 3), Some(SourceToken::Sign(')' | ',')));
        is_named && !NAMED.contains(&name) && !is_read_mode
    }

    /// Whether the arguments after this parenthesis open a file for reading.
    fn opens_for_reading(&self, at: usize) -> bool {
        let Some(arguments) = arguments(self.tokens, at) else { return false };
        let Some((file, others)) = arguments.split_first() else { return false };
        let is_plain = |(position, argument): (usize, &&[SourceToken<'_>])| match argument {
            [SourceToken::Text(mode)] => position == 0 && READ_MODES.contains(mode),
            [SourceToken::Name("mode"), SourceToken::Sign('='), SourceToken::Text(mode)] => {
                READ_MODES.contains(mode)
            }
            [
                SourceToken::Name("encoding" | "errors" | "newline"),
                SourceToken::Sign('='),
                SourceToken::Text(_),
            ] => true,
            _ => false,
        };
        let is_file = !matches!(
            file,
            [] | [SourceToken::Sign('*'), ..] | [SourceToken::Name(_), SourceToken::Sign('='), ..]
        );
        is_file && others.iter().enumerate().all(is_plain)
    }

    fn javascript_name(&self, at: usize, name: &str) -> Option<()> {
        let is_after_dot = self.before(at, 1) == Some(SourceToken::Sign('.'));
        let is_owner = JAVASCRIPT.owners.iter().any(|(owner, _)| *owner == name);
        let is_known = is_after_dot
            || is_owner
            || name.starts_with(|c: char| c.is_ascii_digit())
            || JAVASCRIPT.words.contains(&name)
            || JAVASCRIPT.functions.contains(&name)
            || self.is_declared(name);
        let is_clear = match name {
            "readFileSync" => self.has_plain_arguments(at + 1, |position, argument| {
                position == 1 && matches!(argument, [SourceToken::Text(_)])
            }),
            "parse" => self.has_plain_arguments(at + 1, |_, _| false),
            "stringify" => self.has_plain_arguments(at + 1, |position, argument| match argument {
                [SourceToken::Name("null")] => position == 1,
                [SourceToken::Text(_)] => position == 2,
                [SourceToken::Name(number)] => {
                    position == 2 && number.bytes().all(|byte| byte.is_ascii_digit())
                }
                _ => false,
            }),
            "require" => self.requires_data(at),
            _ => true,
        };
        if is_known && is_clear { Some(()) } else { None }
    }

    /// Whether the only list is that of two variables.
    fn declares_pair(&self) -> bool {
        let lists = self.tokens.iter().filter(|token| **token == SourceToken::Sign('[')).count();
        let is_pair = |start: &[SourceToken<'_>]| {
            matches!(
                start,
                [
                    SourceToken::Name("const" | "let" | "var"),
                    SourceToken::Sign('['),
                    SourceToken::Name(_),
                    SourceToken::Sign(','),
                    SourceToken::Name(_),
                    SourceToken::Sign(']'),
                    SourceToken::Name("of")
                ]
            )
        };
        lists == 1 && self.tokens.windows(7).any(is_pair)
    }

    fn is_declared(&self, name: &str) -> bool {
        self.tokens.windows(3).any(|start| match start {
            [
                SourceToken::Name("const" | "let" | "var"),
                SourceToken::Name(declared),
                SourceToken::Sign('=') | SourceToken::Name("of" | "in"),
            ] => *declared == name,
            // `const [key, value] of`
            [SourceToken::Sign('['), SourceToken::Name(declared), SourceToken::Sign(',')]
            | [SourceToken::Sign(','), SourceToken::Name(declared), SourceToken::Sign(']')] => {
                *declared == name && self.declares_pair()
            }
            _ => false,
        })
    }

    fn has_plain_arguments(&self, at: usize, is_plain: impl Fn(usize, &[SourceToken<'_>]) -> bool) -> bool {
        let Some(arguments) = arguments(self.tokens, at) else { return false };
        let mut others = arguments.iter().enumerate().skip(1);
        others.all(|(position, argument)| is_plain(position, argument))
    }

    /// `require('./x.json')`, `require('fs').readFileSync(…)`
    fn requires_data(&self, at: usize) -> bool {
        let Some([SourceToken::Sign('('), SourceToken::Text(module), SourceToken::Sign(')')]) =
            self.tokens.get(at + 1..at + 4)
        else {
            return false;
        };
        match (*module, self.token(at + 4), self.token(at + 5)) {
            ("fs" | "node:fs", Some(SourceToken::Sign('.')), Some(SourceToken::Name(name))) => {
                FS.contains(&name)
            }
            ("fs" | "node:fs", ..) => at.checked_sub(2).is_some_and(|name| self.declares_module(name)),
            (module, ..) => module.ends_with(".json"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_reads(interpreter: &str, code: &str) -> bool {
        SourceLanguage::of(interpreter).is_some_and(|language| super::only_reads(language, code))
    }

    #[test]
    fn every_function_that_is_called_is_on_a_list() {
        for (interpreter, code) in [
            ("python3", "import json, sys\nfor k in json.load(sys.stdin): print(k, sep='')"),
            ("python3", "print(open('a').read().split()[0], '%s' % len(\"it's\"))"),
            ("python3", "\"\"\"it's\na text\"\"\"\nprint(r'\\d', b'x')"),
            ("node", "const d = JSON.parse(fs.readFileSync('a', 'utf8')); console.log(d.a['b'].c)"),
            ("node", "console.log(process.argv)"),
            ("perl", "print if /a b/ or not defined $h->{a}"),
            ("ruby", "require 'json'; puts JSON.parse(File.read('a')).keys.join(', ')"),
            ("php", "foreach (json_decode(file_get_contents('a')) as $k) echo $k->name;"),
            ("gawk", "BEGIN { FS = \",\" } /a/ { n += length($1) } END { print n, substr(x, 1) }"),
        ] {
            assert!(only_reads(interpreter, code), "{interpreter}: {code}");
        }
        for (interpreter, code) in [
            ("python3", "import json as print"),
            ("python3", "import json, shelve"),
            ("python3", "from pathlib import Path as print"),
            ("python3", "from os import *"),
            ("python3", "x = json"),
            ("python3", "print('a', file=x)"),
            ("python3", "open(*x)"),
            ("python3", "open('a', x)"),
            ("python3", "open(file='a')"),
            ("python3", "f = open"),
            ("python3", "json.loads(s, **x)"),
            ("python3", "# coding: utf-7\nprint(1)"),
            ("python3", "# a\rfoo()"),
            ("python3", "x.open('w')"),
            ("python3", "print(\u{ff4f}pen)"),
            ("python3", "print('a"),
            ("node", "const x = require('fs')"),
            ("node", "const fs = require('fs')['a']"),
            ("node", "x?.(1)"),
            ("node", "x => 1"),
            ("node", "console.log`a`"),
            ("node", "new X"),
            ("node", "var vm; console.log(vm)"),
            ("node", "<!-- '\nfoo('a') // '"),
            ("node", "require('./a.json', 1); require('./a')"),
            ("perl", "print \"$x[foo()]\""),
            ("perl", "$x->('a')"),
            ("perl", "$x->$y"),
            ("perl", "print 1 / foo / 1"),
            ("perl", "=pod\n'\n=cut\n"),
            ("ruby", "puts ?'; foo 'a'"),
            ("ruby", "puts %x(a)"),
            ("ruby", "require './a'"),
            ("php", "array_map('foo', $x);"),
            ("php", "$x->foo('a');"),
            ("awk", "{ foo (1) }"),
            ("awk", "{ print a / b; foo(1) / c }"),
            ("lua", "print(1)"),
        ] {
            assert!(!only_reads(interpreter, code), "{interpreter}: {code}");
        }
    }
}
