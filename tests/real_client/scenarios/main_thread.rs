//! The main thread: its stop, guards of its tools, commands after them.

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, bash, says, uses, write};

/// What Claude wrote before it was blocked still counts after that.
pub(super) fn stop(client: &Client) {
    let config = "stop: {commands: [{run: 'echo {files} >> checked; test -e fixed || { echo src/a.txt is \"not good\"; exit 1; }', files: ['src/*.txt']}]}";
    let project = Project::new().config(config).installed();
    let seen = client.play(
        &project,
        Script::main([
            uses([write(&project.path("src/a.txt"), "bad\n"), write(&project.path("b.txt"), "b\n")]),
            says("All is done."),
            uses([bash("touch fixed; echo c > src/c.txt")]),
            says("Now all is done."),
        ]),
    );
    seen.sent(MAIN, 2)
        .has("you may not stop yet (block 1 of 3)")
        .has("src/a.txt is not good")
        .has("Fix what is marked ✗, then finish again.");
    assert_eq!(seen.turns(MAIN), 4, "blocked once");
    assert_eq!(project.read("checked").as_deref(), Some("src/a.txt\nsrc/a.txt src/c.txt\n"));
    seen.shown().has_once("passed after 1 block").lacks("src/a.txt is not good");
    seen.result().has("Now all is done.");
}

/// What compilers print: types, tags of a page, an include, characters that nobody sees.
const PRINTED: [&str; 4] = [
    "src/a.ts(3,7): error TS2322: Type 'Promise<string>' is not assignable to type 'Map<string, Array<Channel>>'.",
    "error[E0308]: expected `Vec<String>`, found `Option<&'a str>`; `<div>` is no child of `</p>`",
    "a.c:1:10: fatal error: #include <stdio.h>",
    "1:5  error  Irregular whitespace \u{200b}\u{feff}co\u{ad}op",
];

/// Feedback reaches Claude byte for byte.
pub(super) fn exact_feedback(client: &Client) {
    let config = "stop: {commands: [{run: 'cat printed; test -e tried || { touch tried; exit 1; }'}]}";
    let project = Project::new().file("printed", &PRINTED.join("\n")).config(config).installed();
    let seen = client.play(&project, Script::main([says("All is done."), says("Now all is done.")]));
    for line in PRINTED {
        seen.sent(MAIN, 1).has(line);
    }
}

const GUARDS: &str =
    "preToolUse: {uneditableFiles: ['*.lock', {pattern: '.env*', message: 'secrets are not for you'}]}";

pub(super) fn denied_write(client: &Client) {
    let project = Project::new().config(GUARDS).file("Cargo.lock", "locked\n").installed();
    let seen = client.play(
        &project,
        Script::main([uses([write(&project.path(".env.local"), "KEY=1\n")]), says("I could not.")]),
    );
    assert!(!project.has(".env.local"), "it is not written");
    seen.sent(MAIN, 1).has_once("secrets are not for you (.conclaude.yaml:1)").lacks("GUARD_DENIED");
}

pub(super) fn denied_shell_write(client: &Client) {
    let project = Project::new().config(GUARDS).file("Cargo.lock", "locked\n").installed();
    let command = "cd . && sed -i s/locked/open/ ./Cargo.lock; touch ran";
    let seen = client.play(&project, Script::main([uses([bash(command)]), says("I could not.")]));
    assert_eq!(project.read("Cargo.lock").as_deref(), Some("locked\n"));
    assert!(!project.has("ran"), "nothing of the command runs");
    seen.sent(MAIN, 1).has_once("Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`.");
}

/// Without a terminal nobody can be asked: Claude Code refuses, and Claude reads why.
pub(super) fn ask(client: &Client) {
    let rule = "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'touch *', action: ask, message: 'is this file needed?'}]}";
    let project = Project::new().config(rule).installed();
    let seen = client.play(
        &project,
        Script::main([uses([bash("touch asked")]), uses([bash("echo fine")]), says("I could not.")]),
    );
    assert!(!project.has("asked"), "nobody has agreed");
    seen.sent(MAIN, 1).has_once("is this file needed?");
    seen.sent(MAIN, 2).has("fine").lacks("is this file needed?");
}

/// A mistake in the config is made after it was installed: what can be read of it holds, and what cannot be read is asked about.
pub(super) fn broken_guards(client: &Client) {
    let config = "preToolUse: {uneditableFiles: ['*.lock', {patern: '*.pem'}]}\n";
    let project = Project::new().config(GUARDS).file("Cargo.lock", "locked\n").installed().config(config);
    let seen = client.play(
        &project,
        Script::main([
            uses([write(&project.path("Cargo.lock"), "open\n")]),
            uses([write(&project.path("key.pem"), "key\n")]),
            uses([bash("echo fine")]),
            says("I could not."),
        ]),
    );
    assert_eq!(project.read("Cargo.lock").as_deref(), Some("locked\n"));
    assert!(!project.has("key.pem"), "nobody has agreed");
    seen.sent(MAIN, 1).has_once("Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`.");
    seen.sent(MAIN, 2).has("Rules in .conclaude.yaml:1 cannot be used").has("unknown key `patern`");
    seen.sent(MAIN, 3).has("fine");
}

pub(super) fn after_a_tool(client: &Client) {
    let config = "postToolUse: {commands: {'{Wr*,Bash}': [{run: 'echo \"$CONCLAUDE_TOOL_NAME\" {files} >> checked; echo one line is \"too long\"; exit 1', files: ['*.ts', '!*.d.ts'], onFailure: block}]}}";
    let project = Project::new().config(config).installed();
    let seen = client.play(
        &project,
        Script::main([
            uses([write(&project.path("src/a b.ts"), "x\n")]),
            uses([write(&project.path("src/a.d.ts"), "x\n")]),
            uses([bash("cat README.md; echo x > shell.ts")]),
            says("All is done."),
        ]),
    );
    assert_eq!(project.read("checked").as_deref(), Some("Write src/a b.ts\nBash shell.ts\n"));
    seen.sent(MAIN, 1).has_once("one line is too long").has("Fix what is marked ✗.");
    seen.sent(MAIN, 2).lacks("one line is too long");
    seen.sent(MAIN, 3).has_once("one line is too long");
}
