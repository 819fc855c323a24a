//! The schema of cases and their loader agree.

use std::path::Path;

use conclaude_core::config::{TestFile, test_schema_text};
use serde_json::{Value, json};

#[test]
fn the_schema_accepts_what_the_loader_accepts() {
    let schema: Value = serde_json::from_str(&test_schema_text()).unwrap();
    let validator = jsonschema::draft7::new(&schema).unwrap();
    let case = |key: &str, value: Value| {
        let mut case = json!({ "name": "x", "event": "Stop", "expect": { "blocks": true } });
        case[key] = value;
        json!({ "cases": [case] })
    };
    let results = [
        json!(0),
        json!(255),
        json!(256),
        json!(-1),
        json!("timeout"),
        json!("later"),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!({ "exit": null, "stdout": "x", "stderr": null }),
        json!({ "exit": "timeout" }),
        json!({ "exit": 256 }),
        json!({ "code": 3 }),
    ];
    let expectations = [json!(true), json!("text"), json!(" "), json!(5), json!(null), json!(["x"])];
    let files = results
        .into_iter()
        .map(|result| case("results", json!({ "make": result })))
        .chain(expectations.map(|expected| case("expect", json!({ "allows": true, "shows": expected }))))
        .chain(["stop", "Stop", "later"].map(|event| case("event", json!(event))));
    for file in files {
        let loaded = TestFile::parse(&file.to_string(), Path::new("x"));
        assert_eq!(loaded.is_ok(), validator.is_valid(&file), "{file}");
    }
}
