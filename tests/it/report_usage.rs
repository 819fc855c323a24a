//! Every token of every agent of every project, compared with a count that shares no code with the program.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::transcripts::Transcripts;
use crate::common::{Test, conclaude_in, run_in, shown_in};

/// Made-up sessions in the forms of Claude Code 1.0.24 to 2.1.237.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts");

fn report_of(root: &Path, arguments: &[&str]) -> String {
    let output = conclaude_in(root)
        .env("CLAUDE_CONFIG_DIR", FIXTURES)
        .args([&["report", "--all-projects"], arguments].concat())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(root: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&report_of(root, arguments)).unwrap()
}

/// Input, output, cache reads, cache writes, and what of these is kept for an hour.
type TokenCounts = [u64; 5];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|name| name == "jsonl"))
        .collect();
    found.sort();
    found
}

fn tokens(usage: &Value) -> TokenCounts {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    [
        number(&usage["input_tokens"]),
        number(&usage["output_tokens"]),
        number(&usage["cache_read_input_tokens"]),
        number(&usage["cache_creation_input_tokens"]),
        number(&usage["cache_creation"]["ephemeral_1h_input_tokens"]),
    ]
}

/// The tokens of all fixtures by model: of each answer those of its last line, and of all its advisors.
fn counted() -> BTreeMap<String, TokenCounts> {
    let files = files(Path::new(FIXTURES));
    let agent_of = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        name.strip_prefix("agent-").map(str::to_owned)
    };
    let with_files: HashSet<String> = files.iter().filter_map(agent_of).collect();
    let mut answers: HashMap<String, (String, Value)> = HashMap::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let lines = serde_json::Deserializer::from_str(&text).into_iter::<Value>().map(Result::unwrap);
        for line in lines {
            let is_of_file = |id: &Value| id.as_str().is_some_and(|id| with_files.contains(id));
            let line = match line["data"]["type"].as_str() {
                Some("agent_progress") if is_of_file(&line["data"]["agentId"]) => continue,
                Some("agent_progress") => line["data"]["message"].clone(),
                _ => line,
            };
            let message = &line["message"];
            if line["type"] != "assistant" || message["model"] == "<synthetic>" {
                continue;
            }
            let answer = (message["model"].as_str().unwrap().to_owned(), message["usage"].clone());
            answers.insert(message["id"].as_str().unwrap().to_owned(), answer);
        }
    }
    let mut sums: BTreeMap<String, TokenCounts> = BTreeMap::new();
    let mut add = |model: &str, tokens: TokenCounts| {
        let sum = sums.entry(model.to_owned()).or_default();
        (0..5).for_each(|at| sum[at] += tokens[at]);
    };
    for (model, usage) in answers.values() {
        add(model, tokens(usage));
        for one in usage["iterations"].as_array().into_iter().flatten() {
            if one["type"] == "advisor_message" {
                add(one["model"].as_str().unwrap(), tokens(one));
            }
        }
    }
    sums
}

fn reported(row: &Value) -> TokenCounts {
    let number = |name: &str| row["tokens"][name].as_u64().unwrap();
    [number("input"), number("output"), number("cache_read"), number("cache_write"), number("cache_write_1h")]
}

#[test]
fn every_token_of_the_fixtures_is_counted_once() {
    let test = Test::stop();
    let data = json_of(&test.root(), &["--json"]);
    let rows = data["usage"]["models"].as_array().unwrap();
    let by_model: BTreeMap<String, TokenCounts> =
        rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), reported(row))).collect();
    let expected = counted();
    assert_eq!(by_model, expected);
    assert_eq!(by_model["claude-fable-5"], [98_000, 340, 0, 0, 0], "an advisor");
    // Every table has the same sum.
    let total = reported(&data["usage"]["total"]);
    let sum = |rows: &Value| {
        let all = rows.as_array().unwrap().iter().map(reported);
        all.fold([0; 5], |sum, row| std::array::from_fn(|at| sum[at] + row[at]))
    };
    for table in ["days", "models", "projects", "branches", "agent_types"] {
        assert_eq!(sum(&data["usage"][table]), total, "{table}");
    }
    assert_eq!(sum(&data["lanes"]), total);
    assert_eq!(data["transcripts"]["problems"], json!([]));
    assert_eq!(json_of(&test.root(), &["--format", "json"])["usage"], data["usage"]);
}

