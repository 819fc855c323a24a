//! `conclaude why`: a decision of the trail with its rules, and whether today's config would decide so again.

use std::io;

use serde_json::{Value, json};

use super::out::Out;
use conclaude_core::exit::Exit;
use conclaude_store::audit::{Filter, Reader, Trail, TrailEntry, newest};

mod print;
mod today;

pub(super) const EXAMPLES: &str = "Examples:
  conclaude why             the newest record
  conclaude why 17          the record with this number in `conclaude audit show`

Exits with 0 whatever was decided, and with 1 if there is no such record.";

#[derive(clap::Args)]
pub(super) struct Request {
    /// The number of the record, as `conclaude audit show` prints it [default: the newest]
    #[arg(value_name = "NUMBER", conflicts_with = "last")]
    number: Option<u64>,
    /// The newest record
    #[arg(long)]
    last: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(request: &Request) -> io::Result<Exit> {
    let trail = Trail::of(&super::root()?.folder, None);
    let entry = find(&trail, request.number)?;
    let today = today::today(&entry.record);
    let mut out = Out::stdout();
    if request.json {
        out.json(&json!({ "record": entry.record, "tampered": entry.doubt, "today": today.json() }))?;
    } else {
        print::all(&mut out, &entry, &today)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// The record with this number, or the newest.
fn find(trail: &Trail, number: Option<u64>) -> io::Result<TrailEntry> {
    let Some(number) = number else {
        return newest(trail)?.ok_or_else(|| {
            io::Error::other(format!(
                "there are no records in {}: `conclaude explain EVENT` shows what would happen",
                trail.folder().display()
            ))
        });
    };
    numbered(trail, number)
}

fn numbered(trail: &Trail, number: u64) -> io::Result<TrailEntry> {
    let mut reader = Reader::new(trail);
    let mut found: Option<TrailEntry> = None;
    let mut last = 0;
    reader.each(&Filter::default(), |entry| {
        let seq = entry.record.get("seq").and_then(Value::as_u64).unwrap_or(0);
        last = last.max(seq);
        if number == seq {
            found = Some(entry.clone());
        }
        Ok(())
    })?;
    found.ok_or_else(|| {
        io::Error::other(match last {
            1.. => format!(
                "there is no record {number}: the newest is {last}, and `conclaude audit show` lists them"
            ),
            0 => format!(
                "there are no records in {}: `conclaude explain EVENT` shows what would happen",
                trail.folder().display()
            ),
        })
    })
}
