//! Calls and stops with a step.

use super::*;

#[test]
fn a_call_with_markers_shows_what_gate_1_finds() {
    let test = project().step(&workflow::done());
    let input = json!({"prompt": MARKERS, "subagent_type": "tester"}).to_string();
    assert_snapshot!(explained(&test, &["PreToolUse", "--tool", "Agent", "--input", &input]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Agent on the main thread → denied
      prompt: ‹!-- DES-VALIDATION: required --> …
      subagent_type: tester
      ✗ AGENT_MISMATCH: DES-AGENT is coder, but this is tester → call that agent, or
      change the marker
      ✗ STEP_DONE: steps/01-01.json is DONE already → continue with the next step,
      or let the user reopen this one
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      it touches no file that its input names

    Guards
      · each of 3 uneditableFiles in .conclaude.yaml:4-6 is not compared: nothing is
        written or deleted
          "*.lock", "src/gen/", "!src/gen/keep.md"
      · unreadableFiles ".env*" in .conclaude.yaml:7 is not compared: nothing is
        read
      · preventRootAdditions in .conclaude.yaml:8 is not compared: no file is
        written
      · each of 2 toolUsageValidation in .conclaude.yaml:10-11 does not apply to
        Agent
          "Bash git push --force*", "Bash git *"
      · worktreeFence is not compared: no file is written

    Gates
      • Gate 1: the prompt's markers name the step file steps/01-01.json
        ✗ AGENT_MISMATCH: DES-AGENT is coder, but this is tester → call that agent,
        or change the marker
        ✗ STEP_DONE: steps/01-01.json is DONE already → continue with the next step,
        or let the user reopen this one

    Commands, in this order
      none runs
      · ./audit-shell
         preToolUse.commands "Bash" in .conclaude.yaml:13 does not match Agent

    Answer
      denied (exit 2)
        conclaude denies this call of an agent:
        ✗ AGENT_MISMATCH: DES-AGENT is coder, but this is tester → call that agent,
        or change the marker
        ✗ STEP_DONE: steps/01-01.json is DONE already → continue with the next step,
        or let the user reopen this one
    "#);
}

#[test]
fn a_real_payload_of_a_gated_stop_is_judged_as_the_hook_does() {
    let test = Test::gated_stop(&workflow::with(3, json!({"status": "IN_PROGRESS"})));
    let payload = test.input();
    let test = test.file("payload.json", &payload);
    assert_snapshot!(explained(&test, &["--payload", "payload.json"]), @"
    exit 0
    ----- stdout
    SubagentStop of the agent coder → blocked
      ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED
      with PASS or FAIL, or SKIPPED
      ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository →
      look yourself at what was changed: the scope was not checked
    ⚠ no agent coder is known here: there is no file for it in .claude/agents
    ⚠ SubagentStop is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      none: the defaults apply

    Gates
      • Gate 3: the prompt's markers name the step file steps/01-01.json
        ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED
        with PASS or FAIL, or SKIPPED
        ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository
        → look yourself at what was changed: the scope was not checked

    Commands, in this order
      none runs

    Answer
      blocked (exit 2)
        Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
        ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED
        with PASS or FAIL, or SKIPPED
        ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository
        → look yourself at what was changed: the scope was not checked
        Fix what is marked ✗, then give your complete report again: your caller sees
        only your last message.
      the same after 3 blocks (maxBlocks): allowed_despite_failure (exit 0)
        conclaude: SubagentStop of coder (a1b2c3)
        ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED
        with PASS or FAIL, or SKIPPED
        ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository
        → look yourself at what was changed: the scope was not checked
        This would have blocked, but the agent may stop: it was blocked 3 times
        already (maxBlocks).
    ");
    test.run().blocked();
}
