//! Variables of the environment that make programs run, read or write something: what their value is.

use crate::programs::table::is_before;

/// What the value of a variable is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum VariableUse {
    /// Code for a shell, or a program with its options, which some program runs.
    Code,
    /// Like `Code`, but for programs that build. Only commands that set it count: users' shells do not set such variables.
    Tool,
    /// A file with code, which this program runs.
    Script(&'static str),
    /// Code in the language of this program.
    Source(&'static str),
    /// A file or a directory that a program writes.
    Output,
    /// A file that a program reads, and then writes.
    History,
    /// Options of this command. Where it would run something else then, it is given no code.
    Options(&'static str),
    /// A text that a shell expands once more.
    Prompt,
    /// A program that others start in the place of a shell.
    Shell,
    /// A file with keys, which may run commands.
    Keys,
    /// The body of a function that a shell defines.
    Function,
}

/// A variable. A `*` in its name stands for any characters. If its value is options, these characters are a subcommand.
struct KnownVariable {
    names: &'static [&'static str],
    usage: VariableUse,
}

const fn variables(names: &'static [&'static str], usage: VariableUse) -> KnownVariable {
    KnownVariable { names, usage }
}

#[rustfmt::skip]
const VARIABLES: &[KnownVariable] = &[
    variables(&[
        "AWS_PAGER", "BAT_PAGER", "BROWSER", "BUNDLER_EDITOR", "CVSEDITOR", "CVS_RSH", "DELTA_PAGER", "EDITOR", "FCEDIT", "FZF_CTRL_T_COMMAND",
        "FZF_DEFAULT_COMMAND", "GEM_EDITOR", "GH_BROWSER", "GH_EDITOR", "GH_PAGER", "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
        "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GLAB_PAGER", "HGEDITOR", "HGMERGE", "KUBE_EDITOR", "LESSCLOSE",
        "LESSOPEN", "MANPAGER", "NPM_CONFIG_SCRIPT_SHELL", "PAGER", "PROMPT_COMMAND", "PSQL_EDITOR", "PSQL_PAGER", "RSYNC_CONNECT_PROG",
        "RSYNC_RSH", "SSH_ASKPASS", "SUDO_ASKPASS", "SUDO_EDITOR", "SVN_EDITOR", "SVN_SSH", "SYSTEMD_EDITOR", "SYSTEMD_PAGER", "TEXEDIT", "VISUAL",
        "npm_config_script_shell",
    ], VariableUse::Code),
    variables(&[
        "AR", "AS", "CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTC_WRAPPER", "CARGO_BUILD_RUSTDOC", "CARGO_TARGET_*_LINKER", "CARGO_TARGET_*_RUNNER",
        "CC", "CMAKE_*_COMPILER_LAUNCHER", "CPP", "CXX", "FC", "HOSTCC", "LD", "RUSTC", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "RUSTDOC",
    ], VariableUse::Tool),
    variables(&["BASH_ENV", "ENV"], VariableUse::Script("bash")),
    variables(&["PYTHONSTARTUP"], VariableUse::Script("python3")),
    variables(&["EXINIT", "GVIMINIT", "VIMINIT"], VariableUse::Source("vim")),
    variables(&["LUA_INIT", "LUA_INIT_5_1", "LUA_INIT_5_2", "LUA_INIT_5_3", "LUA_INIT_5_4"], VariableUse::Source("lua")),
    variables(&["GNUMAKEFLAGS", "MAKEFLAGS", "MFLAGS"], VariableUse::Source("make")),
    variables(&["PERL5DB"], VariableUse::Source("perl")),
    variables(&[
        "COVERAGE_FILE", "GCOV_PREFIX", "GIT_INDEX_FILE", "GMON_OUT_PREFIX", "LD_DEBUG_OUTPUT", "LESSHISTFILE", "LLVM_PROFILE_FILE",
        "MALLOC_TRACE", "NODE_REDIRECT_WARNINGS", "NODE_V8_COVERAGE", "PYTHONPYCACHEPREFIX",
    ], VariableUse::Output),
    variables(&["HISTFILE", "NODE_REPL_HISTORY", "SQLITE_HISTORY"], VariableUse::History),
    variables(&["GOFLAGS"], VariableUse::Options("go build")),
    variables(&["GREP_OPTIONS"], VariableUse::Options("grep")),
    variables(&["JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS", "_JAVA_OPTIONS"], VariableUse::Options("java")),
    variables(&["MANOPT"], VariableUse::Options("man")),
    variables(&["NODE_OPTIONS"], VariableUse::Options("node -e 0")),
    variables(&["PERL5OPT"], VariableUse::Options("perl -e 0")),
    variables(&["PYTEST_ADDOPTS"], VariableUse::Options("pytest")),
    variables(&["RUBYOPT"], VariableUse::Options("ruby -e 0")),
    variables(&["TAR_OPTIONS"], VariableUse::Options("tar")),
    variables(&["TF_CLI_ARGS", "TF_CLI_ARGS_*"], VariableUse::Options("terraform")),
    variables(&["UNZIP", "UNZIPOPT"], VariableUse::Options("unzip")),
    variables(&["ZIPOPT"], VariableUse::Options("zip")),
    variables(&["PS0", "PS1", "PS2", "PS4"], VariableUse::Prompt),
    variables(&["SHELL"], VariableUse::Shell),
    variables(&["INPUTRC"], VariableUse::Keys),
    variables(&["BASH_FUNC_*"], VariableUse::Function),
];

