//! Words in the program's position that are not its plain name: shell patterns, unknown values, programs of git.

use crate::Quoting;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::environment::without_holes;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::script_files::WrittenCode;
use crate::analysis::stream::Stream;
use crate::analysis::unknown_code::is_wholly_unknown;
use crate::programs::table;

/// Whether a word is a value without quotes, which may be empty: then there is no word.
pub(super) fn may_be_empty(field: &Field) -> bool {
    is_wholly_unknown(field)
        && !field.holes.is_empty()
        && field.holes.iter().all(|(_, quoting)| *quoting == Quoting::Bare)
}

impl Analyzer<'_> {
    /// A program of git with the name of its subcommand: `/usr/lib/git-core/git-push`.
    pub(super) fn dashed_git(&mut self, first: &Field, fields: &[Field]) {
        let name = table::name_of(&first.text);
        let Some(subcommand) = name.strip_prefix("git-") else { return };
        if table::by_name("git").is_some_and(|git| git.subcommand(subcommand).is_some()) {
            let rest = fields.get(1..).unwrap_or_default();
            let words = [Field::literal("git"), Field::literal(subcommand)];
            let words: Vec<Field> = words.into_iter().chain(rest.iter().cloned()).collect();
            self.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
        }
    }

    /// A shell pattern in the program's position: the first matching file is the program.
    pub(super) fn matched_program(&mut self, first: &Field, fields: &[Field]) {
        let rest = fields.get(1..).unwrap_or_default();
        if first.may_be_any_file() {
            let command = self.last_command();
            let interpreter = first.text.as_str();
            self.any_written(&WrittenCode {
                command,
                interpreter,
                language: Language::NewShell,
                arguments: rest,
            });
        }
        // `/proc/$$/exe`, whichever process that is.
        let matched: Vec<Field> = if table::is_own_program(&first.text) {
            vec![Field::literal(table::name_of(&first.text))]
        } else {
            self.matched_files(first).into_iter().filter(Field::is_literal).collect()
        };
        if !matched.is_empty() {
            let words: Vec<Field> = matched.into_iter().chain(rest.iter().cloned()).collect();
            self.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
        }
    }

    /// Unknown unquoted words may be empty. Then the rest is the command.
    pub(super) fn after_empty_words(&mut self, fields: &[Field], command: usize) {
        let count = fields.iter().take_while(|field| may_be_empty(field)).count();
        let rest = fields.get(count..).unwrap_or_default();
        if count > 0 && rest.first().is_some_and(|first| first.kind != FieldKind::Unknown) {
            self.perhaps(command, rest);
        }
    }

    /// A word at the end of a program's options may be empty. Then more options may follow: `exec $x -a NAME COMMAND`.
    pub(super) fn options_after_empty_words(&mut self, fields: &[Field], end: usize, command: usize) {
        let Some((before, rest)) = fields.split_at_checked(end) else { return };
        let count = rest.iter().take_while(|field| may_be_empty(field)).count();
        let after = rest.get(count..).unwrap_or_default();
        if count > 0 && after.first().is_some_and(|field| field.is_literal() && field.text.starts_with('-')) {
            let fields: Vec<Field> = before.iter().chain(after).cloned().collect();
            self.perhaps(command, &fields);
        }
    }

    /// Unknown values in the program's name may be empty: `${x}git push`, `.$x FILE`.
    pub(super) fn after_empty_parts(&mut self, fields: &[Field], command: usize) {
        let Some((first, rest)) = fields.split_first() else { return };
        let name = without_holes(first);
        let is_elsewhere = name.contains('/') && !table::is_own_program(&name);
        let has_parts = first.kind == FieldKind::Unknown && !first.holes.is_empty();
        if !has_parts || name.is_empty() || is_elsewhere {
            return;
        }
        let fields: Vec<Field> = std::iter::once(Field::literal(name)).chain(rest.iter().cloned()).collect();
        self.perhaps(command, &fields);
    }

    /// Arguments that may be options: unset variables at the start leave one, as in `git push $x--force`, and a pattern matches
    /// files whose names are some, as in `tar cf x *`.
    pub(super) fn options_that_appear(&mut self, fields: &[Field], command: usize) {
        if fields.iter().all(Field::is_literal) {
            return;
        }
        let (mut other, mut is_other) = (Vec::with_capacity(fields.len()), false);
        for field in fields {
            match field.kind {
                FieldKind::Glob if field.written.is_none() => {
                    let options = self.made_options(&field.text);
                    is_other |= !options.is_empty();
                    other.extend(options);
                    // Its other files. They are looked for only once.
                    other.push(Field::like(field.text.as_str(), field.shown()));
                }
                FieldKind::Unknown => {
                    let field = self.without_unset_start(field);
                    is_other |= field.is_literal();
                    other.push(field);
                }
                _ => other.push(field.clone()),
            }
        }
        if is_other {
            self.perhaps(command, &other);
        }
    }

    /// An option or a sign after unset variables, or the same word.
    fn without_unset_start(&self, field: &Field) -> Field {
        let known = without_holes(field);
        let starts_unset = field.holes.first().is_some_and(|(hole, _)| hole.start == 0);
        if starts_unset && known.starts_with(['-', '+', ':']) && self.is_of_unset(field) {
            Field::literal(known)
        } else {
            field.clone()
        }
    }

    /// Runs another possible reading of a command.
    fn perhaps(&mut self, command: usize, fields: &[Field]) {
        let run = |analyzer: &mut Self| {
            analyzer.one_of([true, false], |analyzer, is_it| {
                if is_it {
                    analyzer.run_here(command, fields);
                }
            });
        };
        let ((), printed) = self.with(|analyzer| &mut analyzer.streams.output, Stream::default(), run);
        self.streams.output.add(printed);
    }
}
