//! Simple commands: their assignments, words and redirections, in the order in which a shell handles them.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::program_words::may_be_empty;
use crate::analysis::redirections;
use crate::analysis::side_effects::is_harmless;
use crate::analysis::state::State;
use crate::analysis::stream::{RedirectionEffects, Stream};
use crate::analysis::variables::SavedVariable;
use crate::programs::arguments;
use crate::programs::table;
use crate::syntax::tree::{Assignment, Redirect, Word};
use crate::{Access, Doubt};

/// Files that `exec` opens beyond this number are not followed, which is a doubt.
const MAX_OPENED: usize = 16;

/// How `exec` redirects what follows it.
#[derive(Default)]
struct OpenRedirections {
    to_file: bool,
    input: Option<Stream>,
}

/// Whether it is `exec` without a command, possibly after `builtin` or `command`: its redirections stay. Words that may be empty may
/// be anywhere.
fn is_bare_exec(fields: &[Field]) -> bool {
    let words: Vec<Field> = fields.iter().filter(|field| !may_be_empty(field)).cloned().collect();
    let is_before = |field: &&Field| matches!(field.text.as_str(), "builtin" | "command" | "-p" | "--");
    let before = words.iter().take_while(is_before).count();
    let Some((exec, rest)) = words.get(before..).and_then(<[Field]>::split_first) else { return false };
    let Some(program) = table::by_name("exec") else { return false };
    exec.text == "exec" && arguments::parse_up_to(program.options, rest, true).1 == rest.len()
}

