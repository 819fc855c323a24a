use proptest::prelude::*;
use serde_json::{Value, json};

use super::tree::MAX_VALUES;
use super::*;

fn value(text: &str) -> Value {
    let tree = read(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    serde::Deserialize::deserialize(&tree).unwrap()
}

fn reason(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn a_scalar_is_what_the_core_schema_says() {
    for (text, expected) in [
        ("", json!(null)),
        ("~", json!(null)),
        ("null", json!(null)),
        ("true", json!(true)),
        ("FALSE", json!(false)),
        ("yes", json!("yes")),
        ("on", json!("on")),
        ("0", json!(0)),
        ("-17", json!(-17)),
        ("+5", json!(5)),
        ("0x1F", json!(31)),
        ("0o17", json!(15)),
        ("0x", json!("0x")),
        ("0x-1", json!("0x-1")),
        ("1_000", json!("1_000")),
        ("1.5", json!(1.5)),
        ("-.5", json!(-0.5)),
        ("1e3", json!(1000.0)),
        ("1.2.3", json!("1.2.3")),
        ("inf", json!("inf")),
        ("-", json!([null])),
        ("- ", json!([null])),
        ("--all", json!("--all")),
        ("'5'", json!("5")),
        ("\"true\"", json!("true")),
        ("!!str 5", json!("5")),
        ("|\n  a\n  b\n", json!("a\nb\n")),
        (">\n  a\n  b\n", json!("a b\n")),
        ("{a: 1, b, c: {d: [~]}}", json!({"a": 1, "b": null, "c": {"d": [null]}})),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
}

#[test]
fn anchors_and_merged_keys_mean_what_they_mean_elsewhere() {
    let text = "x-base: &base {run: a, timeout: 5}\nlist: [*base]\none:\n  <<: *base\n  run: b\ntwo:\n  <<: [{a: 1}, {a: 2, b: 2}]\n";
    assert_eq!(
        value(text),
        json!({
            "x-base": {"run": "a", "timeout": 5},
            "list": [{"run": "a", "timeout": 5}],
            "one": {"run": "b", "timeout": 5},
            "two": {"a": 1, "b": 2},
        })
    );
}

#[test]
fn what_is_not_accepted_has_a_reason_and_a_line() {
    for (text, expected) in [
        ("a: 1\n---\nb: 2\n", "line 2: a second document starts here: only one is read"),
        ("a: !secret x\n", "line 1: unknown tag: remove it"),
        ("a: !thing {b: 1}\n", "line 1: unknown tag: remove it"),
        ("\n? [a, b]\n: c\n", "line 2: a key must be text"),
        ("a: &a [*a]\n", "line 1: an alias inside the value that it names"),
        ("a:\n  <<: 5\n", "line 2: `<<` merges only mappings"),
    ] {
        assert_eq!(reason(text), expected);
    }
    for text in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000)] {
        reason(&text);
    }
    assert!(reason(&"- 1\n".repeat(MAX_VALUES + 1)).ends_with("more than 10000 values"));
}

#[test]
fn a_duplicate_key_is_an_error_also_behind_an_alias() {
    for text in ["{a: 1, a: 2}", "x: {a: 1, 'a': 2}", "x: &x {a: 1, a: 2}\ny: *x"] {
        let tree = read(text).unwrap();
        let error = <Value as serde::Deserialize>::deserialize(&tree).unwrap_err();
        assert_eq!(error.to_string(), "duplicate key `a`", "{text:?}");
    }
}

#[test]
fn a_value_can_ask_where_it_was_written() {
    let tree = read_source("a:\n  - x\n  - {b: 1}\n", 7).unwrap();
    let located: std::collections::HashMap<String, Vec<Located<Value>>> =
        serde::Deserialize::deserialize(&tree).unwrap();
    let at = |line, value| Located { value, line, source: 7 };
    assert_eq!(located["a"], [at(2, json!("x")), at(3, json!({"b": 1}))]);
}

fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-z*-]{1,6}", inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_is_read_as_it_is(expected in any_value()) {
        prop_assert_eq!(value(&expected.to_string()), expected);
    }

    #[test]
    fn no_text_is_a_panic(text in "[-a-c:*\\[\\]{}\"'#&!<>|?%@` \n\t0-9.~]{0,60}") {
        drop(read(&text));
    }
}
