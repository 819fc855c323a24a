//! Adds and removes single values and members of lists, with the objects and lists around them.

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::parse_to_ast;
use serde_json::{Value, json};

use super::document::{Container, Document, options};
use super::edit::{check_duplicates, edit, pretty};
use super::read::{BOM, Refusal};
use conclaude_core::dialect::claude::sandbox::{SettingsEntry, at};

/// A text with our entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedEntries {
    pub text: String,
    /// The entries that were not there before.
    pub added: Vec<SettingsEntry>,
    /// The keys of objects and lists that were not there before.
    pub created: Vec<Vec<String>>,
    /// Values that the user has set differently. They stay.
    pub kept: Vec<SettingsEntry>,
}

/// The settings as a value. `None` if they cannot be read.
pub fn value(text: &str) -> Option<Value> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    if text.trim().is_empty() {
        return Some(json!({}));
    }
    let parsed = parse_to_ast(text, &Default::default(), &options(true)).ok()?;
    parsed.value.map(Value::from).filter(Value::is_object)
}

/// Adds missing entries. An existing entry stays unchanged, and belongs to the user.
pub fn add(text: &str, entries: &[SettingsEntry]) -> Result<AddedEntries, Refusal> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let (mut added, mut created, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    let text = edit(text, |mut text| {
        for group in groups(entries) {
            let now = value(&text).unwrap_or_default();
            let mut missing: Vec<&SettingsEntry> = Vec::new();
            for entry in group.iter().filter(|entry| !entry.is_in(&now)) {
                if !missing.iter().any(|one| one.value == entry.value) {
                    missing.push(entry);
                }
            }
            let Some(first) = missing.first() else { continue };
            if !first.in_list
                && let Some(other) = at(&now, &first.keys)
            {
                kept.push(SettingsEntry { value: other.clone(), ..(*first).clone() });
                continue;
            }
            let containers = if first.in_list { first.keys.len() } else { first.keys.len() - 1 };
            for length in 1..=containers {
                let keys = first.keys.get(..length).unwrap_or_default();
                if at(&now, keys).is_none() {
                    created.push(keys.to_vec());
                }
            }
            text = add_group(&text, &missing)?;
            added.extend(missing.into_iter().cloned());
        }
        Ok(text)
    })?;
    Ok(AddedEntries { text, added, created, kept })
}

