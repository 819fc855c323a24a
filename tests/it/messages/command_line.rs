//! Mistakes on the command line.

use super::*;

#[test]
fn every_mistake_on_the_command_line_gets_a_suggestion() {
    let lines = [
        "audit shwo",
        "audit frobnicate",
        "des stauts",
        "version",
        "audit show --decision blokced",
        "audit show --event SubagentStpo",
        "audit stats --decision perhaps",
        "audit stats",
        "audit show --session abc",
    ];
    assert_snapshot!(lines.map(command).join("\n"), @"
    $ conclaude audit shwo
    exit 1
    ----- stderr
    conclaude: unknown subcommand `shwo`; did you mean `conclaude audit show`?

    $ conclaude audit frobnicate
    exit 1
    ----- stderr
    conclaude: unknown subcommand `frobnicate`; `conclaude audit --help` lists its subcommands

    $ conclaude des stauts
    exit 1
    ----- stderr
    conclaude: unknown subcommand `stauts`; did you mean `conclaude des status`?

    $ conclaude version
    exit 1
    ----- stderr
    conclaude: unknown event or command `version`; `conclaude --version` prints the version

    $ conclaude audit show --decision blokced
    exit 1
    ----- stderr
    conclaude: there is no decision `blokced`; did you mean `blocked`?

    $ conclaude audit show --event SubagentStpo
    exit 1
    ----- stderr
    conclaude: there is no event `SubagentStpo`; did you mean `SubagentStop`?

    $ conclaude audit stats --decision perhaps
    exit 1
    ----- stderr
    conclaude: there is no decision `perhaps`; there are DONE, FAIL, FAILED, IN_PROGRESS, PARTIAL, PASS, SKIPPED, TODO, allowed, allowed_despite_failure, allowed_failed, asked, blocked, denied, interrupted, permitted, raised, reset, unfinished, warned

    $ conclaude audit stats
    exit 0
    ----- stdout
    Nothing is recorded yet in [ROOT]/.conclaude/audit. Records are written when commands run, when guards, permission rules or gates decide, and by `conclaude des`. `conclaude doctor` shows whether Claude Code calls conclaude here.

    $ conclaude audit show --session abc
    exit 0
    ----- stdout
    Nothing is recorded yet in [ROOT]/.conclaude/audit. Records are written when commands run, when guards, permission rules or gates decide, and by `conclaude des`. `conclaude doctor` shows whether Claude Code calls conclaude here.
    ");
}

#[test]
fn a_filter_that_admits_nothing_says_how_many_records_there_are() {
    let test =
        Test::stop().config("subagentStop: {commands: {coder: [{run: 'true'}]}}").run().silent().again();
    let shown = ["stats", "show"].map(|subcommand| test.shows(&["audit", subcommand, "--agent", "nobody"]));
    assert_snapshot!(shown.join("\n"), @"
    exit 0
    ----- stdout
    No record matches. There is 1 record in [ROOT]/.conclaude/audit.
    exit 0
    ----- stdout
    No record matches. There is 1 record in [ROOT]/.conclaude/audit.
    ");
}