#[test]
fn usage_by_day_model_project_branch_and_kind_of_agent() {
    let test = Test::stop();
    let data = json_of(&test.root(), &["--json"]);
    let names = |table: &str| -> Vec<String> {
        let rows = data["usage"][table].as_array().unwrap();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let days = ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02", "2026-02-03", "2026-02-04"];
    assert_eq!(names("days"), days);
    assert_eq!(names("projects"), ["/home/user/shop", "/home/user/site"]);
    assert_eq!(names("branches"), ["main", "(no branch)", "discount"]);
    assert_eq!(names("agent_types"), ["main", "reviewer", "coder", "Explore"]);
    // 12 in, 210 out, 9,000 read, 3,000 written for minutes; the next day 4,000 written for an hour.
    let row = |table: &str, name: &str| {
        let rows = data["usage"][table].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    let opus = |parts: [f64; 5]| {
        parts
            .iter()
            .zip([5.0, 25.0, 0.5, 6.25, 10.0])
            .map(|(tokens, price)| tokens * price / 1e6)
            .sum::<f64>()
    };
    let expected = opus([12.0, 210.0, 9_000.0, 3_000.0, 0.0])
        + opus([5.0, 80.0, 12_000.0, 0.0, 4_000.0])
        + opus([9.0, 11.0, 12_300.0, 0.0, 0.0]);
    let cost = row("models", "claude-opus-4-8")["cost"].as_f64().unwrap();
    assert!((cost - expected).abs() < 1e-9, "{cost}");
    // A model without a price is named, and its tokens are shown.
    assert_eq!(data["unpriced"], json!(["claude-next-9"]));
    let unknown = row("models", "claude-next-9");
    assert_eq!((&unknown["cost"], &unknown["unpriced"]), (&Value::Null, &json!(50 + 60 + 70 + 80)));
    assert_eq!(row("projects", "/home/user/site")["unpriced"], 260);
}

#[test]
fn a_cost_that_lacks_a_model_without_a_price_says_so_in_every_row() {
    let text = report_of(&Test::stop().root(), &["--format", "md"]);
    assert!(text.lines().nth(2).unwrap().contains(", $1.20 + ?; "), "{text}");
    for (title, cost) in [("### Sessions", "| $0.00 + ? |"), ("### Agents", "| $0.0008 + ? |")] {
        let table = text.split(title).nth(1).unwrap().split("###").next().unwrap();
        let marked: Vec<&str> = table.lines().filter(|line| line.contains(" + ?")).collect();
        assert!(marked.len() == 1 && marked[0].contains("`66666666`"), "{title}: {marked:?}");
        assert!(marked[0].contains(cost), "{title}: {marked:?}");
    }
}

#[test]
fn agents_without_a_file_and_agents_beside_the_main_thread_are_agents_of_their_session() {
    let test = Test::stop();
    let data = json_of(&test.root(), &["--json"]);
    let session = |id: &str| {
        let all = data["sessions"].as_array().unwrap();
        let at = all.iter().position(|one| one["id"].as_str().unwrap().starts_with(id)).unwrap();
        (at, all[at].clone())
    };
    let agents = |id: &str| -> Vec<String> {
        let (at, _) = session(id);
        let lanes = data["lanes"].as_array().unwrap().iter().filter(|lane| lane["session"] == at);
        lanes
            .filter(|lane| !lane["id"].is_null())
            .map(|lane| {
                let text = |name: &str| lane[name].as_str().unwrap().to_owned();
                format!("{} {} {} {}", text("id"), text("name"), text("description"), text("state"))
            })
            .collect()
    };
    assert_eq!(data["sessions"].as_array().unwrap().len(), 6, "no session is invented");
    assert_eq!(agents("1111"), ["a1 coder Add the discount stopped"]);
    assert_eq!(
        agents("2222"),
        ["p1 reviewer Review the cart stopped", "p2 reviewer Review the checkout stopped"]
    );
    assert_eq!(agents("3333"), ["f1 Explore Find the query stopped"]);
    // The newest first, each with what was asked for.
    let names: Vec<&str> =
        data["sessions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "Make it blue.",
            "Tidy the tests.",
            "Add a discount to the cart.",
            "Find the slow query.",
            "Review the cart and the checkout.",
            "Add a discount to the cart."
        ]
    );
    // 15 hours lie between two answers.
    let (_, first) = session("1111");
    assert_eq!(
        (&first["active"], first["ended"].as_i64().unwrap() - first["started"].as_i64().unwrap()),
        (&json!(160_000), 55_860_000)
    );
}

#[test]
fn transcripts_of_other_projects_are_counted_and_all_projects_shows_them() {
    let test = Test::stop();
    let root = test.root();
    let mut other = Transcripts::of(Path::new("/tmp/other-of-this-test"), "other").below(&root);
    other.prompt(None, "Hello.").says(None, "Hello.");
    insta::assert_snapshot!(shown_in(&root, &["report"]), @"
    exit 1
    ----- stderr
    conclaude: nothing to report: the audit trail of [ROOT] has no record, and there is no transcript of it in [ROOT]/.home/.claude/projects; 1 session there belongs to other folders (such as /tmp/other-of-this-test): --all-projects shows them; `conclaude doctor` checks whether events arrive
    ");
    let (code, stdout, _) = run_in(&root, &["report", "--all-projects", "--format", "md"]);
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("## conclaude report\n\n`all projects, everything`: 1 session"), "{stdout}");
    // A project that has sessions of its own says how many in its folder are those of others.
    let mut own = Transcripts::of(&root, "own");
    own.prompt(None, "Hi.").says(None, "Hi.");
    std::fs::rename(other.path(None), own.path(None).with_file_name("other.jsonl")).unwrap();
    let (_, stdout, _) = run_in(&root, &["report", "--json"]);
    let data: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(data["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(
        data["left_out"],
        json!([
            "1 session in this project's folder of transcripts, started in folders of other projects, not shown: --all-projects shows them"
        ])
    );
}

#[test]
fn a_copied_transcript_is_not_at_work() {
    let test = Test::stop();
    let mut all = Transcripts::of(&test.root(), "session-1");
    all.prompt(None, "go").meta("a1", "coder", "one").prompt(Some("a1"), "task");
    let (_, stdout, _) = run_in(&test.root(), &["report", "--json"]);
    let data: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(data["lanes"][1]["state"], "never_stopped", "its lines are old, and its file is new");
    let mut now = Transcripts::of(&test.root(), "session-2");
    now.at(jiff::Timestamp::now()).prompt(None, "go").meta("a2", "coder", "two").prompt(Some("a2"), "task");
    let (_, stdout, _) = run_in(&test.root(), &["report", "--json", "--session", "session-2"]);
    let data: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(data["lanes"][1]["state"], "running");
}

#[test]
#[cfg(unix)]
fn a_transcript_that_cannot_be_read_is_named_with_its_size() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop();
    let mut all = Transcripts::of(&test.root(), "session-1");
    all.prompt(None, "go").says(None, "ok");
    let mut broken = Transcripts::of(&test.root(), "session-2");
    broken.prompt(None, "go").says(None, &"x".repeat(250_000));
    let path = broken.path(None);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads it anyway.
    if std::fs::File::open(&path).is_ok() {
        return;
    }
    let (_, stdout, _) = run_in(&test.root(), &["report", "--json"]);
    let data: Value = serde_json::from_str(&stdout).unwrap();
    let problem = data["transcripts"]["problems"][0].as_str().unwrap();
    assert!(problem.ends_with("0.2 MB are not in the report"), "{problem}");
    assert_eq!(data["usage"]["total"]["answers"], 1);
}

/// A link in a circle cannot be read by anybody, also not by root.
#[test]
#[cfg(unix)]
fn a_transcript_that_cannot_be_opened_is_named() {
    let test = Test::stop();
    let mut all = Transcripts::of(&test.root(), "session-1");
    all.prompt(None, "go").says(None, "ok");
    let path = Transcripts::of(&test.root(), "session-2").path(None);
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let (_, stdout, _) = run_in(&test.root(), &["report", "--json"]);
    let data: Value = serde_json::from_str(&stdout).unwrap();
    let problem = data["transcripts"]["problems"][0].as_str().unwrap();
    assert!(problem.contains("session-2.jsonl cannot be read"), "{problem}");
    assert_eq!(data["usage"]["total"]["answers"], 1);
}

#[test]
fn a_session_whose_first_prompt_is_only_a_command_is_called_by_its_summary() {
    let test = Test::stop();
    let mut lines = Transcripts::of(&test.root(), "session-1");
    let summary = json!({"type": "summary", "summary": "Fix the parser of lists", "leafUuid": "u1"});
    lines.raw(None, &format!("{summary}\n")).prompt(None, "/init").says(None, "ok");
    let name = || {
        let (_, stdout, _) = run_in(&test.root(), &["report", "--json"]);
        let data: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(data["transcripts"]["problems"], json!([]));
        data["sessions"][0]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(name(), "Fix the parser of lists");
    lines.prompt(None, "Read lists of lists.");
    assert_eq!(name(), "Read lists of lists.");
}

#[test]
fn agents_without_a_type_are_one_row() {
    let test = Test::stop();
    let mut lines = Transcripts::of(&test.root(), "session-1");
    lines.prompt(None, "go");
    for agent in ["a1", "a2"] {
        lines.prompt(Some(agent), "task").says(Some(agent), "ok");
    }
    let (_, stdout, _) = run_in(&test.root(), &["report", "--json"]);
    let data: Value = serde_json::from_str(&stdout).unwrap();
    let types = data["usage"]["agent_types"].as_array().unwrap();
    assert_eq!(types.len(), 1, "{types:?}");
    assert_eq!((&types[0]["name"], &types[0]["answers"]), (&json!("(no type)"), &json!(2)));
}

#[test]
fn replay_reads_the_sessions_of_all_projects() {
    let test = Test::stop().config("preToolUse: {uneditableFiles: ['*.css']}");
    let replay = |arguments: &[&str]| {
        let mut command = conclaude_in(&test.root());
        command.env("CLAUDE_CONFIG_DIR", FIXTURES).arg("replay").args(arguments).output().unwrap()
    };
    let none = replay(&["--json"]);
    assert_eq!(none.status.code(), Some(1), "none is of this project");
    let all = replay(&["--all-projects", "--json"]);
    let data: Value = serde_json::from_slice(&all.stdout).unwrap();
    let denied: Vec<&str> = data["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["decision"] == "denied")
        .map(|event| event["session"].as_str().unwrap())
        .collect();
    assert_eq!(denied, ["66666666-ffff-4fff-8fff-000000000006"], "{data}");
}
