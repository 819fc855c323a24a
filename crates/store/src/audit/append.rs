//! Recording: a record is bounded in size and written under a lock, or queued.

use std::fs::File;
use std::io;

use serde_json::{Map, Value};

use super::lines::MAX_LINE_BYTES;
use super::record::Record;
use super::trace::TraceParent;
use super::trail::{LOCK_WAIT, Trail};
use super::writer::Writer;
use crate::store;
use conclaude_os::files;

/// Longer texts are cut.
const MAX_TEXT: usize = 4_000;

impl Trail {
    /// Writes the records that others had to queue, if there are any.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_pending(&self) -> io::Result<()> {
        if self.pending().is_empty() {
            return Ok(());
        }
        match self.lock()? {
            Some(_lock) => Writer::open(self)?.write_pending(),
            None => Ok(()),
        }
    }

    /// Writes a record. If the trail is locked for too long, the record is queued, and whoever writes next writes it too.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn append(&self, record: &Record) -> io::Result<()> {
        let body = body_of(record)?;
        let Some(_lock) = self.lock()? else { return self.queue(&body) };
        let mut writer = Writer::open(self)?;
        writer.write_pending()?;
        writer.write(&[body])
    }

    /// None if another process holds the trail for too long.
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        store::make_folder(&self.root, &self.folder)?;
        files::make_private(&self.folder);
        files::lock(&self.lock, LOCK_WAIT, &self.budget)
    }

    /// The number of the last record. What proves work that starts now comes after it.
    #[must_use]
    pub fn last_number(&self) -> u64 {
        match self.read_anchor() {
            Some(end) if !end.may_be_late() => end.last.seq,
            end => self.last_in_files().unwrap_or(0).max(end.map_or(0, |end| end.last.seq)),
        }
    }
}

/// The record with its time, bounded in size, as the text of a JSON object.
pub(super) fn body_of(record: &Record) -> io::Result<String> {
    let now = jiff::Timestamp::now();
    let now = now.round(jiff::Unit::Millisecond).unwrap_or(now);
    let traceparent = record.traceparent.clone().or_else(TraceParent::of_process);
    let fields = serde_json::to_string(&Record { traceparent, ..record.clone() })?;
    let body = format!("{{\"time\":\"{now}\",{}", fields.strip_prefix('{').unwrap_or(&fields));
    if body.len() <= MAX_TEXT { Ok(body) } else { shorter(&body) }
}

fn shorter(body: &str) -> io::Result<String> {
    let fields: Map<String, Value> = serde_json::from_str(body)?;
    let mut fields: Map<String, Value> =
        fields.into_iter().map(|(name, value)| (name, bounded(value))).collect();
    let body = serde_json::to_string(&fields)?;
    if body.len() <= MAX_LINE_BYTES / 2 {
        return Ok(body);
    }
    fields.retain(|name, _| !matches!(name.as_str(), "findings" | "commands" | "des" | "evidence" | "judge"));
    fields.insert("shortened".into(), true.into());
    Ok(serde_json::to_string(&fields)?)
}

/// Long texts are cut: the trail says what was decided, not all that was said.
fn bounded(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > MAX_TEXT => {
            let cut = text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or_default();
            format!("{cut}… ({} bytes in all)", text.len()).into()
        }
        Value::Array(items) => items.into_iter().map(bounded).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, bounded(value))).collect(),
        other => other,
    }
}
