//! Which commands print what others run as code: through a variable, or through a file.

use crate::Base;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::builtins::moved;
use crate::analysis::state::{Field, FieldKind};
use crate::analysis::stream::{Stream, Written};
use crate::programs::program::Output;
use crate::programs::table;
use crate::syntax::tree::{Assigned, Assignment, Piece};

/// So many variables are remembered, and so many files.
const MAX_PRINTED: usize = 64;

impl Analyzer<'_> {
    /// Assigns, and remembers the commands that print the value.
    pub(crate) fn assign_printed(&mut self, assignment: &Assignment) {
        let start = self.script.commands.len();
        self.assign(assignment);
        let mut by: Vec<usize> = (start..self.script.commands.len()).collect();
        if !self.printed.is_empty()
            && let Assigned::Word(word) = &assignment.value
        {
            for piece in word {
                let Piece::Parameter { name, .. } = piece else { continue };
                let earlier = self.printed.iter().filter(|(known, _)| known == name);
                by.extend(earlier.flat_map(|(_, by)| by));
            }
        }
        self.note_printed(&assignment.name, by);
    }

    /// A variable holds what these commands print.
    pub(crate) fn note_printed(&mut self, variable: &str, by: Vec<usize>) {
        self.printed.retain(|(name, _)| name != variable);
        if !by.is_empty() && self.printed.len() < MAX_PRINTED {
            self.printed.push((variable.to_owned(), by));
        }
    }

    /// A command ran, of which substitutions began at `start` and itself at `own`: where it runs what they or earlier commands
    /// print, they belong together.
    pub(crate) fn ran(&mut self, start: usize, own: usize) {
        let ran = self.script.commands.get(own..).unwrap_or_default();
        let Some(runs) = ran.iter().find(|command| command.runs_unknown) else { return };
        let is_used = |name: &str| {
            let parts = runs.unknown.iter().filter_map(|unknown| {
                runs.words.get(unknown.word)?.get(unknown.part.clone())?.strip_prefix('$')
            });
            parts.into_iter().any(|part| part == name)
        };
        let printed = self.printed.iter().filter(|(name, _)| is_used(name));
        let before: Vec<usize> = printed.flat_map(|(_, by)| by.clone()).collect();
        if start < own || !before.is_empty() {
            self.joined_with(before, start);
        }
    }

    /// Runs something; what it prints.
    pub(crate) fn printing(&mut self, run: impl FnOnce(&mut Self)) -> Stream {
        let outer = self.prints.replace(Stream::Nothing);
        run(self);
        std::mem::replace(&mut self.prints, outer).unwrap_or_default()
    }

    /// A command printed this.
    pub(crate) fn print(&mut self, name: &str, output: Stream) {
        if self.prints.is_none() {
            return;
        }
        if let Stream::Text(printed) = &output {
            self.work(printed.text.text.len());
        }
        let Some(prints) = &mut self.prints else { return };
        let is_silent = matches!(output, Stream::Unknown) && prints_nothing(name);
        if !is_silent {
            prints.add(output);
        }
    }

    /// What was printed so far may have been printed in another way.
    pub(crate) fn blur(&mut self) {
        if let Some(prints) = &mut self.prints {
            prints.blur();
        }
    }

    /// Remembers what is in a file that these commands wrote.
    pub(crate) fn wrote(&mut self, file: &Field, content: Stream, appends: bool, by: Vec<usize>) {
        let path = self.path_of(file);
        let has_room = self.files.len() < MAX_PRINTED;
        match self.files.iter_mut().find(|written| written.path == path) {
            Some(written) if appends => {
                written.content.add(content);
                written.by.extend(by);
            }
            Some(written) => {
                written.content = content;
                written.by = by;
            }
            None if has_room => {
                self.files.push(Written { path, content, by });
            }
            None => {}
        }
    }

    /// A file gets what was written to another one.
    pub(crate) fn copy_content(&mut self, from: &Field, to: &Field) {
        let Some(written) = self.written(from) else { return };
        let (content, by) = (written.content.clone(), written.by.clone());
        self.wrote(to, content, false, by);
    }

    /// What was written to a file before.
    pub(crate) fn written(&self, file: &Field) -> Option<&Written> {
        if self.files.is_empty() {
            return None;
        }
        let path = self.path_of(file);
        self.files.iter().find(|written| written.path == path)
    }

    /// A file, however it is named from the current directory.
    fn path_of(&self, file: &Field) -> String {
        let base = self.state.bases.first().unwrap_or(&Base::Unknown);
        match moved(base, file) {
            Base::At(at) | Base::IfMissing { at, .. } if file.kind == FieldKind::Literal => at,
            _ => file.text.clone(),
        }
    }
}

/// Whether a program prints nothing, so that the rest of what is printed beside it is known.
fn prints_nothing(program: &str) -> bool {
    let program = table::called_name(program).and_then(table::by_name);
    program.is_some_and(|program| matches!(program.output, Output::Nothing))
}
