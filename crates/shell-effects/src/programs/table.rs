//! The table of programs: all entries, and how one is found.

use crate::programs::archives::ARCHIVES;
use crate::programs::databases::DATABASES;
use crate::programs::editors::{EDITORS, FORMATTERS};
use crate::programs::files::FILES;
use crate::programs::git::GIT;
use crate::programs::interpreters::INTERPRETERS;
use crate::programs::network::NETWORK;
use crate::programs::program::{Action, Program};
use crate::programs::search::SEARCH;
use crate::programs::shell::SHELL;
use crate::programs::system::SYSTEM;
use crate::programs::text::TEXT;
use crate::programs::tools::TOOLS;
use crate::programs::typesetters::TYPESETTERS;
use crate::programs::wrappers::WRAPPERS;

const PROGRAMS: [&[Program]; 15] = [
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
    TYPESETTERS,
    WRAPPERS,
];

/// Every entry under each of its names, sorted by name. The compiler sorts them: filling a map at its first use took a quarter of
/// the time of reading a short command.
static BY_NAME: [(&str, &Program); name_count()] = sorted_by_name();

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which would refuse a wrong index")]
const fn name_count() -> usize {
    let mut count = 0;
    let mut group = 0;
    while group < PROGRAMS.len() {
        let mut entry = 0;
        while entry < PROGRAMS[group].len() {
            count += PROGRAMS[group][entry].names.len();
            entry += 1;
        }
        group += 1;
    }
    count
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which would refuse a wrong index")]
const fn sorted_by_name() -> [(&'static str, &'static Program); name_count()] {
    let mut sorted = [("", &PROGRAMS[0][0]); name_count()];
    let mut count = 0;
    let mut group = 0;
    while group < PROGRAMS.len() {
        let mut entry = 0;
        while entry < PROGRAMS[group].len() {
            let program = &PROGRAMS[group][entry];
            let mut name = 0;
            while name < program.names.len() {
                let mut place = count;
                while place > 0 && is_before(program.names[name], sorted[place - 1].0) {
                    sorted[place] = sorted[place - 1];
                    place -= 1;
                }
                sorted[place] = (program.names[name], program);
                count += 1;
                name += 1;
            }
            entry += 1;
        }
        group += 1;
    }
    sorted
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which would refuse a wrong index")]
const fn is_before(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at < right.len() && (at == left.len() || left[at] < right[at])
}

/// The program of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Program> {
    exactly(name).or_else(|| exactly(gnu(name)?))
}

fn exactly(name: &str) -> Option<&'static Program> {
    let place = BY_NAME.binary_search_by_key(&name, |(name, _)| name).ok()?;
    BY_NAME.get(place).map(|(_, program)| *program)
}

/// The GNU name without its `g` prefix (`grm`). Programs without effects are excluded, because another program may have that name.
fn gnu(name: &str) -> Option<&str> {
    let usual = name.strip_prefix('g')?;
    let touches = |program: &Program| !matches!(program.action, Action::Unknown | Action::Nothing);
    if exactly(name).is_none() && exactly(usual).is_some_and(touches) { Some(usual) } else { None }
}

/// The name by which rules compare a program.
pub(crate) fn compared_name(word: &str) -> &str {
    let name = name_of(word);
    gnu(name).unwrap_or(name)
}

/// Whether a program's action depends on a subcommand, as in `git push`.
pub fn has_subcommands(name: &str) -> bool {
    by_name(name).is_some_and(|program| program.subcommand_options.is_some())
}

/// The name of a program, in whatever directory. A rule for `rm` also applies to `/x/rm` and `./rm`: a denial, and the detection
/// of a shell, must not depend on a path.
pub fn name_of(word: &str) -> &str {
    if is_own_program(word) {
        return "bash";
    }
    match word.rsplit('/').next() {
        Some(name) if !name.is_empty() => {
            name.strip_suffix(".exe").filter(|name| !name.is_empty()).unwrap_or(name)
        }
        _ => word,
    }
}

/// Whether a path is that of the running program: a shell that starts itself again.
fn is_own_program(word: &str) -> bool {
    word.strip_prefix("/proc/").is_some_and(|rest| rest.ends_with("/exe") && rest.matches('/').count() == 1)
}

/// The name if the program's effects are known: it is called by its bare name, or by its path in a directory for programs.
/// `./test` may do anything.
pub(crate) fn called_name(word: &str) -> Option<&str> {
    match word.rsplit_once('/') {
        _ if is_own_program(word) => Some("bash"),
        Some((_, name)) if name.starts_with("ld-") && name.contains(".so") => Some(name),
        Some((directory, _)) if !directory.ends_with("bin") || directory.ends_with(".bin") => None,
        _ => Some(name_of(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::program::Stdin;

    #[test]
    fn no_program_has_two_entries_and_each_is_found() {
        assert!(BY_NAME.is_sorted_by(|(left, _), (right, _)| left < right), "a program has two entries");
        for program in PROGRAMS.into_iter().flatten() {
            for name in program.names {
                assert!(by_name(name).unwrap().names.contains(name), "{name}");
            }
        }
        assert!(BY_NAME.len() > 500, "{} names", BY_NAME.len());
    }

    #[test]
    fn a_program_of_gnu_is_what_it_is_without_its_g() {
        for (name, usual) in [("grm", "rm"), ("gsed", "sed"), ("gfind", "find"), ("gtimeout", "timeout")] {
            assert_eq!(by_name(name), by_name(usual));
            assert_eq!(compared_name(&format!("/opt/bin/{name}")), usual);
        }
        for name in ["git", "grep", "go", "gh", "gzip", "ghost", "gecho2", "g", "grep2"] {
            assert_eq!(compared_name(name), name);
        }
        let redundant = BY_NAME.iter().filter_map(|(name, program)| {
            if exactly(name.strip_prefix('g')?)? == *program { Some(name) } else { None }
        });
        assert_eq!(redundant.collect::<Vec<_>>(), Vec::<&&str>::new(), "the rule is enough");
    }

    #[test]
    fn code_for_a_shell_is_told_from_other_code_for_each_program() {
        use crate::CodeLanguage;
        for (name, program) in &BY_NAME {
            let expected = match program.stdin {
                Stdin::Shell => Some(CodeLanguage::Shell),
                Stdin::Code => Some(CodeLanguage::Other),
                Stdin::Data | Stdin::Sql { .. } | Stdin::Queries => None,
            };
            let found = [name.to_string(), format!("{name} x")].into_iter().find_map(|command| {
                let script = crate::read(&format!("printf '%s' \"$X\" | {command}"), None);
                script.commands.iter().find_map(|command| command.unknown_code)
            });
            assert!(found == expected || expected.is_none(), "{name}: {found:?}");
            if expected.is_none() {
                assert!(found != Some(CodeLanguage::Other), "{name}");
            }
        }
    }

    #[test]
    fn no_subcommand_is_listed_twice() {
        for (name, program) in &BY_NAME {
            let mut names: Vec<&str> =
                program.subcommands.iter().flat_map(|subcommand| subcommand.names).copied().collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{name}");
        }
    }

    #[test]
    fn the_clients_of_databases_and_no_other_programs_read_sql() {
        for (name, program) in &BY_NAME {
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
