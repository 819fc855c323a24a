//! The arguments of an unknown program: which of them may be files, and what it may do to them.

use super::call::ToolCall;
use super::named_files::{NamedFiles, is_protected_by, joined, named_files};
use super::resolve::Touch;
use super::rules::{FileQuery, FileUsage, GuardRules};
use shell_effects::Base;

/// The possible use of a file that an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usage {
    /// Anything: an operand, or the value of a short option.
    Any,
    /// The value of an option that does not ask for output.
    Read,
    /// A key or a certificate: it is used, and shown to nobody.
    Key,
    /// Variables for another program, as from a file that a shell reads.
    Source,
}

/// Parts of the names of options that take a key or a certificate.
const KEYS: &[&str] = &[
    "cert",
    "certfile",
    "key",
    "keyfile",
    "ca",
    "cacert",
    "cafile",
    "pem",
    "tls",
    "ssl",
    "identity",
    "kubeconfig",
    "keystore",
    "truststore",
];

/// Parts of the names of options that take a file to read. After others a file may be an operand.
const INPUTS: &[&str] = &[
    "config",
    "file",
    "font",
    "from",
    "in",
    "include",
    "input",
    "interpreter",
    "isystem",
    "library",
    "lock",
    "lockfile",
    "manifest",
    "path",
    "python",
    "schema",
    "shell",
    "source",
    "src",
    "sysroot",
    "var",
];

/// Options that take a file with variables for another program.
const VARIABLES: &[&str] = &["env-file", "env-file-if-exists"];

/// Short options that take a directory to search, of compilers and linkers.
const SEARCHED: &[char] = &['I', 'L'];

/// Parts of the names of options that take a file to write.
const OUTPUTS: &[&str] = &[
    "apply",
    "dest",
    "destination",
    "edit",
    "export",
    "fix",
    "force",
    "inplace",
    "log",
    "o",
    "out",
    "outfile",
    "output",
    "place",
    "replace",
    "result",
    "save",
    "target",
    "to",
    "update",
    "write",
];

/// Options whose value is a text for people.
const TEXTS: &[&str] = &["body", "comment", "description", "message", "notes", "subject", "title"];

/// The words without texts for people: `--title TEXT`, `--body=TEXT`.
pub(super) fn without_texts(words: &[String]) -> Vec<&str> {
    let names_text = |option: &str| option.strip_prefix("--").is_some_and(|name| TEXTS.contains(&name));
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let kept = words.iter().zip(before).filter(|(word, before)| {
        let is_attached = word.split_once('=').is_some_and(|(option, _)| names_text(option));
        !(is_attached || names_text(before) && word.contains(' '))
    });
    kept.map(|(word, _)| word.as_str()).collect()
}

/// The arguments that name protected files.
pub(super) fn protected(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    bases: &[Base],
    words: &[String],
) -> Option<NamedFiles> {
    let arguments = words.iter().skip(1);
    let before = words.iter().map(String::as_str);
    // A word with spaces is prose, such as a title.
    let arguments = arguments.zip(before).filter(|(word, _)| !word.contains(char::is_whitespace));
    joined(arguments.filter_map(|(word, before)| {
        let (text, usage) = named_by(word, before)?;
        named_files(call, bases, text, &|touch| is_against(rules, call, usage, touch))
    }))
}

/// The part of a word that may name a file, and its use.
fn named_by<'a>(word: &'a str, before: &str) -> Option<(&'a str, Usage)> {
    match word.strip_prefix('-') {
        // `@FILE` is a file of arguments.
        None => Some((word.strip_prefix('@').unwrap_or(word), usage_after(before))),
        Some(option) => match option.split_once('=') {
            Some((name, value)) => Some((value, usage_by_name(name))),
            None if option.starts_with('-') => None,
            // `-fVALUE`.
            None => {
                let first = option.chars().next()?;
                let value = option.get(first.len_utf8()..).filter(|value| !value.is_empty())?;
                Some((value, if SEARCHED.contains(&first) { Usage::Read } else { Usage::Any }))
            }
        },
    }
}

