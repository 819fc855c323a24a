//! Questions that need not be asked where somebody else enforces the rules that they are about.

use super::call::UnknownPart;
use super::rules::{Action, FileRules, GuardRules, ToolRule};
use conclaude_core::dialect::claude::tools::SHELL;
use conclaude_core::rule::Rule;

impl GuardRules {
    /// The first rule that a question is about and that nobody else enforces. None if there is no need to ask.
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
        let writing = || of_files(&self.uneditable);
        // Unknown commands may be any that a rule is against.
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
    /// The message of a rule for files.
    pub fn message_of(&self, rule: &Rule) -> Option<&str> {
        let rules = self.unreadable.0.iter().chain(&self.uneditable.0);
        let mut same = rules.filter(|one| one.origin.rule(&one.written) == *rule);
        same.next()?.message.as_deref()
    }
}
