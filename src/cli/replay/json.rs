//! The results of a replay as JSON.

use serde_json::{Value, json};

use super::{ReplaySummary, print};
use crate::replay::totals::{Hit, ReplayGaps, ReplayTotals};
use conclaude_engine::hooks::replay::Prediction;

/// How often each decision was made.
fn decisions(totals: &ReplayTotals) -> Value {
    let decisions = [
        Prediction::Denied,
        Prediction::Asked,
        Prediction::Blocked,
        Prediction::Permitted,
        Prediction::Depends,
        Prediction::Unknown,
        Prediction::Allowed,
    ];
    decisions.into_iter().map(|would| (would.as_str().to_owned(), json!(totals.of(would)))).collect()
}

pub(super) fn of(replayed: &ReplaySummary<'_>) -> Value {
    let totals = replayed.totals;
    let rules = print::matched(replayed).into_iter().map(|(rule, tally)| {
        json!({
            "rule": rule, "matched": tally.matched, "denied": tally.denied, "asked": tally.asked,
            "blocked": tally.blocked, "permitted": tally.permitted,
        })
    });
    let not_read = totals.counts.unread.iter();
    let not_read =
        not_read.map(|(what, unread)| json!({"what": what, "lines": unread.lines, "first": unread.first()}));
    let commands = print::planned(replayed).into_iter().map(|(command, n)| {
        json!({"rule": command.rule, "run": command.run, "can_block": command.can_block, "times": n})
    });
    json!({
        "sessions": replayed.sessions,
        "transcripts": replayed.transcripts,
        "tool_calls": totals.tool_calls,
        "permission_requests": totals.requests,
        "prompts": totals.prompts,
        "stops": totals.stops,
        "decisions": decisions(totals),
        "differs": totals.differs,
        "events": print::by_time(replayed).into_iter().map(event).collect::<Vec<_>>(),
        "events_left_out": totals.left_out,
        "rules": rules.collect::<Vec<_>>(),
        "never_matched": print::never_matched(replayed),
        "commands": commands.collect::<Vec<_>>(),
        "not_replayed": not_replayed(totals.not_replayed, replayed),
        "not_judged": totals.unjudged,
        "not_readable": totals.unreadable,
        "read": {
            "bytes": totals.counts.bytes, "lines": totals.counts.lines, "not_read": not_read.collect::<Vec<_>>(),
            "versions": totals.counts.versions, "seconds": replayed.seconds,
        },
        "problems": totals.all_problems(),
        "notes": print::notes(replayed),
    })
}

fn event(hit: &Hit) -> Value {
    let at = &hit.at;
    let rules = hit.because.iter().map(|because| {
        json!({"rule": because.rule, "matched": because.matched, "decision": because.would.as_str()})
    });
    json!({
        "time": at.time, "session": hit.session, "agent": hit.agent, "event": at.event.name(), "tool": at.tool, "what": at.what,
        "decision": hit.would.as_str(), "happened": hit.happened.as_str(), "differs": hit.differs,
        "rules": rules.collect::<Vec<_>>(),
    })
}

fn not_replayed(left_out: ReplayGaps, replayed: &ReplaySummary<'_>) -> Value {
    json!({
        "gate_1_step_files": left_out.step_files, "gate_2_writes": left_out.scopes, "gate_3_stops": left_out.gated_stops,
        "permission_requests": left_out.requests, "sidechain_lines": left_out.sidechain_lines,
        "agents_without_type": left_out.unknown_agents, "old_transcripts": left_out.old_files,
        "empty_transcripts": replayed.not_listed.empty, "links": replayed.not_listed.links,
        "sections": replayed.replayer.other_sections(),
    })
}