/// The entries by their keys, in the order of their first occurrence. Members of one list are added together, because each
/// addition parses the whole text.
fn groups(entries: &[SettingsEntry]) -> Vec<Vec<&SettingsEntry>> {
    let mut groups: Vec<Vec<&SettingsEntry>> = Vec::new();
    for entry in entries {
        let is_same = |group: &&mut Vec<&SettingsEntry>| {
            group.first().is_some_and(|first| first.in_list && entry.in_list && first.keys == entry.keys)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    groups
}

/// Adds the members of one list, or one value.
fn add_group(text: &str, group: &[&SettingsEntry]) -> Result<String, Refusal> {
    let Some(entry) = group.first() else { return Ok(text.to_owned()) };
    let document = Document::parse(text)?;
    let unit = document.indent_unit();
    let mut object = &document.root;
    for (depth, key) in entry.keys.iter().enumerate() {
        check_duplicates(object, "the settings file")?;
        let Some(member) = object.properties.iter().find(|member| member.name.as_str() == key) else {
            let rest = entry.keys.get(depth + 1..).unwrap_or_default();
            let inner = if entry.in_list {
                group.iter().map(|one| one.value.clone()).collect()
            } else {
                entry.value.clone()
            };
            let nested = rest.iter().rev().fold(inner, |value, key| json!({ key: value }));
            let member = format!("{}: {}", Value::from(key.as_str()), pretty(&nested, &unit));
            return Ok(document.append(&Container::object(object), &member));
        };
        match &member.value {
            Node::Object(inner) => object = inner,
            Node::Array(list) if entry.in_list && depth + 1 == entry.keys.len() => {
                let members: Vec<String> = group.iter().map(|one| pretty(&one.value, &unit)).collect();
                return Ok(document.append_all(&Container::list(list), &members));
            }
            _ => return Err(wrong_kind(&entry.keys, depth, entry.in_list)),
        }
    }
    Err(wrong_kind(&entry.keys, entry.keys.len().saturating_sub(1), entry.in_list))
}

fn wrong_kind(keys: &[String], depth: usize, in_list: bool) -> Refusal {
    let name = keys.get(..=depth).unwrap_or_default().join(".");
    let wanted = if in_list && depth + 1 == keys.len() { "a list" } else { "a JSON object" };
    Refusal(format!("`{name}` is not {wanted}"))
}

/// Removes entries, and the containers that were created for them, if they are now empty and have no comments.
pub fn remove(text: &str, entries: &[SettingsEntry], created: &[Vec<String>]) -> Result<String, Refusal> {
    edit(text, |mut text| {
        for entry in entries {
            text = remove_one(&text, entry)?;
        }
        let mut created: Vec<&Vec<String>> = created.iter().collect();
        created.sort_by_key(|keys| std::cmp::Reverse(keys.len()));
        for keys in created {
            text = remove_empty(&text, keys)?;
        }
        Ok(text)
    })
}

fn remove_one(text: &str, entry: &SettingsEntry) -> Result<String, Refusal> {
    let document = Document::parse(text)?;
    let Some((last, above)) = entry.keys.split_last() else { return Ok(text.to_owned()) };
    let Some(object) = object_at(&document.root, above) else { return Ok(text.to_owned()) };
    let Some(index) = object.properties.iter().position(|member| member.name.as_str() == last) else {
        return Ok(text.to_owned());
    };
    let node = object.properties.get(index).map(|member| &member.value);
    match node {
        Some(Node::Array(list)) if entry.in_list => {
            let is_it = |node: &Node<'_>| Value::from(node.clone()) == entry.value;
            let Some(at) = list.elements.iter().position(is_it) else { return Ok(text.to_owned()) };
            Ok(document.remove(&Container::list(list), at))
        }
        Some(node) if !entry.in_list && Value::from(node.clone()) == entry.value => {
            Ok(document.remove(&Container::object(object), index))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Removes an object or list without members or comments.
fn remove_empty(text: &str, keys: &[String]) -> Result<String, Refusal> {
    let document = Document::parse(text)?;
    let Some((last, above)) = keys.split_last() else { return Ok(text.to_owned()) };
    let Some(object) = object_at(&document.root, above) else { return Ok(text.to_owned()) };
    let Some(index) = object.properties.iter().position(|member| member.name.as_str() == last) else {
        return Ok(text.to_owned());
    };
    let is_empty = object.properties.get(index).is_some_and(|member| {
        let range = member.value.range();
        let inside = text.get(range.start + 1..range.end - 1).unwrap_or("?");
        matches!(member.value, Node::Object(_) | Node::Array(_)) && inside.trim().is_empty()
    });
    if is_empty { Ok(document.remove(&Container::object(object), index)) } else { Ok(text.to_owned()) }
}

fn object_at<'o, 'a>(root: &'o Object<'a>, keys: &[String]) -> Option<&'o Object<'a>> {
    keys.iter().try_fold(root, |object, key| {
        let member = object.properties.iter().find(|member| member.name.as_str() == key)?;
        match &member.value {
            Node::Object(inner) => Some(inner),
            _ => None,
        }
    })
}

/// Whether nothing is left in the file.
pub fn is_empty(text: &str) -> bool {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let inside = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inside.is_some_and(|inside| inside.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<SettingsEntry> {
        vec![
            SettingsEntry::value(&["sandbox", "enabled"], true),
            SettingsEntry::member(&["sandbox", "filesystem", "denyWrite"], "./a"),
            SettingsEntry::member(&["sandbox", "filesystem", "denyWrite"], "./b"),
            SettingsEntry::member(&["permissions", "deny"], "Read(x)"),
        ]
    }

    #[test]
    fn entries_are_added_once_and_taken_back() {
        for before in [
            "{}\n",
            "{\n  \"model\": \"x\"\n}\n",
            "{\n\t\"permissions\": {\n\t\t\"deny\": [\"Bash(rm *)\"]\n\t}\n}",
            "{\"permissions\":{\"deny\":[]},\"sandbox\":{}}",
            "{\n  // mine\n  \"sandbox\": {\n    \"network\": {} // hosts\n  }\n}\n",
            "\u{feff}{\r\n  \"env\": {}\r\n}\r\n",
        ] {
            let made = add(before, &entries()).unwrap();
            assert_eq!(made.added, entries(), "{before}");
            let json = value(&made.text).unwrap();
            assert!(entries().iter().all(|entry| entry.is_in(&json)), "{}", made.text);
            let twice = add(&made.text, &entries()).unwrap();
            assert_eq!((twice.text.as_str(), twice.added.len()), (made.text.as_str(), 0));
            assert_eq!(remove(&made.text, &made.added, &made.created).unwrap(), before, "{}", made.text);
        }
    }

    #[test]
    fn what_is_the_users_own_stays() {
        let before = "{\"sandbox\":{\"enabled\":false,\"filesystem\":{\"denyWrite\":[\"./a\"]}}}";
        let made = add(before, &entries()).unwrap();
        assert_eq!(made.added.len(), 2);
        assert_eq!(made.kept, [SettingsEntry::value(&["sandbox", "enabled"], false)]);
        assert_eq!(remove(&made.text, &made.added, &made.created).unwrap(), before);
    }

    #[test]
    fn a_value_of_another_kind_is_refused() {
        for (text, expected) in [
            ("{\"sandbox\": true}", "`sandbox` is not a JSON object"),
            (
                "{\"sandbox\": {\"filesystem\": {\"denyWrite\": \"x\"}}}",
                "`sandbox.filesystem.denyWrite` is not a list",
            ),
            (
                "{\"permissions\": {}, \"permissions\": {}}",
                "the settings file has the duplicate key `permissions`: merge the two first",
            ),
        ] {
            assert_eq!(add(text, &entries()).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_file_with_nothing_in_it_is_empty() {
        assert!(is_empty("{}\n") && is_empty("{\n}\n") && is_empty("\u{feff}{ }"));
        assert!(!is_empty("{ // mine\n}") && !is_empty("{\"a\": 1}"));
    }
}
