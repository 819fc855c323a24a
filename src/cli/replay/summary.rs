//! The results of a replay.

use crate::replay::Elsewhere;
use crate::replay::seen::Seen;
use conclaude_engine::hooks::replay::Replayer;
use conclaude_store::transcript::listing::SkippedFiles;

pub(super) struct ReplaySummary<'a> {
    pub(super) replayer: &'a Replayer,
    pub(super) seen: &'a Seen,
    pub(super) sessions: u64,
    pub(super) transcripts: u64,
    pub(super) seconds: f64,
    /// Why the config would not be used by a hook.
    pub(super) untrusted: Vec<String>,
    /// What of the folders that are meant was not read.
    pub(super) not_listed: SkippedFiles,
    /// Sessions that had another config, or whose folder is gone.
    pub(super) other_configs: Elsewhere,
    pub(super) gone: Elsewhere,
}
