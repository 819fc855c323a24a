//! Files in the home directory, and variables, that make programs run something when they start, if this script wrote them.

use std::path::Path;

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::exports::file_of;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::arguments::Call;
use crate::programs::program::Program;

/// The files that a variable names: `NAME`, or `NAME/FILE` for a file in its directory.
fn named_by(analyzer: &Analyzer<'_>, variable: &str) -> Vec<Field> {
    let (name, file) = variable.split_once('/').map_or((variable, None), |(name, file)| (name, Some(file)));
    let path = |value: &str| file.map_or_else(|| file_of(value), |file| file_of(&format!("{value}/{file}")));
    analyzer.state.exports.values(name).map(path).collect()
}

/// The files that a program runs or obeys when it starts.
fn start_up_files(analyzer: &Analyzer<'_>, program: &Program) -> Vec<Field> {
    let is_untouched = analyzer.state.disk.is_untouched();
    let mut files: Vec<Field> = Vec::new();
    for file in program.start_up {
        match (file.strip_prefix('$'), file.strip_prefix("~/")) {
            (Some(variable), _) => files.extend(named_by(analyzer, variable)),
            _ if is_untouched => {}
            (None, Some(file)) => files.extend(at_home(analyzer, file)),
            (None, None) => files.push(Field::literal(*file)),
        }
    }
    files
}

/// A file in the home directory. If that directory is unknown, every file with this ending counts that the script wrote.
pub(crate) fn at_home(analyzer: &Analyzer<'_>, file: &str) -> Vec<Field> {
    let home = analyzer.home_here().unwrap_or_else(|| Field::literal("~"));
    if home.is_literal() {
        let directory = home.text.trim_end_matches('/');
        return vec![Field::literal(if home.text.is_empty() {
            file.to_owned()
        } else {
            format!("{directory}/{file}")
        })];
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    let named = analyzer.state.disk.named(name).into_iter();
    named.filter(|path| Path::new(path).ends_with(file)).map(Field::literal).collect()
}

/// The texts that a program reads when it starts, if this script wrote them.
pub(crate) fn texts(analyzer: &mut Analyzer<'_>, program: &Program) -> Vec<Field> {
    let mut texts = Vec::new();
    for file in start_up_files(analyzer, program) {
        let Some(written) = analyzer.written(&file) else { continue };
        for part in written.parts() {
            match part {
                Stream::Text(printed) => texts.push(printed.text.clone()),
                Stream::File | Stream::Nothing | Stream::Inherited => {}
                _ => analyzer.doubt_script(program.name()),
            }
        }
    }
    texts
}

/// Runs them as code of the program.
pub(crate) fn files(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for variable in call.program.start_up.iter().filter_map(|file| file.strip_prefix('$')) {
        let named = named_by(analyzer, variable);
        named.iter().for_each(|file| analyzer.touch(Access::Read, file, call.command));
    }
    for text in texts(analyzer, call.program) {
        analyzer.inline_code(call.name, text.shown());
    }
}
