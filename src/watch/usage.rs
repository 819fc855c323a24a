//! The tokens of a thread: by model, what they cost, and how full its context is.

use std::collections::{BTreeMap, VecDeque};

use conclaude_core::config::PriceTable;
use conclaude_core::dialect::claude::transcript::{AnswerUsage, TranscriptEntry};
use conclaude_core::prices::{self, Tokens};

/// Answers whose lines may not all be there yet.
const MAX_OPEN: usize = 8;

/// The usual size of a context. Larger ones show when they are used.
const CONTEXT: u64 = 200_000;
const LARGE_CONTEXT: u64 = 1_000_000;

/// From this percentage on, the context is shown as nearly full.
const NEARLY_FULL: u64 = 80;

#[derive(Clone, Debug, Default)]
pub(super) struct ThreadUsage {
    /// The model of the newest answer.
    pub(super) model: Option<String>,
    /// The tokens that the newest answer was given, and its own.
    context: u64,
    finished: BTreeMap<String, Tokens>,
    /// The lines of one answer repeat its tokens, and the largest of them count.
    open: VecDeque<OpenAnswer>,
}

#[derive(Clone, Debug)]
struct OpenAnswer {
    id: String,
    model: String,
    tokens: Tokens,
}

/// Sums over threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UsageTotals {
    pub(super) tokens: Tokens,
    pub(super) cost: Option<f64>,
    /// Models without a price.
    pub(super) unpriced: Vec<String>,
}

impl ThreadUsage {
    pub(super) fn take(&mut self, entry: &TranscriptEntry<'_>) {
        // `report` counts the lines that cannot be read.
        let Ok(Some(AnswerUsage { answer, model, tokens, advisors, .. })) = entry.usage() else { return };
        self.model = Some(model.to_owned());
        self.context = tokens.all();
        let Some(id) = answer else {
            self.finished.entry(model.to_owned()).or_default().add(tokens);
            return;
        };
        self.put(id.to_owned(), model, tokens);
        for (number, advisor) in advisors.iter().enumerate() {
            self.put(format!("{id} {number}"), &advisor.model, advisor.tokens);
        }
    }

    fn put(&mut self, id: String, model: &str, tokens: Tokens) {
        if let Some(known) = self.open.iter_mut().find(|known| known.id == id) {
            if tokens.all() > known.tokens.all() {
                known.tokens = tokens;
            }
            return;
        }
        self.open.push_back(OpenAnswer { id, model: model.to_owned(), tokens });
        if self.open.len() > MAX_OPEN
            && let Some(oldest) = self.open.pop_front()
        {
            self.finished.entry(oldest.model).or_default().add(oldest.tokens);
        }
    }

    pub(super) fn by_model(&self) -> BTreeMap<String, Tokens> {
        let mut all = self.finished.clone();
        for answer in &self.open {
            all.entry(answer.model.clone()).or_default().add(answer.tokens);
        }
        all
    }

    /// How many tokens are in the context, and how many fit.
    pub(super) fn context(&self) -> Option<(u64, u64)> {
        let is_large =
            self.context > CONTEXT || self.model.as_ref().is_some_and(|model| model.contains("[1m]"));
        let max = if is_large { LARGE_CONTEXT } else { CONTEXT };
        if self.context == 0 { None } else { Some((self.context, max)) }
    }

    /// How full the context is, in percent.
    pub(super) fn fill(&self) -> Option<u64> {
        self.context().map(|(used, max)| used.saturating_mul(100) / max)
    }

    pub(super) fn is_nearly_full(&self) -> bool {
        self.fill().is_some_and(|fill| fill >= NEARLY_FULL)
    }

    /// The figures of a row, the most important first.
    pub(super) fn figures(&self, own: &PriceTable) -> Vec<String> {
        let mut figures: Vec<String> = self.fill().map(|fill| format!("ctx {fill}%")).into_iter().collect();
        figures.extend(UsageTotals::of([self], own).figures());
        figures.extend(self.model.as_deref().map(|model| short_model(model).to_owned()));
        figures
    }
}

impl UsageTotals {
    pub(super) fn of<'a>(all: impl IntoIterator<Item = &'a ThreadUsage>, own: &PriceTable) -> UsageTotals {
        let mut totals = UsageTotals::default();
        for (model, tokens) in all.into_iter().flat_map(ThreadUsage::by_model) {
            totals.tokens.add(tokens);
            match prices::cost(&model, tokens, own) {
                Some(cost) => totals.cost = Some(totals.cost.unwrap_or(0.0) + cost),
                None if totals.unpriced.contains(&model) => {}
                None => totals.unpriced.push(model),
            }
        }
        totals
    }

    /// Cost and tokens, if there are any.
    pub(super) fn figures(&self) -> Vec<String> {
        let mut figures: Vec<String> = self.cost_in_words().into_iter().collect();
        if self.tokens.all() > 0 {
            figures.push(format!("{} tok", short_number(self.tokens.all())));
        }
        figures
    }

    /// The cost, with `+` if a part of it has no price.
    pub(super) fn cost_in_words(&self) -> Option<String> {
        let more = if self.unpriced.is_empty() { "" } else { "+" };
        self.cost.map(|cost| format!("${cost:.2}{more}"))
    }
}

/// `claude-sonnet-4-5-20250929` is `sonnet-4-5`.
fn short_model(model: &str) -> &str {
    let name = model.rsplit_once("claude-").map_or(model, |(_, name)| name);
    match name.rsplit_once('-') {
        Some((name, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

/// Three digits at most, and a unit.
pub(super) fn short_number(number: u64) -> String {
    match number {
        ..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        1_000_000..10_000_000 => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
        _ => format!("{}M", number / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_models_are_short() {
        let shown: Vec<String> = [0, 999, 1_000, 87_654, 1_250_000, 12_500_000].map(short_number).into();
        assert_eq!(shown, ["0", "999", "1k", "87k", "1.2M", "12M"]);
        let models = ["claude-sonnet-4-5-20250929", "us.anthropic.claude-opus-4-6", "gpt-5"].map(short_model);
        assert_eq!(models, ["sonnet-4-5", "opus-4-6", "gpt-5"]);
    }
}
