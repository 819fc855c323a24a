//! Tokens of answers as metrics. They are in Claude Code's transcripts, not in the trail. Each file is read from where the last
//! request stopped.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Instant, SystemTime};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::metrics::{Metric, Points};
use crate::transcript::sessions::{self, SessionFiles};
use crate::transcript::stream::{LinePosition, Stream};
use conclaude_core::config::PriceTable;
use conclaude_core::dialect::claude::transcript::{AnswerUsage, TranscriptEntry};
use conclaude_core::prices::{self, Tokens};

/// The first request counts only answers that are newer than this: those of the current session.
const FIRST: SignedDuration = SignedDuration::from_hours(24);

/// The number of stored answers. Some lines of them may be missing yet, and a resumed session repeats them.
const MAX_ANSWERS: usize = 1_000;

/// The position in each transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct UsageState {
    /// The time of the oldest answer that counts.
    since: Option<String>,
    /// The time of the newest point.
    until: Option<String>,
    /// How many bytes were read of each file.
    files: BTreeMap<String, u64>,
    /// The newest answers by the hash of their id, with the tokens that were counted.
    answers: VecDeque<(u64, [u64; 5])>,
}

/// The project whose tokens are counted, and the prices.
pub(super) struct UsageScope<'a> {
    pub(super) claude: &'a Path,
    pub(super) root: &'a Path,
    pub(super) prices: &'a PriceTable,
    /// The deadline, which is checked between two files.
    pub(super) stop: Option<Instant>,
}

impl UsageState {
    /// The time up to which tokens were counted.
    pub(super) fn until(&self) -> Option<Timestamp> {
        self.until.as_ref().or(self.since.as_ref())?.parse().ok()
    }

    pub(super) fn count_until(&mut self, time: Timestamp) {
        self.until = Some(time.to_string());
    }

    /// Counts the new tokens in the transcripts of the project.
    pub(super) fn collect(&mut self, scope: &UsageScope<'_>) -> Points {
        let (now, mut points) = (Timestamp::now(), Points::default());
        let first = || now.checked_sub(FIRST).unwrap_or(Timestamp::MIN);
        let since = self.since.as_ref().and_then(|since| since.parse().ok()).unwrap_or_else(first);
        self.since = Some(since.to_string());
        let mut counter = Counter {
            since,
            now,
            prices: scope.prices,
            known: self.answers.iter().copied().collect(),
            order: self.answers.iter().map(|(id, _)| *id).collect(),
            points: &mut points,
        };
        // Claude Code names the folder without links.
        let root = scope.root.canonicalize().unwrap_or_else(|_| scope.root.to_owned());
        let folders = sessions::folders_of_project(scope.claude, &root);
        let found: Vec<SessionFiles> =
            folders.iter().flat_map(|folder| sessions::in_folder(folder).0).collect();
        for session in &found {
            let is_over = scope.stop.is_some_and(|stop| Instant::now() >= stop);
            let has_more = session.paths().any(|path| self.has_more(path, since));
            if !is_over && has_more && session.is_of(&root) {
                session.paths().for_each(|path| self.read(path, &mut counter));
            }
        }
        let Counter { mut order, known, .. } = counter;
        order.drain(..order.len().saturating_sub(MAX_ANSWERS));
        self.answers = order.into_iter().filter_map(|id| Some((id, *known.get(&id)?))).collect();
        self.files.retain(|path, _| Path::new(path).exists());
        points
    }

    fn has_more(&self, path: &Path, since: Timestamp) -> bool {
        let Ok(metadata) = path.metadata() else { return false };
        let changed = metadata.modified().ok().and_then(|time: SystemTime| Timestamp::try_from(time).ok());
        match self.files.get(&*path.to_string_lossy()) {
            Some(read) => metadata.len() != *read,
            None => changed.is_none_or(|changed| changed >= since),
        }
    }

    /// A file that cannot be read is read the next time.
    fn read(&mut self, path: &Path, counter: &mut Counter<'_>) {
        let name = path.to_string_lossy().into_owned();
        let size = path.metadata().map_or(0, |metadata| metadata.len());
        // A shorter file was written again from its start.
        let byte = self.files.get(&name).copied().filter(|read| *read <= size).unwrap_or(0);
        let read = Stream::open_at(path, LinePosition { byte, lines: None }).and_then(|mut stream| {
            stream.until(|entry| {
                counter.take(entry);
                Ok(ControlFlow::Continue(()))
            })?;
            io::Result::Ok(stream.position().byte)
        });
        if let Ok(byte) = read {
            self.files.insert(name, byte);
        }
    }
}

struct Counter<'a> {
    since: Timestamp,
    now: Timestamp,
    prices: &'a PriceTable,
    known: HashMap<u64, [u64; 5]>,
    order: VecDeque<u64>,
    points: &'a mut Points,
}

impl Counter<'_> {
    fn take(&mut self, entry: &TranscriptEntry<'_>) {
        let time = entry.timestamp.text().and_then(|time| time.parse::<Timestamp>().ok());
        // `report` and `watch` name what cannot be read.
        let Ok(Some(AnswerUsage { answer, model, tokens, advisors, .. })) = entry.usage() else { return };
        if time.is_some_and(|time| time < self.since) {
            return;
        }
        let id = answer.map(hash);
        self.count(id, model, tokens);
        for (advice, advisor) in (1..).zip(&advisors) {
            self.count(id.map(|id| id.wrapping_add(advice)), &advisor.model, advisor.tokens);
        }
    }

    /// The lines of one answer repeat its tokens, and the largest numbers are the final ones. Only the difference to the stored
    /// numbers counts.
    fn count(&mut self, id: Option<u64>, model: &str, tokens: Tokens) {
        let all = [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.cache_write_1h];
        let mut counted = [0; 5];
        if let Some(id) = id {
            let known = self.known.entry(id).or_insert_with(|| {
                self.order.push_back(id);
                [0; 5]
            });
            counted = *known;
            known.iter_mut().zip(all).for_each(|(known, all)| *known = all.max(*known));
        }
        let mut new = all;
        new.iter_mut().zip(counted).for_each(|(new, counted)| *new = new.saturating_sub(counted));
        let [input, output, cache_read, cache_write, cache_write_1h] = new;
        let none = Tokens::default();
        // The names of the token types in Claude Code's own metric.
        let types = [
            ("input", input, Tokens { input, ..none }),
            ("output", output, Tokens { output, ..none }),
            ("cacheRead", cache_read, Tokens { cache_read, ..none }),
            ("cacheCreation", cache_write, Tokens { cache_write, cache_write_1h, ..none }),
        ];
        for (name, amount, tokens) in types.into_iter().filter(|(_, amount, _)| *amount > 0) {
            let labels = || vec![("model", model.chars().take(100).collect()), ("type", name.to_owned())];
            self.points.count(self.now, Metric::Tokens, labels(), amount);
            if let Some(cost) = prices::cost(model, tokens, self.prices) {
                self.points.number(self.now, Metric::Cost, labels(), cost);
            }
        }
    }
}

/// FNV-1a, which is good enough to tell ids apart.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
