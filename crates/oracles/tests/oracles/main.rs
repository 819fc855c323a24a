//! Our shell parser and our config loader, compared with those of others.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod brush;
mod cases_schema;
mod config_schema;
mod rable;
mod saphyr;
