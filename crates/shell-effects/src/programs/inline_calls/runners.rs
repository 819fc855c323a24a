//! The functions of other languages that run a command, or act like one.

/// Functions that run a command, or act like one.
pub(super) struct Runner {
    pub(super) names: &'static [&'static str],
    /// The code before the name ends with one of these. Empty for any code.
    pub(super) owners: &'static [&'static str],
    /// Prefixes of the interpreters that have them. Empty for any interpreter.
    pub(super) interpreters: &'static [&'static str],
    /// One of these words must be in the code; empty for none.
    pub(super) among: &'static [&'static str],
    pub(super) takes: RunnerArguments,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RunnerArguments {
    /// A text for a shell.
    Text,
    /// A text for a shell, or the words of a command.
    TextOrWords,
    /// The words of a command.
    Words,
    /// A program, and then the words of a command including its name.
    NameAndWords,
    /// The same after a mode.
    ModeNameAndWords,
    /// The operands of this command.
    Operands(&'static [&'static str]),
}

pub(super) const DELETED: RunnerArguments = RunnerArguments::Operands(&["rm", "-rf"]);
pub(super) const MOVED: RunnerArguments = RunnerArguments::Operands(&["mv"]);

#[rustfmt::skip]
pub(super) const RUNNERS: &[Runner] = &[
    Runner { names: &["system"], owners: &[], interpreters: &[], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["popen", "shell_exec", "passthru", "proc_open", "execSync", "getoutput", "getstatusoutput"], owners: &[], interpreters: &[], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["execute"], owners: &[], interpreters: &["lua"], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["run", "call", "check_call", "check_output", "Popen", "create_subprocess_exec", "create_subprocess_shell"], owners: &[], interpreters: &["py"], among: &["subprocess"], takes: RunnerArguments::TextOrWords },
    Runner { names: &["ProcessBuilder"], owners: &[], interpreters: &[], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["exec"], owners: &["getRuntime()."], interpreters: &[], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["Command"], owners: &["exec."], interpreters: &[], among: &[], takes: RunnerArguments::Words },
    Runner { names: &["new"], owners: &["Command::"], interpreters: &[], among: &[], takes: RunnerArguments::Words },
    Runner { names: &["open2", "open3", "run3"], owners: &[], interpreters: &["perl", "ruby"], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["spawnv_passfds"], owners: &[], interpreters: &["py"], among: &[], takes: RunnerArguments::NameAndWords },
    Runner { names: &["execPath"], owners: &[], interpreters: &["node"], among: &["child_process"], takes: RunnerArguments::Text },
    Runner { names: &["breakpoint"], owners: &[], interpreters: &["py"], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["spawn"], owners: &[], interpreters: &["py"], among: &["pty"], takes: RunnerArguments::TextOrWords },
    Runner { names: &["exec"], owners: &[], interpreters: &["perl", "php", "ruby"], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["exec"], owners: &[], interpreters: &[], among: &["child_process"], takes: RunnerArguments::Text },
    Runner { names: &["spawnSync", "execFileSync"], owners: &[], interpreters: &[], among: &[], takes: RunnerArguments::Words },
    Runner { names: &["spawn", "execFile"], owners: &[], interpreters: &[], among: &["child_process"], takes: RunnerArguments::Words },
    Runner { names: &["spawn"], owners: &["Bun."], interpreters: &[], among: &[], takes: RunnerArguments::Words },
    Runner { names: &["execvp", "execv", "execl", "execlp", "execvpe", "execle", "execlpe", "execve", "posix_spawn", "posix_spawnp"], owners: &[], interpreters: &[], among: &[], takes: RunnerArguments::NameAndWords },
    Runner { names: &["spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe"], owners: &[], interpreters: &["py"], among: &[], takes: RunnerArguments::ModeNameAndWords },
    Runner { names: &["script"], owners: &[], interpreters: &["osascript"], among: &["do shell script"], takes: RunnerArguments::Text },
    Runner { names: &["rmtree", "remove_tree", "rmSync", "rmdirSync", "unlinkSync", "rm_rf", "rm_r", "remove_dir", "remove_entry", "remove_entry_secure", "removeSync", "rimrafSync"], owners: &[], interpreters: &[], among: &[], takes: DELETED },
    Runner { names: &["unlink", "rmdir"], owners: &[], interpreters: &["perl", "php"], among: &[], takes: DELETED },
    Runner { names: &["remove", "removedirs", "rmdir", "unlink"], owners: &["os."], interpreters: &[], among: &[], takes: DELETED },
    Runner { names: &["rm", "rmdir", "unlink", "remove"], owners: &["fs.", "fsp.", "promises.", "fs\").", "fs').", "promises\").", "promises').", "Deno."], interpreters: &[], among: &[], takes: DELETED },
    Runner { names: &["delete", "unlink", "rm", "rm_f", "rmdir", "remove"], owners: &["File.", "Dir.", "FileUtils."], interpreters: &["ruby"], among: &[], takes: DELETED },
    Runner { names: &["remove", "unlink", "rmdir"], owners: &[], interpreters: &["py"], among: &["from os import"], takes: DELETED },
    Runner { names: &["move", "rename", "renames", "replace"], owners: &["os.", "shutil."], interpreters: &["py"], among: &[], takes: MOVED },
    Runner { names: &["renameSync", "moveSync"], owners: &[], interpreters: &[], among: &[], takes: MOVED },
    Runner { names: &["mv", "move", "rename"], owners: &["FileUtils.", "File."], interpreters: &["ruby"], among: &[], takes: MOVED },
];

impl RunnerArguments {
    /// Whether the arguments are a command, and not files.
    pub(super) fn runs(self) -> bool {
        !matches!(self, RunnerArguments::Operands(_))
    }
}

impl Runner {
    pub(super) fn is_for(&self, interpreter: &str, code: &str) -> bool {
        (self.interpreters.is_empty() || self.interpreters.iter().any(|start| interpreter.starts_with(start)))
            && (self.among.is_empty() || self.among.iter().any(|word| code.contains(word)))
    }
}
