//! Sends what a collector does not have yet, batch by batch. The position is saved after each success. After a crash some
//! records are sent twice, with the same ids.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use super::metrics::Points;
use super::otlp;
use super::send::{self, SendError, Target};
use super::state::{ExportState, StateFile};
use super::usage::UsageScope;
use crate::audit::{Filter, Mark, Reader, Trail};
use crate::root::claude_folder;
use conclaude_core::config::{PriceTable, Signal};
use conclaude_os::process;

/// The limits of a request: proxies often allow a megabyte.
const MAX_RECORDS: usize = 500;
const MAX_BYTES: usize = 800_000;

/// How long a signal is retried if another one was refused before.
const SHORT_RETRY: Duration = Duration::from_secs(5);

/// One project and one endpoint.
pub struct Transfer<'a> {
    trail: &'a Trail,
    target: &'a Target,
    resource: Value,
    prices: PriceTable,
    file: StateFile,
    filter: Filter,
    retry_for: Duration,
    /// The deadline, which is checked between two requests.
    until: Option<Instant>,
    max_records: usize,
    /// Prevents other processes from sending to this endpoint.
    _lock: File,
}

/// The result of a transfer.
#[derive(Debug, Default)]
pub struct TransferReport {
    pub sent: BTreeMap<Signal, SendCounts>,
    pub refused: Vec<(Signal, SendError)>,
    /// Further information for the user.
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendCounts {
    pub records: u64,
    pub rejected: u64,
}

impl<'a> Transfer<'a> {
    /// Locks the endpoint and waits at most `wait`; `None` if another process still has the lock.
    pub fn start(
        trail: &'a Trail,
        target: &'a Target,
        since: Option<Timestamp>,
        wait: Duration,
    ) -> io::Result<Option<Transfer<'a>>> {
        let file = StateFile::of(trail, target)?;
        let Some(lock) = file.lock(wait)? else { return Ok(None) };
        // Queued records belong to the trail. If they cannot be written now, the next writer does it.
        let _ = trail.write_pending();
        Ok(Some(Transfer {
            trail,
            target,
            resource: otlp::resource(trail, &target.resource),
            prices: PriceTable::default(),
            file,
            filter: Filter { since, ..Filter::default() },
            retry_for: Duration::from_secs(30),
            until: None,
            max_records: MAX_RECORDS,
            _lock: lock,
        }))
    }

    /// Sets the user's own prices, for the cost of tokens.
    pub fn prices(self, prices: PriceTable) -> Self {
        Transfer { prices, ..self }
    }

    pub fn retry_for(self, retry_for: Duration) -> Self {
        Transfer { retry_for, ..self }
    }

    pub fn until(self, until: Instant) -> Self {
        Transfer { until: Some(until), ..self }
    }

    /// Sends all records that are there, and calls back after each accepted request.
    ///
    /// # Errors
    /// When the trail cannot be read, or the position not be noted.
    pub fn run(&mut self, progress: &mut dyn FnMut(Signal, SendCounts)) -> io::Result<TransferReport> {
        let mut report = TransferReport::default();
        let mut state = self.file.read();
        for signal in self.target.signals.clone() {
            // In the background, a signal that failed a moment ago is skipped.
            if self.until.is_some() && !state.is_due(signal, Timestamp::now(), true) {
                continue;
            }
            if let Err(refused) = self.wait_if_asked(signal, &state) {
                report.refused.push((signal, refused));
                continue;
            }
            let sent = match self.send_all(signal, &mut state, &mut report, progress)? {
                Ok(()) if signal == Signal::Metrics => self.send_tokens(&mut report)?,
                sent => sent,
            };
            match sent {
                Ok(()) => {
                    if state.succeed(signal) {
                        self.file.write(&state)?;
                    }
                }
                Err(refused) => {
                    // An unreachable collector fails for all signals. One that answers may accept another signal.
                    let is_unreachable = refused.is_unreachable;
                    let failed = if is_unreachable { self.target.signals.as_slice() } else { &[signal] };
                    failed.iter().for_each(|signal| state.fail(*signal, &refused));
                    self.file.write(&state)?;
                    report.refused.push((signal, refused));
                    if is_unreachable {
                        break;
                    }
                }
            }
        }
        Ok(report)
    }

