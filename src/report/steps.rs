//! The step files that records name, as they are now.

use std::path::Path;

use super::StepNames;
use super::model::{Phase, Step};
use conclaude_checks::des::step;

/// More than any project has at once.
const MAX_STEPS: usize = 2_000;

pub(super) fn read(root: &Path, names: &StepNames) -> Vec<Step> {
    names.iter().take(MAX_STEPS).map(|name| one(root, name)).collect()
}

fn one(root: &Path, name: &str) -> Step {
    let read = step::locate(root, name).and_then(|path| step::read(&path, name));
    let (step, _) = match read {
        Ok(read) => read,
        Err(finding) => {
            return Step { step: name.to_owned(), problem: Some(finding.what), ..Step::default() };
        }
    };
    let phases = step.phases().unwrap_or_default().into_iter().map(|phase| Phase {
        name: phase.name,
        status: phase.status,
        outcome: phase.outcome,
        blocked_by: phase.blocked_by,
    });
    Step {
        step: name.to_owned(),
        name: step.name(),
        state: step.state(),
        problem: None,
        phases: phases.collect(),
    }
}
