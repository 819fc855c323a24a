//! The texts of commands that answer as hooks. If only they have something to say, it is passed on unchanged.

use super::command_name;
use crate::dialect::claude::HookReply;
use crate::outcome::{CommandRun, Outcome, Verdict};
use crate::text::{clean, indent};

/// The reasons of hooks with this verdict, if nothing else has one.
pub(super) fn reason_of(outcomes: &[Outcome], verdict: Verdict) -> Option<String> {
    let is_other = |outcome: &Outcome| outcome.reply().is_none() && !outcome.message.is_empty();
    if outcomes.iter().any(is_other) {
        return None;
    }
    let deciding = outcomes.iter().filter(|outcome| outcome.verdict == verdict);
    let replies: Vec<&HookReply> = deciding.filter_map(Outcome::reply).collect();
    if replies.is_empty() {
        return None;
    }
    Some(replies.into_iter().filter_map(|reply| reply.reason.as_deref()).collect::<Vec<_>>().join("\n"))
}

/// The message of a hook if there are others.
#[must_use]
pub fn of_reply(run: &CommandRun, reply: &HookReply) -> String {
    let text = match reply.verdict {
        Verdict::Block => reply.reason.as_deref().or(reply.context.as_deref()),
        Verdict::Ask => reply.reason.as_deref(),
        Verdict::Pass | Verdict::Grant | Verdict::Warn => return String::new(),
    };
    let head = format!("{} {}", reply.verdict.mark(), command_name(&run.command));
    match text.map(clean) {
        Some(text) if !text.trim().is_empty() => format!("{head}\n{}", indent(text.trim_end(), "  ")),
        _ => head,
    }
}

/// The hooks' messages for the user, and remarks about their answers.
#[must_use]
pub fn of_replies(outcomes: &[Outcome]) -> Vec<String> {
    let mut texts = Vec::new();
    for (run, reply) in
        outcomes.iter().filter_map(Outcome::run).filter_map(|run| Some((run, run.reply.as_deref()?)))
    {
        texts.extend(reply.message.clone());
        if let Some(remark) = &reply.remark {
            texts.push(format!("conclaude: the hook {} {remark}", command_name(&run.command)));
        }
        if let Some(problem) = &reply.problem {
            texts.push(format!(
                "conclaude: the hook {} gave no usable answer: {problem}",
                command_name(&run.command)
            ));
        }
    }
    texts.extend(changed_twice(outcomes));
    texts
}

/// Several hooks changed the input of one tool: only one of them counts.
fn changed_twice(outcomes: &[Outcome]) -> Option<String> {
    let changing: Vec<&Outcome> =
        outcomes.iter().filter(|outcome| outcome.updated_input().is_some()).collect();
    let (last, others) = changing.split_last()?;
    if others.is_empty() {
        return None;
    }
    let name = |outcome: &Outcome| {
        outcome.run().map_or_else(|| "Gate 1".to_owned(), |run| command_name(&run.command))
    };
    let others: Vec<String> = others.iter().map(|outcome| name(outcome)).collect();
    Some(format!(
        "conclaude: {} and {} both change the input of this tool: the input from {} counts",
        others.join(", "),
        name(last),
        name(last)
    ))
}
