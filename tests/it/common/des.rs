//! Calls of `conclaude des …`, and what they leave in a step file.

use std::process::Output;

use serde_json::Value;

use super::workflow::todo;
use super::{Test, conclaude_in, run_in};

pub(crate) const STEP: &str = "steps/01-01.json";

/// Calls a subcommand in the project.
pub(crate) fn des(test: &Test, arguments: &[&str]) -> Output {
    conclaude_in(&test.root()).arg("des").args(arguments).output().unwrap()
}

/// The same, for a snapshot.
pub(crate) fn shows(test: &Test, arguments: &[&str]) -> String {
    test.shows(&[&["des"], arguments].concat())
}

#[track_caller]
pub(crate) fn ok(test: &Test, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run_in(&test.root(), &[&["des"], arguments].concat());
    assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
    stdout
}

#[track_caller]
pub(crate) fn refused(test: &Test, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run_in(&test.root(), &[&["des"], arguments].concat());
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{arguments:?}");
    stderr
}

pub(crate) fn step(test: &Test) -> Value {
    serde_json::from_str(&std::fs::read_to_string(test.root().join(STEP)).unwrap()).unwrap()
}

pub(crate) fn phase(test: &Test, name: &str) -> Value {
    let log = step(test)["tdd_cycle"]["phase_execution_log"].clone();
    log.as_array().unwrap().iter().find(|phase| phase["phase_name"] == name).unwrap().clone()
}

pub(crate) fn project() -> Test {
    Test::stop().step(&todo())
}