/// Each name, in order. The compiler sorts them: each assignment is looked up.
static BY_NAME: [(&str, VariableUse); name_count()] = sorted_by_name();

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which would refuse a wrong index")]
const fn name_count() -> usize {
    let mut count = 0;
    let mut group = 0;
    while group < VARIABLES.len() {
        count += VARIABLES[group].names.len();
        group += 1;
    }
    count
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which would refuse a wrong index")]
const fn sorted_by_name() -> [(&'static str, VariableUse); name_count()] {
    let mut sorted = [("", VariableUse::Code); name_count()];
    let mut count = 0;
    let mut group = 0;
    while group < VARIABLES.len() {
        let mut name = 0;
        while name < VARIABLES[group].names.len() {
            let mut place = count;
            while place > 0 && is_before(VARIABLES[group].names[name], sorted[place - 1].0) {
                sorted[place] = sorted[place - 1];
                place -= 1;
            }
            sorted[place] = (VARIABLES[group].names[name], VARIABLES[group].usage);
            count += 1;
            name += 1;
        }
        group += 1;
    }
    sorted
}

/// What a variable is used for, and what the `*` in its name stands for.
pub(crate) fn usage_of(name: &str) -> Option<(VariableUse, &str)> {
    let at = match BY_NAME.binary_search_by(|(known, _)| (*known).cmp(name)) {
        Ok(at) => return BY_NAME.get(at).map(|(_, usage)| (*usage, "")),
        Err(at) => at,
    };
    // A `*` sorts before all characters of a name, so a name with a `*` comes before the names with the same start.
    let start = name.get(..2)?;
    let before = BY_NAME.get(..at)?.iter().rev().take_while(|(known, _)| known.starts_with(start));
    before.into_iter().find_map(|(known, usage)| Some((*usage, matched(known, name)?)))
}

/// What the `*` in a name stands for.
fn matched<'n>(known: &str, name: &'n str) -> Option<&'n str> {
    let (start, end) = known.split_once('*')?;
    name.strip_prefix(start)?.strip_suffix(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_is_listed_twice_and_each_is_found() {
        assert!(BY_NAME.is_sorted_by(|(left, _), (right, _)| left < right), "a variable is listed twice");
        for variable in VARIABLES {
            for name in variable.names {
                let found = name.find('*').map_or("", |_| "XY");
                assert_eq!(usage_of(&name.replace('*', "XY")), Some((variable.usage, found)), "{name}");
            }
        }
        for name in ["", "A", "CARGO_TARGET_X", "TF_CLI", "BASH_FUN", "ZZ", "é"] {
            assert_eq!(usage_of(name), None, "{name}");
        }
    }

    #[test]
    fn code_in_a_variable_is_read_whatever_program_gets_it() {
        for variable in VARIABLES {
            let value = match variable.usage {
                VariableUse::Code | VariableUse::Tool => "cat .env",
                VariableUse::Output
                | VariableUse::History
                | VariableUse::Keys
                | VariableUse::Script(_)
                | VariableUse::Shell => ".env",
                VariableUse::Source(_) => "x: ; !cat .env",
                VariableUse::Prompt => "$(cat .env)",
                VariableUse::Function => "() { cat .env; }",
                VariableUse::Options(_) => continue,
            };
            for name in variable.names.iter().map(|name| name.replace('*', "X")) {
                for command in [format!("env '{name}={value}' x"), format!("env '{name}={value}' bash -c x")]
                {
                    let script = crate::read(&command, None);
                    let shown = format!("{:?} {:?}", script.effects, script.doubts);
                    let is_seen = shown.contains(".env")
                        || script.commands.iter().any(|command| command.text == ".env");
                    assert!(is_seen, "{command}: {shown}");
                }
            }
        }
    }
}
