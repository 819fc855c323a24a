//! Headers are secrets.

use super::*;

#[test]
fn headers_come_from_the_environment_and_are_never_shown() {
    let collector = Collector::answering(|_, _| Reply::Says("401 Unauthorized", "", ""));
    let headers = "{Authorization: 'Bearer ${COLLECTOR_TOKEN}', x-team: blue}";
    let config = format!("telemetry: {{endpoint: '{}', headers: {headers}}}\n{CONFIG}", collector.url);
    let test = with_records(1).config(&config);
    let root = test.root();
    let call = |token: Option<&str>, url: &[&str]| {
        let mut command = conclaude_in(&root);
        command.args(["audit", "export", "--otlp"]).args(url).env("OTEL_EXPORTER_OTLP_HEADERS", "x-other=1");
        token.map(|token| command.env("COLLECTOR_TOKEN", token));
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text)
            .unwrap()
            .replace(&collector.url, "[URL]")
            .replace(root.to_str().unwrap(), "[ROOT]")
    };
    assert_snapshot!(call(Some("very-secret"), &[]), @"conclaude: [ROOT]/.conclaude.yaml is not trusted, and names the endpoint [URL]: `conclaude trust` shows what you agree to");
    assert_snapshot!(call(Some("very-secret"), &[&collector.url]), @"
    conclaude: warning: [ROOT]/.conclaude.yaml is not trusted: none of its `telemetry.headers` are sent
    conclaude: logs: [URL]/v1/logs answered 401; check the `headers`
    conclaude: traces: [URL]/v1/traces answered 401; check the `headers`
    conclaude: metrics: [URL]/v1/metrics answered 401; check the `headers`
    ");
    let head = collector.next().head;
    assert!(head.contains("x-other: 1\r\n") && !head.contains("secret"), "the user named it: {head}");
    collector.received();
    test.shows(&["trust", "--yes"]);
    assert_snapshot!(call(None, &[]), @"conclaude: telemetry.headers: Authorization: the environment variable COLLECTOR_TOKEN is not set");
    assert!(collector.received().is_empty());
    assert_snapshot!(call(Some("very-secret"), &[]), @"
    conclaude: logs: [URL]/v1/logs answered 401; check the `headers`
    conclaude: traces: [URL]/v1/traces answered 401; check the `headers`
    conclaude: metrics: [URL]/v1/metrics answered 401; check the `headers`
    ");
    let head = collector.next().head;
    assert!(
        head.contains("authorization: Bearer very-secret\r\n") && head.contains("x-team: blue\r\n"),
        "{head}"
    );
    assert!(!head.contains("x-other"), "{head}");
    let other = Collector::new();
    call(Some("very-secret"), &[&other.url]);
    let head = other.next().head;
    assert!(
        head.contains("x-other: 1\r\n") && !head.contains("secret"),
        "only its own endpoint gets a header: {head}"
    );
}

#[test]
fn a_token_that_is_written_in_the_config_is_shown_nowhere() {
    let collector = Collector::answering(|_, _| Reply::Says("401 Unauthorized", "", ""));
    let headers = "{Authorization: very-secret, x-team: '${TEAM}'}";
    let config = format!("telemetry: {{endpoint: '{}', headers: {headers}}}\n{CONFIG}", collector.url);
    let test = Test::event("Stop").config(&config).env("CONCLAUDE_LOG", "debug");
    let test = test.run().nowhere("very-secret").again();
    test.shows(&["trust", "--yes"]);
    let shown = test.shows(&["config", "show"]);
    assert!(
        shown.contains("Authorization: \"(not shown)\"") && shown.contains("x-team: \"${TEAM}\""),
        "{shown}"
    );
    for arguments in [
        &["config", "show", "--json", "--origin"][..],
        &["audit", "show", "--json"],
        &["audit", "export", "--otlp", "--retry-for", "0"],
        &["doctor"],
        &["trust"],
        &["validate"],
    ] {
        let shown = test.shows(arguments);
        assert!(!shown.contains("very-secret"), "{arguments:?}: {shown}");
    }
}
