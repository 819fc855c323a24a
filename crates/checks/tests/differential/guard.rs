//! The guards of the packs and of a config, asked about a text in the scratch project.

use std::path::Path;

use conclaude_checks::guard::{
    Action, ComparisonLog, EntryCount, Finding, Ground, GuardRules, Sources, ToolCall, check, read_shell,
};
use conclaude_checks::paths::Links;
use conclaude_core::config::ConclaudeConfig;
use conclaude_core::packs;
use conclaude_os::budget::Budget;

use crate::project::{HOME, ROOT};

const CONFIG: &str = "\
preToolUse:
  unreadableFiles: [.env]
  uneditableFiles: [.env, locked.txt]
  toolUsageValidation:
    - {tool: Bash, commandPattern: 'forbidden*', action: block}
";

/// The rules of each file, which are compared one after the other.
pub(crate) struct Guards(Vec<GuardRules>);

/// What the guards say of a text.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) action: Option<Action>,
    pub(crate) why: String,
}

impl Verdict {
    pub(crate) fn allows(&self) -> bool {
        !matches!(self.action, Some(Action::Ask | Action::Block))
    }
}

impl Guards {
    pub(crate) fn new() -> anyhow::Result<Guards> {
        let packs = ["secrets", "git-safety", "destructive-commands"];
        let mut texts = vec![CONFIG];
        for pack in packs {
            texts.push(packs::find(pack)?.text);
        }
        let rules = |text: &str| -> anyhow::Result<GuardRules> {
            let config = ConclaudeConfig::parse(text, Path::new("config"))
                .map_err(|error| anyhow::anyhow!("a config of this test has an error: {error:?}"))?;
            GuardRules::of(&config.guards, &Sources(&[]), Some(HOME))
                .map_err(|error| anyhow::anyhow!("a pattern of this test has an error: {error}"))
        };
        Ok(Guards(texts.into_iter().map(rules).collect::<Result<_, _>>()?))
    }

    pub(crate) fn verdict(&self, text: &str) -> Verdict {
        let root = Path::new(ROOT);
        let links = Links::default();
        let budget = Budget::unlimited();
        let ground =
            Ground { root, cwd: root, links: &links, home: Some(HOME), worktree: None, budget: &budget };
        let effects = ground.of_script(read_shell(text, Some(HOME), root, &budget));
        let input = serde_json::Map::new();
        let visited = EntryCount::default();
        let call = ToolCall {
            ground,
            tool: "Bash",
            other_names: &[],
            command: Some(text),
            input: &input,
            agent: "main",
            is_subagent: false,
            worktree: None,
            own: None,
            is_ignored: &|_| false,
            log: ComparisonLog::default(),
            visited: &visited,
        };
        let found: Vec<Finding> = self.0.iter().flat_map(|rules| check(rules, &call, &effects)).collect();
        let strictest = found.iter().max_by_key(|finding| finding.action);
        Verdict {
            action: strictest.map(|finding| finding.action),
            why: strictest.map_or_else(String::new, |finding| finding.reason.clone()),
        }
    }
}
