use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::chromium::{Browser, base64};
use crate::common::transcripts::{Transcripts, make_old};
use crate::common::{Test, conclaude_in};

const CONFIG: &str = "
subagentStop: {commands: {'*': [{run: 'sleep 0.3; echo linted'}, {run: 'test -e ok', message: Tests failed, onFailure: block}]}}
preToolUse: {uneditableFiles: ['*.lock']}
report: {prices: {'claude-test-*': {input: 3, output: 15}}}
";

/// Text that would do something, were it anything but text.
const HOSTILE: &str = "</script><img src=x onerror='window.pwned=1'><b>x</b>\u{202e}evil";

/// A session with two subagents, blocks, a denial, failed hooks, and hostile names; all of it at this moment, as the trail is.
fn session() -> Test {
    let test = Test::stop().config(CONFIG);
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    all.at(jiff::Timestamp::now() - jiff::SignedDuration::from_secs(20));
    let (main, coder, lost) = (None, Some("a1b2c3"), Some("a9"));
    all.prompt(main, "Write a greeting.")
        .calls(main, "call-a1b2c3", "Agent", json!({"subagent_type": "coder", "description": "Write greeting", "prompt": "p"}))
        .meta("a1b2c3", "coder", "Write greeting")
        .prompt(coder, "p")
        .calls(coder, "t1", "Write", json!({"file_path": root.join("src/a.txt"), "content": "a"}))
        .result(coder, "t1", "File created", false)
        .calls(coder, "t2", "Bash", json!({"command": format!("echo {HOSTILE}")}))
        .result(coder, "t2", "failed", true)
        .says(coder, "Done.")
        .failed_hook(coder, json!({"type": "hook_non_blocking_error", "hookName": "SubagentStop", "stderr": HOSTILE, "exitCode": 127, "command": "lint", "durationMs": 12}))
        .meta("a9", HOSTILE, HOSTILE)
        .prompt(lost, "test")
        .calls(lost, "t3", "Bash", json!({"command": "npm test"}))
        .says(main, "All done.");
    make_old(&all.path(lost));
    let test = test.run().status(2).again().file("ok", "").run().status(0).again();
    let write = json!({"file_path": root.join("Cargo.lock"), "content": "x"});
    let test = test.then("PreToolUse").without("agent_id").without("agent_type");
    test.payload("tool_name", "Write").payload("tool_input", write).run().status(2).again()
}

fn page(test: &Test) -> PathBuf {
    let path = test.root().join("report.html");
    let started = Instant::now();
    let output = conclaude_in(&test.root()).args(["report", "-o"]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    println!(
        "the report took {} ms, and has {} bytes",
        started.elapsed().as_millis(),
        path.metadata().unwrap().len()
    );
    path
}

#[test]
fn a_page_is_clicked_filtered_searched_and_printed() {
    let test = session();
    let mut browser = Browser::open(&page(&test));
    assert_eq!(browser.complaints(), [""; 0]);
    assert_eq!(browser.text("#chain-badge"), "✓ audit trail in order");
    assert_eq!(browser.count("#records .row"), 3);
    browser.screenshot("page");
    // A record by its row, and by its mark in the timeline.
    browser.click("#records .row:nth-child(1)");
    assert!(browser.text("#details").contains("test -e ok"), "{}", browser.text("#details"));
    browser.screenshot("details");
    browser.key("Escape");
    assert_eq!(browser.evaluate("document.getElementById('details').hidden"), true);
    // The decisions.
    browser.click("[data-decision=denied]");
    assert_eq!((browser.count("#records .row"), browser.text("#records-count")), (1, "1 of 3".into()));
    assert!(browser.text("#records").contains("Cargo.lock"));
    browser.click("#clear");
    // The search.
    browser.key("/");
    browser.types("linted");
    assert_eq!(browser.text("#records-count"), "2 of 3");
    browser.evaluate("document.activeElement.blur()");
    browser.key("c");
    assert_eq!(browser.text("#records-count"), "3");
    // The agent.
    browser.evaluate("(() => { const list = document.getElementById('agent'); list.value = 'coder'; list.dispatchEvent(new Event('change')); })()");
    assert_eq!(
        (browser.text("#records-count"), browser.count("#agents-section tbody tr")),
        ("2 of 3".into(), 1)
    );
    browser.click("#clear");
    // The keyboard.
    for key in ["j", "j", "Enter"] {
        browser.key(key);
    }
    assert!(browser.text("#details h3").starts_with("2 · SubagentStop"));
    browser.key("Escape");
    browser.key("?");
    assert_eq!(browser.evaluate("document.getElementById('help').open"), true);
    browser.evaluate("document.getElementById('help').close()");
    // Dark, and narrow.
    browser.key("t");
    assert_eq!(browser.evaluate("document.documentElement.dataset.theme"), "dark");
    browser.screenshot("dark");
    browser.size(700, 900);
    browser.screenshot("narrow");
    browser.size(1400, 900);
    // Sections further down.
    assert!(browser.text("#hooks-section").contains("exited with code 127, which blocks nothing"));
    assert!(browser.text("#lost-section").contains("calls a tool that never answered"));
    browser.evaluate("document.getElementById('hooks-section').scrollIntoView()");
    browser.screenshot("sections");
    // Printed, all rows are there.
    browser.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.count("#printed .row"), 3);
    let pdf = browser.call("Page.printToPDF", json!({}));
    assert!(base64(pdf["data"].as_str().unwrap()).starts_with(b"%PDF"));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn text_of_others_stays_text() {
    let test = session();
    let mut browser = Browser::open(&page(&test));
    assert_eq!((browser.count("img"), browser.count("main b b"), browser.count("script")), (0, 0, 2));
    assert_eq!(browser.evaluate("window.pwned === undefined"), true);
    let shown = browser.text("#lost-section");
    assert!(shown.contains("</script><img src=x onerror='window.pwned=1'><b>x</b>\u{fffd}evil"), "{shown}");
    // A script that somebody gets into the page would not run.
    browser.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.pwned = 1'}))");
    browser
        .evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned=1\">')");
    browser.evaluate("new Promise(done => setTimeout(done, 100))");
    assert_eq!(browser.evaluate("window.pwned === undefined"), true);
    let policy = browser.complaints().iter().filter(|what| what.contains("Content Security Policy")).count();
    assert!(policy >= 2, "{:?}", browser.complaints());
}

