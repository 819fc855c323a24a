//! The changed files that a command gets.

use std::path::Path;

use super::Command;
use super::environment::{self, FILES};
use crate::config::{CommandConfig, FILES_PLACEHOLDER, FileGlob};
use crate::file_pattern::{FilePattern, Location};

/// The limit on the list in one script: the kernel accepts no argument above 128 KiB, and a script may name the list twice.
const MAX_LIST: usize = 30 << 10;

/// The changed files that concern a command, relative to its folder. `None` if there are none, so that it does not run.
#[expect(clippy::option_option, reason = "a command that does not run is not one without files")]
pub(super) fn concerned(changed: &[Location], config: &CommandConfig) -> Option<Option<Vec<String>>> {
    let Some(patterns) = &config.files else { return Some(None) };
    let patterns: Vec<(FilePattern, bool)> = patterns.iter().filter_map(compiled).collect();
    let covered = changed.iter().filter(|file| covers(&patterns, file));
    let folder = config.cwd.as_ref().map(|cwd| cwd.as_path());
    let files: Vec<String> = covered.map(|file| relative_to(folder, file)).collect();
    if files.is_empty() { None } else { Some(Some(files)) }
}

/// The pattern, and whether it includes the files that it covers. A broken one is an error of the config.
fn compiled(glob: &FileGlob) -> Option<(FilePattern, bool)> {
    Some((glob.pattern(None).ok()?, !glob.allows()))
}

/// The last pattern that covers the file decides.
fn covers(patterns: &[(FilePattern, bool)], file: &Location) -> bool {
    patterns.iter().rev().find(|(pattern, _)| pattern.covers(file)).is_some_and(|(_, includes)| *includes)
}

/// The path from the folder in which a command runs.
fn relative_to(folder: Option<&Path>, file: &Location) -> String {
    let Some(relative) = &file.relative else { return file.absolute.clone() };
    let Some(folder) = folder else { return relative.clone() };
    match Path::new(relative).strip_prefix(folder) {
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => "../".repeat(folder.components().count()) + relative,
    }
}

/// The command with its files. If they are too many for one script, it runs several times.
pub(super) fn given(command: &Command, files: &[String], warnings: &mut Vec<String>) -> Vec<Command> {
    if !command.run.contains(FILES_PLACEHOLDER) {
        return vec![with_variable(command.clone(), files, warnings)];
    }
    let mut commands = Vec::new();
    let mut rest = files;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(fitting(rest, |file| quoted(file).len()).max(1));
        let list: Vec<String> = now.iter().map(|file| quoted(file)).collect();
        let script = command.run.replace(FILES_PLACEHOLDER, &list.join(" "));
        commands.push(with_variable(Command { script, ..command.clone() }, now, warnings));
        rest = later;
    }
    commands
}

/// How many of the files fit into a list.
fn fitting(files: &[String], length: impl Fn(&String) -> usize) -> usize {
    let lengths = files.iter().scan(0, |sum, file| {
        *sum += length(file) + 1;
        Some(*sum)
    });
    lengths.take_while(|sum| *sum <= MAX_LIST).count()
}

fn with_variable(mut command: Command, files: &[String], warnings: &mut Vec<String>) -> Command {
    let (first, left_out) = files.split_at(fitting(files, String::len).max(1));
    if !left_out.is_empty() {
        warnings.push(format!(
            "{FILES} has {} of {} files; `{FILES_PLACEHOLDER}` names all",
            first.len(),
            files.len()
        ));
    }
    let (value, warning) = environment::fit(FILES, first.join("\n"));
    warnings.extend(warning);
    command.env.retain(|(name, _)| name != FILES);
    command.env.push((FILES.to_owned(), value));
    command
}

/// A path as one word of a shell that is never an option.
fn quoted(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    shell_effects::quoted(&path)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn file(relative: &str) -> Location {
        Location {
            absolute: format!("/p/{relative}"),
            relative: Some(relative.into()),
            ..Location::default()
        }
    }

    #[test]
    fn paths_are_given_from_the_folder_of_the_command() {
        let folder = PathBuf::from("packages/a");
        assert_eq!(relative_to(None, &file("packages/a/x.ts")), "packages/a/x.ts");
        assert_eq!(relative_to(Some(&folder), &file("packages/a/x.ts")), "x.ts");
        assert_eq!(relative_to(Some(&folder), &file("README.md")), "../../README.md");
        let outside = Location { absolute: "/tmp/x".into(), ..Location::default() };
        assert_eq!(relative_to(Some(&folder), &outside), "/tmp/x");
    }

    #[test]
    fn a_path_is_one_word_and_no_option() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("-rf"), "'./-rf'");
    }
}
