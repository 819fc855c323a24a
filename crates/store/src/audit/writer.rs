//! Writes whole lines with one `write`. The anchor outside the project is updated before and after it, so that records which
//! somebody else adds or removes are noticed.

use std::io::{self, Write};

use super::append::{PendingRecord, QUEUED, take_batch};
use super::chain::{Anchor, GENESIS, RecordPosition, hash_of};
use super::lines::Tail;
use super::runs::Pointer;
use super::trail::{Trail, UNANCHORED, file_name};
use conclaude_os::log;

impl Trail {
    /// The record that the next one follows, even if files are missing or changed.
    pub(super) fn last_position(&self) -> RecordPosition {
        match Writer::open(self) {
            Ok(writer) => writer.last,
            Err(_) => self.read_anchor().map_or_else(start, |end| end.last),
        }
    }

    /// The last file that is not empty, or the first one.
    fn last_tail(&self) -> io::Result<Option<Tail>> {
        let mut found = None;
        for number in self.files()?.into_iter().rev() {
            found = self.tail(&self.file(number))?;
            if found.as_ref().is_some_and(|tail| tail.bytes > 0) {
                break;
            }
        }
        Ok(found)
    }

    fn warn_of_damage(&self) {
        let folder = self.folder.display();
        log::warn(|| format!("the audit trail in {folder} is damaged: try `conclaude audit verify`"));
    }
}

fn start() -> RecordPosition {
    RecordPosition { seq: 0, hash: GENESIS.to_owned(), file: None }
}

