//! Budgets that count nothing, or less than they say.

use conclaude_core::config::{BUDGET, BudgetConfig, ConclaudeConfig, Remark};
use conclaude_store::load::LoadedConfig;

pub(super) fn check(loaded: &LoadedConfig, found: &mut Vec<Remark>) {
    let Some(budget) = &loaded.config.budget else { return };
    if budget.limits().next().is_none() {
        let what = "budget: no amount is set, so nothing is counted";
        found.push(Remark::new([BUDGET], what).help("add one, such as `session: {cost: 20}`"));
    }
    without_transcripts(&loaded.config, budget, found);
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
