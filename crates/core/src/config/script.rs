//! `{files}` in a script: where it may be.

use shell_effects::placeholder;

/// Stands for the changed files in `run`.
pub const FILES_PLACEHOLDER: &str = "{files}";

/// Shells that read the quotes of `{files}` as they are meant.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"];

/// Why `{files}` cannot be where a script has it: names of files would be run as code there.
pub(super) fn misplaced_files(run: &str, shell: Option<&str>) -> Option<String> {
    if !run.contains(FILES_PLACEHOLDER) {
        return None;
    }
    let shell = shell.map(|shell| shell.trim().rsplit('/').next().unwrap_or(shell));
    match shell.filter(|shell| !SHELLS.contains(shell)) {
        Some(shell) => Some(format!("it is quoted for a shell like sh, and `{shell}` is none")),
        None => placeholder::misplaced(run, FILES_PLACEHOLDER),
    }
}
