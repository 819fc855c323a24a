//! Questions that are unnecessary if another mechanism enforces the rules that they concern.

use super::call::{Advice, Finding, UnknownPart};
use super::comparison_log::ComparisonLog;
use super::rules::{Action, FileQuery, FileRules, FileUsage, GuardRules, ToolRule};
use conclaude_core::dialect::claude::tools::SHELL;
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::{OWN_FILES, Rule};
use conclaude_os::budget::Budget;

/// A question about a command of ours that runs outside of the sandbox, if another program may have our name.
#[must_use]
pub fn doubtful_program(path: &str) -> Finding {
    Finding {
        action: Action::Ask,
        reason: format!(
            "`conclaude des` runs outside of the sandbox, and `conclaude` is {path} here, which commands may write."
        ),
        advice: Advice::both(
            "Ask the user.",
            "Allow it if that is conclaude. `conclaude install --enforce` protects it from then on.",
        ),
        about: None,
        origin: Rule::built_in(OWN_FILES),
        matched: path.to_owned(),
        unknown: None,
    }
}

impl GuardRules {
    /// The first rule of a question that nothing else enforces. `None` if the question is unnecessary.
    pub fn unenforced(
        &self,
        unknown: UnknownPart,
        agent: &str,
        is_enforced: &dyn Fn(&Rule) -> bool,
    ) -> Option<Rule> {
        let of_files = |rules: &FileRules| {
            let concerned = rules.0.iter().filter(|rule| !rule.allows && rule.agents.include(agent));
            concerned.map(|rule| rule.origin.rule(&rule.written)).find(|rule| !is_enforced(rule))
        };
        let reading = || of_files(&self.unreadable);
        let own = || {
            let own = Rule::built_in(OWN_FILES);
            if is_enforced(&own) { None } else { Some(own) }
        };
        let writing = || of_files(&self.uneditable).or_else(own);
        // An unknown command may be one that a rule forbids.
        let could_match = |rule: &&ToolRule| {
            rule.action != Action::Allow && rule.agents.include(agent) && rule.is_for_tool(SHELL)
        };
        let of_commands = || {
            let rule = self.tools.iter().find(could_match)?;
            Some(rule.origin.rule(&rule.written))
        };
        match unknown {
            UnknownPart::Read => reading(),
            UnknownPart::Written => writing(),
            UnknownPart::Files => reading().or_else(writing),
            UnknownPart::Commands => of_commands().or_else(reading).or_else(writing),
        }
    }

    /// The first file that is protected from reading or writing, and that nothing else protects.
    pub fn first_unkept<'l>(
        &self,
        named: &'l [Location],
        agent: &str,
        is_kept: &dyn Fn(&Location, bool) -> bool,
    ) -> Option<&'l Location> {
        let budget = Budget::unlimited();
        let query =
            FileQuery { agent, usage: FileUsage::Other, log: ComparisonLog::Nothing, budget: &budget };
        let is_unkept = |location: &Location, writes: bool| {
            let rules = if writes { &self.uneditable } else { &self.unreadable };
            rules.protecting(location, &query).is_some() && !is_kept(location, writes)
        };
        named.iter().find(|location| is_unkept(location, false) || is_unkept(location, true))
    }

    /// The message of a rule for files.
    pub fn message_of(&self, rule: &Rule) -> Option<&str> {
        let rules = self.unreadable.0.iter().chain(&self.uneditable.0);
        let mut same = rules.filter(|one| one.origin.rule(&one.written) == *rule);
        same.next()?.message.as_deref()
    }
}