impl Analyzer<'_> {
    pub(crate) fn simple(&mut self, assignments: &[Assignment], words: &[Word], redirects: &[Redirect]) {
        if words.is_empty() {
            return self.without_words(assignments, redirects);
        }
        let (start, mut end) = (self.state.clone(), None::<State>);
        self.each_choice(|analyzer| {
            if end.is_some() {
                analyzer.state = start.clone();
            }
            let kept = analyzer.scoped(|analyzer| analyzer.with_words(assignments, words, redirects));
            analyzer.scope.redirected += usize::from(kept.to_file);
            if let Some(input) = kept.input {
                analyzer.set_input(input);
            }
            if let Some(end) = &end {
                analyzer.state.join(end);
            }
            if analyzer.combinations.is_open() {
                end = Some(analyzer.state.clone());
                analyzer.blur();
            }
        });
    }

    /// Runs a command for one combination of values.
    fn with_words(
        &mut self,
        assignments: &[Assignment],
        words: &[Word],
        redirects: &[Redirect],
    ) -> OpenRedirections {
        let start = self.script.commands.len();
        self.scope.start = start;
        self.without_tmpdir = false;
        if !self.combinations.is_repeated {
            self.streams.process = Stream::Nothing;
            self.streams.has_process = false;
        }
        let mut fields = Vec::with_capacity(words.len());
        for word in words {
            fields.extend(self.fields(word));
        }
        let mut redirected = self.redirected(redirects);
        let had_inputs = self.streams.has_inputs;
        self.streams.has_inputs |= redirected.opens_input;
        let input = redirected.input.take();
        let mut outer = Stream::Nothing;
        if let Some(input) = &input {
            outer = self.scope.input.clone();
            self.set_input(input.clone());
            self.scope.input_file = redirected.input_file.take();
        }
        self.assign_and_run(assignments, &fields, &redirected, start);
        // `exec > FILE`, `exec 3> FILE`.
        // What an alias stands for may be empty, or `command`.
        let is_after_alias = || match fields.split_first() {
            Some((alias, rest)) => self.state.aliases.get(&alias.text).is_some() && is_bare_exec(rest),
            None => false,
        };
        if !is_bare_exec(&fields) && !is_after_alias() {
            self.streams.has_inputs = had_inputs;
            return OpenRedirections::default();
        }
        self.opened(redirected.opened);
        let is_certain = !fields.iter().any(may_be_empty);
        let input = input.map(|input| if is_certain { input } else { outer.or(input) });
        OpenRedirections { to_file: redirected.to_file, input }
    }

    /// Sets the variables that are written before a command, and runs it. `start` is where the commands in its words start.
    fn assign_and_run(
        &mut self,
        assignments: &[Assignment],
        fields: &[Field],
        redirected: &RedirectionEffects,
        start: usize,
    ) {
        let declares = self.declares(fields);
        if declares {
            self.declared_attributes(fields);
        }
        let saved: Vec<SavedVariable> =
            assignments.iter().map(|assignment| self.state.variables.saved(&assignment.name)).collect();
        self.assign_all(assignments, declares);
        let assigned: Vec<String> =
            assignments.iter().flat_map(|assignment| self.assigned(assignment)).collect();
        let index = self.script.commands.len();
        if declares {
            self.refer_to_variables(fields, assignments);
            for assignment in assignments {
                self.expand_compound(&assignment.name, fields);
                self.expand_unknown_compound(assignment, fields);
            }
        }
        if declares && self.is_local(fields) {
            saved.iter().for_each(|saved| self.make_local(saved.clone()));
        }
        let count: fn(&mut Self) -> &mut usize = |analyzer| &mut analyzer.scope.redirected;
        self.restoring(count, |analyzer| {
            analyzer.scope.redirected += usize::from(redirected.to_file);
            analyzer.with_own_combinations(|analyzer| {
                analyzer.run_assigned(fields, &assigned, declares, redirected);
            });
        });
        // A command without words redirects too.
        if self.script.commands.len() == index && !redirected.touched.is_empty() {
            self.add_command(fields, redirected.to_file);
        }
        self.described(index, assigned, &redirected.touched);
        self.join_with_printers(start, index);
        if !declares {
            saved.iter().for_each(|saved| self.state.variables.put_back(saved));
        }
    }

    /// `exec` opened these files for writing.
    fn opened(&mut self, mut files: Vec<Field>) {
        self.streams.opened.append(&mut files);
        if self.streams.opened.len() > MAX_OPENED {
            self.streams.opened.truncate(MAX_OPENED);
            self.doubt(Doubt::TooMany("open files"));
        }
    }

    /// Runs a command with the variables that are written before it, or that it declares.
    fn run_assigned(
        &mut self,
        fields: &[Field],
        assigned: &[String],
        declares: bool,
        redirected: &RedirectionEffects,
    ) {
        if declares {
            self.run_command(fields, redirected);
            self.export(fields, assigned);
        } else if assigned.is_empty() {
            self.run_command(fields, redirected);
        } else {
            let command = self.script.commands.len();
            self.with_exports(assigned, |analyzer| {
                analyzer.run_command(fields, redirected);
                analyzer.run_variables(assigned, command);
            });
        }
    }

    /// Runs a command and passes on its output.
    fn run_command(&mut self, fields: &[Field], redirected: &RedirectionEffects) {
        if !redirected.leaves {
            self.run_fields(fields);
            let output = std::mem::take(&mut self.streams.output);
            self.print(fields.first().map_or("", |field| &field.text), output);
            return;
        }
        let mut content = self.printing(|analyzer| analyzer.run_fields(fields));
        content.add(std::mem::take(&mut self.streams.output));
        for (file, appends) in &redirected.output {
            let by = (self.scope.pipeline..self.script.commands.len()).collect();
            self.wrote(file, content.clone(), *appends, by);
        }
    }

    /// Adds a command's assignments and redirections to it.
    fn described(&mut self, index: usize, assigned: Vec<String>, touched: &[(Access, Field)]) {
        match self.script.commands.get_mut(index) {
            Some(command) => {
                command.assigned = assigned;
                command.redirects = touched.iter().map(redirections::shown).collect();
            }
            None => assigned.into_iter().for_each(|assigned| self.side_effect(assigned)),
        }
        for (access, field) in touched {
            self.touch(*access, field, index);
        }
    }

    fn without_words(&mut self, assignments: &[Assignment], redirects: &[Redirect]) {
        for assignment in assignments {
            self.assign_printed(assignment);
            let assigned = self.pass_on(&assignment.name);
            if !is_harmless(&assignment.name) {
                assigned.into_iter().for_each(|assigned| self.side_effect(assigned));
            }
        }
        self.each_choice(|analyzer| analyzer.bare_redirects(redirects));
    }

    fn bare_redirects(&mut self, redirects: &[Redirect]) {
        let mut redirected = self.redirected(redirects);
        if redirected.touched.is_empty() {
            return;
        }
        // `$(< FILE)`.
        let content = redirected.input.take().unwrap_or_default();
        self.print("", content);
        let index = self.add_command(&[], redirected.to_file);
        for (access, field) in &redirected.touched {
            self.touch(*access, field, index);
        }
    }

    /// Runs a command that is given by its words.
    pub(crate) fn run_fields(&mut self, fields: &[Field]) {
        let Some(first) = fields.first() else { return };
        self.streams.output = Stream::Unknown;
        if !self.work(16 * (fields.len() + self.state.exports.variables().len())) {
            return;
        }
        let command = self.add_command(fields, self.scope.redirected > 0);
        self.takes_input(command);
        if !first.is_literal() {
            self.matched_program(first, fields);
            self.dashed_git(first, fields);
            self.printed_command(fields);
            self.unknown_program(fields);
            self.after_empty_words(fields, command);
            self.after_empty_parts(fields, command);
            return;
        }
        match self.state.aliases.get(&first.text).cloned() {
            None => {
                self.run_program(first, fields, command);
                self.options_that_appear(fields, command);
            }
            // A shell that is not interactive does not expand aliases.
            Some(alias) => {
                let texts = alias.bodies.as_slice().iter().map(Some);
                self.one_of(texts.chain([None]), |analyzer, text| match text {
                    Some(text) => analyzer.alias(&first.text, text, fields),
                    None => analyzer.run_program(first, fields, command),
                });
            }
        }
    }
}
