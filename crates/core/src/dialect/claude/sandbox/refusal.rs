//! The texts with which Claude Code and the operating system refuse something without a reason.

/// Why a program could not use a file in the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxRefusal {
    /// It could not be opened.
    Unreadable,
    /// It could not be changed, renamed or deleted.
    Unwritable,
    /// Like `Unwritable`, or it is a directory with such a file in it.
    Busy,
}

/// The operating system's errors, in the words of most programs. Each program has its own spelling.
const REFUSAL_TEXTS: [(&str, SandboxRefusal); 5] = [
    ("permission denied", SandboxRefusal::Unreadable),
    ("read-only file system", SandboxRefusal::Unwritable),
    ("read-only filesystem", SandboxRefusal::Unwritable),
    ("device or resource busy", SandboxRefusal::Busy),
    ("resource busy or locked", SandboxRefusal::Busy),
];

/// The refusal that a line of a program's output reports.
#[must_use]
pub fn refusal_in(line: &str) -> Option<SandboxRefusal> {
    let line = line.to_ascii_lowercase();
    REFUSAL_TEXTS.iter().find(|(said, _)| line.contains(said)).map(|(_, refusal)| *refusal)
}

/// Claude Code's texts for a call that a permission rule refuses.
const REFUSED_CALL: [&str; 5] = [
    "denied by your permission settings",
    "deny rule in your permission settings",
    "Permission to read ",
    "Permission to edit ",
    "Permission to use ",
];

/// Whether a call's result reports a refusal by a permission rule.
#[must_use]
pub fn is_refused_call(result: &str) -> bool {
    REFUSED_CALL.iter().any(|words| result.contains(words)) && result.contains("den")
}
