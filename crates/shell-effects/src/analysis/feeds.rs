//! Which commands print what others run as code: through a variable, or through a file.

use crate::Base;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::directories::moved;
use crate::analysis::disk::WrittenFile;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::program::Output;
use crate::programs::table;
use crate::syntax::tree::{Assigned, Assignment, Piece};

impl Analyzer<'_> {
    /// Assigns, and remembers the commands that print the value.
    pub(crate) fn assign_printed(&mut self, assignment: &Assignment) {
        let start = self.script.commands.len();
        let mut by: Vec<usize> = Vec::new();
        if let Assigned::Word(word) = &assignment.value {
            for piece in word {
                let Piece::Parameter { name, .. } = piece else { continue };
                by.extend(self.state.variables.printed_by(name));
            }
        }
        self.assign(assignment);
        by.extend(start..self.script.commands.len());
        self.state.variables.set_printed_by(&assignment.name, by);
    }

    /// A command ran, of which substitutions began at `start` and itself at `own`: where it runs what they or earlier commands
    /// print, they belong together.
    pub(crate) fn ran(&mut self, start: usize, own: usize) {
        let ran = self.script.commands.get(own..).unwrap_or_default();
        let Some(runs) = ran.iter().find(|command| command.runs_unknown) else { return };
        let used = runs
            .unknown
            .iter()
            .filter_map(|unknown| runs.words.get(unknown.word)?.get(unknown.part.clone())?.strip_prefix('$'));
        let mut before: Vec<usize> =
            used.flat_map(|name| self.state.variables.printed_by(name).to_vec()).collect();
        before.sort_unstable();
        before.dedup();
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
        let before = self.state.disk.clone();
        let paths = self.paths_of(file);
        for path in &paths {
            self.state.disk.write(path, content.clone(), appends, by.clone());
        }
        // It is one of these files.
        if paths.len() > 1 {
            self.state.disk = self.state.disk.join(&before);
        }
    }

    /// A file gets what was written to another one.
    pub(crate) fn copy_content(&mut self, from: &Field, to: &Field) {
        let Some(written) = self.written(from) else { return };
        self.wrote(to, written.content(), false, written.by);
    }

    /// What was written to a file before.
    pub(crate) fn written(&self, file: &Field) -> Option<WrittenFile> {
        if self.state.disk.is_untouched() {
            return None;
        }
        let found = self.paths_of(file).into_iter().filter_map(|path| self.state.disk.written(&path));
        found.reduce(|one, other| one.join(&other))
    }

    /// A file, however it is named from the directories that may be the current one.
    fn paths_of(&self, file: &Field) -> Vec<String> {
        let path = |base: &Base| match moved(base, file) {
            Base::At(at) | Base::IfMissing { at, .. } if file.kind == FieldKind::Literal => at,
            _ => file.text.clone(),
        };
        let mut paths: Vec<String> = self.state.bases().iter().map(path).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}

/// Whether a program prints nothing, so that the rest of what is printed beside it is known.
fn prints_nothing(program: &str) -> bool {
    let program = table::called_name(program).and_then(table::by_name);
    program.is_some_and(|program| matches!(program.output, Output::Nothing))
}
