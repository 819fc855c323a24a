//! Formatters and linters: some change files unless they only check, others only when they are asked to.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::FieldKind;
use crate::programs::arguments::Call;

/// Those that change files, and the options with which they only look.
const CHANGING: &[(&str, &[&str])] = &[
    ("black", &["--check", "--diff"]),
    ("buildifier", &["-mode", "--mode", "--lint"]),
    ("dos2unix", &["-i", "--info"]),
    ("isort", &["-c", "--check", "--check-only", "--diff", "--stdout"]),
    ("mdformat", &["--check"]),
    ("nixfmt", &["-c", "--check"]),
    ("ruff format", &["--check", "--diff"]),
    ("rustfmt", &["--check", "--emit"]),
    ("stylua", &["-c", "--check"]),
    ("swiftformat", &["--dryrun", "--lint"]),
    ("taplo fmt", &["--check"]),
    ("taplo format", &["--check"]),
    ("unix2dos", &["-i", "--info"]),
];

/// What asks the others to change files.
const ASKING: &[&str] = &[
    "--write",
    "-w",
    "--fix",
    "-i",
    "--in-place",
    "-a",
    "-A",
    "--autocorrect",
    "--autocorrect-all",
    "--replace",
    "-F",
    "--apply",
    "--apply-unsafe",
    "-m",
    "-modify",
];

/// Subcommands, which are no files.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("biome", &["check", "ci", "format", "lint"]),
    ("ruff", &["check", "format", "rule"]),
    ("taplo", &["check", "fmt", "format", "get", "lint"]),
];

pub(crate) fn format(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let subcommands = SUBCOMMANDS.iter().find(|(program, _)| *program == call.name);
    let (subcommand, files) = match (subcommands, call.arguments.operands.split_first()) {
        (Some((_, known)), Some((first, rest))) if known.contains(&first.text.as_str()) => {
            (format!("{} {}", call.name, first.text), rest)
        }
        _ => (call.name.to_owned(), call.arguments.operands.as_slice()),
    };
    let changing = CHANGING.iter().find(|(program, _)| *program == subcommand);
    let writes =
        changing.map_or_else(|| call.arguments.has(ASKING), |(_, looking)| !call.arguments.has(looking));
    for file in files {
        if writes {
            // What `find` prints are the files themselves.
            let access = if file.kind == FieldKind::Tree { Access::Write } else { Access::Format };
            analyzer.touch(access, file, call.command);
        }
        analyzer.reads(file, call.command);
    }
}
