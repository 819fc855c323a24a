//! The counts of one transcript, and the position up to which it was counted. A transcript grows; it may also be shortened or
//! replaced.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::DaySpan;
use crate::transcript::stream::Stream;
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::transcript::{AnswerUsage, TranscriptEntry};
use conclaude_core::prices::Tokens;
use conclaude_os::files;

/// The lines of one answer follow each other closely. Each repeats its usage, and the largest counts.
const MAX_RECENT: usize = 8;

/// Like `MAX_RECENT`, for a transcript into which several agents write at the same time.
const MAX_RECENT_OF_AGENTS: usize = 64;

/// The number of compared bytes before the position. They show whether it is still the same file.
const TAIL_BYTES: usize = 64;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TranscriptCount {
    pub path: PathBuf,
    /// The end of the counted part.
    position: u64,
    inode: u64,
    /// The hash of the bytes before the position.
    tail: u64,
    /// The time of the newest counted line, in milliseconds since 1970.
    newest: Option<i64>,
    pub models: BTreeMap<String, CountedModel>,
    recent: Vec<RecentAnswer>,
    /// Whether agents write into it as well.
    has_agents: bool,
    /// Answers whose usage could not be read.
    pub unread: u64,
}

/// The tokens of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[[u64; 5]; 2]", into = "[[u64; 5]; 2]")]
pub struct CountedModel {
    pub all: Tokens,
    pub today: Tokens,
}

/// An answer that may continue on further lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct RecentAnswer {
    id: u64,
    /// Whether it was also counted for today.
    today: bool,
    parts: Vec<(String, [u64; 5])>,
}

impl From<[[u64; 5]; 2]> for CountedModel {
    fn from([all, today]: [[u64; 5]; 2]) -> CountedModel {
        CountedModel { all: tokens(all), today: tokens(today) }
    }
}

impl From<CountedModel> for [[u64; 5]; 2] {
    fn from(model: CountedModel) -> [[u64; 5]; 2] {
        [model.all, model.today].map(numbers)
    }
}

fn tokens([input, output, cache_read, cache_write, cache_write_1h]: [u64; 5]) -> Tokens {
    Tokens { input, output, cache_read, cache_write, cache_write_1h }
}

fn numbers(tokens: Tokens) -> [u64; 5] {
    [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.cache_write_1h]
}

fn sum(parts: &[(String, [u64; 5])]) -> u64 {
    parts.iter().flat_map(|(_, numbers)| numbers).fold(0, |sum, number| sum.saturating_add(*number))
}

impl CountedModel {
    fn add(&mut self, counted: Tokens, is_today: bool) {
        self.all.add(counted);
        if is_today {
            self.today.add(counted);
        }
    }

    fn subtract(&mut self, counted: Tokens, is_today: bool) {
        let without = |from: Tokens| {
            let (mut left, less) = (numbers(from), numbers(counted));
            left.iter_mut().zip(less).for_each(|(left, less)| *left = left.saturating_sub(less));
            tokens(left)
        };
        self.all = without(self.all);
        if is_today {
            self.today = without(self.today);
        }
    }
}

impl TranscriptCount {
    /// Counts the new lines. If the file was shortened or replaced, only lines after the time of the last counted one are added:
    /// used tokens stay used.
    pub(super) fn read(&mut self, path: &Path, day: DaySpan) -> io::Result<()> {
        let metadata = path.metadata()?;
        let is_known = self.path == path && self.inode == inode(&metadata);
        if is_known && metadata.len() == self.position {
            return Ok(());
        }
        let mut file = files::open_regular(path)?;
        let is_same = is_known && metadata.len() > self.position && self.tail == self.tail_of(&mut file)?;
        let only_after = if is_same {
            None
        } else {
            self.position = 0;
            self.newest
        };
        path.clone_into(&mut self.path);
        self.inode = inode(&metadata);
        file.seek(SeekFrom::Start(self.position))?;
        let mut stream = Stream::of(&file, path);
        let read = stream.each(|entry| {
            self.take(entry, only_after, &day);
            Ok(())
        });
        self.position += stream.position().byte;
        read?;
        self.tail = self.tail_of(&mut file)?;
        Ok(())
    }

    /// The hash of the bytes before the position.
    fn tail_of(&self, file: &mut File) -> io::Result<u64> {
        let length = self.position.min(TAIL_BYTES as u64);
        file.seek(SeekFrom::Start(self.position - length))?;
        let mut tail = Vec::with_capacity(TAIL_BYTES);
        file.take(length).read_to_end(&mut tail)?;
        Ok(fingerprint(&tail))
    }

    fn take(&mut self, entry: &TranscriptEntry<'_>, only_after: Option<i64>, day: &DaySpan) {
        let time = entry.timestamp.text().and_then(|time| time.parse::<Timestamp>().ok());
        let time = time.map(Timestamp::as_millisecond);
        if only_after.is_some_and(|counted| time.is_none_or(|time| time <= counted)) {
            return;
        }
        let usage = match entry.usage() {
            Ok(Some(usage)) if !self.has_own_file(&usage, entry) => usage,
            Ok(_) => return,
            Err(_) => {
                self.unread += 1;
                return;
            }
        };
        self.newest = self.newest.max(time);
        self.has_agents |= entry.progress.is_some();
        let is_today = day.as_ref().zip(time).is_some_and(|(day, time)| day.contains(&time));
        self.count(&usage, is_today);
    }

    /// Whether an agent's answer, which is repeated here as progress, is also in the agent's own transcript.
    fn has_own_file(&self, usage: &AnswerUsage<'_>, entry: &TranscriptEntry<'_>) -> bool {
        let (Some(agent), Some(_)) = (usage.agent, &entry.progress) else { return false };
        layout::transcript_of(&layout::subagents(&self.path), agent).exists()
            || layout::transcript_beside(&self.path, agent).exists()
    }

    fn count(&mut self, usage: &AnswerUsage<'_>, today: bool) {
        let advisors = usage.advisors.iter().map(|one| (one.model.clone(), numbers(one.tokens)));
        let parts: Vec<(String, [u64; 5])> =
            std::iter::once((usage.model.to_owned(), numbers(usage.tokens))).chain(advisors).collect();
        let id = usage.answer.map(|id| fingerprint(id.as_bytes()));
        if let Some(known) = id.and_then(|id| self.recent.iter().position(|recent| recent.id == id)) {
            let before = self.recent.remove(known);
            // The usage grows while the answer is written, and the largest counts.
            if sum(&before.parts) > sum(&parts) {
                self.recent.push(before);
                return;
            }
            for (model, counted) in before.parts {
                self.models.entry(model).or_default().subtract(tokens(counted), before.today);
            }
        }
        for (model, counted) in &parts {
            self.models.entry(model.clone()).or_default().add(tokens(*counted), today);
        }
        if let Some(id) = id {
            self.recent.push(RecentAnswer { id, today, parts });
            let max = if self.has_agents { MAX_RECENT_OF_AGENTS } else { MAX_RECENT };
            let surplus = self.recent.len().saturating_sub(max);
            self.recent.drain(..surplus);
        }
    }

    /// Starts a new day: nothing is counted for it yet.
    pub(super) fn begin_day(&mut self) {
        self.models.values_mut().for_each(|model| model.today = Tokens::default());
        self.recent.iter_mut().for_each(|recent| recent.today = false);
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

/// FNV-1a, which is good enough to tell ids and ends of files apart.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
