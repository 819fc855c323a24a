//! The list of scenarios.

mod budgets;
mod commands;
mod gates;
mod main_thread;
mod plugin;
mod prompts;
mod reports;
mod sandbox;
mod servers;
mod setup;
mod several_agents;
mod steps;
mod telemetry;
mod watch;

use crate::client::Client;

/// A session, or some, and what must come of it.
pub(crate) struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    pub play: fn(&Client),
}

const fn scenario(name: &'static str, play: fn(&Client), about: &'static str) -> Scenario {
    Scenario { name, about, play }
}

/// All of them, in the order in which they are played.
pub(crate) const ALL: &[Scenario] = &[
    scenario(
        "foreground",
        commands::foreground,
        "commands by the agent's name, shown with the agent's result",
    ),
    scenario(
        "background",
        commands::background,
        "the same for an agent in the background, shown with its notification",
    ),
    scenario(
        "before-stop",
        commands::background_before,
        "one that ends before the main thread stops: the user and Claude get its message once each",
    ),
    scenario(
        "report",
        commands::report,
        "after a block the caller gets the complete report, and one line says that the agent passed",
    ),
    scenario(
        "passed-once",
        commands::passed_once,
        "an agent in the background that passes after a block: the user and Claude learn it once each",
    ),
    scenario("timeout", commands::timeout, "a command that hangs blocks the agent once and leaves nothing"),
    scenario("failure", commands::failure, "a command that fails is shown once, and the agent may stop"),
    scenario("hostile-text", commands::hostile_text, "tags that a command prints are no tags to anybody"),
    scenario("plugin-valid", plugin::valid, "the client finds nothing to report in plugin and marketplace"),
    scenario("plugin-alone", plugin::alone, "the plugin alone blocks"),
    scenario(
        "plugin-installed",
        plugin::installed,
        "the plugin from our marketplace, installed by the client, blocks",
    ),
    scenario(
        "plugin-and-settings",
        plugin::beside_registrations,
        "beside a registration in each of the settings everything runs once",
    ),
    scenario("plugin-and-npm", plugin::beside_npm, "the same where the project's npm package is registered"),
    scenario("parallel", several_agents::parallel, "two agents at once, each with its own messages in order"),
    scenario(
        "nested",
        several_agents::nested,
        "an agent calls an agent; what belongs to it comes with its caller",
    ),
    scenario("fixed", steps::fixed, "an agent is blocked until its step file proves the work"),
    scenario(
        "limit",
        steps::limit,
        "an agent that never fixes its work is allowed after maxBlocks, and that is shown",
    ),
    scenario(
        "unfinished",
        steps::unfinished,
        "an agent that runs out of turns is reported when the main thread stops",
    ),
    scenario("judge", steps::judge, "a judge that refuses once and then agrees"),
    scenario(
        "watch",
        watch::watch,
        "`conclaude watch` beside a session shows agents, denials and blocks as they happen",
    ),
    scenario(
        "budget-session",
        budgets::session,
        "a session is told once at 80 % of its budget, its tools are denied when it is used up, and it may stop",
    ),
    scenario(
        "budget-agent",
        budgets::agent,
        "a subagent with two tool calls is denied the third, reports, and the user is shown why",
    ),
    scenario(
        "budget-prompt",
        budgets::prompt,
        "a prompt is refused when the budget is used up, with the way to raise it",
    ),
    scenario("denied-call", gates::denied_call, "an Agent call that is not sound does not start"),
    scenario("denied-write", gates::denied_write, "a write outside the step's scope does not happen"),
    scenario(
        "main-stop",
        main_thread::stop,
        "the main thread is blocked once, by a command that is given what it wrote since the prompt",
    ),
    scenario(
        "exact-feedback",
        main_thread::exact_feedback,
        "what compilers print reaches Claude byte for byte: `Promise<string>`, `<div>`, zero-width characters",
    ),
    scenario("guarded-write", main_thread::denied_write, "a write to a protected file does not happen"),
    scenario(
        "guarded-shell",
        main_thread::denied_shell_write,
        "a shell command that would write to a protected file does not run",
    ),
    scenario("asked", main_thread::ask, "a rule that asks: refused where nobody can be asked"),
    scenario(
        "broken-guards",
        main_thread::broken_guards,
        "a mistake in the config: its other guards hold, and what it might have refused is asked about",
    ),
    scenario(
        "after-a-tool",
        main_thread::after_a_tool,
        "commands after tools that wrote matching files, whose failure Claude reads",
    ),
    scenario(
        "guarded-server",
        servers::guarded_file,
        "a protected file that a tool of an MCP server is given is asked about",
    ),
    scenario(
        "file-changed",
        reports::file_changed,
        "commands for the files that a pattern names, once the client reports that they changed",
    ),
    scenario(
        "instructions-loaded",
        reports::instructions_loaded,
        "commands when the client reads instructions, by the reason",
    ),
    scenario(
        "injected-context",
        prompts::injected_context,
        "a prompt that matches brings files of the project and the output of commands along",
    ),
    scenario(
        "printed-at-expansion",
        prompts::printed_at_expansion,
        "what a hook prints at a command of the project is context for Claude",
    ),
    scenario(
        "printed-at-compaction",
        prompts::printed_at_compaction,
        "what a hook prints before a compaction is an instruction for the summary",
    ),
    scenario(
        "blocked-compaction",
        prompts::blocked_compaction,
        "a command that blocks before a compaction: nothing is compacted",
    ),
    scenario(
        "permission-decision",
        prompts::permission_decision,
        "rules allow and deny what the client would ask about, and leave the rest to it",
    ),
    scenario(
        "one-trace",
        telemetry::one_trace,
        "decisions and commands are spans below those of the client, in one trace",
    ),
    scenario("broken-config", setup::broken_config, "a broken config is shown, and the gates still work"),
    scenario("uninstall", setup::uninstall, "install, a session, uninstall: the settings are as before"),
    scenario(
        "imported-exit-code",
        setup::imported_exit_code,
        "a guard that denies by exit 2 denies the same after `init --import`, and is back after `uninstall`",
    ),
    scenario(
        "imported-answer",
        setup::imported_answer,
        "a guard that denies by JSON denies the same after `init --import`",
    ),
    scenario(
        "failed-answer",
        setup::failed_answer,
        "a hook that exits with 1 after its answer: the answer counts before and after `init --import`",
    ),
    scenario(
        "trust",
        setup::trust,
        "registered for all projects, commands run once the user has agreed to them",
    ),
    scenario(
        "comments",
        setup::comments,
        "settings with comments or trailing commas are ignored, and that is reported",
    ),
    scenario(
        "missing-program",
        setup::missing_program,
        "where conclaude is missing, no event is an error, and the start of the session says how to install it",
    ),
    scenario(
        "switched-off",
        setup::switched_off,
        "CONCLAUDE=0 switches every event off, and is reported once",
    ),
    scenario(
        "out-of-sync",
        setup::out_of_sync,
        "a config that outgrew its registration is reported at the start",
    ),
    scenario(
        "sandbox-reading",
        sandbox::reading,
        "code, scripts, make, eval and links cannot read a protected file, and Claude is told by which rule",
    ),
    scenario("sandbox-writing", sandbox::writing, "code cannot change, rename or delete a protected file"),
    scenario(
        "sandbox-escaping",
        sandbox::escaping,
        "neither in the background nor with `dangerouslyDisableSandbox`",
    ),
    scenario("sandbox-subagent", sandbox::subagent, "the same inside a subagent"),
    scenario(
        "sandbox-tools",
        sandbox::tools,
        "Read, Write and Edit are refused by permission rules, with the reason",
    ),
    scenario("sandbox-own-files", sandbox::own_files, "conclaude's own files are protected as well"),
    scenario(
        "sandbox-later",
        sandbox::created_later,
        "a file that is created later is protected from then on",
    ),
    scenario(
        "sandbox-elsewhere",
        sandbox::elsewhere,
        "neither a new .gitignore, nor a path outside of the project, nor an ignored directory lets anything out",
    ),
    scenario("sandbox-exception", sandbox::exception, "what an exception frees can be read"),
    scenario("sandbox-users-own", sandbox::users_own, "the user's own sandbox settings are kept, and count"),
    scenario("sandbox-overridden", sandbox::overridden, "with `--settings` the guards ask again"),
    scenario("sandbox-missing", sandbox::missing, "without bwrap: what the user is told"),
    scenario(
        "sandbox-everyday",
        sandbox::everyday,
        "builds, git and the steps of a workflow go on in the sandbox",
    ),
    scenario(
        "sandbox-other-config",
        sandbox::other_config,
        "a config that Claude has made names no command outside of the sandbox",
    ),
];
