//! The audit trail for other programs: OpenTelemetry and CSV. No client waits for anything here.

mod attributes;
pub mod background;
mod csv;
mod metrics;
mod otlp;
mod send;
mod spans;
mod state;
mod transfer;
mod usage;

pub use csv::Csv;
pub use send::{Target, TargetError, VariableError, sleep};
pub use state::{ExportState, all as states, note_failure};
pub use transfer::{SendCounts, Transfer, TransferReport};
