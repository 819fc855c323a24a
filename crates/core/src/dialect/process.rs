//! The client that a process belongs to.

use super::{ALL, Dialect};

/// Interpreters that run clients.
const INTERPRETERS: [&str; 6] = ["bun", "deno", "node", "nodejs", "pypy", "python"];

/// Their options whose value is the next word.
const WITH_VALUE: [&str; 9] =
    ["-C", "-W", "-X", "-r", "--conditions", "--experimental-loader", "--import", "--loader", "--require"];

/// Their options that run code instead of a script.
const WITH_CODE: [&str; 6] = ["-c", "-e", "-p", "-pe", "--eval", "--print"];

/// Words before the script: `bun run FILE`.
const SUBCOMMANDS: [&str; 3] = ["exec", "run", "x"];

/// The client with such a command line: its own program, or the script that an interpreter runs. Other words, such as those in
/// `vim claude.md` and `su claude`, do not count.
#[must_use]
pub fn of_process(arguments: &[String]) -> Option<&'static Dialect> {
    let program = program(arguments)?;
    ALL.into_iter().find(|client| is_of(program, client.name))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The program, or the script of an interpreter.
fn program(arguments: &[String]) -> Option<&str> {
    let (first, rest) = arguments.split_first()?;
    let first = first.trim_start_matches('-');
    let name = file_name(first);
    if name == "env" {
        let run = rest.iter().position(|word| !word.starts_with('-') && !word.contains('='))?;
        return program(rest.get(run..)?);
    }
    // `python3.12`, `node.exe`.
    let name = name.trim_end_matches(".exe").trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !INTERPRETERS.contains(&name) {
        return Some(first);
    }
    let mut words = rest.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if WITH_CODE.contains(&word) {
            return None;
        } else if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') && !SUBCOMMANDS.contains(&word) {
            return Some(word);
        }
    }
    None
}

/// Whether a path is that of a client's program, of a file in its package, or of one of its installed versions.
fn is_of(path: &str, client: &str) -> bool {
    let is_named =
        |part: &str| part.strip_prefix(client).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let package = path.split_once("node_modules/").map(|(_, package)| package);
    file_name(path).split('.').next().is_some_and(is_named)
        || package.is_some_and(|package| package.split('/').any(is_named))
        || path.contains(&format!("/{client}/versions/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_its_program_or_the_script_of_an_interpreter() {
        for (line, expected) in [
            ("claude", Some("claude")),
            ("/usr/bin/claude -p", Some("claude")),
            ("/home/x/.local/share/claude/versions/2.1.0 -p", Some("claude")),
            ("node /lib/node_modules/@anthropic-ai/claude-code/cli.js", Some("claude")),
            ("node --no-warnings=DEP0040 /usr/bin/gemini", Some("gemini")),
            ("node --import tsx -r x /usr/bin/gemini -y", Some("gemini")),
            ("/usr/bin/env -S node --no-warnings=DEP0040 /usr/bin/gemini", Some("gemini")),
            ("env A=1 codex", Some("codex")),
            ("bun run /x/node_modules/@qwen-code/qwen-code/cli.js", Some("qwen")),
            ("python3.12 -X utf8 /usr/bin/codex", Some("codex")),
            ("/x/codex-x86_64-unknown-linux-musl", Some("codex")),
            ("node /x/node_modules/@github/copilot/index.js", Some("copilot")),
            ("su claude", None),
            ("vim claude.md", None),
            ("/home/claude/bin/fish", None),
            ("sh -c claude", None),
            ("tmux new -s claude", None),
            ("node server.js claude", None),
            ("node -e claude", None),
            ("node", None),
            ("claudette", None),
            ("", None),
        ] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(of_process(&words).map(|client| client.name), expected, "{line}");
        }
    }
}
