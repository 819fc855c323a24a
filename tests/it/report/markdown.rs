//! `conclaude report --format markdown`.

use serde_json::json;

use super::{session, steady};
use crate::common::transcripts::Transcripts;
use crate::common::{Test, workflow};

#[test]
fn a_session_as_markdown() {
    let test = session();
    let shown = steady(&test.shows(&["report", "--format", "md"]));
    insta::assert_snapshot!(shown, @"
    exit 0
    ----- stdout
    ## conclaude report

    `everything`: 1 session, 2 subagents, 3 records, $0.03; 1 blocked, 1 denied, 0 asked.

    ✓ audit trail in order (3 records)

    ### By model

    | model | sessions | answers | tokens in | out | cache read | cache write | cost |
    | --- | --- | --- | --- | --- | --- | --- | --- |
    | `claude-test-1` | 1 | 6 | 6000 | 600 | 60 | 6 | $0.03 |

    ### Agents

    | agent | task | verdict | time | tokens in | out | cache read | cache write | cost | files written by tools | decisions | state |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | main thread |  |  | [DURATION] | 2000 | 200 | 20 | 2 | $0.0090 |  | 1 `denied` |  |
    | `coder` | `Write greeting` | `passed after 1 block` | [DURATION] | 3000 | 300 | 30 | 3 | $0.0135 | `src/a.txt` | 1 `allowed`, 1 `blocked` | stopped |
    | `tester` | `Test it` |  | [DURATION] | 1000 | 100 | 10 | 1 | $0.0045 |  |  | **never stopped** |

    ### Blocked, denied and asked

    | record | time | event | decision | agent | why |
    | --- | --- | --- | --- | --- | --- |
    | 1 | [TIME] | `SubagentStop` | `blocked` | `coder` | `Tests failed: 'test -e ok' exited with code 1` |
    | 3 | [TIME] | `PreToolUse` | `denied` | main thread | `Writing Cargo.lock is not allowed: 'uneditableFiles' has '*.lock'. (.conclaude.yaml:3)` |

    ### Findings by kind

    | kind | count | phases |
    | --- | --- | --- |
    | `denied by a guard` | 1 |  |

    ### Slowest commands

    | command | runs | failures | longest |
    | --- | --- | --- | --- |
    | `test -e ok` | 2 | 1 | [DURATION] |

    ### Hooks that failed silently

    | time | hook | what | agent | command | error |
    | --- | --- | --- | --- | --- | --- |
    | [TIME] | `SubagentStop` | `exited with code 127, which blocks nothing` | `coder` | `lint` | `lint: not found` |
    | [TIME] | `PreToolUse:Write` | `timed out` | `coder` | `slow` |  |

    ### Agents that started and never stopped

    | agent | id | task | why |
    | --- | --- | --- | --- |
    | `tester` | `a9` | `Test it` | `its last message calls a tool that never answered` |

    From 3 transcripts with 14 lines, by conclaude [VERSION]. List prices of 2026-11-17, unless `report.prices` has others.
    ");
}

#[test]
fn markdown_has_every_reason_of_a_block_with_its_phase_and_message() {
    let step = workflow::with(13, json!({"status": "NOT_EXECUTED", "outcome": null}));
    let answer = Test::gated_stop(&step)
        .config(
            "subagentStop: {commands: {'*': [{run: 'exit 3', message: Linting failed, onFailure: block}]}}",
        )
        .run();
    answer.blocked();
    let test = answer.again();
    let shown = test.shows(&["report", "--format", "md"]);
    let row = shown.lines().find(|line| line.starts_with("| 1 | ")).unwrap();
    insta::assert_snapshot!(row, @"| 1 | [TIME] | `SubagentStop` | `blocked` | `coder` | `INCOMPLETE_PHASE COMMIT: it is NOT_EXECUTED while others ran; Linting failed: 'exit 3' exited with code 3` |");
}

#[test]
fn markdown_names_a_record_that_was_changed_and_cuts_no_warning() {
    let test = session();
    let folder = test.root().join(".conclaude/audit");
    let file = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let file = { file }.find(|path| path.extension().is_some_and(|name| name == "jsonl")).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"denied\"", "\"allowed\"", 1)).unwrap();
    let shown = test.shows(&["report", "--format", "md"]);
    let (_, section) = shown.split_once("### Records that were tampered with").unwrap();
    assert!(section.lines().nth(4).unwrap().starts_with("| 3 | "), "{section}");
    let broken = shown.lines().find(|line| line.contains("audit trail broken")).unwrap();
    assert!(!broken.contains('…'), "{broken}");
}

#[test]
fn markdown_of_several_sessions_names_them_and_the_files() {
    let test = Test::stop();
    for session in ["first-session", "second-session"] {
        let mut all = Transcripts::of(&test.root(), session);
        all.prompt(None, "go");
        for file in ["a.rs", "b.rs", "c.rs", "d.rs"] {
            all.calls(None, file, "Write", json!({"file_path": test.root().join(file), "content": "x"}))
                .result(None, file, "ok", false);
        }
    }
    let shown = steady(&test.shows(&["report", "--format", "md"]));
    let agents: Vec<&str> =
        shown.lines().filter(|line| line.starts_with("| session") || line.contains("main thread")).collect();
    insta::assert_snapshot!(agents.join("\n"), @"
    | session | agent | task | verdict | time | tokens in | out | cache read | cache write | cost | files written by tools | decisions | state |
    | `first-se` | main thread |  |  | [DURATION] | 4000 | 400 | 40 | 4 | – | `a.rs`, `b.rs`, `c.rs`, and 1 more |  |  |
    | `second-s` | main thread |  |  | [DURATION] | 4000 | 400 | 40 | 4 | – | `a.rs`, `b.rs`, `c.rs`, and 1 more |  |  |
    ");
}
