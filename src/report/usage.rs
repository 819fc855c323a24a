//! Tokens of a thread's answers, and what they cost.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::civil::Date;

use super::model::UsageCell;
use conclaude_core::config::PriceTable;
use conclaude_core::dialect::claude::transcript::{AdvisorUsage, AnswerUsage, TranscriptEntry};
use conclaude_core::prices::{self, Tokens};

/// The tokens of all answers of a thread. The lines of one answer repeat its usage, which grows while the answer is written:
/// the largest counts.
#[derive(Default)]
pub(super) struct Answers {
    cells: BTreeMap<CellKey, u32>,
    answers: Vec<Answer>,
    /// The position of the answer with an id, since its lines need not follow each other.
    known: HashMap<u64, usize>,
}

/// Answers that are summed together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CellKey {
    day: Date,
    model: String,
    branch: Option<String>,
}

/// Small, since a long transcript has many.
struct Answer {
    /// The hash of the answer's id: a resumed session repeats the answers of the one before it.
    id: u64,
    cell: u32,
    tokens: [u32; 5],
    is_advice: bool,
}

/// When and where an answer was given.
pub(super) struct AnswerContext<'e> {
    pub(super) day: Date,
    pub(super) branch: Option<&'e str>,
    /// The line's place in its file, for answers without an id.
    pub(super) place: u64,
}

impl Answers {
    /// Returns the part that could not be read.
    pub(super) fn take(
        &mut self,
        entry: &TranscriptEntry<'_>,
        context: &AnswerContext<'_>,
    ) -> Option<&'static str> {
        let Ok(usage) = entry.usage() else {
            return Some("with a `usage` that this version does not know");
        };
        let AnswerUsage { answer, model, tokens, advisors, .. } = usage?;
        let id = answer.map_or(context.place, hash);
        self.put(id, model, tokens, context);
        for (advice, AdvisorUsage { model, tokens }) in (1..).zip(&advisors) {
            let at = self.put(id.wrapping_add(advice), model, *tokens, context);
            if let Some(answer) = self.answers.get_mut(at) {
                answer.is_advice = true;
            }
        }
        None
    }

    fn put(&mut self, id: u64, model: &str, tokens: Tokens, context: &AnswerContext<'_>) -> usize {
        let tokens = packed(tokens);
        if let Some(at) = self.known.get(&id).copied() {
            if let Some(answer) = self.answers.get_mut(at)
                && sum(tokens) >= sum(answer.tokens)
            {
                answer.tokens = tokens;
            }
            return at;
        }
        let key =
            CellKey { day: context.day, model: model.to_owned(), branch: context.branch.map(str::to_owned) };
        let next = u32::try_from(self.cells.len()).unwrap_or(u32::MAX);
        let cell = *self.cells.entry(key).or_insert(next);
        self.known.insert(id, self.answers.len());
        self.answers.push(Answer { id, cell, tokens, is_advice: false });
        self.answers.len() - 1
    }

    /// Nothing else will be taken.
    pub(super) fn finish(&mut self) {
        self.known = HashMap::new();
        self.answers.shrink_to_fit();
    }

    /// The sums of the answers that are not known yet, by day, model and branch.
    pub(super) fn sums(self, known: &mut HashSet<u64>, own: &PriceTable) -> Vec<UsageCell> {
        let mut sums = vec![(0, Tokens::default()); self.cells.len()];
        for Answer { id, cell, tokens, is_advice } in self.answers {
            let sum = usize::try_from(cell).ok().and_then(|cell| sums.get_mut(cell));
            if let Some((answers, sum)) = sum
                && known.insert(id)
            {
                *answers += u64::from(!is_advice);
                sum.add(unpacked(tokens));
            }
        }
        let cells = self.cells.into_iter().filter_map(|(CellKey { day, model, branch }, at)| {
            let (answers, tokens) = *sums.get(usize::try_from(at).ok()?)?;
            let cost = prices::cost(&model, tokens, own);
            Some(UsageCell { day: day.to_string(), model, branch, answers, tokens, cost })
        });
        cells.filter(|cell| cell.answers > 0 || cell.tokens != Tokens::default()).collect()
    }
}

fn sum(tokens: [u32; 5]) -> u64 {
    tokens.into_iter().map(u64::from).sum()
}

fn packed(tokens: Tokens) -> [u32; 5] {
    let Tokens { input, output, cache_read, cache_write, cache_write_1h } = tokens;
    [input, output, cache_read, cache_write, cache_write_1h]
        .map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX))
}

fn unpacked(tokens: [u32; 5]) -> Tokens {
    let [input, output, cache_read, cache_write, cache_write_1h] = tokens.map(u64::from);
    Tokens { input, output, cache_read, cache_write, cache_write_1h }
}

/// FNV-1a, which distinguishes ids well enough.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
