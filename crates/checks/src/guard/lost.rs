//! Rules that are written in the config and cannot be used: what they might be against is asked about.

use std::path::Path;

use super::call::{Finding, doing};
use super::resolve::{Effects, Unclear};
use super::rules::Action;
use conclaude_core::config::{GuardedCalls, UnusableRules, file_name};
use conclaude_core::dialect::claude::tools::{SHELL, ToolUse, is_ruled_as_shell};
use conclaude_core::rule::Rule;
use shell_effects::Access;

/// A call that rules might be against which cannot be used.
pub struct UncheckedCall<'a> {
    pub tool: &'a str,
    pub used: ToolUse<'a>,
    pub effects: &'a Effects,
    /// The user is asked for permission already, and a rule might answer.
    pub is_request: bool,
}

/// The question, if any of these rules might be against the call.
pub fn lost(rules: &[UnusableRules], call: &UncheckedCall<'_>, root: &Path) -> Option<Finding> {
    let mut concerned = rules.iter().filter(|lost| call.is_request || is_about(&lost.calls, call));
    let first = concerned.next()?;
    let file = file_name(&first.path, Some(root));
    let position = first.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    let more = match concerned.count() {
        0 => String::new(),
        more => format!(" (and {more} more like it)"),
    };
    let (what, matched) = match call.used {
        ToolUse::File { access, path } => (format!("{} {path}", doing(access)), path),
        ToolUse::Shell(command) | ToolUse::PowerShell(command) => ("running this command".into(), command),
        ToolUse::Other => (format!("using {}", call.tool), call.tool),
    };
    Some(Finding {
        action: Action::Ask,
        what,
        rule: format!("rules in {position} cannot be used, and might be against it: {}{more}", first.why),
        advice: "let the user fix the config; `conclaude validate` shows every problem".into(),
        origin: Rule::built_in("rules that cannot be used are asked about"),
        matched: matched.to_owned(),
    })
}

fn is_about(calls: &GuardedCalls, call: &UncheckedCall<'_>) -> bool {
    let touches = |wanted: fn(Access) -> bool| {
        let is_wanted = |unclear: &Unclear| match unclear {
            Unclear::Path { access, .. } | Unclear::Named { access, .. } => wanted(*access),
            Unclear::Input { access, .. } => access.is_none_or(wanted),
            Unclear::WorkTree { .. } | Unclear::Doubt(_) => true,
        };
        matches!(call.used, ToolUse::File { access, .. } if wanted(access))
            || call.effects.touches.iter().any(|touch| wanted(touch.access))
            || call.effects.unclear.iter().any(is_wanted)
    };
    match calls {
        GuardedCalls::Writing => touches(|access| access != Access::Read),
        GuardedCalls::Reading => touches(|access| matches!(access, Access::Read | Access::Link)),
        GuardedCalls::Anything => call.used != ToolUse::Other || touches(|_| true),
        GuardedCalls::Tools(glob) => {
            let matches = |tool: &str| glob.matches(tool).unwrap_or(true);
            matches(call.tool) || is_ruled_as_shell(call.tool, false) && matches(SHELL)
        }
        GuardedCalls::Permissions => false,
    }
}
