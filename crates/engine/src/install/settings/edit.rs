//! Adds, replaces and removes our entries.

use jsonc_parser::ast::{Array, Object, Value as Node};
use serde_json::{Value, json};

use super::document::{Container, Document};
use super::read::{BOM, Refusal, Registration, hooks_of, is_ours};

/// The text with all registrations. An existing entry in the same form stays. An entry of ours in another form is replaced in its
/// place.
pub fn install(text: &str, wanted: &[Registration]) -> Result<String, Refusal> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    edit(text, |mut text| {
        // Each change works on the result of the previous one.
        for registration in wanted {
            text = install_one(&text, registration)?;
        }
        Ok(text)
    })
}

/// The text without our entries. Objects and lists that become empty are removed too.
pub fn uninstall(text: &str) -> Result<String, Refusal> {
    keep_only(text, &[])
}

/// The text without our entries for unwanted events.
pub fn keep_only(text: &str, wanted: &[Registration]) -> Result<String, Refusal> {
    let is_unwanted = |event: &str| !wanted.iter().any(|one| one.name == event);
    edit(text, |mut text| {
        while let Some(shorter) = remove_one(&text, &is_unwanted)? {
            text = shorter;
        }
        Ok(text)
    })
}

/// Changes the text after a byte order mark. Clients accept such a mark.
pub(super) fn edit(
    text: &str,
    change: impl FnOnce(String) -> Result<String, Refusal>,
) -> Result<String, Refusal> {
    match text.strip_prefix(BOM) {
        Some(rest) => Ok(format!("{BOM}{}", change(rest.to_owned())?)),
        None => change(text.to_owned()),
    }
}

fn install_one(text: &str, registration: &Registration) -> Result<String, Refusal> {
    let event = registration.name.as_str();
    let document = Document::parse(text)?;
    let pretty = |value: &Value| pretty(value, &document.indent_unit());
    let Some((_, hooks)) = hooks_member(&document)? else {
        let value = pretty(&json!({ event: [registration.value()] }));
        return Ok(document.append(&Container::object(&document.root), &format!("\"hooks\": {value}")));
    };
    let Some(list) = hooks.properties.iter().find(|property| property.name.as_str() == event) else {
        let value = pretty(&json!([registration.value()]));
        return Ok(document.append(&Container::object(hooks), &format!("\"{event}\": {value}")));
    };
    let list = list_of(&list.value, event)?;
    let groups = groups(list);
    let group = pretty(&registration.value());
    let container = Container::list(list);
    match own_groups(&groups, event)?.as_slice() {
        [] => Ok(document.append(&container, &group)),
        [only] if groups.get(*only) == Some(&registration.value()) => Ok(text.to_owned()),
        [only] => Ok(document.replace(&container, *only, &group)),
        // Two of our entries would both be called: the first stays.
        [_, second, ..] => install_one(&document.remove(&container, *second), registration),
    }
}

/// The text without the first removable entry of ours. `None` if there is no such entry.
fn remove_one(text: &str, may_go: &dyn Fn(&str) -> bool) -> Result<Option<String>, Refusal> {
    let document = Document::parse(text)?;
    let Some((hooks_index, hooks)) = hooks_member(&document)? else { return Ok(None) };
    for (event_index, property) in hooks.properties.iter().enumerate() {
        let event = property.name.as_str();
        if !may_go(event) {
            continue;
        }
        let list = list_of(&property.value, event)?;
        let Some(index) = own_groups(&groups(list), event)?.first().copied() else { continue };
        let list = Container::list(list);
        let (root, events) = (Container::object(&document.root), Container::object(hooks));
        // A container that becomes empty is removed too, unless it has comments, which are not ours.
        let becomes_empty = |container: &Container, index| {
            let range = container.member(index);
            range
                .zip(list.only_member())
                .is_some_and(|(range, group)| !document.has_comments_around(range, group))
        };
        let shorter = if events.only_member().is_some() && becomes_empty(&root, hooks_index) {
            document.remove(&root, hooks_index)
        } else if becomes_empty(&events, event_index) {
            document.remove(&events, event_index)
        } else {
            document.remove(&list, index)
        };
        return Ok(Some(shorter));
    }
    Ok(None)
}

/// The object `hooks`, and its index among the members of the file.
pub(super) fn hooks_member<'o, 'a>(
    document: &'o Document<'a>,
) -> Result<Option<(usize, &'o Object<'a>)>, Refusal> {
    check_duplicates(&document.root, "the settings file")?;
    let mut members = document.root.properties.iter().enumerate();
    match members.find(|(_, member)| member.name.as_str() == "hooks") {
        None => Ok(None),
        Some((index, member)) => {
            let Node::Object(hooks) = &member.value else {
                return Err(Refusal("`hooks` is not a JSON object".into()));
            };
            check_duplicates(hooks, "`hooks`")?;
            Ok(Some((index, hooks)))
        }
    }
}

/// With a duplicate key it is unknown which of the two counts.
pub(super) fn check_duplicates(object: &Object<'_>, what: &str) -> Result<(), Refusal> {
    let mut names: Vec<&str> = object.properties.iter().map(|property| property.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair.first() == pair.last()) {
        Some([duplicate, _]) => {
            Err(Refusal(format!("{what} has the duplicate key `{duplicate}`: merge the two first")))
        }
        _ => Ok(()),
    }
}

pub(super) fn list_of<'o, 'a>(node: &'o Node<'a>, event: &str) -> Result<&'o Array<'a>, Refusal> {
    match node {
        Node::Array(list) => Ok(list),
        _ => Err(Refusal(format!("`hooks.{event}` is not a list"))),
    }
}

/// The entries of an event. One without a list `hooks` is not ours, and stays unchanged.
fn groups(list: &Array<'_>) -> Vec<Value> {
    list.elements.iter().map(|node| Value::from(node.clone())).collect()
}

/// The indices of the groups that are ours.
fn own_groups(groups: &[Value], event: &str) -> Result<Vec<usize>, Refusal> {
    let is_any_ours = |group: &Value| hooks_of(group).any(|hook| is_ours(hook, event));
    let own = groups.iter().enumerate().filter(|(_, group)| is_any_ours(group));
    if own.clone().all(|(_, group)| hooks_of(group).all(|hook| is_ours(hook, event))) {
        Ok(own.map(|(index, _)| index).collect())
    } else {
        let what =
            format!("`hooks.{event}` has conclaude and another command in one group: separate them first");
        Err(Refusal(what))
    }
}

pub(super) fn pretty(value: &Value, unit: &str) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    match serde::Serialize::serialize(value, &mut serializer) {
        Ok(()) => String::from_utf8(out).unwrap_or_default(),
        Err(_) => value.to_string(),
    }
}