    /// How long to retry. If one signal was refused until the end, the user waits less for the next one.
    fn patience(&self, report: &TransferReport) -> Duration {
        let was_retried = report.refused.iter().any(|(_, refused)| refused.is_transient);
        if was_retried { self.retry_for.min(SHORT_RETRY) } else { self.retry_for }
    }

    /// A collector that asked for a pause is not called before, not even by the next process.
    fn wait_if_asked(&self, signal: Signal, state: &ExportState) -> Result<(), SendError> {
        let Some(left) = state.asked_to_wait(signal, Timestamp::now()) else { return Ok(()) };
        let left_for = Duration::try_from(left).unwrap_or_default();
        if left_for <= self.retry_for && send::sleep(left_for) {
            return Ok(());
        }
        let (url, seconds) = (self.target.url(signal), left.as_secs().max(1));
        let what = format!("{url} asked to be called again in {seconds} s");
        Err(SendError { what, is_transient: true, retry_after: Some(left), ..SendError::default() })
    }

    fn send_all(
        &mut self,
        signal: Signal,
        state: &mut ExportState,
        report: &mut TransferReport,
        progress: &mut dyn FnMut(Signal, SendCounts),
    ) -> io::Result<Result<(), SendError>> {
        loop {
            let is_over =
                self.until.is_some_and(|until| Instant::now() >= until) || process::stop_signal().is_some();
            let Some(batch) = (if is_over { None } else { self.batch(signal, state, report)? }) else {
                return Ok(Ok(()));
            };
            if !batch.items.is_empty() {
                // The start is noted before anything is accepted, because `audit reset` may move the trail away.
                self.note(signal, batch.from.clone(), state)?;
                let body = otlp::request_body(signal, &self.resource, &batch.items);
                match send::send(self.target, signal, &body, self.patience(report)) {
                    Ok(answer) => progress(signal, self.accepted(signal, &batch, &answer, report)),
                    Err(refused) if refused.is_too_large && batch.records > 1 => {
                        self.max_records = batch.records / 2;
                        continue;
                    }
                    Err(refused) => return Ok(Err(refused)),
                }
            }
            if let Some(time) = batch.counted_until {
                state.count_until(time);
            }
            self.note(signal, batch.to, state)?;
            // Newer records are sent by the next call. Otherwise one signal would be sent record by record while the other waits.
            if batch.is_last {
                return Ok(Ok(()));
            }
        }
    }

    /// The tokens of answers, which are not in the trail.
    fn send_tokens(&self, report: &mut TransferReport) -> io::Result<Result<(), SendError>> {
        let Some(claude) = claude_folder() else { return Ok(Ok(())) };
        let before = self.file.read_usage();
        let mut usage = before.clone();
        let scope =
            UsageScope { claude: &claude, root: self.trail.root(), prices: &self.prices, stop: self.until };
        let points = usage.collect(&scope);
        let (metrics, until) = points.metrics(usage.until());
        if !metrics.is_empty() {
            let body = otlp::request_body(Signal::Metrics, &self.resource, &metrics);
            match send::send(self.target, Signal::Metrics, &body, self.patience(report)) {
                Ok(answer) => report.notes.extend(self.rejection(Signal::Metrics, &answer).1),
                Err(refused) => return Ok(Err(refused)),
            }
        }
        if let Some(until) = until {
            usage.count_until(until);
        }
        if usage != before {
            self.file.write_usage(&usage)?;
        }
        Ok(Ok(()))
    }

