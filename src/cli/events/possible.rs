//! `conclaude events --client NAME`: the events and features of one client, and what it lacks.

use std::io;

use serde_json::{Value, json};

use super::super::out::Out;
use super::super::table;
use super::{BOLD, unknown};
use conclaude_core::dialect::Dialect;
use conclaude_core::dialect::possible::{MissingEvent, PossibleEvent};
use conclaude_core::event::EventKind;

pub(super) struct PossibleEvents {
    client: &'static Dialect,
    events: Vec<PossibleEvent>,
    missing: Vec<MissingEvent>,
    own: Vec<&'static str>,
}

impl PossibleEvents {
    /// The possibilities at all events, or at one event, with the client's name for it or ours.
    pub(super) fn of(client: &'static Dialect, name: Option<&str>) -> anyhow::Result<PossibleEvents> {
        let all = PossibleEvents {
            client,
            events: client.possible_events().collect(),
            missing: client.missing_events().collect(),
            own: client.own_events().collect(),
        };
        let Some(name) = name else { return Ok(all) };
        let ours = EventKind::named(name).or_else(|| EventKind::of_section(name));
        let events: Vec<PossibleEvent> = all.events;
        let events =
            events.into_iter().filter(|one| Some(one.event) == ours || one.client_event == name).collect();
        let missing = all.missing.into_iter().filter(|one| Some(one.event) == ours).collect();
        let own = all.own.into_iter().filter(|own| *own == name).collect();
        let one = PossibleEvents { client, events, missing, own };
        if one.events.is_empty() && one.missing.is_empty() && one.own.is_empty() {
            return Err(anyhow::Error::msg(unknown(name)));
        }
        Ok(one)
    }

    pub(super) fn as_json(&self) -> Value {
        let events = self.events.iter().map(|one| {
            json!({
                "event": one.event.name(),
                "client_event": one.client_event,
                "section": one.event.row().section,
                "compares": one.event.row().compares(),
                "block": one.block,
                "context": one.context,
                "shown": one.shown,
                "note": one.note,
            })
        });
        let missing = self.missing.iter().map(|one| json!({"event": one.event.name(), "why": one.why}));
        json!({
            "client": self.client.name,
            "events": events.collect::<Vec<_>>(),
            "missing": missing.collect::<Vec<_>>(),
        })
    }

    pub(super) fn show(&self, out: &mut Out<'_>) -> io::Result<()> {
        let title = self.client.title;
        let yes_or_no = |is: bool| if is { "yes" } else { "no" };
        let heading = ["EVENT", "THERE", "ONFAILURE: BLOCK", "CONTEXT", "SHOWN", "NOTE"];
        let rows = self.events.iter().map(|one| {
            [
                one.event.name(),
                one.client_event,
                one.block.unwrap_or("-"),
                yes_or_no(one.context),
                yes_or_no(one.shown),
                one.note.unwrap_or_default(),
            ]
        });
        let rows: Vec<[String; 6]> =
            std::iter::once(heading).chain(rows).map(|row| row.map(str::to_owned)).collect();
        if rows.len() > 1 {
            table(out, &rows, BOLD)?;
            writeln!(
                out,
                "\nCONTEXT: the model reads what a hook adds. SHOWN: you see messages of a hook on the screen."
            )?;
        }
        if !self.own.is_empty() {
            writeln!(
                out,
                "Only {title} has {}: commands run there, and nothing blocks.",
                self.own.join(", ")
            )?;
        }
        if !self.missing.is_empty() {
            writeln!(out, "\nMissing")?;
        }
        let plain = format!("{title} has no such event");
        let (plain, others): (Vec<_>, Vec<_>) = self.missing.iter().partition(|one| one.why == plain);
        for one in others {
            writeln!(out, "  {}: {}", one.event.name(), one.why)?;
        }
        if let Some(first) = plain.first() {
            let names: Vec<&str> = plain.iter().map(|one| one.event.name()).collect();
            writeln!(out, "  {}: {}", names.join(", "), first.why)?;
        }
        Ok(())
    }
}
