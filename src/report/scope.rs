//! What a report is about.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;

use conclaude_core::config::PriceTable;

pub(crate) struct Scope<'a> {
    pub(crate) root: &'a Path,
    /// Where Claude Code keeps its transcripts.
    pub(crate) claude: Option<&'a Path>,
    /// The session, or the start of its id.
    pub(crate) session: Option<&'a str>,
    pub(crate) since: Option<Timestamp>,
    pub(crate) prices: &'a PriceTable,
}

/// Paths of step files that records name.
pub(super) type StepNames = BTreeSet<String>;