    /// How many items of an accepted request were rejected, and the message about it.
    fn rejection(&self, signal: Signal, answer: &str) -> (u64, Option<String>) {
        let (rejected, said) = otlp::rejected(signal, answer);
        if rejected == 0 && said.is_none() {
            return (0, None);
        }
        let said = said.unwrap_or_else(|| "without a reason".into());
        (rejected, Some(format!("{}: {rejected} rejected: {said}", self.target.url(signal))))
    }

    /// Adds the accepted items to the report.
    fn accepted(
        &self,
        signal: Signal,
        batch: &ExportBatch,
        answer: &str,
        report: &mut TransferReport,
    ) -> SendCounts {
        let (rejected, note) = self.rejection(signal, answer);
        let sent = report.sent.entry(signal).or_default();
        sent.records += batch.records as u64;
        sent.rejected += rejected;
        let sent = *sent;
        report.notes.extend(note);
        sent
    }

    fn note(&self, signal: Signal, mark: Mark, state: &mut ExportState) -> io::Result<()> {
        if state.positions.get(&signal) == Some(&mark) {
            return Ok(());
        }
        state.positions.insert(signal, mark);
        self.file.write(state)
    }

    /// The next records; none at the end of the trail.
    fn batch(
        &self,
        signal: Signal,
        state: &ExportState,
        report: &mut TransferReport,
    ) -> io::Result<Option<ExportBatch>> {
        let mark = state.positions.get(&signal);
        let earlier = self.trail.earlier();
        let mut trails: Vec<&Trail> = earlier.iter().chain([self.trail]).collect();
        let mut first = None;
        if let Some(mark) = mark {
            while let Some((trail, rest)) = trails.split_first() {
                first = Reader::after(trail, mark)?;
                if first.is_some() {
                    break;
                }
                trails = rest.to_vec();
            }
        }
        if first.is_none() {
            if mark.is_some() {
                let what =
                    "the position up to which it was sent is no longer in the trail, so all of it is sent";
                report.notes.push(format!("{}: {what}", signal.name()));
            }
            trails = vec![self.trail];
        }
        let last = trails.len().saturating_sub(1);
        for (number, trail) in trails.into_iter().enumerate() {
            let mut reader = first.take().unwrap_or_else(|| Reader::new(trail));
            if let Some(batch) = self.read(signal, &mut reader, state.counted_until())? {
                return Ok(Some(ExportBatch { is_last: batch.is_last && number == last, ..batch }));
            }
        }
        Ok(None)
    }

    /// `None` if there is nothing after the reader's position.
    fn read(
        &self,
        signal: Signal,
        reader: &mut Reader<'_>,
        counted_until: Option<Timestamp>,
    ) -> io::Result<Option<ExportBatch>> {
        let from = reader.mark();
        let (mut items, mut records, mut bytes, mut is_full) = (Vec::new(), 0, 0, false);
        let mut points = Points::default();
        reader.each_until(&self.filter, |entry| {
            if signal == Signal::Metrics {
                points.take(entry);
                records += 1;
                is_full = records >= self.max_records;
                return Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
            }
            let own = if self.target.has_output {
                otlp::items(signal, entry)
            } else {
                otlp::items(signal, &entry.without_output())
            };
            bytes += own.iter().map(|item| item.to_string().len()).sum::<usize>();
            records += usize::from(!own.is_empty());
            items.extend(own);
            is_full = records >= self.max_records || bytes >= MAX_BYTES;
            Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        let to = reader.mark();
        if to == from {
            return Ok(None);
        }
        let (metrics, counted_until) = points.metrics(counted_until);
        items.extend(metrics);
        Ok(Some(ExportBatch { items, records, from, to, is_last: !is_full, counted_until }))
    }
}

/// The content of one request.
struct ExportBatch {
    items: Vec<Value>,
    records: usize,
    from: Mark,
    to: Mark,
    /// Whether the trail has no further records now.
    is_last: bool,
    /// The time of its newest point of metrics.
    counted_until: Option<Timestamp>,
}
