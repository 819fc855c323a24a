//! What `--help` says.

use super::*;

#[test]
fn every_subcommand_has_help() {
    let names = ["start", "finish", "skip", "run", "fail", "done", "new", "prompt", "check", "status"];
    let help = names.map(|name| ok(&Test::stop(), &[name, "--help"]));
    assert_snapshot!(help.join("\n"), @"
    Start a phase

    Usage: conclaude des start <STEP> <PHASE>

    Arguments:
      <STEP>   The step file, or the start of its name
      <PHASE>  The phase

    Options:
      -h, --help  Print help

    Finish a phase that was started, without a command to prove it

    Usage: conclaude des finish [OPTIONS] <--pass|--fail> <STEP> <PHASE>

    Arguments:
      <STEP>   The step file, or the start of its name
      <PHASE>  The phase

    Options:
          --pass               The phase succeeded
          --fail               The phase failed
          --details <DETAILS>  Details of the outcome
          --turns <TURNS>      How many turns it took
      -h, --help               Print help

    Skip a phase, with a valid reason

    Usage: conclaude des skip --reason <REASON> <STEP> <PHASE>

    Arguments:
      <STEP>   The step file, or the start of its name
      <PHASE>  The phase

    Options:
          --reason <REASON>  NOT_APPLICABLE: …, BLOCKED_BY_DEPENDENCY: …, APPROVED_SKIP: …,
                             CHECKPOINT_PENDING: … or DEFERRED: …
      -h, --help             Print help

    Run a command and record the phase from its exit code, as proof

    Exits with the command's own exit code. Phases named RED or RED_* expect a command that fails; a
    command that cannot be started or is killed never passes. If des.evidence names the phase's command,
    only that one is run. While the config cannot be read, none is.

    Usage: conclaude des run [OPTIONS] <STEP> <PHASE> [-- <COMMAND>...]

    Arguments:
      <STEP>
              The step file, or the start of its name

      <PHASE>
              The phase

      [COMMAND]...
              The command, after `--`; leave it out for a phase whose command is in the config
              (des.evidence)

    Options:
          --expect <EXPECT>
              The expected result of the command
              
              [possible values: pass, fail]

          --turns <TURNS>
              How many turns it took

      -h, --help
              Print help (see a summary with '-h')

    Admit that the step failed: an honest failure may stop

    Usage: conclaude des fail [OPTIONS] --reason <REASON> <STEP>

    Arguments:
      <STEP>  The step file, or the start of its name

    Options:
          --reason <REASON>  Why it failed
          --partial          A part of the step was done
      -h, --help             Print help

    Set a step without phases (workflow_type configuration_setup) to DONE

    Usage: conclaude des done <STEP>

    Arguments:
      <STEP>  The step file, or the start of its name

    Options:
      -h, --help  Print help

    Create a step file

    Usage: conclaude des new [OPTIONS] <PATH>

    Arguments:
      <PATH>  The path of the new step file, such as steps/01-01.json

    Options:
          --task-id <TASK_ID>        The task's id, such as 01-01 [default: the file's name]
          --project-id <PROJECT_ID>  The project's id [default: the name of the project's folder]
          --name <NAME>              The step's name
          --allow <ALLOW>            A pattern of files that the step may change; may be given several
                                     times
          --criterion <CRITERION>    An acceptance criterion, which goes into the prompt; may be given
                                     several times
          --force                    Overwrite an existing file
      -h, --help                     Print help

    Print the start of a prompt for a step: all markers, and instructions

    Usage: conclaude des prompt [OPTIONS] --agent <AGENT> <STEP>

    Arguments:
      <STEP>  The step file, or the start of its name

    Options:
          --agent <AGENT>      The subagent for the step
          --command <COMMAND>  The command that starts the step, such as /nw:execute
      -h, --help               Print help

    Check a step file and list what is missing; exits with 0 if nothing is, with 1 otherwise

    With --transcript it reports what Gate 3 would find about that agent, without a session: also the
    markers of its prompt, its evidence, and files outside the scope that its tools wrote. The judge is
    not asked.

    With --transcript and --step-file it answers like a hook: if the agent must not stop, it exits with
    2, with the findings on stderr (at most maxBlocks times for each agent). It exits with 0 if the
    agent may stop, and with 1 for input that cannot be used.

    Usage: conclaude des check [OPTIONS] <STEP|--step-file <FILE>>

    Arguments:
      [STEP]
              The step file, or the start of its name

    Options:
          --transcript <FILE>
              The transcript of the agent that did the step: also checks its prompt, its evidence and
              the files that it wrote

          --step-file <FILE>
              The step file, for a hook of your own: if the agent must not stop, exits with 2, with the
              findings on stderr

          --json
              Print JSON

      -h, --help
              Print help (see a summary with '-h')

    List all steps with their state

    Usage: conclaude des status [OPTIONS] [FOLDER]

    Arguments:
      [FOLDER]  The folder to search [default: the project]

    Options:
          --json  Print JSON
      -h, --help  Print help
    ");
}
