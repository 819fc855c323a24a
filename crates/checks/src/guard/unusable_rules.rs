//! Unusable rules: the user is asked about calls that they may forbid.

use std::path::Path;

use super::call::{Advice, Finding, doing};
use super::resolve::{Effects, Uncertainty};
use super::rules::Action;
use conclaude_core::config::{GuardedCalls, UnusableRules, file_name};
use conclaude_core::dialect::claude::tools::{SHELL, ToolUse, is_ruled_as_shell};
use conclaude_core::rule::Rule;
use shell_effects::Access;

/// The rule that asks the user because of unusable rules.
pub const UNUSABLE_RULES: &str = "rules that cannot be used are asked about";

/// A call, for unusable rules.
pub struct UncheckedCall<'a> {
    pub tool: &'a str,
    pub other_names: &'a [String],
    pub used: ToolUse<'a>,
    pub effects: &'a Effects,
    /// Whether it is a `PermissionRequest`: the user is already asked, and a rule might answer.
    pub is_request: bool,
}

/// Asks the user if any of these rules might forbid the call.
pub fn unusable_rules(rules: &[UnusableRules], call: &UncheckedCall<'_>, root: &Path) -> Option<Finding> {
    let mut concerned = rules.iter().filter(|rules| call.is_request || is_about(&rules.calls, call));
    let first = concerned.next()?;
    let file = file_name(&first.path, Some(root));
    let position = first.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    let more = match concerned.count() {
        0 => String::new(),
        more => format!(" (and {more} more like it)"),
    };
    let (what, matched) = match call.used {
        ToolUse::File { access, path } => (format!("{} {path}", doing(access)), path),
        ToolUse::Patch(_) => ("writing the files of this patch".into(), call.tool),
        ToolUse::Shell(command) | ToolUse::PowerShell(command) => ("running this command".into(), command),
        ToolUse::Other => (format!("using {}", call.tool), call.tool),
    };
    Some(Finding {
        action: Action::Ask,
        reason: format!("Rules in {position} cannot be used, and might forbid {what}: {}{more}.", first.why),
        advice: Advice::both(
            "Ask the user to fix the config; `conclaude validate` shows every problem.",
            "Fix the config: `conclaude validate` shows every problem.",
        ),
        about: None,
        origin: Rule::built_in(UNUSABLE_RULES),
        matched: matched.to_owned(),
        unknown: None,
    })
}

fn is_about(calls: &GuardedCalls, call: &UncheckedCall<'_>) -> bool {
    let touches = |wanted: fn(Access) -> bool| {
        let is_wanted = |unclear: &Uncertainty| match unclear {
            Uncertainty::Path { access, .. }
            | Uncertainty::Names { access, .. }
            | Uncertainty::Named { access, .. } => wanted(*access),
            Uncertainty::Somewhere { .. } => wanted(Access::Read),
            Uncertainty::Input { access, .. } => access.is_none_or(wanted),
            Uncertainty::WorkTree { .. } | Uncertainty::Doubt(_) => true,
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
            matches(call.tool)
                || call.other_names.iter().any(|name| matches(name))
                || is_ruled_as_shell(call.tool, false) && matches(SHELL)
        }
        GuardedCalls::Permissions => false,
    }
}
