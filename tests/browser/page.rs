use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;

use crate::chromium::{Browser, base64};
use crate::common::transcripts::{Transcripts, make_old};
use crate::common::{Test, conclaude_in, workflow};

mod size;

const CONFIG: &str = "
subagentStop: {commands: {'*': [{run: 'sleep 0.3; echo linted'}, {run: 'test -e ok || { echo \"a.ts(3,7): error TS2322\"; exit 1; }', message: Tests failed, onFailure: block}]}}
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

pub(crate) fn page(test: &Test) -> PathBuf {
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
    assert_eq!(browser.text("#details pre.output"), "a.ts(3,7): error TS2322");
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
    browser.settle();
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
    // The timeline: a mark opens its record, a lane its agent; zoomed and moved, it is drawn again.
    let coder = lane_of(&mut browser, 1);
    browser.click_at(60.0, coder);
    assert!(browser.text("#details").contains("Write greeting"), "{}", browser.text("#details"));
    browser.key("Escape");
    let before = picture(&mut browser);
    browser.click("#zoom-in");
    assert_ne!(picture(&mut browser), before);
    browser.key("0");
    assert_eq!(picture(&mut browser), before);
    browser.click("[data-card=denied]");
    assert_eq!(browser.text("#records-count"), "1 of 3", "the card of denials filters");
    browser.key("c");
    // Dark, and narrow.
    browser.key("t");
    assert_eq!(browser.evaluate("document.documentElement.dataset.theme"), "dark");
    browser.screenshot("dark");
    browser.size(420, 900);
    browser.screenshot("narrow");
    assert_eq!(
        browser.evaluate("document.documentElement.scrollWidth <= innerWidth"),
        true,
        "nothing to scroll to the side"
    );
    browser.size(1400, 900);
    // Sections further down exist when they are in view.
    for (section, says) in [
        ("lost", "calls a tool that never answered"),
        ("hooks", "exited with code 127, which blocks nothing"),
    ] {
        let show =
            format!("document.getElementById('{section}-section').scrollIntoView({{behavior: 'instant'}})");
        browser.evaluate(&show);
        browser.settle();
        assert!(browser.text(&format!("#{section}-section")).contains(says), "{section}");
    }
    browser.screenshot("sections");
    // Printed, all rows are there.
    browser.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.count("#printed tbody tr"), 3);
    assert_eq!(browser.text("#filtered"), "");
    browser.evaluate("window.dispatchEvent(new Event('afterprint'))");
    browser.evaluate("$('search').value = 'Cargo'; search(); window.dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.text("#filtered"), "Only what this filter shows: search “Cargo”");
    browser.evaluate("window.dispatchEvent(new Event('afterprint')); clear()");
    let pdf = browser.call("Page.printToPDF", json!({}));
    let pdf = base64(pdf["data"].as_str().unwrap());
    assert!(pdf.starts_with(b"%PDF"));
    std::fs::write(browser.pictures().join("printed.pdf"), pdf).unwrap();
    assert_eq!(
        browser.evaluate("document.documentElement.dataset.theme"),
        "dark",
        "printing is in light and leaves the page as it was"
    );
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The middle of a lane on the screen.
fn lane_of(browser: &mut Browser, index: u32) -> f64 {
    let script = format!(
        "(() => {{ const area = document.getElementById('canvas'); area.scrollIntoView({{block: 'center', behavior: 'instant'}}); return area.getBoundingClientRect().y + AXIS + 4 + ({index} + .5) * LANE; }})()"
    );
    browser.evaluate(&script).as_f64().unwrap()
}

fn picture(browser: &mut Browser) -> serde_json::Value {
    browser.evaluate("document.getElementById('canvas').toDataURL()")
}

#[test]
fn a_page_has_no_cards_and_sections_without_anything() {
    let test = Test::stop();
    Transcripts::of(&test.root(), "session-1").prompt(None, "Hello.").says(None, "Hello.");
    let mut browser = Browser::open(&page(&test));
    assert_eq!(browser.evaluate("document.getElementById('records-section').hidden"), true);
    let sections = browser.evaluate("[...document.querySelectorAll('#sections section')].map(one => one.id)");
    assert_eq!(sections, json!(["models-section", "agents-section", "read-section"]));
    let cards = browser.evaluate("[...document.querySelectorAll('.card')].map(one => one.dataset.card)");
    assert_eq!(cards, json!(["sessions", "tokens out"]), "nothing that is 0");
    browser.screenshot("empty");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn records_of_any_shape_leave_the_page_alive() {
    let test = Test::stop();
    let odd = json!([null, 1, "x", [], {}, {"code": null, "run": {}, "duration_ms": "x"}]);
    let folder = test.root().join(".conclaude/audit");
    std::fs::create_dir_all(&folder).unwrap();
    let records = [
        json!({"seq": 1, "findings": odd, "commands": odd, "evidence": 3, "tool": null, "decision": "__proto__", "event": "constructor"}),
        json!({"seq": "x", "time": 3, "session": "s", "agent_id": "toString", "findings": {}, "commands": "x", "evidence": {"command": []}, "decision": "toString"}),
    ];
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(folder.join("audit-0000000001.jsonl"), lines.concat() + "{}\n[]\nnot JSON\n").unwrap();
    let mut browser = Browser::open(&page(&test));
    assert_eq!(browser.text("#chain-badge"), "✗ audit trail broken");
    assert_eq!(browser.count("#records .row"), 3);
    assert!(
        browser.text("#read-section").contains("not a record, and not shown: 2 lines of the audit trail")
    );
    for key in ["j", "Enter", "j", "Enter", "j", "Enter", "t"] {
        browser.key(key);
    }
    browser.key("/");
    browser.types("constructor");
    assert_eq!(browser.text("#records-count"), "1 of 3");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn text_of_others_stays_text() {
    let test = session();
    let mut browser = Browser::open(&page(&test));
    assert_eq!((browser.count("img"), browser.count("main b b"), browser.count("script")), (0, 0, 1));
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

const WORKFLOW: &str = "
subagentStop: {commands: {'*': [{run: 'exit 3', message: Linting failed}, {run: 'true'}]}}
";

/// An agent that is blocked because of a phase of its step, and whose command only warns.
fn gated() -> Test {
    let mut step = workflow::with(13, json!({"status": "NOT_EXECUTED", "outcome": null}));
    step["name"] = json!("Greet the world");
    let answer = Test::gated_stop(&step).config(WORKFLOW).run();
    answer.blocked();
    let test = answer.again();
    Transcripts::of(&test.root(), "session-1").prompt(None, "Go.").failed_hook(
        None,
        json!({"type": "hook_cancelled", "hookName": "Stop", "command": "slow", "timedOut": true}),
    );
    let warned = test.then("Stop").without("agent_id").without("agent_type");
    let warned =
        warned.config("stop: {commands: [{run: 'exit 4', message: Slow day, onFailure: warn}]}").run();
    let warned = warned.status(0);
    warned.again()
}

#[test]
fn a_filter_says_what_it_hides_and_escape_takes_the_search_back() {
    let test = gated();
    let mut browser = Browser::open(&page(&test));
    let all = browser.text("#records-count");
    browser.key("/");
    browser.types("nothing-has-this");
    assert_eq!(browser.text("#records-count"), format!("0 of {all}"));
    for section in ["commands", "steps", "findings", "hooks"] {
        assert_eq!(browser.text(&format!("#{section}-section .note")), "None that match the filter.");
    }
    browser.screenshot("filtered");
    browser.key("Escape");
    assert_eq!((browser.text("#records-count"), browser.evaluate("filter.text")), (all.clone(), json!("")));
    // Enter leaves the field, and the keys are those of the list.
    browser.key("/");
    browser.types("COMMIT");
    browser.key("Enter");
    assert_eq!(browser.text("#records-count"), format!("1 of {all}"), "by its phase");
    browser.key("j");
    browser.key("Enter");
    assert!(browser.text("#details").contains("INCOMPLETE_PHASE COMMIT"), "{}", browser.text("#details"));
    assert!(browser.text("#details").contains("Linting failed"), "{}", browser.text("#details"));
    assert!(browser.text("#findings-section").contains("COMMIT"));
    browser.key("Escape");
    browser.key("c");
    // The task of the step is found, too.
    browser.key("/");
    browser.types("greet the world");
    assert_eq!(browser.text("#records-count"), format!("1 of {all}"), "by the task of its step");
    browser.key("Escape");
    // A hook has no decision.
    browser.click("[data-decision=blocked]");
    assert_eq!(browser.count("#hooks-section tbody tr"), 1);
    assert!(browser.text("#hooks-section .note").contains("the filter for decisions does not apply"));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_warning_is_marked_and_printed_tables_have_their_heads() {
    let test = gated();
    let mut browser = Browser::open(&page(&test));
    let last = browser.count("#records .row");
    assert_eq!(browser.text(&format!("#records .row:nth-child({last}) .pill.warn")), "allowed ⚠");
    assert_eq!(browser.evaluate("kinds.at(-1)"), "warned");
    browser.size(1280, 900);
    browser.screenshot("cards");
    let rows = "[...document.querySelectorAll('.card')].reduce((rows, card) => ({...rows, [card.offsetTop]: (rows[card.offsetTop] ?? 0) + 1}), {})";
    let rows = browser.evaluate(&format!("Object.values({rows})"));
    let rows: Vec<u64> = rows.as_array().unwrap().iter().map(|row| row.as_u64().unwrap()).collect();
    assert!(rows.iter().all(|row| row + 1 >= rows[0]), "{rows:?}");
    let overflows = "[...document.querySelectorAll('.card *')].some(node => node.scrollWidth > node.parentElement.clientWidth)";
    assert_eq!(browser.evaluate(overflows), false);
    // Narrower than the names of the lanes, with more records than there is room for.
    browser.evaluate("for (let i = 0; i < 400; i++) marksByLane[0].push(marksByLane[0][0] ?? 0)");
    browser.evaluate("timeline.style.width = '90px'; resize(); paint(); timeline.style.width = ''; resize()");
    browser.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    let heads =
        browser.evaluate("[...document.querySelectorAll('#printed thead th')].map(cell => cell.textContent)");
    assert_eq!(heads, json!(["#", "time", "event", "decision", "agent", "what"]));
    browser.evaluate("window.dispatchEvent(new Event('afterprint'))");
    browser.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
    let shown =
        browser.evaluate("getComputedStyle(document.querySelector('#agents-section th'), '::after').content");
    assert_eq!(shown, "\"agent\"", "a head that is repeated on each page is text and no button");
    let pdf = browser.call("Page.printToPDF", json!({}));
    std::fs::write(browser.pictures().join("gated.pdf"), base64(pdf["data"].as_str().unwrap())).unwrap();
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn one_transcript_and_one_record_are_not_plural_and_a_denial_shows_its_reason() {
    let test = Test::stop().config(CONFIG);
    let mut all = Transcripts::of(&test.root(), "session-1");
    all.at(jiff::Timestamp::now());
    all.prompt(None, "Write it.");
    let write = json!({"file_path": test.root().join("Cargo.lock"), "content": "x"});
    let test = test.then("PreToolUse").without("agent_id").without("agent_type");
    let test = test.payload("tool_name", "Write").payload("tool_input", write).run().status(2).again();
    let mut browser = Browser::open(&page(&test));
    let read = browser.text("#read-section");
    assert!(read.contains("1 transcript with 1 line ("), "{read}");
    let chain = browser.text("#chain-section");
    assert!(chain.contains("✓ 1 record in order"), "{chain}");
    let row = browser.text("#records .row");
    assert!(
        row.contains(
            "Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`. (.conclaude.yaml:3)"
        ),
        "{row}"
    );
    assert!(!row.contains("GUARD_DENIED"), "{row}");
}
