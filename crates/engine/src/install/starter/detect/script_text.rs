//! What the script of a package or a recipe does, judging by its text: whether it only checks, and which programs it names.

/// Options that make a linter or a formatter change files, or a test replace its snapshots.
const WRITING: [&str; 9] = [
    "--write",
    "--fix",
    "--fix-all",
    "--apply",
    "--apply-unsafe",
    "--unsafe-fixes",
    "--updateSnapshot",
    "--update-snapshots",
    "--in-place",
];

/// Options with which a program does not end by itself.
const WATCHING: [&str; 4] = ["--watch", "--watchAll", "--ui", "watch"];

/// Subcommands that change all files of a package unless this option is given.
const PACKAGE_FORMATTERS: [(&str, &str); 2] = [("cargo fmt", "--check"), ("go fmt", "-n")];

/// Programs for which `-w` watches.
const SHORT_WATCHERS: [&str; 3] = ["tsc", "vue-tsc", "mocha"];

/// Whether the text only checks: it changes no files, and it ends.
pub(super) fn only_checks(text: &str) -> bool {
    text.split(['\n', ';', '&', '|']).all(|command| !writes(command) && !watches(command))
}

fn writes(command: &str) -> bool {
    let has = |option: &str| has_word(command, option);
    let option =
        |written: &&str| command.split_whitespace().any(|word| word.split('=').next() == Some(*written));
    let own: Vec<&str> = words(command).collect();
    let formats = (0..own.len()).any(|at| shell_effects::formats_files(own.get(at..).unwrap_or_default()));
    WRITING.iter().any(|written| option(written) && !command.contains(&format!("{written}=false")))
        || formats
        || PACKAGE_FORMATTERS.iter().any(|(program, checks)| has_words(command, program) && !has(checks))
}

fn watches(command: &str) -> bool {
    let is_off = |option: &str| {
        command.contains(&format!("{option}=false")) || command.contains(&format!("{option} false"))
    };
    let has = |word: &str| has_word(command, word);
    WATCHING.iter().any(|option| has(option) && !is_off(option))
        || (has("-w") && SHORT_WATCHERS.iter().any(|program| has(program)))
}

/// Whether one of the words is this one; a program may have a path or quotes around it.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    words(text).any(|own| own == word)
}

/// Whether these words follow each other.
fn has_words(text: &str, wanted: &str) -> bool {
    let wanted: Vec<&str> = wanted.split(' ').collect();
    let own: Vec<&str> = words(text).collect();
    own.windows(wanted.len()).any(|part| part == wanted)
}

/// The words of a text, each without quotes and, for a program, its folder.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let separators = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | ')' | ';' | '&' | '|');
    text.split(separators).filter(|word| !word.is_empty()).map(|word| match word.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() && word.starts_with(['.', '/', 'n']) => name,
        _ => word,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_writes_or_never_ends_is_not_a_check() {
        for (text, expected) in [
            ("biome lint", true),
            ("biome lint --write", false),
            ("eslint . --fix", false),
            ("eslint . --fix-dry-run", true),
            ("eslint . --cache && prettier --check .", true),
            ("tsc --noEmit && prettier -w .", false),
            ("prettier --list-different 'src/**'", true),
            ("isort --stdout src", true),
            ("npx stylua src", false),
            ("npx stylua --check src", true),
            ("go mod tidy", true),
            ("vitest", true),
            ("vitest run --coverage", true),
            ("jest --watch", false),
            ("jest --watch=false", true),
            ("ng test --watch false", true),
            ("tsc -w", false),
            ("cargo fmt", false),
            ("cargo fmt --all -- --check", true),
            ("black --check src; isort src", false),
            ("./node_modules/.bin/prettier -w x", false),
        ] {
            assert_eq!(only_checks(text), expected, "{text}");
        }
    }
}
