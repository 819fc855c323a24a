//! Languages of code other than that of a shell. Which of them a program runs is a column of its entry.

use crate::programs::table;

/// A language that code is written in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SourceLanguage {
    AppleScript,
    Awk,
    /// C and others that are compiled first.
    Compiled,
    Elixir,
    Erlang,
    Groovy,
    Haskell,
    JavaScript,
    Julia,
    Lua,
    Make,
    OCaml,
    Perl,
    Php,
    PowerShell,
    Python,
    R,
    Racket,
    Ruby,
    Scala,
    Scheme,
    Swift,
    Tcl,
}

/// The program that usually runs a language, and the endings of its files.
struct SourceFiles {
    language: SourceLanguage,
    interpreter: &'static str,
    endings: &'static [&'static str],
}

const fn sources(
    language: SourceLanguage,
    interpreter: &'static str,
    endings: &'static [&'static str],
) -> SourceFiles {
    SourceFiles { language, interpreter, endings }
}

#[rustfmt::skip]
const SOURCES: &[SourceFiles] = &[
    sources(SourceLanguage::AppleScript, "osascript", &["applescript", "scpt"]),
    sources(SourceLanguage::Awk, "awk", &["awk"]),
    sources(SourceLanguage::Compiled, "c", &["c", "cc", "cpp", "cxx", "h", "hpp", "m", "go", "java", "kt", "rs", "zig"]),
    sources(SourceLanguage::Elixir, "elixir", &["ex", "exs"]),
    sources(SourceLanguage::Erlang, "erl", &["erl", "hrl"]),
    sources(SourceLanguage::Groovy, "groovy", &["groovy"]),
    sources(SourceLanguage::Haskell, "ghci", &["hs", "lhs"]),
    sources(SourceLanguage::JavaScript, "node", &["cjs", "cts", "js", "jsx", "mjs", "mts", "ts", "tsx"]),
    sources(SourceLanguage::Julia, "julia", &["jl"]),
    sources(SourceLanguage::Lua, "lua", &["lua"]),
    sources(SourceLanguage::OCaml, "ocaml", &["ml", "mli"]),
    sources(SourceLanguage::Perl, "perl", &["pl", "pm"]),
    sources(SourceLanguage::Php, "php", &["inc", "php", "phtml"]),
    sources(SourceLanguage::PowerShell, "pwsh", &["ps1", "psm1"]),
    sources(SourceLanguage::Python, "python3", &["ipy", "py", "pyw"]),
    sources(SourceLanguage::R, "Rscript", &["R", "r"]),
    sources(SourceLanguage::Racket, "racket", &["rkt"]),
    sources(SourceLanguage::Ruby, "ruby", &["rb"]),
    sources(SourceLanguage::Scala, "scala", &["sc", "scala"]),
    sources(SourceLanguage::Scheme, "guile", &["scm", "ss"]),
    sources(SourceLanguage::Swift, "swift", &["swift"]),
    sources(SourceLanguage::Tcl, "tclsh", &["exp", "tcl", "tm"]),
];

impl SourceLanguage {
    /// The language that a program runs.
    pub(crate) fn of(interpreter: &str) -> Option<SourceLanguage> {
        table::by_name(interpreter)?.language
    }

    /// The language of a source file, and what usually runs it, from its name.
    pub(crate) fn of_file(name: &str) -> Option<(SourceLanguage, &'static str)> {
        let (_, ending) = name.rsplit_once('.')?;
        let sources = SOURCES.iter().find(|sources| sources.endings.contains(&ending))?;
        Some((sources.language, sources.interpreter))
    }

    /// Whether its interpreters read their input after a script if `-i` is given.
    pub(crate) fn has_interactive_option(self) -> bool {
        matches!(
            self,
            SourceLanguage::JavaScript | SourceLanguage::Julia | SourceLanguage::Lua | SourceLanguage::Python
        )
    }

    /// Whether its interpreters take `-v` for a question about their version.
    pub(crate) fn has_small_version(self) -> bool {
        matches!(
            self,
            SourceLanguage::JavaScript | SourceLanguage::Lua | SourceLanguage::Php | SourceLanguage::Ruby
        )
    }
}
