//! What was read of transcripts, and what could not be.

use std::collections::BTreeMap;

use conclaude_core::text::count;

/// How many names of a kind are remembered, and how many bytes of each.
const MAX_NAMES: usize = 50;
const MAX_NAME_BYTES: usize = 120;

const OTHER_VERSIONS: &str = "(others)";
const OTHER_WORDS: &str = "with something else that this version does not know";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub bytes: u64,
    pub lines: u64,
    /// Lines by the version of Claude Code that wrote them.
    pub versions: BTreeMap<String, u64>,
    /// What was not read, in words that follow "a line".
    pub unread: BTreeMap<String, UnreadLines>,
}

/// Lines of which the same was not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnreadLines {
    pub lines: u64,
    /// The file of the first of them, and its line where that is known.
    pub first: (String, Option<u64>),
}

impl UnreadLines {
    pub fn first(&self) -> String {
        match &self.first {
            (file, Some(line)) => format!("{file}:{line}"),
            (file, None) => file.clone(),
        }
    }
}

impl Counts {
    pub fn version(&mut self, version: &str) {
        match self.versions.get_mut(version) {
            Some(lines) => *lines += 1,
            None => *entry(&mut self.versions, version, OTHER_VERSIONS) += 1,
        }
    }

    /// A line of this file was not read.
    pub fn note(&mut self, what: &str, file: &str, line: Option<u64>) {
        let known = entry(&mut self.unread, what, OTHER_WORDS);
        if known.lines == 0 {
            known.first = (file.to_owned(), line);
        }
        known.lines += 1;
    }

    pub fn add(&mut self, other: &Counts) {
        self.bytes += other.bytes;
        self.lines += other.lines;
        for (version, lines) in &other.versions {
            *entry(&mut self.versions, version, OTHER_VERSIONS) += lines;
        }
        for (what, unread) in &other.unread {
            self.add_unread(what, unread);
        }
    }

    pub fn add_unread(&mut self, what: &str, unread: &UnreadLines) {
        let known = entry(&mut self.unread, what, OTHER_WORDS);
        if known.lines == 0 || unread.first < known.first {
            known.first.clone_from(&unread.first);
        }
        known.lines += unread.lines;
    }

    /// How many things were not read.
    pub fn unread(&self) -> u64 {
        self.unread.values().map(|unread| unread.lines).sum()
    }

    /// Whether no line could be read.
    pub fn has_nothing(&self) -> bool {
        self.unread() >= self.lines
    }

    /// Sentences for what was not read; none if everything was.
    pub fn problems(&self) -> Vec<String> {
        let problem = |(what, unread): (&String, &UnreadLines)| {
            format!("{} {what} (first: {})", count(unread.lines, "line"), unread.first())
        };
        self.unread.iter().map(problem).collect()
    }
}

/// What is known by this name, which is cut; beyond so many names all others are one.
fn entry<'m, T: Default>(names: &'m mut BTreeMap<String, T>, name: &str, others: &str) -> &'m mut T {
    let name = name.get(..name.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or_default();
    let name = if names.len() < MAX_NAMES || names.contains_key(name) { name } else { others };
    names.entry(name.to_owned()).or_default()
}