/// The trail, open for appending. Only under its lock.
pub(super) struct Writer<'a> {
    trail: &'a Trail,
    tail: Option<Tail>,
    last: RecordPosition,
    /// Whether there is an anchor outside the project.
    is_kept: bool,
    /// Whether there are earlier records without an anchor.
    is_unanchored: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn open(trail: &'a Trail) -> io::Result<Writer<'a>> {
        match trail.read_anchor() {
            Some(end) if !end.may_be_late() => Writer::after_anchor(trail, end),
            end => Writer::after_files(trail, end),
        }
    }

    /// In a new file.
    pub(super) fn after(trail: &'a Trail, last: RecordPosition) -> Writer<'a> {
        Writer { trail, tail: None, last, is_kept: false, is_unanchored: false }
    }

    /// `None` before the very first record.
    pub(super) fn last(&self) -> Option<&RecordPosition> {
        Some(&self.last).filter(|last| last.seq > 0)
    }

    /// Continues the chain after the anchor, even if files in the project are missing or changed.
    fn after_anchor(trail: &'a Trail, end: Anchor) -> io::Result<Writer<'a>> {
        let name = end.next.as_ref().or(Some(&end.last)).and_then(|record| record.file.clone());
        let mut tail = match name {
            Some(name) => trail.tail(&trail.folder.join(name))?,
            None => None,
        };
        let last = match end.next {
            // The process that wrote it was killed before it updated the anchor.
            Some(next) if has(&mut tail, &next)? => next,
            _ => end.last,
        };
        let is_damaged = tail.as_ref().is_none_or(|tail| {
            tail.bytes > 0 && tail.last.as_ref().is_none_or(|(_, hash)| *hash != last.hash)
        });
        if is_damaged {
            trail.warn_of_damage();
        }
        Ok(Writer { trail, tail, last, is_kept: true, is_unanchored: false })
    }

    /// Without an anchor, or with one of an older version, which may be out of date after a kill.
    fn after_files(trail: &'a Trail, end: Option<Anchor>) -> io::Result<Writer<'a>> {
        let mut tail = trail.last_tail()?;
        let mut found = tail.as_ref().and_then(|tail| tail.last.clone());
        if let (None, Some(tail)) = (&found, &mut tail)
            && tail.bytes > 0
        {
            trail.warn_of_damage();
            found = tail.last_readable()?;
        }
        let file = tail.as_ref().map(|tail| tail.name.clone());
        let found = found.map_or_else(start, |(seq, hash)| RecordPosition { seq, hash, file });
        let is_kept = end.is_some();
        // Records that were cut off stay missing: the chain continues after the last one that is known to have been written.
        let last = end.map(|end| end.last).filter(|last| last.seq > found.seq).unwrap_or(found);
        let is_unanchored = !is_kept && last.seq > 0 && trail.outside.is_some();
        Ok(Writer { trail, tail, last, is_kept, is_unanchored })
    }

    pub(super) fn write_pending(&mut self) -> io::Result<()> {
        let mut pending = self.trail.pending().into_iter();
        while let Some(batch) = take_batch(&mut pending) {
            let fresh = self.not_written(&batch.records)?;
            self.write(&fresh)?;
            batch.remove();
        }
        Ok(())
    }

    /// The queued records that are not in the trail yet. A process may have been killed after it wrote them and before it removed
    /// their files.
    fn not_written(&mut self, queued: &[PendingRecord]) -> io::Result<Vec<String>> {
        let recent = self.tail.as_mut().map(Tail::recent).transpose()?.unwrap_or_default();
        let is_in =
            |id: &str| memchr::memmem::find(&recent, format!("\"{QUEUED}\":\"{id}\"").as_bytes()).is_some();
        Ok(queued.iter().filter(|record| !is_in(&record.id)).map(|record| record.body.clone()).collect())
    }

    /// Writes records in one go.
    pub(super) fn write(&mut self, bodies: &[String]) -> io::Result<()> {
        let lines = self.chain(bodies);
        let Some(last) = lines.last() else { return Ok(()) };
        let size = lines.iter().map(|line| line.text.len()).sum();
        let mut tail = self.tail_for(size)?;
        let next = RecordPosition { seq: last.seq, hash: last.hash.clone(), file: Some(tail.name.clone()) };
        self.announce(&next, &lines, &tail)?;
        let text: String = lines.iter().map(|line| line.text.as_str()).collect();
        tail.file.write_all(text.as_bytes()).map_err(|error| {
            let path = self.trail.folder.join(&tail.name);
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        tail.bytes += size as u64;
        self.tail = Some(tail);
        self.is_unanchored = false;
        self.last = next.clone();
        match self.trail.keep_anchor(&Anchor { last: next, next: None }) {
            Ok(()) => self.is_kept = true,
            Err(error) => log::warn(|| error.to_string()),
        }
        Ok(())
    }

    /// The lines of these records in the chain.
    fn chain(&self, bodies: &[String]) -> Vec<ChainedLine> {
        let (mut seq, mut prev) = (self.last.seq, self.last.hash.clone());
        let mut is_unanchored = self.is_unanchored;
        let mut offset = 0;
        let mut lines: Vec<ChainedLine> = Vec::new();
        for body in bodies {
            seq = seq.saturating_add(1);
            let mark = if std::mem::take(&mut is_unanchored) { UNANCHORED } else { "" };
            let line = ChainedLine { offset, ..ChainedLine::new(body, seq, &prev, mark) };
            offset += line.text.len() as u64;
            prev.clone_from(&line.hash);
            lines.push(line);
        }
        lines
    }

    /// The last file, or a new one if that has no room.
    fn tail_for(&mut self, size: usize) -> io::Result<Tail> {
        match self.tail.take() {
            Some(tail) if tail.bytes + size as u64 <= self.trail.max_file_bytes => Ok(tail),
            _ => self.trail.new_tail(&file_name(self.last.seq.saturating_add(1))),
        }
    }

    /// Writes the new end into the anchor before the records are written, because anybody may write in the project.
    fn announce(&self, next: &RecordPosition, lines: &[ChainedLine], tail: &Tail) -> io::Result<()> {
        let intent = Anchor { last: self.last.clone(), next: Some(next.clone()) };
        if let Err(error) = self.trail.keep_anchor(&intent) {
            if self.is_kept {
                return Err(error);
            }
            log::warn(|| error.to_string());
        }
        for ChainedLine { text, seq, hash, offset } in lines {
            let (hash, file) = (hash.clone(), tail.name.clone());
            self.trail.note_run(text, &Pointer { seq: *seq, hash, file, offset: tail.bytes + offset })?;
        }
        Ok(())
    }
}

/// Whether the record is at the end of the file, or near it if others wrote after it.
fn has(tail: &mut Option<Tail>, record: &RecordPosition) -> io::Result<bool> {
    let Some(tail) = tail else { return Ok(false) };
    if tail.last.as_ref().is_some_and(|(_, hash)| *hash == record.hash) {
        return Ok(true);
    }
    let wanted = format!("\"hash\":\"{}\"}}\n", record.hash);
    Ok(memchr::memmem::find(&tail.recent()?, wanted.as_bytes()).is_some())
}

/// The line of a record in the chain.
struct ChainedLine {
    text: String,
    seq: u64,
    hash: String,
    /// Its start within the text of one write.
    offset: u64,
}

impl ChainedLine {
    fn new(body: &str, seq: u64, prev: &str, mark: &str) -> ChainedLine {
        let fields = open(body).strip_prefix('{').unwrap_or_default();
        let text = format!("{{\"seq\":{seq},{fields}{mark},\"prev\":\"{prev}\"}}");
        let hash = hash_of(&text);
        ChainedLine { text: format!("{},\"hash\":\"{hash}\"}}\n", open(&text)), seq, hash, offset: 0 }
    }
}

/// The text of an object without its closing brace, so that fields can be added.
fn open(object: &str) -> &str {
    object.strip_suffix('}').unwrap_or(object)
}
