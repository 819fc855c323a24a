//! What conclaude knows of a hook event: a row of the table of events, which is in the dialect of the client whose events they are.

pub mod columns;

pub use crate::dialect::claude::events::{ALL, EventKind, names};
pub use columns::Example;
pub use columns::{BlockCounter, Blocking, Changes, Field, RegistrationRule, Row, Shape, Subject, Values};
