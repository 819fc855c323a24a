//! The possibilities at the events of a client, and the events that it lacks.

use super::Dialect;
use crate::event::{ALL, EventKind};

/// An event of ours that a client has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleEvent {
    pub event: EventKind,
    /// The client's name for it.
    pub client_event: &'static str,
    /// The effect of a block. None if it has no effect, or none was observed.
    pub block: Option<&'static str>,
    /// Whether the model gets context.
    pub context: bool,
    /// Whether the user sees messages.
    pub shown: bool,
    pub note: Option<&'static str>,
}

/// An event that the client does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingEvent {
    pub event: EventKind,
    pub why: String,
}

impl Dialect {
    /// The possibilities at one of our events.
    #[must_use]
    pub fn possible(&self, event: EventKind) -> Option<PossibleEvent> {
        if !self.is_translated() {
            return Some(PossibleEvent {
                event,
                client_event: event.name(),
                block: event.row().block_effect(),
                context: event.takes_context(),
                shown: event.is_shown(),
                note: None,
            });
        }
        let row = self.row(event)?;
        Some(PossibleEvent {
            event,
            client_event: row.name,
            block: row.block,
            context: row.takes_context,
            shown: row.is_shown,
            note: row.note,
        })
    }

    /// Our events that the client has, in the order of our table.
    pub fn possible_events(&self) -> impl Iterator<Item = PossibleEvent> {
        ALL.iter().filter_map(|event| self.possible(*event))
    }

    /// Our events that the client lacks.
    pub fn missing_events(&self) -> impl Iterator<Item = MissingEvent> {
        ALL.iter().filter_map(|event| Some(MissingEvent { event: *event, why: self.lacks(*event)? }))
    }

    /// Why a known event never comes from it. An event that no client has may be a newer one.
    #[must_use]
    pub fn lacks(&self, event: EventKind) -> Option<String> {
        if !event.is_known() {
            let owner = super::ALL.into_iter().find(|client| client.row(event).is_some())?;
            let is_own = owner == self;
            return if is_own { None } else { Some(format!("only {} has {event}", owner.title)) };
        }
        if self.possible(event).is_some() {
            return None;
        }
        let known = self.missing.iter().find(|(missing, _)| *missing == event);
        Some(match known {
            Some((_, why)) => (*why).to_owned(),
            None => format!("{} has no such event", self.title),
        })
    }

    /// Events that only this client has. Their commands run.
    pub fn own_events(&self) -> impl Iterator<Item = &'static str> {
        self.events.iter().filter(|event| !event.kind.is_known()).map(|event| event.name)
    }
}
