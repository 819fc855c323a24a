//! What a replay cannot know, with numbers: nothing is left out silently.

use super::ReplaySummary;
use crate::replay::notes_of;
use conclaude_core::text::count;

/// Rules whose verdict depends on files, which are those of today.
const OF_FILES: [(&str, &str); 3] = [
    ("preToolUse.preventAdditions", "whether a file existed"),
    ("preToolUse.preventRootAdditions", "whether a file existed"),
    ("preToolUse.preventUpdateGitIgnored", "what git ignored"),
];

pub(super) fn of(replayed: &ReplaySummary<'_>) -> Vec<String> {
    let mut found: Vec<String> = replayed
        .untrusted
        .iter()
        .map(|why| format!("hooks do not use all of this config, and nothing of it was run here: {why}"))
        .collect();
    found.extend(elsewhere(replayed));
    found.extend(gates(replayed));
    found.extend(of_disk(replayed));
    let left_out = replayed.seen.not_replayed;
    let of = |n: u64, noun: &str, what: &str| {
        if n > 0 { Some(format!("{} {what}", count(n, noun))) } else { None }
    };
    found.extend(of(
        left_out.requests,
        "call",
        "not replayed with `permissionRequest`: the transcript does not say whether the user was asked",
    ));
    found.extend(of(
        left_out.sidechain_lines,
        "line",
        "of subagents in a transcript of the main thread not replayed: older versions of Claude Code wrote them there",
    ));
    found.extend(of(left_out.unknown_agents, "subagent", "without a type: rules see its id as its name"));
    found.extend(of(left_out.old_files, "transcript", "not read: last written before the time of --since"));
    found.extend(notes_of(&replayed.not_listed));
    let others = replayed.replayer.other_sections();
    if !others.is_empty() {
        found.push(format!(
            "not replayed, since transcripts do not show these events: the commands of {}",
            others.join(", ")
        ));
    }
    found
}

/// Sessions that hooks would not have judged with this config, or not in this folder.
fn elsewhere(replayed: &ReplaySummary<'_>) -> Vec<String> {
    let kinds = [
        (
            &replayed.other_configs,
            "started in a folder with a config of its own, which was not used",
            "`conclaude replay` there uses it",
        ),
        (
            &replayed.gone,
            "started in a folder that is gone",
            "its config and files of that time are not known",
        ),
    ];
    let seen = kinds.into_iter().filter(|(of, ..)| of.sessions > 0);
    seen.map(|(of, what, why)| {
        let which = if of.sessions == 1 { "" } else { "the first: " };
        format!("{} {what} ({which}{}): {why}", count(of.sessions, "session"), of.first.display())
    })
    .collect()
}

/// Step files and trees of that time are gone.
fn gates(replayed: &ReplaySummary<'_>) -> Vec<String> {
    let left_out = replayed.seen.not_replayed;
    let gates = [
        (
            left_out.step_files,
            "call",
            "Gate 1 was replayed for the prompt alone",
            "its step file of that time is not known",
        ),
        (
            left_out.scopes,
            "writing call",
            "Gate 2 was not replayed",
            "the scope of its step at that time is not known",
        ),
        (
            left_out.gated_stops,
            "stop",
            "Gate 3 and the judge were not replayed",
            "the step and the files of that time are not known",
        ),
    ];
    let seen = gates.into_iter().filter(|(n, ..)| *n > 0);
    seen.map(|(n, noun, what, why)| format!("{what} for {} of agents with a step: {why}", count(n, noun)))
        .collect()
}

fn of_disk(replayed: &ReplaySummary<'_>) -> Vec<String> {
    let rules = &replayed.replayer.rules;
    let has = |key: &str| rules.iter().any(|rule| rule.key == key);
    let mut found: Vec<String> = OF_FILES
        .iter()
        .filter(|(key, _)| has(key))
        .map(|(key, what)| {
            format!("`{key}`: {what} is looked up among today's files, not those of that time")
        })
        .collect();
    if replayed.seen.tool_calls > 0 && rules.iter().any(|rule| rule.key.starts_with("preToolUse")) {
        found.push("links, directories and globs of shell commands are resolved on today's disk".into());
    }
    found
}
