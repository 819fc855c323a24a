//! Reads the trail one record at a time: from its start to its end, and then each new record.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chain::{Anchor, Chain, ChainLink};
use super::lines::Lines;
use super::record::remove_output;
use super::trail::Trail;
use conclaude_core::json::ObjectFields;

#[derive(Clone, Debug, PartialEq)]
pub struct TrailEntry {
    pub line: String,
    pub record: Value,
    /// Why it cannot be trusted: it was changed, does not follow the record before it, or is not ours.
    pub doubt: Option<String>,
}

impl TrailEntry {
    /// The record without the output of its commands. The line stays unchanged.
    #[must_use]
    pub fn without_output(&self) -> Cow<'_, TrailEntry> {
        let mut entry = Cow::Borrowed(self);
        if self.line.contains("\"output\":") {
            remove_output(&mut entry.to_mut().record);
        }
        entry
    }

    /// The line as it is exported: without the output of its commands, unless the user wants that.
    #[must_use]
    pub fn exported_line(&self, has_output: bool) -> Cow<'_, str> {
        match self.without_output() {
            Cow::Owned(entry) if !has_output && entry.record != self.record => {
                entry.record.to_string().into()
            }
            _ => self.line.as_str().into(),
        }
    }
}

/// How many words of a kind are remembered, and how long they may be.
const MAX_WORDS: usize = 200;
const MAX_WORD_BYTES: usize = 100;

/// How much of the last line is remembered. This includes its hash.
const LAST_BYTES: usize = 80;

/// A position in the trail, from which reading can continue later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    file: u64,
    offset: u64,
    /// The end of the line before it.
    last: String,
    seq: u64,
    hash: String,
}

/// Reads records in their order, and later those that were written since.
pub struct Reader<'a> {
    trail: &'a Trail,
    chain: Chain,
    end: Option<Anchor>,
    /// The number of the file, and how many of its bytes were read.
    at: (u64, u64),
    /// The last bytes that were read of this file.
    last: Vec<u8>,
    /// How many records there are, whether the filter admits them or not.
    pub total: u64,
    /// How many of them cannot be trusted, and how many lines are not records.
    pub doubtful: u64,
    /// The decisions and the events that there are.
    pub decisions: BTreeSet<String>,
    pub events: BTreeSet<String>,
}

