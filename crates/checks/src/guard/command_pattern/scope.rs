//! What a pattern that allows a command does not mean, although it matches the command's text.

use super::CommandPattern;
use shell_effects::{SimpleCommand, is_listed_program};

const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

impl CommandPattern {
    /// Whether a command is outside of what the pattern names: another program or host, a directory above, or a run that is not dry.
    pub fn is_exceeded_by(&self, command: &SimpleCommand, written: &str) -> bool {
        self.is_of_other_program(command)
            || self.is_of_other_host(written)
            || self.leaves_directory(&command.words)
            || self.undoes_option(&command.words)
    }

    /// Whether the pattern starts with the name of a program, and the command's program only starts so: `ls*` is not `lsof`. Digits
    /// are its version.
    fn is_of_other_program(&self, command: &SimpleCommand) -> bool {
        let Some((known, _)) = self.glob.as_str().split_once(WILDCARDS) else { return false };
        let program = command.words.first().map(String::as_str).unwrap_or_default();
        let Some(rest) = program.strip_prefix(known) else { return false };
        let is_version = rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        !is_version && is_listed_program(known)
    }

    /// Whether a host's name only starts like that of the pattern: `http://localhost*` is not `http://localhost.evil.com`.
    fn is_of_other_host(&self, command: &str) -> bool {
        let Some((known, _)) = self.glob.as_str().split_once('*') else { return false };
        if known.starts_with("ssh ") && !known.ends_with(' ') && !known.contains('/') {
            let rest = command.strip_prefix(known).and_then(|rest| rest.split(' ').next());
            return rest.is_some_and(|rest| rest.contains(['.', '@', ':']));
        }
        let Some((_, host)) = known.rsplit_once("://") else { return false };
        if host.is_empty() || host.contains(['/', ' ', '[', '{', '?']) {
            return false;
        }
        let Some((_, rest)) = command.split_once(known) else { return false };
        let rest = rest.split(['/', '?', '#', ' ', '\'', '"']).next().unwrap_or_default();
        // What comes before `@` is a user.
        let digits = if host.contains(':') { Some(rest) } else { rest.strip_prefix(':') };
        !rest.is_empty() && !digits.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Whether the command changes a file that it names, but the pattern names only another directory: `rm build/*` is not
    /// `rm build/a src`.
    pub fn leaves_out(&self, command: &SimpleCommand, changed: &[String]) -> bool {
        let Some((known, "")) =
            self.glob.as_str().rsplit(' ').next().and_then(|word| word.split_once(WILDCARDS))
        else {
            return false;
        };
        let is_changed = |word: &&String| {
            let below_home = word.strip_prefix('~').unwrap_or(word);
            !word.starts_with(known) && changed.iter().any(|path| path.ends_with(below_home))
        };
        known.contains('/') && command.words.iter().skip(1).any(|word| is_changed(&word))
    }

    /// Whether a path leaves the directory in which the pattern allows it: `scripts/*` is not `scripts/../x`.
    fn leaves_directory(&self, words: &[String]) -> bool {
        let directories = self.glob.as_str().split(' ').filter_map(|word| word.split_once(WILDCARDS));
        let mut directories = directories.map(|(known, _)| known).filter(|known| known.contains('/'));
        directories.any(|known| {
            let inner = words.iter().filter_map(|word| word.strip_prefix(known));
            inner.into_iter().any(|path| path.split('/').any(|part| part == ".."))
        })
    }

    /// Whether the command takes back an option that the pattern names: `--no-ignore-scripts`, a second `--dry-run=none`.
    fn undoes_option(&self, words: &[String]) -> bool {
        if words.iter().any(|word| word.starts_with("--no-dry") || word == "--no-n") {
            return true;
        }
        let options = self.glob.as_str().split(' ').map(|word| word.trim_end_matches('*'));
        let mut options =
            options.filter(|word| word.starts_with("--") && word.len() > 2 && !word.ends_with('='));
        options.any(|option| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let negated = format!("--no-{}", name.trim_start_matches('-'));
            let is_negated = |word: &String| {
                let (other, given) = word.split_once('=').unwrap_or((word, ""));
                other == negated
                    || other == name
                        && value != given
                        && matches!(given, "0" | "false" | "no" | "none" | "off")
            };
            let is_it = |word: &&String| word.split('=').next() == Some(name);
            words.iter().any(is_negated) || words.iter().filter(is_it).count() > self.count(name).max(1)
        })
    }
}
