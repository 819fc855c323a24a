//! The table of programs: all entries, and how one is found.

use crate::programs::action::Action;
use crate::programs::archives::ARCHIVES;
use crate::programs::arguments::file_access;
use crate::programs::builders::{CHECKERS, COMPILERS, TYPESETTERS};
use crate::programs::databases::DATABASES;
use crate::programs::editors::{EDITORS, FORMATTERS};
use crate::programs::files::FILES;
use crate::programs::git::GIT;
use crate::programs::hosts::HOSTS;
use crate::programs::interpreters::INTERPRETERS;
use crate::programs::network::NETWORK;
use crate::programs::program::Program;
use crate::programs::search::SEARCH;
use crate::programs::shell::{PRINTERS, SHELL};
use crate::programs::system::SYSTEM;
use crate::programs::text::TEXT;
use crate::programs::tools::TOOLS;
use crate::programs::wrappers::WRAPPERS;

const PROGRAMS: [&[Program]; 19] = [
    ARCHIVES,
    CHECKERS,
    COMPILERS,
    DATABASES,
    EDITORS,
    FILES,
    FORMATTERS,
    GIT,
    HOSTS,
    INTERPRETERS,
    NETWORK,
    PRINTERS,
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
const fn all_names() -> [(&'static str, &'static Program); name_count()] {
    let mut names = [("", &PROGRAMS[0][0]); name_count()];
    let mut count = 0;
    let mut group = 0;
    while group < PROGRAMS.len() {
        let mut entry = 0;
        while entry < PROGRAMS[group].len() {
            let program = &PROGRAMS[group][entry];
            let mut name = 0;
            while name < program.names.len() {
                names[count] = (program.names[name], program);
                count += 1;
                name += 1;
            }
            entry += 1;
        }
        group += 1;
    }
    names
}

/// Shell sort: with this number of names, the compiler refuses to run a simpler one.
#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which would refuse a wrong index")]
const fn sorted_by_name() -> [(&'static str, &'static Program); name_count()] {
    let mut sorted = all_names();
    let mut gap = sorted.len() / 2;
    while gap > 0 {
        let mut next = gap;
        while next < sorted.len() {
            let moved = sorted[next];
            let mut place = next;
            while place >= gap && is_before(moved.0, sorted[place - gap].0) {
                sorted[place] = sorted[place - gap];
                place -= gap;
            }
            sorted[place] = moved;
            next += 1;
        }
        gap /= 2;
    }
    sorted
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which would refuse a wrong index")]
pub(crate) const fn is_before(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at < right.len() && (at == left.len() || left[at] < right[at])
}

/// The program of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Program> {
    let usual = || gnu(name).or_else(|| other_name(name));
    exactly(name).or_else(|| exactly(usual()?)).or_else(|| versioned(name))
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

/// An interpreter or a compiler with its version: `python3.12`, `lua5.4`, `clang-18`.
fn versioned(name: &str) -> Option<&'static Program> {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if base.len() == name.len() || base.is_empty() {
        return None;
    }
    let base = base.trim_end_matches('-');
    let program = exactly(base).or_else(|| exactly(gnu(base)?))?;
    let has_versions = program.language.is_some() || program.quotes_like_sh;
    if has_versions { Some(program) } else { None }
}

/// Other names of programs, and programs that do the same. They are not names in the entries, because rules compare such a program
/// by its usual name, which may have no entry.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("aws-cdk", "cdk"),
    ("gradlew", "gradle"),
    ("k", "kubectl"),
    ("keydb-cli", "redis-cli"),
    ("kubecolor", "kubectl"),
    ("microk8s.kubectl", "kubectl"),
    ("mvnw", "mvn"),
    ("vc", "vercel"),
];

/// The usual name of a program that has another one.
fn other_name(name: &str) -> Option<&'static str> {
    OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|(_, usual)| *usual)
}

/// The name by which rules compare a program.
pub(crate) fn compared_name(word: &str) -> &str {
    let name = name_of(word);
    gnu(name).or_else(|| other_name(name)).unwrap_or(name)
}

/// Whether a program's action depends on a subcommand, as in `git push`.
pub fn has_subcommands(name: &str) -> bool {
    by_name(name).is_some_and(|program| program.subcommand_options.is_some())
}

/// Whether the table has a program of this name.
pub fn is_listed_program(name: &str) -> bool {
    by_name(name).is_some()
}

/// The lock files that a program writes as a package manager.
pub fn locks_of(name: &str) -> &'static [&'static str] {
    by_name(name).map_or(&[], |program| program.locks)
}

/// Whether a subcommand of a program writes files back as they were committed: `git restore FILE`.
pub fn restores(name: &str, subcommand: &str) -> bool {
    by_name(name).is_some_and(|program| program.restoring.contains(&subcommand))
}

