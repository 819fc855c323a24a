//! The possible keys of a config, from the schema: for keys that no file sets.

use anyhow::anyhow;
use serde_json::{Map, Value};

use conclaude_core::config::schema_text;
use conclaude_core::text::{nearest, quoted_list};

/// The value of an unset key: its default, or that of its parent.
pub(super) fn default_of(key: &str) -> anyhow::Result<String> {
    let schema: Value = serde_json::from_str(&schema_text()).unwrap_or_default();
    let mut parents = vec![&schema];
    let mut description = "";
    for part in key.split('.') {
        let known: Vec<&Map<String, Value>> =
            parents.iter().filter_map(|one| one.get("properties")?.as_object()).collect();
        let Some(found) = known.iter().find_map(|properties| properties.get(part)) else {
            // A map whose keys are patterns or names: none of them has a default.
            if parents.iter().any(|one| one.get("additionalProperties").is_some_and(Value::is_object)) {
                return Err(anyhow!("the config has no `{part}` in it: nothing is set for it"));
            }
            let names = known.iter().flat_map(|properties| properties.keys());
            return Err(unknown(part, &names.map(String::as_str).collect::<Vec<_>>()));
        };
        description = found.get("description").and_then(Value::as_str).unwrap_or_default();
        parents = alternatives(&schema, found);
    }
    Ok(match description.split_once("Default: ") {
        Some((_, default)) => format!("`{key}` is not set. Default: {}", default.replace('\n', " ")),
        None if parents.iter().any(|one| one.get("properties").is_some()) => {
            format!("`{key}` is not set: the defaults of its keys apply")
        }
        None => format!("`{key}` is not set"),
    })
}

fn unknown(key: &str, known: &[&str]) -> anyhow::Error {
    match (nearest(key, known.iter().copied()), known.len()) {
        (Some(near), _) => anyhow!("there is no key `{key}`; did you mean `{near}`?"),
        (None, 0) => anyhow!("there is no `{key}`: the part before it is one value, without keys"),
        (None, 1..=12) => anyhow!("there is no key `{key}`: there is {}", quoted_list(known)),
        (None, _) => anyhow!("there is no key `{key}`: `conclaude schema` describes all keys"),
    }
}

/// A schema and all its alternatives.
fn alternatives<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let mut found = Vec::new();
    let mut pending = vec![schema];
    while let Some(one) = pending.pop() {
        let target = one.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'));
        pending.extend(target.and_then(|pointer| root.pointer(pointer)));
        pending.extend(one.get("anyOf").and_then(Value::as_array).into_iter().flatten());
        found.push(one);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_not_set_has_a_default_or_keys_that_have_one() {
        let told = |key: &str| match default_of(key) {
            Ok(text) => text,
            Err(error) => error.to_string(),
        };
        assert_eq!(told("maxBlocks"), "`maxBlocks` is not set. Default: 3.");
        assert_eq!(
            told("preToolUse.preventRootAdditions"),
            "`preToolUse.preventRootAdditions` is not set. Default: `false`."
        );
        assert_eq!(told("audit"), "`audit` is not set: the defaults of its keys apply");
        assert_eq!(told("MaxBlocks"), "there is no key `MaxBlocks`; did you mean `maxBlocks`?");
        assert_eq!(told("bogus"), "there is no key `bogus`: `conclaude schema` describes all keys");
        assert_eq!(told("maxBlocks.x"), "there is no `x`: the part before it is one value, without keys");
        assert_eq!(told("stop.commands.coder"), "the config has no `coder` in it: nothing is set for it");
    }
}
