//! Calls of a shell or a program in code of other languages: `os.system("…")`, `execSync("…")`, `system("…")` of awk, and
//! functions that delete or move files. The code is not parsed: the name of such a function with a following text counts.

mod calls;
mod candidates;
mod computed_texts;
mod hidden_code;
mod notations;
mod runners;
mod text_arguments;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::unknown_code::is_wholly_unknown;
use crate::programs::inline_calls::calls::{InlineCall, calls, names_runner};
use crate::programs::inline_calls::hidden_code::{evaluates, evaluates_hidden, gives_shell};
use crate::programs::inline_calls::notations::{
    escapes, in_backticks, opens_computed, opens_field, piped, pipes_hidden, recipes, tcl,
    written_directories,
};
use crate::programs::inline_calls::text_arguments::literal;
use crate::programs::languages::SourceLanguage;
use crate::{Access, Doubt};

pub(crate) use crate::programs::inline_calls::candidates::piped_name;
pub use crate::programs::inline_calls::computed_texts::written_patterns;
pub(crate) use crate::programs::inline_calls::computed_texts::{computed, is_whole_tree};
pub(crate) use crate::programs::inline_calls::notations::{with_joined_lines, with_make_variables};
pub(crate) use crate::programs::inline_calls::text_arguments::{joined_texts, json_values};

/// Further calls of one code are not looked at, which is a doubt.
const MAX_CALLS: usize = 512;

/// How code names the home directory.
const HOMES: &[&str] = &[
    "require('os').homedir()",
    "require(\"os\").homedir()",
    "os.homedir()",
    "homedir()",
    "process.env.HOME",
    "os.environ['HOME']",
    "os.environ[\"HOME\"]",
    "os.getenv('HOME')",
    "os.getenv(\"HOME\")",
    "getenv('HOME')",
    "getenv(\"HOME\")",
    "Path.home()",
    "Dir.home",
    "ENV['HOME']",
    "ENV[\"HOME\"]",
    "$ENV{HOME}",
];

/// Functions that replace a `~`.
const EXPANDING: &[&str] = &["os.path.expanduser(", "File.expand_path(", "path.expanduser("];

/// Runs what code in another language passes to a shell, or starts itself. It may use the values that it gets.
pub(crate) fn run_calls(analyzer: &mut Analyzer<'_>, interpreter: &str, code: &str, given: &[Field]) {
    if !analyzer.work(code.len()) {
        return;
    }
    let at_home = analyzer.home().and_then(|home| with_home(code, home));
    let code = at_home.as_deref().unwrap_or(code);
    if evaluates_hidden(code) {
        analyzer.doubt_script(interpreter);
    }
    let (mut found, mut hides_call) = calls(interpreter, code);
    // `getattr(os, 'sys' + 'tem')`
    hides_call |= given.iter().any(|text| names_runner(interpreter, &text.text));
    if evaluates(code) {
        for text in given.iter().filter(|text| !is_wholly_unknown(text)) {
            let (more, hides_more) = calls(interpreter, &text.text);
            found.extend(more);
            hides_call |= hides_more;
        }
    }
    if gives_shell(code) {
        found.push(InlineCall::Words(["nc", "-e", "/bin/sh"].map(Field::literal).into()));
    }
    let language = SourceLanguage::of(interpreter);
    computed_names(analyzer, language, code);
    let (more, hides_more) = notation(interpreter, language, code);
    found.extend(more);
    hides_call |= hides_more;
    // What the code is given or computes may be a part of what it runs.
    hides_call |= found.iter().any(InlineCall::is_bare_shell) || !found.is_empty() && !given.is_empty();
    if found.len() > MAX_CALLS {
        analyzer.doubt(Doubt::TooMany("calls in code"));
    }
    for call in found.into_iter().take(MAX_CALLS) {
        run_call(analyzer, &call);
    }
    if hides_call {
        candidates::run(analyzer, language, code, given);
    }
}

/// Files whose names awk and Tcl compute from what they read.
fn computed_names(analyzer: &mut Analyzer<'_>, language: Option<SourceLanguage>, code: &str) {
    let command = analyzer.last_command();
    match language {
        Some(SourceLanguage::Tcl) if opens_computed(code) => {
            analyzer.touch(Access::Read, &Field::unknown("a file whose name the code computes"), command);
        }
        Some(SourceLanguage::Awk) => {
            for directory in written_directories(code) {
                analyzer.touch(Access::Write, &Field::literal(format!("{directory}name")), command);
            }
            if opens_field(code) {
                analyzer.touch(Access::Read, &Field::unknown("a file that the input names"), command);
            }
        }
        _ => {}
    }
}

/// What code runs in a notation of its language, and whether it hides some of that.
fn notation(interpreter: &str, language: Option<SourceLanguage>, code: &str) -> (Vec<InlineCall>, bool) {
    let (mut found, mut hides_call) = (Vec::new(), false);
    if let Some(SourceLanguage::Julia | SourceLanguage::Perl | SourceLanguage::Php | SourceLanguage::Ruby) =
        language
    {
        let commands = in_backticks(code);
        hides_call |=
            commands.iter().any(|call| matches!(call, InlineCall::Text(text) if text.text.contains('$')));
        found.extend(commands);
    }
    match language {
        Some(SourceLanguage::Tcl) => {
            found.extend(tcl(code));
            hides_call |= code.contains("exec") && code.contains('$');
        }
        Some(SourceLanguage::Make) => found.extend(recipes(code)),
        Some(SourceLanguage::Awk) => {
            found.extend(piped(code));
            hides_call |= pipes_hidden(code);
        }
        Some(SourceLanguage::Perl | SourceLanguage::Ruby) => found.extend(candidates::pipes(language, code)),
        // `"CODE".execute()` and `"CODE".!`.
        Some(SourceLanguage::Groovy) => hides_call |= code.contains(".execute("),
        Some(SourceLanguage::Scala) => hides_call |= code.contains("sys.process"),
        Some(SourceLanguage::Python) if interpreter.starts_with("ipython") => found.extend(escapes(code)),
        _ => {}
    }
    (found, hides_call)
}

fn run_call(analyzer: &mut Analyzer<'_>, call: &InlineCall) {
    analyzer.as_part(|analyzer| {
        analyzer.subshell(|analyzer| match call {
            InlineCall::Text(text) => analyzer.code(text, "sh"),
            InlineCall::Words(words) => analyzer.deeper(|analyzer| analyzer.run_fields(words)),
        });
    });
}

/// The directory to which code goes first: `os.chdir('x')`.
pub(crate) fn directory_of(code: &str) -> Option<String> {
    let rest = code.split_once("chdir")?.1.trim_start_matches([' ', '(']);
    let (directory, _) = literal(rest)?;
    if directory.is_literal() { Some(directory.text) } else { None }
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Code with the path of the home directory, if it asks for that. `None` if it does not.
fn with_home(code: &str, home: &str) -> Option<String> {
    let mut replaced: Option<String> = None;
    let mut replace = |from: &str, to: &str| {
        let text = replaced.as_deref().unwrap_or(code);
        if text.contains(from) {
            replaced = Some(text.replace(from, to));
        }
    };
    if code.contains('~') {
        for name in EXPANDING {
            for quote in ['"', '\''] {
                replace(&format!("{name}{quote}~"), &format!("{quote}{home}"));
            }
        }
    }
    if code.contains("home") || code.contains("HOME") {
        HOMES.iter().for_each(|name| replace(name, &format!("\"{home}\"")));
    }
    replaced
}
