use std::path::Path;

use super::*;
use conclaude_store::load;
use conclaude_store::root::Root;

/// The remarks about a config in a project with an agent `coder` and a file `src/main.rs`.
pub(super) fn remarked(config: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (name, text) in [(".conclaude.yaml", config), ("src/main.rs", ""), ("src/lib.test.ts", "")] {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), text).unwrap();
    }
    let path = root.join(".conclaude.yaml");
    let loaded = load::one(&path, &Root::find(None, Path::new("/")));
    assert!(loaded.errors.is_empty(), "{config}\n{:?}", loaded.errors);
    let context = LintContext { agents: vec!["coder".into(), "tester".into()], root: root.to_owned() };
    let remarks = remarks(&loaded, &context);
    let line = |remark: &Remark| {
        let (source, problem) =
            remark.locate(&loaded.origins).unwrap_or_else(|| panic!("no position: {remark:?}"));
        format!("`{}` {}", &source.text[problem.span], remark.in_one_line())
    };
    remarks.iter().map(line).collect()
}

#[test]
fn innocent_rules_are_not_remarked() {
    for config in [
        "subagentStop: {commands: {'*': [{run: x}], coder: [{run: y}], 'test*': [{run: z}], 'plugin:reviewer': [{run: r}]}}",
        "subagentStop: {match: first, commands: {coder: [{run: x}], 'cod*': [{run: y}], '*': [{run: z}]}}",
        "subagentStop: {match: first, commands: {'*er': [{run: x}], '*der*': [{run: y}]}}",
        "subagentStop: {commands: {Explore: [{run: x}], general-purpose: [{run: x}], a0123456789abcdef: [{run: x}]}}",
        "subagentStart: {commands: {'{coder,tester}': [{run: x}]}}",
        "postToolUse: {commands: {'{Write,Edit}': [{run: x}], mcp__github__create_issue: [{run: x}], 'mcp__*': [{run: x}]}}",
        "postToolUse: {commands: {CronCreate: [{run: x}], LS: [{run: x}], '*Edit': [{run: x}], 'Web*': [{run: x}]}}",
        "postToolUse: {commands: {'*': [{run: x, agent: main}, {run: x, agent: coder}, {run: x, agent: 'unknown*'}]}}",
        "stop: {commands: [{run: x, agent: main}, {run: x, agent: '*'}, {run: x, files: ['*.rs', '!*.md']}]}",
        "stop: {commands: [{run: x, files: ['src/**', './src/main.rs', '/src/*.rs', '~/notes', 'src/']}]}",
        "sessionStart: {commands: {startup: [{run: x}], '{clear,compact}': [{run: x}], 'res*': [{run: x}]}}",
        "sessionEnd: {commands: {bypass_permissions_disabled: [{run: x}]}}",
        "preCompact: {commands: {manual: [{run: x}], '*': [{run: x}]}}",
        "notification: {commands: {permission_prompt: [{run: x}], whatever: [{run: x}]}}",
        "instructionsLoaded: {commands: {session_start: [{run: x}], 'path_*': [{run: x}], '*': [{run: x}]}}\nstopFailure: {commands: {rate_limit: [{run: x}]}}\nuserPromptSubmit: {slashCommands: {commands: {/deploy: [{run: x}]}}}",
        "teammateIdle: {commands: {anybody: [{run: x}]}}",
        "preToolUse: {uneditableFiles: ['*.lock', '!Cargo.lock', 'vendor/', '!vendor/own/', 'nothing/here']}",
        "preToolUse: {uneditableFiles: ['.env*', '!.env.example', {pattern: 'src/**', agent: coder}]}",
        "preToolUse: {uneditableFiles: [{pattern: '*.md'}, {pattern: '!*.md', agent: coder}]}",
        "preToolUse: {unreadableFiles: ['!x', '*.pem'], uneditableFiles: []}".replace("'!x', ", "").as_str(),
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git status', action: allow}, {tool: Bash, commandPattern: 'git *', action: block}]}",
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git push*', action: ask}, {tool: Bash, commandPattern: 'git *', action: block}, {tool: '*', pattern: 'a/**', action: block}]}",
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'rm *', action: block, agent: coder}, {tool: Bash, commandPattern: 'rm *', action: ask}]}",
        "preToolUse: {toolUsageValidation: [{tool: Write, pattern: '*.js', action: allow}, {tool: Write, pattern: '*.js', action: block}]}",
        "preToolUse: {toolUsageValidation: [{tool: 'Bash(git push*)', action: block}, {tool: 'Bash(git *)', action: ask}, {tool: 'Edit(docs/**)', action: block}, {tool: Edit, action: ask}]}",
        "preToolUse: {uneditableFiles: ['*.lock', '!foo.lock', 'foo.lock', {pattern: 'bar.lock', message: m}, 'src/*.rs', 'src/main/*.rs']}",
        "preToolUse: {toolUsageValidation: [{tool: '*', commandPattern: 'x', action: block}, {tool: Grep, pattern: '*.md', action: block}, {tool: mcp__a__b, pattern: a, action: ask}]}",
        "worktreeCreate: {commands: [{run: x}]}\nstop: {infinite: true}",
        "permissionRequest: {default: ask, allow: [Read, 'Bash(git status*)', 'mcp__*', 'WebFetch(domain:x.org)'], deny: ['*Edit']}",
        "fileChanged: {commands: {.env: [{run: x}]}}",
        "preToolUse: {uneditableFiles: ['./a.md', '//etc/', '/b', 'c/d/', '~/x', '~/.ssh/*', 'a..b', '.hidden', '*.$x']}",
    ] {
        assert_eq!(remarked(config), Vec::<String>::new(), "{config}");
    }
}

#[test]
fn packs_and_the_example_of_the_readme_have_no_dead_rules() {
    for pack in ["secrets", "git-safety", "destructive-commands", "lockfiles"] {
        assert_eq!(remarked(&format!("extends: ['pack:{pack}']")), Vec::<String>::new(), "{pack}");
    }
}

#[test]
fn dead_rules_are_remarked_with_the_reason_and_what_to_write() {
    let mut shown = String::new();
    for config in [
        "postToolUse: {commands: {bash: [{run: x}], '{Write,Editt}': [{run: x}], Wirte: [{run: x}], Task: [{run: x}]}}",
        "postToolUse: {commands: {'bash*': [{run: x}], mcp_github_create: [{run: x}]}}",
        "subagentStop: {commands: {codr: [{run: x}], reviewer: [{run: x}], main: [{run: x, agent: main}]}}",
        "stop: {commands: [{run: x, agent: coder}]}\nuserPromptSubmit: {commands: [{run: x, agent: 'test*'}]}",
        "sessionStart: {commands: {start: [{run: x}], startp: [{run: x}]}}\nsetup: {commands: {install: [{run: x}]}}\nsessionEnd: {commands: {log_out: [{run: x}]}}",
        "subagentStop: {match: first, commands: {'*': [{run: x}], coder: [{run: y}]}}",
        "subagentStop: {match: first, commands: {'cod*': [{run: x}], tester: [{run: x}], '{coder,tester}': [{run: y}]}}",
        "preToolUse: {toolUsageValidation: [{tool: Bahs, action: block}, {tool: Write, commandPattern: x, action: block}, {tool: WebFetch, pattern: '*.md', action: ask}, {tool: Bash, matchMode: prefix, action: ask}]}",
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git *', action: block}, {tool: Bash, commandPattern: git status, action: allow}, {tool: Bash, commandPattern: 'git *', action: block}]}",
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git *', action: allow}, {tool: Bash, commandPattern: 'git push*', action: block}, {tool: 'Bash(git:*)', action: ask}, {tool: 'Bash(git log*)', action: ask}]}",
        "preToolUse: {uneditableFiles: ['*.lock', 'foo.lock'], unreadableFiles: ['x', '**'], preventAdditions: ['src/', 'src/gen/', 'doc/**', 'doc/a']}",
        "preToolUse: {toolUsageValidation: [{tool: '*', action: ask}, {tool: Write, pattern: '*.md', action: block, agent: coder}]}",
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: git push, matchMode: prefix, action: ask}, {tool: Bash, commandPattern: 'git push --force*', action: block}]}",
        "preToolUse: {uneditableFiles: ['!*.md', '*.lock', {pattern: src/, agent: codre}], unreadableFiles: ['.env', '!.env*']}",
        "permissionRequest: {default: ask, allow: [Raed, 'Bash(git status*)', {pattern: Edit, agent: codr}], deny: [Wirte]}",
        "notification: {commands: {permision_prompt: [{run: y}]}}\ninstructionsLoaded: {commands: {Project: [{run: x}], session_strat: [{run: x}]}}\nstopFailure: {commands: {rate_limt: [{run: x}]}}",
        "postToolUse: {commands: {WebFetch: [{run: x, files: ['*.rs']}], '{WebSearch,Bash}': [{run: x, files: ['*.rs']}]}}",
        "postToolUse: {commands: {'{Read,Grep}': [{run: x, files: ['*.rs']}]}}",
        "preToolUse: {uneditableFiles: ['$HOME/.ssh/**', '../shared/**', 'src/../x', 'a//b/', './a/./b', '$X/y'], unreadableFiles: ['*', '!../z']}",
        "userPromptSubmit: {contextRules: [{pattern: a, prompt: '@/etc/passwd'}, {pattern: a, prompt: '@../x'}, {pattern: a, prompt: '@missing.md'}, {pattern: a, prompt: '@src/main.rs'}], slashCommands: {commands: {'/deploy prod': [{run: x}]}}}",
        "stop: {commands: [{run: x, files: ['!*.md']}, {run: x, files: ['lib/**', 'app/main.rs', '*.rs']}]}",
    ] {
        shown.push_str(&format!("{}\n\n", remarked(config).join("\n")));
    }
    insta::assert_snapshot!(shown, @r#"
    `bash` postToolUse: `bash` matches nothing: Claude Code has no tool of this name; did you mean `Bash`?
    `'{Write,Editt}'` postToolUse: `Editt` matches nothing: Claude Code has no tool of this name; did you mean `Edit`?
    `Wirte` postToolUse: `Wirte` matches nothing: Claude Code has no tool of this name; did you mean `Write`?
    `Task` postToolUse: `Task` matches nothing: Claude Code has another name for this tool; write `Agent`

    `'bash*'` postToolUse: `bash*` matches nothing: case counts; did you mean `Bash`?
    `mcp_github_create` postToolUse: `mcp_github_create` matches nothing: tools of MCP servers have two underscores twice; write `mcp__SERVER__TOOL`

    `codr` subagentStop: `codr` matches nothing: neither the project, you nor Claude Code has an agent of this name; did you mean `coder`?
    `reviewer` subagentStop: `reviewer` matches nothing: neither the project, you nor Claude Code has an agent of this name; known are `coder`, `tester`, and those of Claude Code
    `main` subagentStop: `main` matches nothing: neither the project, you nor Claude Code has an agent of this name; known are `coder`, `tester`, and those of Claude Code
    `main` subagentStop: `main` matches nothing: SubagentStop is only about subagents; remove `agent`

    `coder` stop: `coder` matches nothing: Stop comes only from the main thread; remove `agent`, or write `main`
    `'test*'` userPromptSubmit: `test*` matches nothing: UserPromptSubmit comes only from the main thread; remove `agent`, or write `main`

    `start` sessionStart: `start` matches nothing: SessionStart is never about that; did you mean `startup`?
    `startp` sessionStart: `startp` matches nothing: SessionStart is never about that; did you mean `startup`?
    `install` setup: `install` matches nothing: Setup is never about that; write one of `init`, `maintenance`
    `log_out` sessionEnd: `log_out` matches nothing: SessionEnd is never about that; did you mean `logout`?

    `coder` subagentStop: `coder` can never run: `match: first` stops at `*`, which comes before it; move it before `*`, or remove `match: first`

    `'{coder,tester}'` subagentStop: `{coder,tester}` can never run: `match: first` stops at `tester`, which comes before it; move it before `tester`, or remove `match: first`

    `Bahs` toolUsageValidation: `Bahs` matches nothing: Claude Code has no tool of this name; did you mean `Bash`?
    `x` toolUsageValidation: this rule for `Write` never matches: only `Bash`, `Monitor` and `PowerShell` have a command to compare; write `tool: Bash`
    `'*.md'` toolUsageValidation: this rule for `WebFetch` never matches: `WebFetch` names no file to compare; remove `pattern`
    `prefix` toolUsageValidation: `matchMode` has no effect: there is no `commandPattern`; remove `matchMode`

    `Bash` toolUsageValidation: this rule for `Bash` can never decide: the rule in line 1 matches all that it matches, and comes first; move it before that one
    `Bash` toolUsageValidation: this rule for `Bash` can never decide: the rule in line 1 matches all that it matches, and comes first; remove it

    `Bash` toolUsageValidation: this rule for `Bash` can never decide: the rule in line 1 allows all that it matches as it is written, and comes first; move it before that one
    `'Bash(git log*)'` toolUsageValidation: this rule for `Bash(git log*)` can never decide: the rule in line 1 matches all that it matches, and comes first; move it before that one

    `'foo.lock'` uneditableFiles: `foo.lock` is redundant: `*.lock` in line 1 covers all of it; remove it
    `'x'` unreadableFiles: `x` is redundant: `**` in line 1 covers all of it; remove it
    `'src/gen/'` preventAdditions: `src/gen/` is redundant: `src/` in line 1 covers all of it; remove it
    `'doc/a'` preventAdditions: `doc/a` is redundant: `doc/**` in line 1 covers all of it; remove it

    `Write` toolUsageValidation: this rule for `Write` can never decide: the rule in line 1 matches all that it matches, and comes first; move it before that one

    `Bash` toolUsageValidation: this rule for `Bash` can never decide: the rule in line 1 matches all that it matches, and comes first; move it before that one

    `'!*.md'` uneditableFiles: `!*.md` has no effect: no pattern before it protects anything; move it after the patterns that it is an exception to
    `codre` uneditableFiles: `codre` matches nothing: neither the project, you nor Claude Code has an agent of this name; did you mean `coder`?
    `'.env'` unreadableFiles: `.env` protects nothing: `!.env*` in line 1 excepts all of it again: the last match decides; remove one of the two, or move this one after it

    `Raed` permissionRequest: `Raed` matches nothing: Claude Code has no tool of this name; did you mean `Read`?
    `codr` permissionRequest: `codr` matches nothing: neither the project, you nor Claude Code has an agent of this name; did you mean `coder`?
    `Wirte` permissionRequest: `Wirte` matches nothing: Claude Code has no tool of this name; did you mean `Write`?

    `permision_prompt` notification: `permision_prompt` matches nothing: Notification is never about that; did you mean `permission_prompt`?
    `Project` instructionsLoaded: `Project` matches nothing: InstructionsLoaded is never about that; write one of `session_start`, `nested_traversal`, `path_glob_match`, `include`, `compact`
    `session_strat` instructionsLoaded: `session_strat` matches nothing: InstructionsLoaded is never about that; did you mean `session_start`?
    `rate_limt` stopFailure: `rate_limt` matches nothing: StopFailure is never about that; did you mean `rate_limit`?

    `files` postToolUse: this command never runs: `files` needs written files, and `WebFetch` writes none; remove `files`

    `files` postToolUse: this command never runs: `files` needs written files, and `{Read,Grep}` writes none; remove `files`

    `'$HOME/.ssh/**'` uneditableFiles: `$HOME/.ssh/**` matches nothing: variables are not replaced in patterns; write `~/.ssh/**`
    `'../shared/**'` uneditableFiles: `../shared/**` matches nothing: paths are compared without `..`; write an absolute path, or one that starts with `~/`
    `'src/../x'` uneditableFiles: `src/../x` matches nothing: paths are compared without `..`; write an absolute path, or one that starts with `~/`
    `'a//b/'` uneditableFiles: `a//b/` matches nothing: paths are compared without `.` and `//` in them; write `a/b`
    `'./a/./b'` uneditableFiles: `./a/./b` matches nothing: paths are compared without `.` and `//` in them; write `a/b`
    `'$X/y'` uneditableFiles: `$X/y` matches nothing: variables are not replaced in patterns; write the path itself
    `'!../z'` unreadableFiles: `!../z` matches nothing: paths are compared without `..`; write an absolute path, or one that starts with `~/`

    `'@/etc/passwd'` userPromptSubmit: `@/etc/passwd` is not inserted: only files of the project are, by a path without `..`; write its path from the project's root; `@@` at the start of a word is an `@`
    `'@../x'` userPromptSubmit: `@../x` is not inserted: only files of the project are, by a path without `..`; write its path from the project's root; `@@` at the start of a word is an `@`
    `'@missing.md'` userPromptSubmit: `@missing.md` is not inserted: the project has no such file; write its path from the project's root; `@@` at the start of a word is an `@`
    `'/deploy prod'` userPromptSubmit: `/deploy prod` matches nothing: the name of a slash command ends at the first space; write `deploy`; its arguments are in the payload

    `files` stop: this command never runs: its `files` only exclude files; write `files: ["*", "!*.md"]`
    `'lib/**'` stop: `lib/**` matches no file: the project has none like that; write the path from the project's root, or a name for any depth
    `'app/main.rs'` stop: `app/main.rs` matches no file: the project has none like that; `main.rs` matches files elsewhere: a pattern with `/` counts from the root
    "#);
}

#[test]
fn a_regular_expression_where_a_glob_belongs_is_named_with_the_glob() {
    let mut shown = String::new();
    for config in [
        r#"preToolUse: {uneditableFiles: ['.*\.lock', '^src/', 'lock.json$', '!^docs/.*\.md$', '(yarn|pnpm).lock', 'gen/.*\.ts$', 'v\d+/x'], unreadableFiles: [{pattern: '.*\.pem$', agent: '.*coder'}]}"#,
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git push.*--force', action: block}, {tool: Bash, commandPattern: '^rm -rf', action: block}, {tool: 'mcp__.*', action: ask}]}",
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'rm -rf', action: block}, {tool: 'Bash(git push --force)', action: ask}, {tool: Bash, commandPattern: 'git push.*', action: block}]}",
        r#"preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: '(npm|yarn) publish', action: block}, {tool: Bash, commandPattern: 'rm\s+-rf\b', action: block}, {tool: '^Edit$', pattern: '^src/.*$', action: block}]}"#,
        "permissionRequest: {allow: ['mcp__github__.*', 'Bash(npm run.*)'], deny: ['Bash(rm -rf)', 'Read(^secret/)']}",
        r#"subagentStop: {commands: {'.*coder': [{run: x, files: ['.*\.rs$']}], '^review': [{run: x}]}}"#,
        "postToolUse: {commands: {'mcp__.*': [{run: x, agent: '^coder$'}], 'Notebook.+': [{run: x}]}}",
    ] {
        shown.push_str(&format!("{}\n\n", remarked(&config.replace("\\\\", "\\")).join("\n")));
    }
    insta::assert_snapshot!(shown, @r#"
    `'.*\.lock'` uneditableFiles: `.*\.lock` is a regular expression: patterns of files are globs, as in .gitignore; write "*.lock"
    `'^src/'` uneditableFiles: `^src/` is a regular expression: patterns of files are globs, as in .gitignore; write "/src/"
    `'lock.json$'` uneditableFiles: `lock.json$` is a regular expression: patterns of files are globs, as in .gitignore; write "*lock.json"
    `'!^docs/.*\.md$'` uneditableFiles: `!^docs/.*\.md$` is a regular expression: patterns of files are globs, as in .gitignore; write "!/docs/**/*.md"
    `'(yarn|pnpm).lock'` uneditableFiles: `(yarn|pnpm).lock` is a regular expression: patterns of files are globs, as in .gitignore; write "{yarn,pnpm}.lock"
    `'gen/.*\.ts$'` uneditableFiles: `gen/.*\.ts$` is a regular expression: patterns of files are globs, as in .gitignore; write "**/gen/**/*.ts"
    `'v\d+/x'` uneditableFiles: `v\d+/x` is a regular expression: patterns of files are globs, as in .gitignore; write "v*/x"
    `pattern` unreadableFiles: `.*\.pem$` is a regular expression: patterns of files are globs, as in .gitignore; write "*.pem"
    `'.*coder'` unreadableFiles: `.*coder` is a regular expression: patterns of names are globs; write "*coder"

    `'git push.*--force'` toolUsageValidation: `git push.*--force` is a regular expression: patterns of commands are globs, compared with the whole command; write "git push*--force*"
    `'^rm -rf'` toolUsageValidation: `^rm -rf` is a regular expression: patterns of commands are globs, compared with the whole command; write "rm -rf*"
    `'mcp__.*'` toolUsageValidation: `mcp__.*` is a regular expression: patterns of names are globs; write "mcp__*"

    `'rm -rf'` toolUsageValidation: `rm -rf` matches only this command without arguments: nothing may follow it; write "rm -rf*", or use `options`
    `'Bash(git push --force)'` toolUsageValidation: `git push --force` matches only this command without arguments: nothing may follow it; write "Bash(git push --force*)"
    `'git push.*'` toolUsageValidation: `git push.*` is a regular expression: patterns of commands are globs, compared with the whole command; write "git push*"

    `'(npm|yarn) publish'` toolUsageValidation: `(npm|yarn) publish` is a regular expression: patterns of commands are globs, compared with the whole command; write "{npm,yarn} publish*"
    `'rm\s+-rf\b'` toolUsageValidation: `rm\s+-rf\b` is a regular expression: patterns of commands are globs, compared with the whole command; write "rm -rf*"
    `'^Edit$'` toolUsageValidation: `^Edit$` is a regular expression: patterns of names are globs; write "Edit"
    `'^src/.*$'` toolUsageValidation: `^src/.*$` is a regular expression: patterns of files are globs, as in .gitignore; write "/src/**"

    `'mcp__github__.*'` permissionRequest: `mcp__github__.*` is a regular expression: patterns of names are globs; write "mcp__github__*"
    `'Bash(npm run.*)'` permissionRequest: `npm run.*` is a regular expression: patterns of commands are globs, compared with the whole command; write "Bash(npm run*)"
    `'Bash(rm -rf)'` permissionRequest: `rm -rf` matches only this command without arguments: nothing may follow it; write "Bash(rm -rf*)"
    `'Read(^secret/)'` permissionRequest: `^secret/` is a regular expression: patterns of files are globs, as in .gitignore; write "Read(/secret/)"

    `'.*coder'` subagentStop: `.*coder` is a regular expression: patterns of names are globs; write "*coder"
    `'.*\.rs$'` subagentStop: `.*\.rs$` is a regular expression: patterns of files are globs, as in .gitignore; write "*.rs"
    `'^review'` subagentStop: `^review` is a regular expression: patterns of names are globs; write "review*"

    `'mcp__.*'` postToolUse: `mcp__.*` is a regular expression: patterns of names are globs; write "mcp__*"
    `'^coder$'` postToolUse: `^coder$` is a regular expression: patterns of names are globs; write "coder"
    `'Notebook.+'` postToolUse: `Notebook.+` is a regular expression: patterns of names are globs; write "Notebook*"
    "#);
}

#[test]
fn globs_that_look_like_regular_expressions_are_not_remarked() {
    for config in [
        r"preToolUse: {uneditableFiles: ['.env.*', '.*rc', 'src/[.]*', '*.*', 'app/(group)/page.tsx', 'Cargo\.lock', 'tsconfig.*.json', 'c++/', 'price$.txt', 'src\build']}",
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'rm [.]*', action: block}, {tool: Bash, commandPattern: 'mkfs.*', action: block}, {tool: Bash, commandPattern: 'cat package.*', action: ask}]}",
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git status -s', action: allow}, {tool: Bash, commandPattern: 'npm publish', action: block}, {tool: Bash, commandPattern: 'rm -rf', matchMode: prefix, action: block}]}",
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git push', matchMode: prefix, options: ['-f'], action: block}, {tool: Bash, commandPattern: '{,* | }curl *| sh', action: block}, {tool: Bash, commandPattern: '(a | b)', action: block}]}",
        "permissionRequest: {allow: ['Bash(git log --oneline)', 'mcp__github__*', 'WebFetch(domain:*.example.com)'], deny: ['Bash(rm -rf *)', 'Bash(npm publish:*)']}",
    ] {
        assert_eq!(remarked(config), Vec::<String>::new(), "{config}");
    }
}
