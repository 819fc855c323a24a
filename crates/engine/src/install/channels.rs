//! How users install conclaude. Made from `[package.metadata.channels]` of `Cargo.toml`, which a test compares with it.

/// A channel and its install command.
pub const CHANNELS: &[(&str, &str)] = &[
    ("npm", "npm install -g conclaude"),
    ("uv", "uv tool install conclaude"),
    ("brew", "brew install conclaude/tap/conclaude"),
    (
        "plugin",
        "claude plugin marketplace add conclaude/conclaude && claude plugin install conclaude@conclaude",
    ),
];

/// The channels that bring the program. A plugin needs an installed program.
pub fn of_program() -> impl Iterator<Item = &'static str> {
    CHANNELS.iter().filter(|(name, _)| *name != "plugin").map(|(_, line)| *line)
}

/// Like `of_program`, in words: `npm install -g conclaude`, or `uv tool install conclaude`.
#[must_use]
pub fn in_words() -> String {
    of_program().map(|line| format!("`{line}`")).collect::<Vec<_>>().join(" or ")
}
