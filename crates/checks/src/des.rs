//! Gated steps. A prompt names its step file in markers, and a subagent may only stop when the step file proves that the
//! work is done. Gate 1 checks before the call, Gate 2 while the agent works, Gate 3 when it stops.

pub mod boundaries;
pub mod call;
pub mod check;
pub mod context;
pub mod evidence;
pub mod gates;
pub mod judge;
pub mod markers;
pub mod offline;
pub mod phases;
pub mod protected;
pub mod record;
pub mod scope;
pub mod started_agents;
pub mod step;
pub mod step_folders;
pub mod stop;

pub use context::DesContext;
pub use markers::Markers;
pub use step::Step;
