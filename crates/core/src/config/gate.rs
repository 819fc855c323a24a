//! The part of the config that gates judge by.

use serde::{Deserialize, Serialize};

use super::{ConclaudeConfig, DEFAULT_MAX_BLOCKS, DesConfig, Origins};

/// What a gate goes by. Gate 1 remembers it: what the config says later may be the agent's own doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateConfig {
    pub des: DesConfig,
    pub max_blocks: u32,
}

impl Default for GateConfig {
    fn default() -> Self {
        GateConfig { des: DesConfig::default(), max_blocks: DEFAULT_MAX_BLOCKS }
    }
}

impl GateConfig {
    #[must_use]
    pub fn of(config: &ConclaudeConfig) -> GateConfig {
        GateConfig { des: config.des.clone().unwrap_or_default(), max_blocks: config.max_blocks() }
    }

    /// The same; a judge that nobody trusts is none.
    #[must_use]
    pub fn trusted(mut self, origins: &Origins) -> GateConfig {
        if origins.untrusted(&["des", "judge"]).is_some() {
            self.des.judge = None;
        }
        self
    }

    /// The keys whose meaning differs, as the config writes them.
    #[must_use]
    pub fn differing(&self, other: &GateConfig) -> Vec<&'static str> {
        let (a, b) = (&self.des, &other.des);
        let evidence = |des: &DesConfig| {
            let commands =
                des.evidence_commands().into_iter().map(|(phase, command)| format!("{phase}: {command}"));
            (des.evidence().join("\n"), commands.collect::<Vec<_>>())
        };
        let compared = [
            ("des.enabled", a.is_enabled() != b.is_enabled()),
            ("des.onViolation", a.blocks() != b.blocks()),
            ("des.scope", a.scope() != b.scope()),
            ("des.phases", a.phase_names() != b.phase_names()),
            ("des.requiredSections", a.required_sections() != b.required_sections()),
            ("des.evidence", evidence(a) != evidence(b)),
            ("des.judge", a.judge != b.judge),
            ("maxBlocks", self.max_blocks != other.max_blocks),
        ];
        compared.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const FULL: &str = "maxBlocks: 2\ndes:\n  enabled: true\n  onViolation: warn\n  scope: off\n  phases: tdd-3\n  requiredSections: [A]\n  \
                        evidence: {RED: 'false', GREEN: 'true'}\n  judge: {prompt: p, model: m, timeout: 2m, onError: block}\n";

    fn of(yaml: &str) -> GateConfig {
        GateConfig::of(&ConclaudeConfig::parse(yaml, Path::new("c.yaml")).unwrap())
    }

    #[test]
    fn what_is_remembered_is_read_back() {
        for yaml in [FULL, "{}", "des: {evidence: [RED]}", "des: {phases: [A, B], judge: {prompt: p}}"] {
            let config = of(yaml);
            let text = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<GateConfig>(&text).unwrap(), config, "{text}");
        }
    }

    #[test]
    fn every_key_that_counts_is_compared() {
        assert_eq!(of(FULL).differing(&of(FULL)), Vec::<&str>::new());
        // What is written out and what is the default mean the same.
        assert_eq!(
            of("{}").differing(&of("des: {scope: block, enabled: true}\nmaxBlocks: 3")),
            Vec::<&str>::new()
        );
        assert_eq!(
            of(FULL).differing(&of("des: {enabled: false}")),
            [
                "des.enabled",
                "des.onViolation",
                "des.scope",
                "des.phases",
                "des.requiredSections",
                "des.evidence",
                "des.judge",
                "maxBlocks"
            ]
        );
        let other_command = FULL.replace("GREEN: 'true'", "GREEN: ':'");
        assert_eq!(of(FULL).differing(&of(&other_command)), ["des.evidence"]);
    }
}
