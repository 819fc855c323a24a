//! The tokens of an answer, and of the advisors that it consulted.

use super::TranscriptEntry;
use crate::json::{JsonError, ObjectFields};
use crate::prices::Tokens;

/// The tokens of one answer. All lines of the answer repeat them, and the last line has the final numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerUsage<'e> {
    /// The id that all lines of the answer share, even where a resumed session repeats it.
    pub answer: Option<&'e str>,
    /// The subagent that answered, if the line names it.
    pub agent: Option<&'e str>,
    pub model: &'e str,
    pub tokens: Tokens,
    /// Other models that got the conversation for advice. They are not in `tokens`.
    pub advisors: Vec<AdvisorUsage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvisorUsage {
    pub model: String,
    pub tokens: Tokens,
}

/// The model of messages that Claude Code wrote itself. They cost nothing.
const SYNTHETIC: &str = "<synthetic>";
const UNKNOWN_MODEL: &str = "unknown";
const ADVISOR: &str = "advisor_message";

impl TranscriptEntry<'_> {
    /// The tokens of this line's answer, also in a line of an agent's progress. `None` for other lines.
    ///
    /// # Errors
    /// When they are in a form that this version does not know.
    pub fn usage(&self) -> Result<Option<AnswerUsage<'_>>, JsonError> {
        let line = self.progress.as_ref().map_or(self, |progress| &*progress.line);
        let message = if line.is("assistant") { line.message.as_ref() } else { None };
        let Some((message, usage)) = message.and_then(|message| Some((message, message.usage?))) else {
            return Ok(None);
        };
        let model = message.model.text().unwrap_or(UNKNOWN_MODEL);
        if model == SYNTHETIC {
            return Ok(None);
        }
        let usage = ObjectFields::of(usage)?;
        let advisors = usage.objects("iterations").iter().filter_map(advisor).collect::<Result<_, _>>()?;
        let (answer, agent) = (message.id.text(), line.agent_id.text());
        Ok(Some(AnswerUsage { answer, agent, model, tokens: tokens(&usage)?, advisors }))
    }
}

/// Iterations of other kinds are included in the numbers of the answer itself.
fn advisor(iteration: &ObjectFields<'_>) -> Option<Result<AdvisorUsage, JsonError>> {
    if iteration.text("type").as_deref() != Some(ADVISOR) {
        return None;
    }
    let model = iteration.text("model").unwrap_or(UNKNOWN_MODEL.into()).into_owned();
    Some(tokens(iteration).map(|tokens| AdvisorUsage { model, tokens }))
}

fn tokens(usage: &ObjectFields<'_>) -> Result<Tokens, JsonError> {
    let kept = usage.object("cache_creation");
    let kept = |name| kept.as_ref().map_or(Ok(0), |kept| number(kept, name));
    let cache_write_1h = kept("ephemeral_1h_input_tokens")?;
    let parts = cache_write_1h.saturating_add(kept("ephemeral_5m_input_tokens")?);
    Ok(Tokens {
        input: number(usage, "input_tokens")?,
        output: number(usage, "output_tokens")?,
        cache_read: number(usage, "cache_read_input_tokens")?,
        cache_write: number(usage, "cache_creation_input_tokens")?.max(parts),
        cache_write_1h,
    })
}

/// A number. Absent and `null` are 0.
fn number(fields: &ObjectFields<'_>, name: &str) -> Result<u64, JsonError> {
    match fields.get(name) {
        None | Some("null") => Ok(0),
        Some(value) => value.parse().map_err(|_| JsonError),
    }
}
