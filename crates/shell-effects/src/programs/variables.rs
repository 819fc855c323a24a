//! Variables of the environment that make programs run, read or write something: what their value is.

/// What the value of a variable is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum VariableUse {
    /// Code for a shell, or a program with its options, which some program runs.
    Code,
    /// The same of programs that build. Only what is given to them counts: users' shells set none of these.
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

/// A variable. A `*` in its name stands for any characters; of options, they are a subcommand.
struct Variable {
    names: &'static [&'static str],
    usage: VariableUse,
}

const fn variables(names: &'static [&'static str], usage: VariableUse) -> Variable {
    Variable { names, usage }
}

#[rustfmt::skip]
const VARIABLES: &[Variable] = &[
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

/// What a variable is used for, and what the `*` in its name stands for.
pub(crate) fn usage_of(name: &str) -> Option<(VariableUse, &str)> {
    // Most names of a script's own variables are short or in lower case.
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) && !name.starts_with("npm_") {
        return None;
    }
    // Each assignment is looked up: most names are told apart by their first character.
    let first = name.bytes().next();
    let is_alike = |known: &&&str| known.bytes().next() == first;
    VARIABLES.iter().find_map(|variable| {
        let found = variable.names.iter().filter(is_alike).find_map(|known| matched(known, name))?;
        Some((variable.usage, found))
    })
}

/// What the `*` in a name stands for; empty where there is none.
fn matched<'n>(known: &str, name: &'n str) -> Option<&'n str> {
    match known.split_once('*') {
        Some((start, end)) => name.strip_prefix(start)?.strip_suffix(end),
        None if known == name => Some(""),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_is_listed_twice() {
        let mut names: Vec<&str> = VARIABLES.iter().flat_map(|variable| variable.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
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
