//! Tools of MCP servers.

use serde_json::json;

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, Tool, says, uses};

/// A server with one tool, which says what it was called with.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1"}}' ;;
    *'"method":"tools/list"'*) result='{"tools":[{"name":"write_file","description":"writes","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]}' ;;
    *'"method":"tools/call"'*) printf '%s\n' "$line" >> called; result='{"content":[{"type":"text","text":"written"}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

fn write_file(path: &str) -> Tool {
    Tool { name: "mcp__files__write_file", input: json!({ "path": path }) }
}

/// What the server would do to a protected file nobody knows: without a terminal nobody can be asked.
pub(super) fn guarded_file(client: &Client) {
    let project = Project::new()
        .config("preToolUse: {uneditableFiles: ['*.lock']}")
        .file("server.sh", SERVER)
        .file("servers.json", r#"{"mcpServers": {"files": {"command": "sh", "args": ["server.sh"]}}}"#)
        .installed();
    let seen = client.play_with_servers(
        &project,
        "servers.json",
        Script::main([
            uses([write_file("Cargo.lock")]),
            uses([write_file("notes.md")]),
            says("I wrote what I could."),
        ]),
    );
    seen.sent(MAIN, 1)
        .has("`uneditableFiles` has `*.lock`")
        .has("It is unknown what")
        .has("does to Cargo.lock.");
    seen.sent(MAIN, 2).has("written");
    let called = project.read("called").unwrap_or_default();
    assert!(called.contains("notes.md") && !called.contains("Cargo.lock"), "{called}");
}