/// A trail of this many records, of 40 agents in 4 sessions.
fn long_trail(test: &Test, records: u64) {
    let folder = test.root().join(".conclaude/audit");
    std::fs::create_dir_all(&folder).unwrap();
    let (mut prev, mut text, mut line) = ("0".repeat(64), String::new(), String::new());
    for seq in 1..=records {
        let time =
            jiff::Timestamp::from_millisecond(1_770_000_000_000 + i64::try_from(seq).unwrap() * 700).unwrap();
        let decision = ["allowed", "allowed", "blocked", "allowed", "denied", "allowed", "warned"]
            [usize::try_from(seq % 7).unwrap()];
        line.clear();
        write!(line, r#"{{"seq":{seq},"time":"{time}","event":"SubagentStop","session":"session-{}","agent_id":"a{}","agent":"coder","decision":"{decision}","findings":[{{"code":"PHASE_{}","what":"phase {seq} is missing","fix":"do it"}}],"commands":[{{"pattern":"*","run":"npm run lint -- {}","status":"exited with code 0","exit_code":0,"duration_ms":{}}}],"prev":"{prev}""#, seq % 4, seq % 40, seq % 5, seq % 30, seq % 5_000).unwrap();
        let mut hash = Sha256::new();
        hash.update(line.as_bytes());
        hash.update(b"}");
        prev.clear();
        hash.finalize().iter().for_each(|byte| write!(prev, "{byte:02x}").unwrap());
        writeln!(text, "{line},\"hash\":\"{prev}\"}}").unwrap();
    }
    std::fs::write(folder.join("audit-0000000001.jsonl"), text).unwrap();
}

#[test]
fn a_page_of_100_000_records_stays_smooth() {
    let test = Test::stop();
    long_trail(&test, 100_000);
    let started = Instant::now();
    let mut browser = Browser::open(&page(&test));
    println!("the page was ready after {} ms", started.elapsed().as_millis());
    assert_eq!(browser.text("#records-count"), "100,000");
    assert!(browser.count("#records .row") < 60, "only what is in view exists");
    browser.screenshot("many");
    // To the end, to the middle, and through the list.
    browser.evaluate("document.getElementById('records').scrollTop = 1e9");
    browser.evaluate("new Promise(done => setTimeout(done, 100))");
    assert!(browser.text("#records").contains("phase 100000 is missing"));
    let frames = "(async () => { const box = document.getElementById('records'); const times = []; for (let i = 0; i < 60; i++) { box.scrollTop = i * 40000; document.getElementById('zoom-' + (i % 20 < 10 ? 'in' : 'out')).click(); const start = performance.now(); await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame); times.push(performance.now() - start); } times.sort((a, b) => a - b); return times[54]; })()";
    let slow = browser.evaluate(frames).as_f64().unwrap();
    println!("nine of ten frames took at most {:.0} ms, two each", slow);
    // A loaded machine is slow, and a page that draws all rows takes seconds.
    assert!(slow < 1_000.0, "{slow} ms");
    browser.key("/");
    browser.types("denied phase_3");
    let found = browser.text("#records-count");
    assert_eq!(
        found,
        format!("{} of 100,000", thousands((1..=100_000).filter(|seq| seq % 7 == 4 && seq % 5 == 3).count()))
    );
    browser.screenshot("many-searched");
    assert_eq!(browser.complaints(), [""; 0]);
}

fn thousands(number: usize) -> String {
    if number < 1_000 { number.to_string() } else { format!("{},{:03}", number / 1_000, number % 1_000) }
}
