//! Values of an inner layer without an effect, because an outer layer is stricter.

use conclaude_core::config::{GUARD_KEYS, Remark, budget_keys, is_looser_budget};
use conclaude_core::yaml::{self, Node, Spanned};
use conclaude_store::load::LoadedConfig;

/// Switches that would relax those of an outer layer, and the outer layer does not permit that.
pub(super) fn switches(loaded: &LoadedConfig, found: &mut Vec<Remark>) {
    for (index, source) in loaded.origins.sources().iter().enumerate() {
        let Ok(tree) = yaml::read_source(&source.text, index) else { continue };
        for keys in non_overridable_keys() {
            let Some(value) = keys.iter().try_fold(&tree, |node, key| node.value_of(key)) else { continue };
            let Some(used) = loaded.origins.of(&keys) else { continue };
            if used.layer >= source.layer || !relaxes(value) {
                continue;
            }
            let what = format!("{}: this value of `{}` has no effect", keys[0], keys[1]);
            let why = format!("{used} comes from an outer layer and is not overridable");
            let remark = Remark::at(value.span, what).because(why);
            found.push(remark.help("remove it, or write `overridable: true` there, if it is yours"));
        }
    }
}

/// Whether a value allows more than the strictest one.
fn relaxes(value: &Spanned<Node>) -> bool {
    let value = ["enabled", "answer"].iter().find_map(|key| value.value_of(key)).unwrap_or(value);
    match &value.value {
        Node::Bool(is_on) => !is_on,
        Node::Text(answer) => answer != "deny",
        _ => false,
    }
}

/// The keys that an inner layer cannot relax.
fn non_overridable_keys() -> impl Iterator<Item = [&'static str; 2]> {
    let switches = GUARD_KEYS.iter().filter(|guard| guard.is_switch);
    switches.map(|guard| ["preToolUse", guard.name]).chain([["permissionRequest", "default"]])
}

/// Budgets that are looser than those of an outer layer.
pub(super) fn budgets(loaded: &LoadedConfig, found: &mut Vec<Remark>) {
    for (index, source) in loaded.origins.sources().iter().enumerate() {
        let Ok(tree) = yaml::read_source(&source.text, index) else { continue };
        for keys in budget_keys() {
            let Some(value) = keys.iter().try_fold(&tree, |node, key| node.value_of(key)) else { continue };
            let used = keys.iter().try_fold(loaded.origins.tree(), |node, key| node.value_of(key));
            let Some((used, origin)) = used.zip(loaded.origins.of(&keys)) else { continue };
            if origin.layer >= source.layer || !is_looser_budget(&keys, &used.value, &value.value) {
                continue;
            }
            let what = format!("{}: this value has no effect", keys.join("."));
            let why = format!("{origin} comes from an outer layer and is stricter");
            let help = "remove it, or raise a session with `conclaude budget raise`";
            found.push(Remark::at(value.span, what).because(why).help(help));
        }
    }
}
