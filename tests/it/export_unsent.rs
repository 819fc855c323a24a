//! Decisions that cannot be sent because of the config: the process in the background has nobody to tell, so others say it.

use insta::assert_snapshot;

use crate::common::Test;

const CONFIG: &str = "
telemetry: {endpoint: 'http://127.0.0.1:9', headers: {authorization: 'Bearer ${COLLECTOR_TOKEN}'}}
stop: {commands: [{run: 'true'}]}
";

fn doctor(test: &Test) -> String {
    let shown = test.shows(&["doctor"]);
    shown.lines().skip_while(|line| !line.contains(" telemetry ")).take(2).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_header_whose_variable_is_not_set_is_reported_by_doctor_and_at_the_start_of_a_session() {
    let test =
        Test::event("Stop").config("stop: {commands: [{run: 'true'}]}").run().silent().again().config(CONFIG);
    test.shows(&["trust", "--yes"]);
    assert_snapshot!(doctor(&test), @"
    ⚠ telemetry    nothing was sent to http://127.0.0.1:[PORT] yet; telemetry.headers: authorization: the environment variable COLLECTOR_TOKEN is not set here
                   → set it where Claude Code is started
    ");
    // As a hook starts it.
    assert_snapshot!(test.shows(&["audit", "export", "--otlp", "--background"]), @"
    exit 1
    ----- stderr
    conclaude: telemetry.headers: authorization: the environment variable COLLECTOR_TOKEN is not set
    ");
    assert_snapshot!(doctor(&test), @"
    ⚠ telemetry    nothing could be sent since [TIME]; telemetry.headers: authorization: the environment variable COLLECTOR_TOKEN is not set here
                   → set it where Claude Code is started
    ");
    let started = test.then("SessionStart").run();
    assert_snapshot!(started.system_message(), @"
    conclaude: ⚠ decisions are not sent: telemetry.headers: authorization: the environment variable COLLECTOR_TOKEN is not set
    Nothing is lost: set it where Claude Code is started
    ");
    // It is known here that this is over.
    started.again().env("COLLECTOR_TOKEN", "x").run().silent();
}