/// The use of a word after another one: the value of an option only if the option takes a file.
fn usage_after(before: &str) -> Usage {
    let name = match before.strip_prefix('-') {
        Some(name) if !name.contains('=') => name,
        _ => return Usage::Any,
    };
    let usage = usage_by_name(name);
    let takes_file =
        matches!(usage, Usage::Key | Usage::Source) || parts(name).any(|part| INPUTS.contains(&part));
    if takes_file { usage } else { Usage::Any }
}

fn usage_by_name(name: &str) -> Usage {
    let name = name.trim_start_matches('-');
    let name = name.to_ascii_lowercase();
    if VARIABLES.contains(&name.as_str()) {
        return Usage::Source;
    }
    // A short option may mean anything.
    if name.len() < 2 || parts(&name).any(|part| OUTPUTS.contains(&part)) {
        Usage::Any
    } else if parts(&name).any(|part| KEYS.contains(&part)) {
        Usage::Key
    } else {
        Usage::Read
    }
}

fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['-', '_', '.']).filter(|part| !part.is_empty())
}

/// Whether a file that a pattern matches is protected.
pub(super) fn may_harm(rules: &GuardRules, call: &ToolCall<'_>, touch: &Touch) -> bool {
    is_against(rules, call, Usage::Any, touch)
}

fn is_against(rules: &GuardRules, call: &ToolCall<'_>, usage: Usage, touch: &Touch) -> bool {
    match usage {
        // Some programs create the requested key.
        Usage::Key => {
            is_protected_by(&rules.unreadable.of_user(), call, touch)
                || is_protected_by(&rules.uneditable.of_user(), call, touch)
        }
        Usage::Read => is_protected_by(&rules.unreadable, call, touch),
        Usage::Source => {
            let query = FileQuery { usage: FileUsage::Sources, ..call.silent_query() };
            rules.unreadable.protecting_any(&touch.names, &query).is_some()
        }
        Usage::Any => {
            is_protected_by(&rules.unreadable, call, touch) || is_protected_by(&rules.uneditable, call, touch)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_taken_for_what_its_option_says() {
        for (before, word, expected) in [
            ("frob", ".env", Some((".env", Usage::Any))),
            ("frob", "--tailscale.key", None),
            ("frob", "--tailscale.key=a.key", Some(("a.key", Usage::Key))),
            ("--certfile", "cert.pem", Some(("cert.pem", Usage::Key))),
            ("--ssl-keyfile", "key.pem", Some(("key.pem", Usage::Key))),
            ("-keystore", "a.jks", Some(("a.jks", Usage::Key))),
            ("--lockfile", "Cargo.lock", Some(("Cargo.lock", Usage::Read))),
            ("frob", "--lockfile=Cargo.lock", Some(("Cargo.lock", Usage::Read))),
            ("frob", "--env-file=.env", Some((".env", Usage::Source))),
            ("--env-file", ".env", Some((".env", Usage::Source))),
            ("frob", "-I/usr/include", Some(("/usr/include", Usage::Read))),
            ("--python", "/usr/bin/python3", Some(("/usr/bin/python3", Usage::Read))),
            ("--output-file", ".env", Some((".env", Usage::Any))),
            ("--verbose", "Cargo.lock", Some(("Cargo.lock", Usage::Any))),
            ("--in-place", "Cargo.lock", Some(("Cargo.lock", Usage::Any))),
            ("--key-out", "key.pem", Some(("key.pem", Usage::Any))),
            ("frob", "--output=Cargo.lock", Some(("Cargo.lock", Usage::Any))),
            ("-o", "Cargo.lock", Some(("Cargo.lock", Usage::Any))),
            ("frob", "-f.env", Some((".env", Usage::Any))),
            ("--key=a", "b.pem", Some(("b.pem", Usage::Any))),
        ] {
            assert_eq!(named_by(word, before), expected, "{before} {word}");
        }
    }
}
