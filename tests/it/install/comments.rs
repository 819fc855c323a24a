//! Settings with comments.

use super::*;

#[test]
fn a_file_with_comments_can_be_edited_with_a_warning_that_claude_code_ignores_it() {
    let original = "{\n  // mine\n  \"model\": \"opus\", // the best\n  \"hooks\": {\n    \"Stop\": [] // none\n  },\n}\n";
    let test = Test::stop().config("maxBlocks: 3").file(FILE, original);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["install", "--dry-run"]), @r#"
    exit 0
    warning: Claude Code ignores the whole file, since it is not plain JSON: Comments are not allowed on line 2 column 3. Until that is fixed, nothing in it counts
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    --- [ROOT]/.claude/settings.json
    +++ [ROOT]/.claude/settings.json
    @@ -3,5 +3,96 @@
       "model": "opus", // the best
       "hooks": {
    -    "Stop": [] // none
    +    "Stop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] Stop",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ], // none
    +    "SessionStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || { echo '{\"systemMessage\":\"conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: npm install -g conclaude, or uv tool install conclaude, or brew install conclaude/tap/conclaude\"}'; exit 0; }; exec [BIN] SessionStart",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ],
    +    "PreToolUse": [
    +      {
    +        "matcher": "Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell",
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] PreToolUse",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ],
    +    "PostToolUse": [
    +      {
    +        "matcher": "Agent|Task",
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] PostToolUse",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ],
    +    "UserPromptSubmit": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] UserPromptSubmit",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SubagentStart",
    +            "timeout": 3600,
    +            "statusMessage": "conclaude: subagentStart"
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SubagentStop",
    +            "timeout": 3600,
    +            "statusMessage": "conclaude: subagentStop"
    +          }
    +        ]
    +      }
    +    ],
    +    "SessionEnd": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SessionEnd",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ]
       },
     }
    "#);
    insta::assert_snapshot!(transcript(&root, &["install"]), @"
    exit 0
    warning: Claude Code ignores the whole file, since it is not plain JSON: Comments are not allowed on line 2 column 3. Until that is fixed, nothing in it counts
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    ");
    let edited = settings(&root).replace("opus", "sonnet");
    std::fs::write(root.join(FILE), edited).unwrap();
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude.[TIME]
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    stays: [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude.[TIME] (a copy of the settings)
    stays: [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME] (a copy of the settings)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    ");
    insta::assert_snapshot!(shown(&root), @r#"
    {
      // mine
      "model": "sonnet", // the best
      "hooks": { // none
      },
    }
    "#);
}
