//! The audit trail for other programs: OpenTelemetry and CSV. Nothing here is done while a client waits for an answer.

mod attributes;
pub(crate) mod background;
mod csv;
mod ids;
mod logs;
mod otlp;
mod send;
mod spans;
mod state;
mod target;
mod transfer;

pub(crate) use csv::Csv;
pub(crate) use send::sleep;
pub(crate) use state::{State, all as states, note_failure};
pub(crate) use target::Target;
pub(crate) use transfer::{Report, Sent, Transfer};
