//! Budgets that count nothing, or less than they say.

use conclaude_core::config::{BUDGET, BUDGET_KEYS, BudgetConfig, ConclaudeConfig, Remark, is_looser_budget};
use conclaude_core::yaml;
use conclaude_store::load::LoadedConfig;

pub(super) fn check(loaded: &LoadedConfig, found: &mut Vec<Remark>) {
    let Some(budget) = &loaded.config.budget else { return };
    if budget.limits().next().is_none() {
        let what = "budget: no amount is set, so nothing is counted";
        found.push(Remark::new([BUDGET], what).help("add one, such as `session: {cost: 20}`"));
    }
    without_transcripts(&loaded.config, budget, found);
    looser_layers(loaded, found);
}

/// Tokens and cost come from transcripts, and only those of Claude Code are read.
fn without_transcripts(config: &ConclaudeConfig, budget: &BudgetConfig, found: &mut Vec<Remark>) {
    let unread = || budget.limits().filter(|limit| limit.measure.needs_transcript());
    let Some(first) = unread().next() else { return };
    let names: Vec<String> = unread().map(|limit| format!("`{}`", limit.name())).collect();
    for client in config.clients().into_iter().filter(|client| !client.has_usage()) {
        let what = format!(
            "{}: {} of `budget` never count: conclaude does not read the transcripts of {}, so only tool calls and minutes count",
            client.name,
            names.join(", "),
            client.title
        );
        found.push(Remark::new(first.keys(), what));
    }
}

/// Values of an inner layer that are looser than those of an outer one.
fn looser_layers(loaded: &LoadedConfig, found: &mut Vec<Remark>) {
    for (index, source) in loaded.origins.sources().iter().enumerate() {
        let Ok(tree) = yaml::read_source(&source.text, index) else { continue };
        for keys in BUDGET_KEYS {
            let Some(value) = keys.iter().try_fold(&tree, |node, key| node.value_of(key)) else { continue };
            let used = keys.iter().try_fold(loaded.origins.tree(), |node, key| node.value_of(key));
            let Some((used, origin)) = used.zip(loaded.origins.of(keys)) else { continue };
            if origin.layer >= source.layer || !is_looser_budget(keys, &used.value, &value.value) {
                continue;
            }
            let what = format!("{}: this value has no effect", keys.join("."));
            let why = format!("{origin} comes from an outer layer and is stricter");
            let help = "remove it, or raise a session with `conclaude budget raise`";
            found.push(Remark::at(value.span, what).because(why).help(help));
        }
    }
}
