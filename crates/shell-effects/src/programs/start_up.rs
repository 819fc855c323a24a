//! Files in the home directory, and variables, by which programs run something when they start: as far as this script wrote them.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::exports::file_of;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::arguments::Call;
use crate::programs::program::Program;

/// The files that a program runs or obeys when it starts.
fn start_up_files(analyzer: &Analyzer<'_>, program: &Program) -> Vec<Field> {
    let is_untouched = analyzer.state.disk.is_untouched();
    let home = analyzer.home().unwrap_or("~").trim_end_matches('/');
    let mut files: Vec<Field> = Vec::new();
    for file in program.start_up {
        match (file.strip_prefix('$'), file.strip_prefix("~/")) {
            (Some(variable), _) => files.extend(analyzer.state.exports.values(variable).map(file_of)),
            _ if is_untouched => {}
            (None, Some(file)) => files.push(Field::literal(format!("{home}/{file}"))),
            (None, None) => files.push(Field::literal(*file)),
        }
    }
    files
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
        let named: Vec<Field> = analyzer.state.exports.values(variable).map(file_of).collect();
        named.iter().for_each(|file| analyzer.touch(Access::Read, file, call.command));
    }
    for text in texts(analyzer, call.program) {
        analyzer.inline_code(call.name, text.shown());
    }
}
