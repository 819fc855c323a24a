//! The three gates of DES, from payload to answer.

mod call;
mod config;
mod folders;
mod gate_2;
mod own_files;
mod prompt;
mod scope;
mod stop;
mod unfinished;

use serde_json::Value;

use crate::common::workflow::{MARKERS, done, todo};
use crate::common::{Outcome, Test};

fn called(step: &Value, prompt: &str) -> Outcome {
    Test::stop().step(step).call_agent(prompt).run()
}

fn at_work() -> Test {
    at_work_with("")
}

fn at_work_with(config: &str) -> Test {
    let test = Test::stop().config(config).step(&todo()).file("src/x", "");
    test.call_agent(MARKERS).run().again().agent_files(MARKERS)
}

fn blocked(step: &Value) -> String {
    Test::gated_stop(step).run().blocked()
}

fn worked(change: impl FnOnce(Test) -> Test) -> Test {
    worked_with("", change)
}

fn worked_with(config: &str, change: impl FnOnce(Test) -> Test) -> Test {
    let test =
        Test::stop().config(config).step(&todo()).file("src/a.rs", "1").file("README.md", "1").committed();
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS).step(&done());
    change(test).stops()
}
