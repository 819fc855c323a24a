//! The audit trail for other programs: OpenTelemetry and CSV. Nothing here is done while a client waits for an answer.

mod attributes;
pub mod background;
mod csv;
mod ids;
mod logs;
mod otlp;
mod send;
mod spans;
mod state;
mod target;
mod transfer;

pub use csv::Csv;
pub use send::sleep;
pub use state::{ExportState, all as states, note_failure};
pub use target::Target;
pub use transfer::{SendCounts, Transfer, TransferReport};
