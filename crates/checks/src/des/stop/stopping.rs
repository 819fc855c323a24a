//! What Gate 3 looks at.

use std::path::Path;

use crate::des::call::GatedCall;
use crate::des::context::PromptOrigin;
use crate::des::markers::Markers;
use conclaude_core::config::{DesConfig, GateConfig};
use conclaude_os::git::WorkTree;

#[derive(Debug)]
pub struct StopRequest<'a> {
    pub markers: &'a Markers,
    pub origin: &'a PromptOrigin,
    pub agent: &'a str,
    pub session: &'a str,
    pub root: &'a Path,
    /// Where the agent worked: the root, or its worktree.
    pub tree: &'a WorkTree,
    pub main: &'a Path,
    pub own: Option<&'a Path>,
    /// What the agent is judged by: what the config said at the call, where Gate 1 saw it.
    pub des: &'a DesConfig,
    /// What the config says now, if it can be read.
    pub config_now: Option<&'a GateConfig>,
}

impl StopRequest<'_> {
    pub(super) fn call(&self) -> Option<&GatedCall> {
        self.origin.call.as_ref()
    }

    /// Who deletes what a gate compares with must not get around it.
    pub(super) fn lost_baseline(&self) -> bool {
        self.tree.baseline.is_none() && self.origin.call.as_ref().is_some_and(|call| call.has_tree)
    }

    pub(super) fn is_in_worktree(&self) -> bool {
        self.tree.path != self.root
    }
}
