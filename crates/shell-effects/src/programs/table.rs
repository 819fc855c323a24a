//! The table of programs: all entries, and how one is found.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::programs::archives::ARCHIVES;
use crate::programs::databases::DATABASES;
use crate::programs::editors::{EDITORS, FORMATTERS};
use crate::programs::files::FILES;
use crate::programs::git::GIT;
use crate::programs::interpreters::INTERPRETERS;
use crate::programs::network::NETWORK;
use crate::programs::program::Program;
use crate::programs::search::SEARCH;
use crate::programs::shell::SHELL;
use crate::programs::system::SYSTEM;
use crate::programs::text::TEXT;
use crate::programs::tools::TOOLS;
use crate::programs::wrappers::WRAPPERS;

const PROGRAMS: [&[Program]; 14] = [
    ARCHIVES,
    DATABASES,
    EDITORS,
    FILES,
    FORMATTERS,
    GIT,
    INTERPRETERS,
    NETWORK,
    SEARCH,
    SHELL,
    SYSTEM,
    TEXT,
    TOOLS,
    WRAPPERS,
];

fn entries() -> impl Iterator<Item = (&'static str, &'static Program)> {
    let programs = PROGRAMS.into_iter().flatten();
    programs.flat_map(|program| program.names.iter().map(move |name| (*name, program)))
}

/// Every entry by each of its names.
static BY_NAME: LazyLock<HashMap<&str, &Program>> = LazyLock::new(|| entries().collect());

/// The program of this name, wherever it is.
pub(crate) fn by_name(name: &str) -> Option<&'static Program> {
    BY_NAME.get(name).copied()
}

/// The name of a program that is called by its name, or by its path in a directory for programs.
pub(crate) fn called_name(word: &str) -> Option<&str> {
    match word.rsplit_once('/') {
        Some((directory, name)) if directory.ends_with("bin") && !directory.ends_with(".bin") => Some(name),
        Some(_) => None,
        None => Some(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::program::Stdin;

    #[test]
    fn no_program_has_two_entries_and_each_is_found() {
        let mut count = 0;
        for (name, program) in entries() {
            count += 1;
            assert!(std::ptr::eq(by_name(name).unwrap(), program), "{name} has two entries");
        }
        assert_eq!(BY_NAME.len(), count);
        assert!(count > 500, "{count} names");
    }

    #[test]
    fn no_subcommand_is_listed_twice() {
        for (name, program) in entries() {
            let mut names: Vec<&str> =
                program.subcommands.iter().flat_map(|subcommand| subcommand.names).copied().collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{name}");
        }
    }

    #[test]
    fn whoever_reads_sql_is_seen_to_read_it_and_nobody_else() {
        for (name, program) in entries() {
            let is_client = matches!(program.stdin, Stdin::Sql { .. });
            for command in [
                format!("echo 'drop table x' | {name} db"),
                format!("{name} <<< 'drop table x'"),
                format!("/usr/bin/{name} -x 'drop table x'"),
                format!("{name} --option='drop table x'"),
            ] {
                let script = crate::read(&command, None);
                let texts =
                    script.commands.iter().filter_map(crate::SimpleCommand::sql).flat_map(|sql| sql.texts);
                let is_seen = texts.into_iter().any(|text| text.trim_end() == "drop table x");
                assert_eq!(is_seen, is_client, "{command}");
            }
        }
    }
}
