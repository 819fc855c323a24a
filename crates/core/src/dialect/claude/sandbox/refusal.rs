//! What Claude Code and the operating system say when they refuse something, without saying why.

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

/// What the operating system says, in the words of most programs. Each program has its own spelling.
const REFUSAL_TEXTS: [(&str, SandboxRefusal); 5] = [
    ("permission denied", SandboxRefusal::Unreadable),
    ("read-only file system", SandboxRefusal::Unwritable),
    ("read-only filesystem", SandboxRefusal::Unwritable),
    ("device or resource busy", SandboxRefusal::Busy),
    ("resource busy or locked", SandboxRefusal::Busy),
];

/// What a line of a program's output says about the sandbox.
#[must_use]
pub fn refusal_in(line: &str) -> Option<SandboxRefusal> {
    let line = line.to_ascii_lowercase();
    REFUSAL_TEXTS.iter().find(|(said, _)| line.contains(said)).map(|(_, refusal)| *refusal)
}

/// The words of Claude Code for a call that a permission rule refuses.
const REFUSED_CALL: [&str; 5] = [
    "denied by your permission settings",
    "deny rule in your permission settings",
    "Permission to read ",
    "Permission to edit ",
    "Permission to use ",
];

/// Whether the result of a call says that a permission rule refused it.
#[must_use]
pub fn is_refused_call(result: &str) -> bool {
    REFUSED_CALL.iter().any(|words| result.contains(words)) && result.contains("den")
}
