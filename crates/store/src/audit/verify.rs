//! Checks the whole trail, and names the first wrong record with the reason.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::chain::{Anchor, Chain, ChainError, ChainLink};
use super::lines::Lines;
use super::trail::{TRUNCATED, Trail, UNANCHORED};
use conclaude_core::text::clean_line;

/// The limit on warnings of one kind.
const MAX_WARNINGS: usize = 10;

/// The result of the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The number of valid records before the first invalid one.
    pub good: u64,
    pub problem: Option<String>,
    /// Parts that could not be checked.
    pub warnings: Vec<String>,
    /// Further facts, which are not problems.
    pub notes: Vec<String>,
    /// Whether there was an anchor outside the project to compare with.
    pub compared: bool,
}

/// Checks every record of the trail.
///
/// # Errors
/// When a file cannot be read.
pub fn verify(trail: &Trail) -> io::Result<Verdict> {
    let end = trail.read_anchor();
    let verdict =
        Verdict { good: 0, problem: None, warnings: Vec::new(), notes: Vec::new(), compared: end.is_some() };
    let mut check = Verifier { trail, chain: Chain::new(), end, verdict, unanchored: 0 };
    let mut files = trail.files()?;
    while !files.is_empty() {
        for (index, number) in files.iter().enumerate() {
            if let Some(problem) = check.file(&trail.file(*number), index + 1 == files.len())? {
                check.verdict.problem = Some(problem);
                return Ok(check.verdict);
            }
        }
        // Another file may have been started while we read.
        let last = files.last().copied();
        files = trail.files()?.into_iter().filter(|number| Some(*number) > last).collect();
    }
    check.finish()
}

struct Verifier<'a> {
    trail: &'a Trail,
    chain: Chain,
    end: Option<Anchor>,
    verdict: Verdict,
    unanchored: usize,
}

impl Verifier<'_> {
    /// The first problem of a file.
    fn file(&mut self, path: &Path, is_last: bool) -> io::Result<Option<String>> {
        let mut lines = Lines::open(path, 0)?;
        let mut number = 0;
        while let Some(line) = lines.next()? {
            number += 1;
            let location = || format!("{}:{number}", path.display());
            if !line.is_whole {
                if !is_last {
                    let problem =
                        format!("{}: the line is truncated, though another file follows", location());
                    return Ok(Some(problem));
                }
                self.verdict.notes.push(format!("{}: the last line is truncated, left by a process that was killed; the next record moves it to {TRUNCATED}", location()));
                continue;
            }
            if let Err(error) = self.record(&line.text) {
                return Ok(Some(format!("{}: {error}", location())));
            }
        }
        Ok(None)
    }

    fn record(&mut self, line: &str) -> Result<(), ChainError> {
        if let Err(error) = self.chain.advance(line) {
            // Inserted records were counted as good ones.
            let inserted =
                ChainLink::read(line).and_then(|link| self.chain.inserted_before(&link)).unwrap_or(0);
            self.verdict.good = self.verdict.good.saturating_sub(inserted);
            return Err(error);
        }
        self.trail.is_beyond(&mut self.end, &self.chain)?;
        self.verdict.good += 1;
        if line.contains(UNANCHORED) {
            self.unanchored += 1;
            if self.unanchored <= MAX_WARNINGS {
                self.verdict.warnings.push(format!("record {} was written when there was no copy of the end outside the project: records before it may have been cut off or added", self.chain.seq));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<Verdict> {
        let verdict = &mut self.verdict;
        let number = self.chain.seq;
        match &self.end {
            Some(end) if number < end.last.seq => {
                let seq = end.last.seq;
                verdict.problem = Some(format!("the end is cut off: record {seq} was written, the trail ends with {number}"));
            }
            Some(end) if number > end.max_seq() => verdict.warnings.push(format!("records after {} cannot be compared: an older version of conclaude kept the end outside the project", end.last.seq)),
            None if number > 0 => verdict.warnings.push(self.trail.nothing_to_compare_with()),
            _ => {}
        }
        if self.trail.folder.join(TRUNCATED).exists() {
            verdict.notes.push(format!("{TRUNCATED} has the truncated records of killed processes"));
        }
        verdict.warnings.extend(foreign_files(&self.trail.foreign_files(MAX_WARNINGS)?));
        Ok(self.verdict)
    }
}

impl Trail {
    /// An error for a record after the anchor, or for one whose hash differs from it.
    pub(super) fn is_beyond(&self, end: &mut Option<Anchor>, chain: &Chain) -> Result<(), ChainError> {
        if end.as_ref().is_some_and(|end| chain.seq > end.max_seq()) {
            // It may have been written after the anchor was read.
            *end = self.read_anchor().or(end.take());
        }
        let Some(end) = end else { return Ok(()) };
        let seq = chain.seq;
        if seq > end.max_seq() && !end.may_be_late() {
            return Err(ChainError::Foreign { seq, last: end.last.seq });
        }
        match end.hash_at(seq) {
            Some(hash) if hash != chain.hash => Err(ChainError::OtherHash(seq)),
            _ => Ok(()),
        }
    }

    fn nothing_to_compare_with(&self) -> String {
        let what = match &self.outside {
            Some(outside) => format!("there is no copy of the end in {}", outside.end.display()),
            None => "there is no home folder with a copy of the end".to_owned(),
        };
        format!("{what}: records that were cut off or added at the end cannot be noticed")
    }
}

/// A warning for each file that does not belong to the trail.
fn foreign_files((names, count): &(BTreeSet<String>, usize)) -> Vec<String> {
    let warning = |name: &String| {
        let name = clean_line(name);
        format!(
            "{name} is not part of the trail and is never read: conclaude did not write it here, or an older version did"
        )
    };
    let mut warnings: Vec<String> = names.iter().map(warning).collect();
    if *count > names.len() {
        warnings.push(format!("and {} more files are not part of the trail", count - names.len()));
    }
    warnings
}
