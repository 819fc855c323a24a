//! The environment of commands.

use super::Facts;

/// The variables that commands get, and what could not be one. A variable of ours that has no value here is removed, so
/// that one of an outer hook does not shine through.
pub(super) fn environment(
    facts: &Facts<'_>,
    is_gated: bool,
) -> (Vec<(&'static str, Option<String>)>, Vec<String>) {
    let (payload, agent) = (&facts.event.payload, facts.agent);
    let markers = facts.gate.filter(|_| is_gated).map(|gate| gate.markers.clone()).unwrap_or_default();
    let [step_file, marked_agent, command, project_id] = markers;
    let values = [
        ("CONCLAUDE_SESSION_ID", Some(payload.session_id().to_owned())),
        ("CONCLAUDE_TRANSCRIPT_PATH", Some(payload.transcript_path().to_owned())),
        ("CONCLAUDE_HOOK_EVENT", Some(payload.hook_event_name().to_owned())),
        ("CONCLAUDE_CWD", Some(payload.cwd().to_owned())),
        ("CONCLAUDE_PERMISSION_MODE", payload.base().permission_mode.clone()),
        ("CONCLAUDE_CONFIG_DIR", facts.config_dir.map(|folder| folder.to_string_lossy().into_owned())),
        ("CONCLAUDE_SUBAGENT_NAME", agent.map(|agent| agent.name.clone())),
        ("CONCLAUDE_SUBAGENT_TYPE", agent.and_then(|agent| agent.kind.clone())),
        ("CONCLAUDE_AGENT_ID", agent.and_then(|agent| agent.id.clone())),
        ("CONCLAUDE_AGENT_TRANSCRIPT_PATH", agent.and_then(|agent| agent.transcript.clone())),
        ("CONCLAUDE_DES_STEP_FILE", step_file),
        ("CONCLAUDE_DES_AGENT", marked_agent),
        ("CONCLAUDE_DES_COMMAND", command),
        ("CONCLAUDE_DES_PROJECT_ID", project_id),
    ];
    let mut warnings = Vec::new();
    let env = values.map(|(name, value)| {
        let (value, warning) = value.map_or((None, None), |value| fit(name, value));
        warnings.extend(warning);
        (name, value)
    });
    (env.to_vec(), warnings)
}

/// The kernel takes no value with a NUL and none above 128 KiB; a command must start all the same.
const MAX_VALUE: usize = 32 << 10;

fn fit(name: &str, value: String) -> (Option<String>, Option<String>) {
    if value.contains('\0') {
        return (None, Some(format!("{name} is left out: its value contains a NUL")));
    }
    if value.len() <= MAX_VALUE {
        return (Some(value), None);
    }
    let warning = format!("{name} is cut to {MAX_VALUE} of {} bytes", value.len());
    (value.get(..value.floor_char_boundary(MAX_VALUE)).map(str::to_owned), Some(warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_be_in_an_environment_are_left_out_or_cut() {
        assert_eq!(fit("X", "a\0b".into()).0, None);
        assert_eq!(fit("X", "ok".into()), (Some("ok".into()), None));
        let (cut, warning) = fit("X", "ü".repeat(MAX_VALUE));
        let cut = cut.unwrap();
        assert!(cut.len() <= MAX_VALUE && cut.chars().all(|c| c == 'ü'));
        assert_eq!(warning.unwrap(), "X is cut to 32768 of 65536 bytes");
    }
}
