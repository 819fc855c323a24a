//! Files in the home directory, and variables, that make programs run something when they start, if this script wrote them.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::exports::file_of;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;

/// What a program reads when it starts.
struct StartUp {
    program: &'static str,
    /// From the home directory.
    files: &'static [&'static str],
    /// From the current directory.
    own: &'static [&'static str],
    /// Variables that name such a file.
    variables: &'static [&'static str],
}

#[rustfmt::skip]
const START_UP: &[StartUp] = &[
    StartUp { program: "curl", files: &[".curlrc", ".config/curlrc"], own: &[], variables: &[] },
    StartUp { program: "gdb", files: &[".gdbinit", ".config/gdb/gdbinit", ".gdbearlyinit"], own: &[".gdbinit"], variables: &[] },
    StartUp { program: "psql", files: &[".psqlrc"], own: &[], variables: &["PSQLRC"] },
    StartUp { program: "python3", files: &[], own: &[], variables: &["PYTHONSTARTUP"] },
    StartUp { program: "sqlite3", files: &[".sqliterc", ".config/sqlite3/sqliterc"], own: &[], variables: &[] },
    StartUp { program: "tmux", files: &[".tmux.conf", ".config/tmux/tmux.conf"], own: &[], variables: &[] },
    StartUp { program: "vim", files: &[".vimrc", ".exrc", ".gvimrc", ".vim/vimrc", ".config/nvim/init.vim", ".config/nvim/init.lua"], own: &[".vimrc", ".exrc"], variables: &["MYVIMRC"] },
    StartUp { program: "wget", files: &[".wgetrc"], own: &[], variables: &["WGETRC"] },
];

/// The texts that a program reads when it starts, if this script wrote them.
pub(crate) fn texts(analyzer: &mut Analyzer<'_>, program: &str) -> Vec<Field> {
    let Some(start_up) = START_UP.iter().find(|start_up| start_up.program == program) else {
        return Vec::new();
    };
    let home = analyzer.home().unwrap_or("~").trim_end_matches('/').to_owned();
    let mut files: Vec<Field> = Vec::new();
    for variable in start_up.variables {
        files.extend(analyzer.state.exports.values(variable).map(file_of));
    }
    if !analyzer.state.disk.is_untouched() {
        files.extend(start_up.files.iter().map(|file| Field::literal(format!("{home}/{file}"))));
        files.extend(start_up.own.iter().map(|file| Field::literal(*file)));
    }
    let mut texts = Vec::new();
    for file in files {
        if let Some(written) = analyzer.written(&file) {
            for part in written.parts() {
                match part {
                    Stream::Text(printed) => texts.push(printed.text.clone()),
                    Stream::File | Stream::Nothing | Stream::Inherited => {}
                    _ => analyzer.doubt_script(program),
                }
            }
        }
    }
    texts
}

/// Runs them as code of the program.
pub(crate) fn files(analyzer: &mut Analyzer<'_>, program: &str, command: usize) {
    let Some(start_up) = START_UP.iter().find(|start_up| start_up.program == program) else { return };
    for variable in start_up.variables {
        let named: Vec<Field> = analyzer.state.exports.values(variable).map(file_of).collect();
        for file in named {
            analyzer.touch(Access::Read, &file, command);
            analyzer.written_code(&file, command, program, Language::Other);
        }
    }
    for text in texts(analyzer, program) {
        analyzer.inline_code(program, text.shown());
    }
}
