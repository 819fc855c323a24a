//! Tokens of a thread's answers, and what they cost.

use std::collections::BTreeMap;

use super::model::Tokens;
use conclaude_core::config::{Price, PriceConfig, PriceTable};
use conclaude_core::dialect::claude::transcript::TranscriptEntry;

/// The tokens of all answers. The lines of one answer repeat its usage, and the last of them counts.
#[derive(Default)]
pub(super) struct Answers {
    /// By model: the hash of the answer's id, since a resumed session repeats the answers of the one before it.
    pub(super) by_model: BTreeMap<String, Vec<(u64, Tokens)>>,
    /// The answer whose lines are being read: its id, model and usage.
    current: Option<(String, String, Tokens)>,
}

impl Answers {
    /// Returns the part that could not be read.
    pub(super) fn take(&mut self, entry: &TranscriptEntry<'_>) -> Option<&'static str> {
        let message = entry.message.as_ref()?;
        let Ok(usage) = message.usage() else {
            return Some("with a `usage` that this version does not know");
        };
        let (id, usage) = message.id.text().zip(usage)?;
        let model = message.model.text().unwrap_or("unknown");
        // Synthetic messages of Claude Code cost nothing.
        if model == "<synthetic>" {
            return None;
        }
        let tokens = Tokens {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_write: usage.cache_creation_input_tokens,
            cache_write_1h: usage.cache_creation.unwrap_or_default().ephemeral_1h_input_tokens,
        };
        match &mut self.current {
            Some((current, _, known)) if current == id => *known = tokens,
            _ => {
                self.finish();
                self.current = Some((id.to_owned(), model.to_owned(), tokens));
            }
        }
        None
    }

    /// Counts the answer whose lines were read.
    pub(super) fn finish(&mut self) {
        let Some((id, model, tokens)) = self.current.take() else { return };
        self.by_model.entry(model).or_default().push((hash(&id), tokens));
    }
}

/// FNV-1a, which is good enough to tell ids apart.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The cost of tokens of a model. None without a price.
pub(super) fn cost(prices: &PriceTable, model: &str, tokens: Tokens) -> Option<f64> {
    let PriceConfig { input, output, cache_read, cache_write, cache_write_1h } = *prices.of(model)?;
    let write = cache_write.unwrap_or(input);
    #[expect(clippy::cast_precision_loss, reason = "no session has 2^53 tokens")]
    let part = |tokens: u64, price: Price| tokens as f64 * price.get() / 1e6;
    let short_lived = tokens.cache_write.saturating_sub(tokens.cache_write_1h);
    Some(
        part(tokens.input, input)
            + part(tokens.output, output)
            + part(tokens.cache_read, cache_read.unwrap_or(input))
            + part(short_lived, write)
            + part(tokens.cache_write_1h, cache_write_1h.unwrap_or(write)),
    )
}
