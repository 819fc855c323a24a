//! YAML is what another reader reads.

use conclaude_core::yaml;
use proptest::prelude::*;
use serde_json::Value;

proptest! {
    /// Where another reader accepts a text too, both see the same. It reads a few more numbers (`0b1`, `1_0`) than the core
    /// schema has, so numbers are plain here.
    #[test]
    fn texts_mean_what_they_mean_to_another_reader(
        text in "([a-d]|\"a\"|'b')(: | : |:\n  |:\n- |: \\[)([a-d]{1,3}|[1-9]|~|true|'x y'|\"z\"|\\|\n  k|>-\n  l)(\n[a-d]: [a-d]|\\]|\n  [a-d]: e| # c)?(\n|\r\n)?",
    ) {
        let other = serde_saphyr::from_str::<Value>(&text);
        let ours = yaml::read(&text).ok().and_then(|tree| <Value as serde::Deserialize>::deserialize(&tree).ok());
        prop_assert_eq!(ours, other.ok(), "{:?}", text);
    }
}
