//! The first cases for `conclaude test`, which hold whatever the config says.

pub const TEXT: &str = r#"# yaml-language-server: $schema=./.conclaude/test.schema.json
# What conclaude should do in this project: `conclaude test` plays these cases, without running anything.
cases:
  - name: subagents do not change the rules
    event: PreToolUse
    agent: coder
    tool: Write
    input: {file_path: .conclaude.yaml}
    expect: {denies: "conclaude's own config"}

# - name: the coder is linted
#   event: SubagentStop
#   agent: coder
#   results: {"npm run lint": 1}          # not executed: this is its exit code; 0 by default
#   expect: {runs: ["npm run lint"], blocks: "Linting failed"}
"#;