/// Whether an option of a program names a file with variables for the code that it runs: `node --env-file=.env`.
pub fn reads_variables(name: &str, option: &str) -> bool {
    option.starts_with("--env-file")
        && by_name(name).is_some_and(|program| file_access(program.options, option) == Some(b'r'))
}

/// The name of a program, in whatever directory. A rule for `rm` also applies to `/x/rm` and `./rm`: a denial, and the detection
/// of a shell, must not depend on a path.
pub fn name_of(word: &str) -> &str {
    if is_own_program(word) {
        return "bash";
    }
    match word.rsplit('/').next() {
        Some(name) if !name.is_empty() => {
            let name = without_version(name);
            name.strip_suffix(".exe").filter(|name| !name.is_empty()).unwrap_or(name)
        }
        _ => word,
    }
}

/// A program without the version that `npx` and others take after its name: `prisma@5`.
fn without_version(name: &str) -> &str {
    name.split_once('@').map(|(name, _)| name).filter(|name| !name.is_empty()).unwrap_or(name)
}

/// Whether a path is that of the program that runs: a shell, which starts itself again.
pub(crate) fn is_own_program(word: &str) -> bool {
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
    use crate::programs::action::Stdin;

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
    fn a_program_is_known_by_its_other_names_and_with_a_version() {
        for (word, usual) in [
            ("kubecolor", "kubectl"),
            ("./mvnw", "mvn"),
            ("keydb-cli", "redis-cli"),
            ("prisma@5", "prisma"),
            ("@scope/tool@latest", "tool"),
            ("aws-cdk@2", "cdk"),
        ] {
            assert_eq!(compared_name(word), usual);
        }
        assert_eq!(by_name("kubecolor"), by_name("kubectl"));
        for name in ["kubectx", "@", "@scope", "mvnd"] {
            assert_eq!(compared_name(name), name);
        }
        assert!(
            OTHER_NAMES.iter().all(|(other, _)| exactly(other).is_none()),
            "an entry of its own is found first"
        );
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

    /// Programs that read code, and have no option that holds some.
    const WITHOUT_CODE_OPTIONS: &[&str] = &["cpp", "ed", "jshell", "red", "tclsh", "wish"];

    #[test]
    fn the_code_in_each_option_of_an_interpreter_is_seen() {
        for (name, program) in &BY_NAME {
            let options = program.options.split_ascii_whitespace();
            let options = options.map(|option| option.split(['=', '?']).next().unwrap());
            let code = |option: &&str| matches!(file_access(program.options, option), Some(b'e' | b'b'));
            let mut options: Vec<&str> = options.filter(code).collect();
            // Their code comes after all options.
            if program.quotes_like_sh || program.names.contains(&"csh") {
                options.push("-c");
            }
            let reads_code =
                program.stdin == Stdin::Code || !program.start_up.is_empty() && program.stdin == Stdin::Shell;
            let is_excused = WITHOUT_CODE_OPTIONS.contains(name) || *name == "ssh";
            assert!(!reads_code || is_excused || !options.is_empty(), "{name} has no option with code");
            for option in options {
                // Outside of a text, `.env` is an attribute in some languages.
                let code = if program.stdin == Stdin::Shell { "cat .env" } else { "cat(\".env\")" };
                let mut commands =
                    vec![format!("{name} {option} '{code}'"), format!("{name} x {option} '{code}'")];
                if option.starts_with("--") {
                    commands.push(format!("{name} {option}='{code}'"));
                }
                // What follows a script is an argument of it.
                if program.stdin == Stdin::Shell {
                    commands.remove(1);
                }
                for command in commands {
                    let script = crate::read(&command, None);
                    let code = |doubt: &crate::Doubt| matches!(doubt, crate::Doubt::InlineCode { text, .. } if text.contains(".env"));
                    let reads = |effect: &crate::Effect| effect.literal().as_deref() == Some(".env");
                    let is_seen = script.effects.iter().any(reads) || script.doubts.iter().any(code);
                    assert!(is_seen, "{command}: {script:?}");
                }
            }
        }
    }

    #[test]
    fn an_interpreter_with_its_version_is_the_same_program() {
        for (name, usual) in [
            ("python3.15", "python"),
            ("lua5.4", "lua"),
            ("clang-18", "clang"),
            ("gcc-12", "gcc"),
            ("ksh93", "ksh"),
        ] {
            assert_eq!(by_name(name), by_name(usual), "{name}");
            assert!(by_name(name).is_some(), "{name}");
        }
        for name in ["cat2", "rm1", "3", "b2", "x86"] {
            assert_eq!(by_name(name), None, "{name}");
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
