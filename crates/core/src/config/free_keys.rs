//! Keys that start with `x-` are free, for YAML anchors: they mean nothing.

use crate::yaml::{Node, Spanned};

const PREFIX: &str = "x-";

/// Below these, keys are names: of agents and tools, of phases, of headers, of models. There `x-ray` is one of them.
const NAMES: [&str; 4] = ["commands", "evidence", "headers", "prices"];

pub(super) fn is_free(key: &str) -> bool {
    key.starts_with(PREFIX)
}

pub(super) fn remove(tree: &mut Spanned<Node>) {
    let mut pending = vec![(tree, false)];
    while let Some((node, has_names)) = pending.pop() {
        match &mut node.value {
            Node::Map(entries) => {
                if !has_names {
                    entries.retain(|(key, _)| !is_free(&key.value));
                }
                pending.extend(entries.iter_mut().map(|(key, value)| {
                    let has_names = !has_names && NAMES.contains(&key.value.as_ref());
                    (value, has_names)
                }));
            }
            Node::List(items) => pending.extend(items.iter_mut().map(|item| (item, false))),
            _ => {}
        }
    }
}
