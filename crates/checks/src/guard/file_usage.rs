//! How a call uses a file, where a rule may treat that otherwise.

use std::ffi::OsStr;
use std::path::Path;

use super::file_checks::writes;
use super::resolve::{Effects, Touch};
use super::rules::FileUsage;
use shell_effects::{Access, SimpleCommand, program_name};

/// How a call uses a file.
pub(super) fn usage(effects: &Effects, touch: &Touch) -> FileUsage {
    let words =
        touch.command.and_then(|index| effects.commands.get(index)).map(|command| command.words.as_slice());
    if let (Access::Write | Access::Update, Some([program, arguments @ ..])) = (touch.access, words)
        && is_set_back(program, arguments)
    {
        return FileUsage::Restores;
    }
    if writes(touch.access)
        && touch.access != Access::Link
        && !touch.exists
        && !effects.link_makers.may_redirect(touch)
    {
        return FileUsage::Creates;
    }
    let Some(index) = touch.command else { return FileUsage::Other };
    let words = effects.commands.get(index).map_or(&[][..], |command| command.words.as_slice());
    let Some((program, arguments)) = words.split_first() else { return FileUsage::Other };
    let Some(file) = Path::new(touch.named()).file_name() else { return FileUsage::Other };
    let later = effects.commands.get(index + 1..).unwrap_or_default();
    let is_used = match touch.access {
        // What is redirected to `.` is not run.
        Access::Read if matches!(program.as_str(), "." | "source") => {
            arguments.iter().any(|word| Path::new(word).file_name() == Some(file))
        }
        Access::Read => gives_variables(program, arguments, file),
        Access::Delete => is_written_again(file, later),
        _ => false,
    };
    match touch.access {
        Access::Read if is_used => FileUsage::Sources,
        _ if is_used => FileUsage::Restores,
        _ => FileUsage::Other,
    }
}

/// Programs that read variables from a file for the code that they run.
const GIVING: &[&str] = &["bun", "deno", "node", "nodejs", "ts-node", "tsx"];

/// Whether a program is given the variables in a file, and names it for nothing else: `node --env-file=.env server.js`.
fn gives_variables(program: &str, arguments: &[String], file: &OsStr) -> bool {
    let is_file = |text: &str| Path::new(text).file_name() == Some(file);
    let (mut uses, mut given) = (0, 0);
    let before = std::iter::once("").chain(arguments.iter().map(String::as_str));
    for (before, word) in before.zip(arguments) {
        let (option, value) = word.split_once('=').unwrap_or((before, word));
        if is_file(value) || is_file(word) {
            uses += 1;
            given += usize::from(matches!(option, "--env-file" | "--env-file-if-exists"));
        }
    }
    GIVING.contains(&program_name(program)) && uses > 0 && uses == given
}

/// Whether git writes a version of the file that is committed: `git restore FILE`, `git checkout --theirs FILE`.
fn is_set_back(program: &str, arguments: &[String]) -> bool {
    let subcommand = arguments.first().map(String::as_str);
    program_name(program) == "git" && matches!(subcommand, Some("checkout" | "restore"))
}

/// Files that a package manager writes, and its programs.
const LOCKS: &[(&str, &[&str])] = &[
    (".terraform.lock.hcl", &["terraform", "tofu"]),
    ("Cargo.lock", &["cargo"]),
    ("Gemfile.lock", &["bundle"]),
    ("Package.resolved", &["swift"]),
    ("Pipfile.lock", &["pipenv"]),
    ("Podfile.lock", &["pod"]),
    ("bun.lock", &["bun"]),
    ("bun.lockb", &["bun"]),
    ("composer.lock", &["composer"]),
    ("deno.lock", &["deno"]),
    ("flake.lock", &["nix"]),
    ("go.sum", &["go"]),
    ("mix.lock", &["mix"]),
    ("npm-shrinkwrap.json", &["npm"]),
    ("package-lock.json", &["npm"]),
    ("pdm.lock", &["pdm"]),
    ("pnpm-lock.yaml", &["pnpm"]),
    ("poetry.lock", &["poetry"]),
    ("pubspec.lock", &["dart", "flutter"]),
    ("uv.lock", &["uv"]),
    ("yarn.lock", &["yarn"]),
];

/// Whether a later command runs the program that writes the file: `rm package-lock.json && npm install`.
fn is_written_again(file: &OsStr, later: &[SimpleCommand]) -> bool {
    let Some((_, programs)) = LOCKS.iter().find(|(name, _)| file == *name) else { return false };
    let runs = |command: &SimpleCommand| {
        command.words.first().is_some_and(|word| programs.contains(&program_name(word)))
    };
    later.iter().any(runs)
}
