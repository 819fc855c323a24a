//! The file with the user's own ignore rules: `core.excludesFile`, or git's default. Git's config files are read as text, so
//! that nothing that a repository configures runs.

use std::path::{Path, PathBuf};

use super::repository::Repository;
use crate::{environment, files};

/// No config file of git is larger.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// The limit on included files: a repository may include its own config again and again.
const MAX_INCLUDES: u32 = 32;

/// The file that `core.excludesFile` names for this repository, else `$XDG_CONFIG_HOME/git/ignore`. It need not exist.
pub(super) fn file_of_user(repository: &Repository) -> Option<PathBuf> {
    let default = git_folder();
    let files = [
        Some(PathBuf::from("/etc/gitconfig")),
        default.as_ref().map(|folder| folder.join("config")),
        environment::home().map(|home| home.join(".gitconfig")),
        Some(repository.common_dir.join("config")),
    ];
    // The last setting counts: it is nearest to the repository.
    let mut search = ExcludesSearch::default();
    for file in files.into_iter().flatten() {
        search.read(&file);
    }
    match search.named {
        // Switched off.
        Some(value) if value.is_empty() => None,
        Some(value) => Some(repository.top.join(files::expand_home(&value))),
        None => default.map(|folder| folder.join("ignore")),
    }
}

/// `$XDG_CONFIG_HOME/git`, or `~/.config/git`.
fn git_folder() -> Option<PathBuf> {
    Some(environment::config_folder()?.join("git"))
}

/// The search for `core.excludesFile` in the files that were read so far.
#[derive(Default)]
struct ExcludesSearch {
    named: Option<String>,
    includes: u32,
}

impl ExcludesSearch {
    /// Reads a config file and its includes. Conditional includes are skipped: then fewer files are ignored, which is the safe
    /// side.
    fn read(&mut self, file: &Path) {
        let Ok(text) = files::read_text(file, MAX_CONFIG_BYTES) else { return };
        for (section, key, value) in Settings::of(&text) {
            match (section.as_str(), key.as_str()) {
                ("core", "excludesfile") => self.named = Some(value),
                ("include", "path") if self.includes < MAX_INCLUDES => {
                    self.includes += 1;
                    let folder = file.parent().unwrap_or(file);
                    self.read(&folder.join(files::expand_home(&value)));
                }
                _ => {}
            }
        }
    }
}

/// The settings of a config file: section, key and value, the first two in lower case. Subsections are skipped.
struct Settings<'a> {
    lines: std::str::Lines<'a>,
    section: Option<String>,
    /// The rest of the line after a section's header.
    rest: Option<&'a str>,
}

impl<'a> Settings<'a> {
    fn of(text: &'a str) -> Settings<'a> {
        Settings { lines: text.trim_start_matches('\u{feff}').lines(), section: None, rest: None }
    }
}

impl Iterator for Settings<'_> {
    type Item = (String, String, String);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.rest.take() {
                Some(rest) => rest,
                None => self.lines.next()?,
            };
            let line = line.trim();
            if let Some(header) = line.strip_prefix('[') {
                let (name, rest) = header.split_once(']').unwrap_or((header, ""));
                let name = name.trim();
                self.section = if name.contains(['"', '.']) { None } else { Some(name.to_ascii_lowercase()) };
                self.rest = Some(rest);
                continue;
            }
            let Some(section) = &self.section else { continue };
            let Some((key, value)) = line.split_once('=') else { continue };
            return Some((section.clone(), key.trim().to_ascii_lowercase(), plain_value(value)));
        }
    }
}

/// A value without quotes, escapes and the comment after it.
fn plain_value(text: &str) -> String {
    let mut value = String::new();
    // The text before trailing blanks, unless they are quoted.
    let mut end = 0;
    let mut is_quoted = false;
    let mut characters = text.trim_start().chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                is_quoted = !is_quoted;
                end = value.len();
                continue;
            }
            '#' | ';' if !is_quoted => break,
            '\\' => value.extend(characters.next()),
            other => value.push(other),
        }
        if is_quoted || !value.ends_with(char::is_whitespace) {
            end = value.len();
        }
    }
    value.truncate(end);
    value
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn read(file: &Path) -> Option<String> {
        let mut search = ExcludesSearch::default();
        search.read(file);
        search.named
    }

    fn of(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, text).unwrap();
        let named = read(&file);
        // The answer of git itself.
        let mut git = Command::new("git");
        git.args(["config", "--includes", "--file"]).arg(&file).args(["--get", "core.excludesFile"]);
        let said = git.env("LC_ALL", "C").output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        assert_eq!(named.as_deref().unwrap_or_default(), said.trim_end_matches('\n'), "{text:?}");
        named
    }

    #[test]
    fn a_config_means_what_it_means_to_git() {
        for (text, value) in [
            ("[core]\n\texcludesFile = ~/a", Some("~/a")),
            ("[core]\nexcludesfile=/a/b  ; mine\n", Some("/a/b")),
            ("[CORE]\n\tEXCLUDESFILE = \"/a b\" # c\n", Some("/a b")),
            ("[core] excludesFile = /x\n", Some("/x")),
            ("[core]\n\texcludesFile = a\\\\b \"c;d\" e\n", Some("a\\b c;d e")),
            ("[core \"sub\"]\n\texcludesFile = /no\n", None),
            ("[core]\n\teditor = vi\n[user]\n\texcludesFile = /no\n", None),
            ("[core]\n\texcludesFile = /one\n[core]\n\texcludesFile = /two\n", Some("/two")),
            ("# [core]\n; excludesFile = /no\n", None),
            ("[include]\n\tpath = nowhere\n[core]\n\texcludesFile = /x\n", Some("/x")),
        ] {
            assert_eq!(of(text).as_deref(), value, "{text:?}");
        }
        assert_eq!(read(Path::new("/does/not/exist")), None);
    }

    #[test]
    fn files_that_include_each_other_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        let again = "[include]\n\tpath = config\n".repeat(1_000);
        std::fs::write(&file, format!("{again}[core]\n\texcludesFile = /x\n")).unwrap();
        assert_eq!(read(&file).as_deref(), Some("/x"));
    }
}
