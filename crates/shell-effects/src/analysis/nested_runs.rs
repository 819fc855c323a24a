//! Nested runs: a program under another name, a new shell, another directory, and commands inside of other commands.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::action::Place;

impl Analyzer<'_> {
    /// Runs a program under another name, if one is given: `exec -a NAME`.
    pub(crate) fn with_given_name(&mut self, name: Option<&Field>, run: impl FnOnce(&mut Self)) {
        self.with(|analyzer| &mut analyzer.scope.given_name, name.cloned(), run);
    }

    /// The name that `exec -a` gives a program.
    pub(crate) fn given_name(&self) -> Option<&Field> {
        self.scope.given_name.as_ref()
    }

    /// Runs something in a new shell with these arguments.
    pub(crate) fn new_shell(&mut self, positional: Vec<Field>, run: impl FnOnce(&mut Self)) {
        self.subshell(|analyzer| {
            analyzer.state = analyzer.state.child(positional);
            run(analyzer);
        });
    }

    /// Runs something in the directory that these options name, one after the other.
    pub(crate) fn in_directory<'f>(
        &mut self,
        options: impl IntoIterator<Item = &'f Field>,
        run: impl FnOnce(&mut Self),
    ) {
        self.restoring(
            |analyzer| &mut analyzer.state.directories,
            |analyzer| {
                options.into_iter().for_each(|directory| analyzer.state.directories.enter(directory));
                run(analyzer);
            },
        );
    }

    /// Runs the command of a wrapper.
    pub(crate) fn wrap(&mut self, command: usize, run: impl FnOnce(&mut Self)) {
        let before = self.script.commands.len();
        self.deeper(run);
        let runs_another = self.script.commands.len() > before;
        if let Some(command) = self.script.commands.get_mut(command) {
            command.wraps |= runs_another;
        }
    }

    /// Runs a command that is part of the text of another one, here or on another machine.
    pub(crate) fn inside(&mut self, command: usize, place: Place, run: impl FnOnce(&mut Self)) {
        self.scoped(|analyzer| {
            analyzer.scope.inside += 1;
            analyzer.scope.elsewhere += usize::from(place != Place::Here);
            analyzer.scope.is_remote |= place == Place::RemoteShell;
            analyzer.wrap(command, run);
        });
    }

    /// Runs something that is part of a command's text. Its output is discarded.
    pub(crate) fn as_part(&mut self, run: impl FnOnce(&mut Self)) {
        let output: fn(&mut Self) -> &mut Stream = |analyzer| &mut analyzer.streams.output;
        self.restoring(output, |analyzer| {
            analyzer.scoped(|analyzer| {
                analyzer.scope.inside += 1;
                analyzer.printing(run);
            });
        });
    }
}
