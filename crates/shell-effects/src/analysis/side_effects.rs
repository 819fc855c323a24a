//! What a word does in addition to its value: arithmetic sets a variable, or code is evaluated later.

use crate::syntax::tree::{Piece, Word};

/// The literal parts of a word.
fn literal(word: &Word) -> impl Iterator<Item = &str> {
    word.iter().filter_map(|piece| match piece {
        Piece::Plain(text) | Piece::Quoted(text) => Some(text.as_str()),
        _ => None,
    })
}

/// Whether arithmetic sets a variable: by `=` that is not a comparison, `++` or `--`.
pub(crate) fn assigns(word: &Word) -> bool {
    literal(word).any(|text| {
        let bytes = text.as_bytes();
        let sets = |at: usize| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
            let doubled = at.checked_sub(2).and_then(|at| bytes.get(at)) == Some(&before);
            let compares = matches!(before, b'=' | b'!') || (matches!(before, b'<' | b'>') && !doubled);
            !compares && bytes.get(at + 1) != Some(&b'=')
        };
        text.contains("++") || text.contains("--") || text.match_indices('=').any(|(at, _)| sets(at))
    })
}

/// Whether arithmetic may fail before it sets a variable: an assigned value that is no name and no number, such as a text in
/// quotes, or a division.
pub(crate) fn may_fail(word: &Word) -> bool {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-' | '=' | '*' | '<' | '>' | '(' | ')')
    };
    // `for ((i = 0; i < 9; i++))`.
    let mut parts = literal(word).flat_map(|text| text.split(';'));
    !parts.all(|part| {
        let compact: String = part.chars().filter(|c| !c.is_whitespace()).collect();
        compact.chars().all(is_plain) && !compact.ends_with('=')
    })
}

/// Whether a word of a condition compares numbers. Each of them is arithmetic.
pub(crate) fn compares_numbers(word: &Word) -> bool {
    matches!(word.as_slice(), [Piece::Plain(text)]
        if matches!(text.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"))
}

/// Whether a literal part has a substitution. As an array index, the shell evaluates it.
pub(crate) fn hides_code(word: &Word) -> bool {
    literal(word).any(|text| text.contains("$(") || text.contains("${") || text.contains('`'))
}

/// Whether a text is an array index with a substitution: `a[$(…)]`.
pub(crate) fn is_evaluated(text: &str) -> bool {
    text.contains('[') && (text.contains("$(") || text.contains('`'))
}

/// The literal parts that are an array index with a substitution.
pub(crate) fn hidden(word: &Word) -> impl Iterator<Item = &str> {
    literal(word).filter(|text| is_evaluated(text))
}

/// The literal parts with a substitution anywhere in them, as the index of an array.
pub(crate) fn substituted(word: &Word) -> impl Iterator<Item = &str> {
    literal(word).filter(|text| text.contains("$(") || text.contains('`'))
}

/// The names in the literal parts. Arithmetic reads them as variables.
pub(crate) fn names(word: &Word) -> impl Iterator<Item = &str> {
    literal(word).flat_map(names_in)
}

/// Like `names`, but for a text.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    parts.filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

/// Prefixes of names that steer a shell or programs if they are already in the environment.
const STEERING: &[&str] = &[
    "AR",
    "AS",
    "BASH",
    "BROWSER",
    "CARGO",
    "CC",
    "CDPATH",
    "CFLAGS",
    "CLASSPATH",
    "CPATH",
    "CXX",
    "DISPLAY",
    "DOCKER",
    "DYLD",
    "EDITOR",
    "ENV",
    "FPATH",
    "GIT",
    "GLOBIGNORE",
    "GO",
    "GREP",
    "GZIP",
    "HIST",
    "HOME",
    "HUSKY",
    "IFS",
    "INPUTRC",
    "JAVA",
    "KUBE",
    "LANG",
    "LC",
    "LD",
    "LEFTHOOK",
    "LESS",
    "LUA",
    "MAIL",
    "MAKE",
    "MAN",
    "NODE",
    "NPM",
    "OLDPWD",
    "OPENSSL",
    "PAGER",
    "PATH",
    "PERL",
    "PHP",
    "PIP",
    "POSIX",
    "PROMPT",
    "PS",
    "PWD",
    "PYTHON",
    "RUBY",
    "RUST",
    "SHELL",
    "SKIP",
    "SSH",
    "SUDO",
    "TAR",
    "TEMP",
    "TERM",
    "TMP",
    "TZ",
    "UV",
    "VISUAL",
    "XDG",
    "XZ",
    "YARN",
    "ZDOTDIR",
    "ZIP",
    "ZSH",
];
/// Lower-case variables of zsh that stand for environment variables, and variables that programs look for.
const STEERING_SMALL: &[&str] = &[
    "argv",
    "cdpath",
    "fignore",
    "fpath",
    "mailpath",
    "manpath",
    "module_path",
    "path",
    "prompt",
    "psvar",
    "status",
];

/// Whether a variable of this name affects only the script's own use of it.
pub(crate) fn is_harmless(name: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !name.bytes().all(is_name) {
        return false;
    }
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        let is_setting = name.starts_with("npm_") || name.ends_with("_proxy");
        return !is_setting && !STEERING_SMALL.contains(&name);
    }
    !name.contains('_') && !STEERING.iter().any(|start| name.starts_with(start))
}

/// Variables that only change how programs print, or for how much output they ask.
const SHOWING: &[&str] = &[
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LINES",
    "NO_COLOR",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "PY_COLORS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TZ",
];

/// Whether `NAME=VALUE` before a command only changes what it prints: `NO_COLOR=1`, `GIT_PAGER=cat`.
pub(crate) fn only_shows(assignment: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ',' | '-' | '=');
    assignment.split_once('=').is_some_and(|(name, value)| match name {
        "GIT_PAGER" | "PAGER" => value == "cat",
        _ => SHOWING.contains(&name) && value.chars().all(is_plain),
    })
}

/// Whether arithmetic has only numbers and names, so that its result is known if they are.
pub(crate) fn is_plain(word: &Word) -> bool {
    word.iter().all(|piece| {
        matches!(piece, Piece::Plain(_) | Piece::Quoted(_) | Piece::Parameter { operation: None, .. })
    })
}

/// The literal parts, as they are shown.
pub(crate) fn shown(word: &Word) -> String {
    literal(word).collect::<Vec<_>>().join("…")
}
