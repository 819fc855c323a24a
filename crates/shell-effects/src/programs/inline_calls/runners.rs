//! The functions of other languages that run a command, or act like one.

use crate::programs::languages::SourceLanguage;

/// Functions that run a command, or do what a command does.
pub(super) struct Runner {
    pub(super) names: &'static [&'static str],
    /// The code before the name ends with one of these. Empty for any code.
    pub(super) owners: &'static [&'static str],
    /// The languages that have them; empty for any.
    pub(super) languages: &'static [SourceLanguage],
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
    /// A mode, and then like `NameAndWords`.
    ModeNameAndWords,
    /// The operands of this command.
    Operands(&'static [&'static str]),
}

pub(super) const DELETED: RunnerArguments = RunnerArguments::Operands(&["rm", "-rf"]);
pub(super) const EMPTIED: RunnerArguments = RunnerArguments::Operands(&["truncate", "-s", "0"]);
pub(super) const MOVED: RunnerArguments = RunnerArguments::Operands(&["mv"]);

#[rustfmt::skip]
pub(super) const RUNNERS: &[Runner] = &[
    Runner { names: &["system"], owners: &[], languages: &[], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["popen", "shell_exec", "passthru", "proc_open", "execSync", "getoutput", "getstatusoutput"], owners: &[], languages: &[], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["execute"], owners: &[], languages: &[SourceLanguage::Lua], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["run", "call", "check_call", "check_output", "Popen", "create_subprocess_exec", "create_subprocess_shell"], owners: &[], languages: &[SourceLanguage::Python], among: &["subprocess"], takes: RunnerArguments::TextOrWords },
    Runner { names: &["cmd", "shell"], owners: &["System.", ":os.", "os:"], languages: &[SourceLanguage::Elixir, SourceLanguage::Erlang], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["callCommand", "spawnCommand", "shell"], owners: &[], languages: &[SourceLanguage::Haskell], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["command"], owners: &["Sys."], languages: &[SourceLanguage::OCaml], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["open_process", "open_process_in", "open_process_out"], owners: &[], languages: &[SourceLanguage::OCaml], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["system2"], owners: &[], languages: &[SourceLanguage::R], among: &[], takes: RunnerArguments::Words },
    Runner { names: &["ProcessBuilder"], owners: &[], languages: &[], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["exec"], owners: &["getRuntime()."], languages: &[], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["Command"], owners: &["exec."], languages: &[], among: &[], takes: RunnerArguments::Words },
    Runner { names: &["new"], owners: &["Command::"], languages: &[], among: &[], takes: RunnerArguments::Words },
    Runner { names: &["readpipe"], owners: &[], languages: &[SourceLanguage::Perl], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["open2", "open3", "run3"], owners: &[], languages: &[SourceLanguage::Perl, SourceLanguage::Ruby], among: &[], takes: RunnerArguments::Text },
    Runner { names: &["spawnv_passfds"], owners: &[], languages: &[SourceLanguage::Python], among: &[], takes: RunnerArguments::NameAndWords },
    Runner { names: &["execPath"], owners: &[], languages: &[SourceLanguage::JavaScript], among: &["child_process"], takes: RunnerArguments::Text },
    Runner { names: &["breakpoint"], owners: &[], languages: &[SourceLanguage::Python], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["spawn"], owners: &[], languages: &[SourceLanguage::Python], among: &["pty"], takes: RunnerArguments::TextOrWords },
    Runner { names: &["exec"], owners: &[], languages: &[SourceLanguage::Perl, SourceLanguage::Php, SourceLanguage::Ruby], among: &[], takes: RunnerArguments::TextOrWords },
    Runner { names: &["exec"], owners: &[], languages: &[], among: &["child_process"], takes: RunnerArguments::Text },
    Runner { names: &["spawnSync", "execFileSync"], owners: &[], languages: &[], among: &[], takes: RunnerArguments::Words },
    Runner { names: &["spawn", "execFile"], owners: &[], languages: &[], among: &["child_process"], takes: RunnerArguments::Words },
    Runner { names: &["spawn"], owners: &["Bun."], languages: &[], among: &[], takes: RunnerArguments::Words },
    Runner { names: &["execvp", "execv", "execl", "execlp", "execvpe", "execle", "execlpe", "execve", "posix_spawn", "posix_spawnp"], owners: &[], languages: &[], among: &[], takes: RunnerArguments::NameAndWords },
    Runner { names: &["spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe"], owners: &[], languages: &[SourceLanguage::Python], among: &[], takes: RunnerArguments::ModeNameAndWords },
    Runner { names: &["script"], owners: &[], languages: &[SourceLanguage::AppleScript], among: &["do shell script"], takes: RunnerArguments::Text },
    Runner { names: &["rmtree", "remove_tree", "rmSync", "rmdirSync", "unlinkSync", "rm_rf", "rm_r", "remove_dir", "remove_entry", "remove_entry_secure", "removeSync", "rimrafSync"], owners: &[], languages: &[], among: &[], takes: DELETED },
    Runner { names: &["unlink", "rmdir"], owners: &[], languages: &[SourceLanguage::Perl, SourceLanguage::Php], among: &[], takes: DELETED },
    Runner { names: &["remove", "removedirs", "rmdir", "unlink"], owners: &["os."], languages: &[], among: &[], takes: DELETED },
    Runner { names: &["rm", "rmdir", "unlink", "remove"], owners: &["fs.", "fsp.", "promises.", "fs\").", "fs').", "promises\").", "promises').", "Deno."], languages: &[], among: &[], takes: DELETED },
    Runner { names: &["delete", "unlink", "rm", "rm_f", "rmdir", "remove"], owners: &["File.", "Dir.", "FileUtils."], languages: &[SourceLanguage::Ruby], among: &[], takes: DELETED },
    Runner { names: &["remove", "unlink", "rmdir"], owners: &[], languages: &[SourceLanguage::Python], among: &["from os import"], takes: DELETED },
    Runner { names: &["move", "rename", "renames", "replace"], owners: &["os.", "shutil."], languages: &[SourceLanguage::Python], among: &[], takes: MOVED },
    Runner { names: &["renameSync", "moveSync"], owners: &[], languages: &[], among: &[], takes: MOVED },
    Runner { names: &["mv", "move", "rename"], owners: &["FileUtils.", "File."], languages: &[SourceLanguage::Ruby], among: &[], takes: MOVED },
    Runner { names: &["rename"], owners: &[], languages: &[SourceLanguage::Perl, SourceLanguage::Php], among: &[], takes: MOVED },
    Runner { names: &["rm", "rmdir", "unlink"], owners: &[], languages: &[SourceLanguage::JavaScript], among: &["from 'fs", "from \"fs", "from 'node:fs", "from \"node:fs", "} = require('fs", "}=require('fs", "} = require(\"fs", "}=require(\"fs"], takes: DELETED },
    Runner { names: &["emptyDir", "emptyDirSync", "deleteAsync", "deleteSync"], owners: &[], languages: &[SourceLanguage::JavaScript], among: &[], takes: DELETED },
    Runner { names: &["sync"], owners: &["rimraf.", "rimraf').", "rimraf\").", "del.", "del').", "del\")."], languages: &[SourceLanguage::JavaScript], among: &[], takes: DELETED },
    Runner { names: &["rm"], owners: &["shell.", "shelljs.", "shelljs').", "shelljs\")."], languages: &[SourceLanguage::JavaScript], among: &[], takes: RunnerArguments::Operands(&["rm"]) },
    Runner { names: &["rm"], owners: &["sh."], languages: &[SourceLanguage::Python], among: &["import sh"], takes: RunnerArguments::Operands(&["rm"]) },
    Runner { names: &["send2trash"], owners: &[], languages: &[SourceLanguage::Python], among: &[], takes: DELETED },
    Runner { names: &["truncate"], owners: &["os.", "fs.", "fs').", "fs\").", "promises."], languages: &[SourceLanguage::JavaScript, SourceLanguage::Python], among: &[], takes: EMPTIED },
    Runner { names: &["truncateSync"], owners: &[], languages: &[SourceLanguage::JavaScript], among: &[], takes: EMPTIED },
    Runner { names: &["truncate"], owners: &[], languages: &[SourceLanguage::Perl], among: &[], takes: EMPTIED },
    Runner { names: &["unlink"], owners: &[], languages: &[SourceLanguage::R], among: &[], takes: DELETED },
    Runner { names: &["remove"], owners: &["file."], languages: &[SourceLanguage::R], among: &[], takes: DELETED },
    Runner { names: &["rename"], owners: &["file."], languages: &[SourceLanguage::R], among: &[], takes: MOVED },
    Runner { names: &["rm"], owners: &[], languages: &[SourceLanguage::Julia], among: &[], takes: DELETED },
    Runner { names: &["mv"], owners: &[], languages: &[SourceLanguage::Julia], among: &[], takes: MOVED },
    Runner { names: &["rm", "rmdir"], owners: &["File."], languages: &[SourceLanguage::Elixir], among: &[], takes: DELETED },
    Runner { names: &["delete", "del_dir", "del_dir_r"], owners: &["file:", ":file."], languages: &[SourceLanguage::Elixir, SourceLanguage::Erlang], among: &[], takes: DELETED },
];

impl RunnerArguments {
    /// Whether the arguments are a command, and not files.
    pub(super) fn runs(self) -> bool {
        !matches!(self, RunnerArguments::Operands(_))
    }
}

impl Runner {
    pub(super) fn is_for(&self, language: Option<SourceLanguage>, code: &str) -> bool {
        (self.languages.is_empty() || language.is_some_and(|language| self.languages.contains(&language)))
            && (self.among.is_empty() || self.among.iter().any(|word| code.contains(word)))
    }
}
