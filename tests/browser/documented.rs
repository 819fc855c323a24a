//! The picture of a report in the documentation: `docs/assets/report.png`. With `UPDATE_DOCS=1` it is made again.

use regex_lite::Regex;
use serde_json::json;

use crate::chromium::Browser;
use crate::common::Test;
use crate::common::transcripts::Transcripts;
use crate::page::page;

const CONFIG: &str = "
subagentStop: {commands: {coder: [{run: 'test -e ok || { echo \"src/cart.ts(3,7): error TS2322: Type string is not assignable to number\"; exit 1; }', message: Types do not check, onFailure: block}]}}
preToolUse: {uneditableFiles: ['*.lock']}
";

/// A session with two subagents: one is blocked once and then done, and one only reads. A write is denied.
fn session() -> Test {
    let test = Test::stop().config(CONFIG);
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    all.at(jiff::Timestamp::now() - jiff::SignedDuration::from_secs(40));
    let (main, coder, reader) = (None, Some("a1b2c3"), Some("a9"));
    let call = |kind: &str, task: &str| json!({"subagent_type": kind, "description": task, "prompt": "p"});
    all.prompt(main, "Add a discount to the cart.")
        .calls(main, "call-a9", "Agent", call("Explore", "Find the cart"))
        .meta("a9", "Explore", "Find the cart")
        .prompt(reader, "Where is the cart?")
        .calls(reader, "t1", "Bash", json!({"command": "grep -rn cart src"}))
        .result(reader, "t1", "src/cart.ts", false)
        .says(reader, "It is src/cart.ts.")
        .calls(main, "call-a1b2c3", "Agent", call("coder", "Add the discount"))
        .meta("a1b2c3", "coder", "Add the discount")
        .prompt(coder, "Add the discount.")
        .calls(coder, "t2", "Write", json!({"file_path": root.join("src/cart.ts"), "content": "a"}))
        .result(coder, "t2", "File created", false)
        .calls(coder, "t3", "Bash", json!({"command": "npm test"}))
        .result(coder, "t3", "12 passed", false)
        .says(coder, "Done.")
        .says(main, "The cart has a discount.");
    let test = test.run().status(2).again().file("ok", "").run().status(0).again();
    let write = json!({"file_path": root.join("Cargo.lock"), "content": "x"});
    let test = test.then("PreToolUse").without("agent_id").without("agent_type");
    test.payload("tool_name", "Write").payload("tool_input", write).run().status(2).again()
}

/// What the page shows, without what differs from run to run.
fn steady(text: &str, root: &str) -> String {
    let text = text.replace(root, "/home/me/shop");
    let folder = root.rsplit('/').next().unwrap();
    let text = text.replace(folder, "shop");
    let numbers = Regex::new(r"\d[\d.,:\-]*").unwrap().replace_all(&text, "0").into_owned();
    let spans = Regex::new(r"(0 (ms|s|m|min|h)\b ?)+").unwrap().replace_all(&numbers, "0 s ").into_owned();
    spans.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn the_documented_picture_shows_today_s_page() {
    let test = session();
    let root = test.root();
    let mut browser = Browser::open(&page(&test));
    browser.size(1200, 900);
    let named = format!(
        "(() => {{ const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); while (walk.nextNode()) {{ const node = walk.currentNode; if (node.parentElement.closest('script, style')) continue; node.data = node.data.replaceAll({}, '/home/me/shop').replaceAll({}, 'shop'); }} }})()",
        json!(root),
        json!(root.file_name().unwrap().to_str())
    );
    browser.evaluate(&named);
    let picture = browser.screenshot("report");
    let text = browser.evaluate("document.body.innerText");
    let text = steady(text.as_str().unwrap(), root.to_str().unwrap());
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let (kept, shown) = (folder.join("tests/browser/report.txt"), folder.join("docs/assets/report.png"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&kept, &text).unwrap();
        std::fs::copy(picture, &shown).unwrap();
    }
    let hint = "docs/assets/report.png is out of date: UPDATE_DOCS=1 cargo test --test browser documented";
    assert_eq!(std::fs::read_to_string(&kept).unwrap_or_default(), text, "{hint}");
    assert!(shown.exists(), "{hint}");
}