impl<'a> Reader<'a> {
    #[must_use]
    pub fn new(trail: &'a Trail) -> Reader<'a> {
        Reader {
            trail,
            chain: Chain::new(),
            end: trail.read_anchor(),
            at: (0, 0),
            last: Vec::new(),
            total: 0,
            doubtful: 0,
            decisions: BTreeSet::new(),
            events: BTreeSet::new(),
        }
    }

    /// Passes the new records that match the filter to `take`, oldest first. Returns their number.
    ///
    /// # Errors
    /// When a file cannot be read, or `take` fails.
    pub fn each(
        &mut self,
        filter: &Filter,
        mut take: impl FnMut(&TrailEntry) -> io::Result<()>,
    ) -> io::Result<u64> {
        self.each_until(filter, |entry| take(entry).map(ControlFlow::Continue))
    }

    /// Like `each`, until `take` breaks.
    pub fn each_until(
        &mut self,
        filter: &Filter,
        mut take: impl FnMut(&TrailEntry) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<u64> {
        let mut given = 0;
        self.each_line(|reader, line, doubt| {
            let Some(entry) = reader.entry(line, doubt).filter(|entry| filter.admits(&entry.record)) else {
                return Ok(ControlFlow::Continue(()));
            };
            given += 1;
            take(&entry)
        })?;
        Ok(given)
    }

    /// Like `each`, but only the requested fields of a record are decoded.
    pub fn each_record(
        &mut self,
        filter: &Filter,
        mut take: impl FnMut(&ObjectFields<'_>, &str, Option<&str>) -> io::Result<()>,
    ) -> io::Result<u64> {
        let mut given = 0;
        self.each_line(|reader, line, doubt| {
            let Ok(fields) = ObjectFields::of(line) else { return Ok(ControlFlow::Continue(())) };
            reader.count(fields.text("decision").as_deref(), fields.text("event").as_deref());
            if filter.admits_by(&|name| fields.text(name)) {
                given += 1;
                take(&fields, line, doubt.as_deref())?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(given)
    }

    /// The new lines, each with the reason why it cannot be trusted. They are not decoded, because a caller may need only a part
    /// of each record.
    pub fn each_line(
        &mut self,
        mut take: impl FnMut(&mut Self, &str, Option<String>) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<()> {
        let files = self.trail.files()?;
        if !self.is_same_trail(&files)? {
            (self.at, self.chain) = ((0, 0), Chain::new());
        }
        for number in files {
            if number < self.at.0 {
                continue;
            }
            if number > self.at.0 {
                (self.at, self.last) = ((number, 0), Vec::new());
            }
            let Some(mut lines) = if_there(Lines::open(&self.trail.file(number), self.at.1))? else { break };
            // A line that is still being written is read the next time.
            while let Some(line) = lines.next()?.filter(|line| line.is_whole) {
                self.at.1 = line.end;
                let keep = line.text.floor_char_boundary(line.text.len().saturating_sub(LAST_BYTES));
                self.last.clear();
                self.last.extend_from_slice(line.text.get(keep..).unwrap_or_default().as_bytes());
                let doubt = self.doubt(&line.text);
                if take(self, &line.text, doubt)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The position after the last line that was read. If none was read, it is the start of the first file, which identifies the
    /// trail.
    pub fn mark(&self) -> Mark {
        let first = || self.trail.files().ok().and_then(|files| files.first().copied()).unwrap_or(0);
        let (file, offset) = if self.at.0 == 0 { (first(), 0) } else { self.at };
        Mark {
            file,
            offset,
            last: String::from_utf8_lossy(&self.last).into_owned(),
            seq: self.chain.seq,
            hash: self.chain.hash.clone(),
        }
    }

    /// Continues after the position. `None` if the position is not in this trail.
    pub fn after(trail: &'a Trail, mark: &Mark) -> io::Result<Option<Reader<'a>>> {
        let mut reader = Reader::new(trail);
        reader.at = (mark.file, mark.offset);
        reader.last = mark.last.clone().into_bytes();
        reader.chain = Chain::after(mark.seq, mark.hash.clone());
        let is_there = mark.file > 0 && reader.is_same_trail(&trail.files()?)?;
        Ok(if is_there { Some(reader) } else { None })
    }

    /// Whether the last line that was read is still where it was: `audit reset` starts another trail.
    fn is_same_trail(&self, files: &[u64]) -> io::Result<bool> {
        let (number, offset) = self.at;
        if number == 0 {
            return Ok(true);
        }
        if files.binary_search(&number).is_err() {
            return Ok(false);
        }
        // A line that is not text, or too long, is not compared.
        let Some(start) = offset.checked_sub(self.last.len() as u64 + 1) else { return Ok(offset == 0) };
        let Some(mut lines) = if_there(Lines::open(&self.trail.file(number), start))? else {
            return Ok(false);
        };
        Ok(lines.next()?.is_some_and(|line| line.text.as_bytes() == self.last))
    }

    fn doubt(&mut self, line: &str) -> Option<String> {
        let mut doubt = self.chain.advance(line).err();
        if doubt.is_some() {
            self.chain.skip_to(line);
        } else {
            doubt = self.trail.is_beyond(&mut self.end, &self.chain).err();
        }
        self.doubtful += u64::from(doubt.is_some());
        doubt.map(|error| error.to_string())
    }

    fn entry(&mut self, line: &str, doubt: Option<String>) -> Option<TrailEntry> {
        let record = serde_json::from_str::<Value>(line).ok().filter(Value::is_object)?;
        let text = |name: &str| record.get(name).and_then(Value::as_str);
        self.count(text("decision"), text("event"));
        Some(TrailEntry { line: line.to_owned(), record, doubt })
    }

    /// Counts a record, and remembers its words.
    fn count(&mut self, decision: Option<&str>, event: Option<&str>) {
        self.total += 1;
        for (word, words) in [(decision, &mut self.decisions), (event, &mut self.events)] {
            if let Some(word) = word
                && words.len() < MAX_WORDS
                && word.len() <= MAX_WORD_BYTES
                && !words.contains(word)
            {
                words.insert(word.to_owned());
            }
        }
    }
}

/// The newest record. Only the end of the trail is read, which is enough to check that the record is ours and follows the one before.
///
/// # Errors
/// When a file cannot be read.
pub fn newest(trail: &Trail) -> io::Result<Option<TrailEntry>> {
    let last_of = |mut reader: Reader<'_>| {
        let mut last = None;
        reader.each(&Filter::default(), |entry| {
            last = Some(entry.clone());
            Ok(())
        })?;
        io::Result::Ok(last)
    };
    match before_newest(trail)?.map(last_of).transpose()?.flatten() {
        None => last_of(Reader::new(trail)),
        found => Ok(found),
    }
}

/// A reader that continues before the newest line. `None` if reading the end of the trail is not enough.
fn before_newest(trail: &Trail) -> io::Result<Option<Reader<'_>>> {
    let mut at = None;
    for number in trail.files()?.into_iter().rev() {
        let Some((offset, before)) = trail.last_two(number)? else { continue };
        let (file, before) = match (at, before) {
            (None, Some(before)) => ((number, offset), before),
            // The newest line is the only one of its file, so the line before it is the last one of another file.
            (None, None) => {
                at = Some((number, offset));
                continue;
            }
            (Some(at), _) => {
                let mut lines = Lines::open(&trail.file(number), offset)?;
                let Some(line) = lines.next()? else { return Ok(None) };
                (at, line.text.into_owned())
            }
        };
        let Some(link) = ChainLink::read(&before) else { return Ok(None) };
        let mut reader = Reader::new(trail);
        reader.at = file;
        if file.1 > 0 {
            let keep = before.floor_char_boundary(before.len().saturating_sub(LAST_BYTES));
            reader.last = before.get(keep..).unwrap_or_default().as_bytes().to_vec();
        }
        reader.chain = Chain::after(link.seq, link.hash.to_owned());
        return Ok(Some(reader));
    }
    Ok(None)
}

/// The trail may be moved between listing its files and opening them.
fn if_there(read: io::Result<Lines>) -> io::Result<Option<Lines>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The session of the newest record that has one.
///
/// # Errors
/// When a file cannot be read.
pub fn last_session(trail: &Trail) -> io::Result<Option<String>> {
    for number in trail.files()?.into_iter().rev() {
        if let Some(session) = last_session_in(&trail.file(number))? {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

fn last_session_in(path: &Path) -> io::Result<Option<String>> {
    let mut lines = Lines::open(path, 0)?;
    let mut last = None;
    while let Some(line) = lines.next()? {
        let record: Value = serde_json::from_str(&line.text).unwrap_or_default();
        last = record.get("session").and_then(Value::as_str).map(str::to_owned).or(last);
    }
    Ok(last)
}

/// Selects records. A field that is not set matches all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The session, or the start of its id.
    pub session: Option<String>,
    /// The agent's name or id.
    pub agent: Option<String>,
    /// A part of the step file's path.
    pub step: Option<String>,
    pub event: Option<String>,
    pub decision: Option<String>,
    pub since: Option<Timestamp>,
}

impl Filter {
    pub(super) fn admits(&self, record: &Value) -> bool {
        self.admits_by(&|name| record.get(name).and_then(Value::as_str).map(Cow::Borrowed))
    }

    /// Whether a record is wanted. `field` returns its text fields.
    pub(super) fn admits_by<'r>(&self, field: &dyn Fn(&str) -> Option<Cow<'r, str>>) -> bool {
        let text = |name: &str| field(name).unwrap_or_default();
        let is = |wanted: &Option<String>, test: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(test);
        let recent = || {
            text("time").parse::<Timestamp>().is_ok_and(|time| self.since.is_none_or(|since| time >= since))
        };
        is(&self.session, &|wanted| text("session").starts_with(wanted))
            && is(&self.agent, &|wanted| text("agent") == wanted || text("agent_id") == wanted)
            && is(&self.step, &|wanted| text("step").contains(wanted))
            && is(&self.event, &|wanted| text("event").eq_ignore_ascii_case(wanted))
            && is(&self.decision, &|wanted| text("decision").eq_ignore_ascii_case(wanted))
            && (self.since.is_none() || recent())
    }
}
