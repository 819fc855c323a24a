//! Options of shell commands that write a file or run something: a rule must name them.

use super::*;

#[test]
fn a_write_by_an_option_is_allowed_only_by_a_rule_that_names_it() {
    let allow = r#"{allow: ["Bash(git log:*)", "Bash(git diff *)", "Bash(sort *)", "Bash(sed *)", "Bash(find *)", "Bash(curl *)", "Bash(rm *)", "Bash(touch *)"]}"#;
    let rules = rules(allow);
    for command in
        ["git log", "git log -p x", "sort x", "sed -n 1p x", "find . -name x", "curl x", "rm x", "touch x"]
    {
        assert_eq!(bash(&rules, command), "allow", "{command}");
    }
    for command in [
        "git log --output=x",
        "git log --output x",
        "git diff --output=x",
        "sort -o x y",
        "sort --output=x y",
        "sed -i s/a/b/ x",
        "sed -ni s/a/b/ x",
        "find . -delete",
        "find . -fprint x",
        "curl -o x y",
        "curl -O https://x/y",
    ] {
        assert_eq!(bash(&rules, command), "ask", "{command}");
    }
}

#[test]
fn a_rule_for_a_write_by_an_option_allows_it() {
    let rules = rules(
        r#"{allow: ["Bash(git log --output=*)", "Bash(sort -o *)", "Bash(sed -i *)", "Bash(find * -delete)", "Bash(curl -o *)"]}"#,
    );
    for command in ["git log --output=x", "sort -o x y", "sed -i s/a/b/ x", "find . -delete", "curl -o x y"] {
        assert_eq!(bash(&rules, command), "allow", "{command}");
    }
}

/// The word after each program is a rule for it; each of the forms runs or writes something by an option.
#[test]
fn who_allows_a_program_does_not_allow_options_that_run_or_write() {
    for (allowed, forms) in [
        ("man *", &["man -P x ls", "man --pager='sh -c x' ls", "man -H'x' ls", "man -C f ls"][..]),
        ("bat *", &["bat --pager=x a", "bat --pager x a"]),
        ("ag *", &["ag --pager x a"]),
        (
            "go test*",
            &[
                "go test -exec x",
                "go test -exec=x ./...",
                "go test -toolexec x",
                "go test -o f",
                "go test -coverprofile=f",
            ],
        ),
        (
            "make *",
            &["make SHELL=./x a", "make -f x a", "make --eval='$(shell x)' a", "make 'A!=x'", "make -I x a"],
        ),
        ("npm test*", &["npm test --script-shell=./x", "npm test --node-options='-r ./x'"]),
        ("cargo test*", &["cargo test --config 'build.rustc=\"x\"'", "cargo test --target-dir=/etc"]),
        ("pytest *", &["pytest --junitxml=f", "pytest --basetemp /home/x", "pytest -c f", "pytest -o a=b"]),
        ("eslint *", &["eslint --fix .", "eslint --fix", "eslint -o f .", "eslint --rulesdir d ."]),
        ("prettier *", &["prettier --write a", "prettier -w a", "prettier --plugin=./x a"]),
        ("ruff *", &["ruff check --fix", "ruff check -o f"]),
        ("awk *", &["awk '{print > \"f\"}' a", "awk -f s a", "awk -i inplace '{}' a", "awk -l x 1 a"]),
        (
            "sed *",
            &["sed -f s a", "sed --file=s a", "sed -n '1e touch x' a", "sed 's/a/b/e' a", "sed -n 'w f' a"],
        ),
        ("uniq *", &["uniq a b"]),
        ("xxd *", &["xxd a b", "xxd -r a b"]),
        ("curl *", &["curl -K f u", "curl --config=f u", "curl -w '%output{f}' u"]),
        ("wget *", &["wget -O f u", "wget -e output_document=f u", "wget --use-askpass=x u"]),
        ("ssh *", &["ssh -F f h ls", "ssh -I x.so h ls", "ssh -o ProxyCommand=x h ls"]),
        ("scp *", &["scp -S x a h:b"]),
        ("rsync *", &["rsync -e x a h:b", "rsync --rsync-path=x a h:b"]),
        ("psql *", &["psql -o f", "psql -c '\\copy a to f'", "psql -c '\\! x'"]),
        ("sqlite3 *", &["sqlite3 a '.output f'", "sqlite3 a '.shell x'"]),
        ("kubectl get *", &["kubectl get --kubeconfig=f pods"]),
        ("helm template *", &["helm template --post-renderer x a"]),
        ("openssl *", &["openssl req -engine x", "openssl req -config f"]),
        ("date *", &["date -s x", "date --set=x"]),
        ("journalctl *", &["journalctl --vacuum-size=1M", "journalctl --rotate"]),
        (
            "git *",
            &[
                "git clone --template=x u",
                "git fast-export --export-marks=f HEAD",
                "git send-email --smtp-server=./x a",
                "git interpret-trailers --in-place f",
            ],
        ),
        ("svn *", &["svn diff --diff-cmd x"]),
        ("hg *", &["hg status --config ui.editor=x"]),
    ] {
        let rules = rules(&format!("{{allow: ['Bash({allowed})']}}"));
        for form in forms {
            assert_eq!(bash(&rules, form), "ask", "{form}");
        }
    }
    for (allowed, form) in [
        ("go test*", "go test -run X -count=1 ./..."),
        ("make *", "make -j4 -C sub CC=clang test"),
        ("npm test*", "npm test -- --watch=false"),
        ("cargo test*", "cargo test --workspace -p x -- --nocapture"),
        ("pytest *", "pytest -x -q -k name -p no:cacheprovider tests"),
        ("eslint *", "eslint --ext .ts src"),
        ("prettier *", "prettier --check ."),
        ("awk *", "awk '$1 > 3 {print $2}' a"),
        ("uniq *", "uniq -c a"),
        ("ssh *", "ssh -p 22 h ls"),
        ("psql *", "psql -c 'select 1'"),
        ("man *", "man -k ls"),
        ("eslint --fix *", "eslint --fix src"),
        ("go test -coverprofile=*", "go test -coverprofile=f ./..."),
        ("*", "eslint --fix src"),
    ] {
        let rules = rules(&format!("{{allow: ['Bash({allowed})']}}"));
        assert_eq!(bash(&rules, form), "allow", "{form}");
    }
}

#[test]
fn who_allows_a_command_does_not_allow_what_its_options_run() {
    let rules = rules(
        r#"{allow: ["Bash(git fetch*)", "Bash(git grep*)", "Bash(tar *)", "Bash(uv run *)", "Bash(docker exec *)"]}"#,
    );
    for command in [
        "git fetch --upload-pack='touch x' origin",
        "git fetch --upload-pack 'touch x'",
        "git fetch --upload-pack touch",
        "git grep -O'touch x' y",
        "tar cf x.tar --checkpoint=1 --checkpoint-action=exec='touch x' .",
        "tar -I 'sh -c \"touch x\"' -cf a b",
    ] {
        assert_eq!(bash(&rules, command), "ask", "{command}");
    }
    for command in [
        "git fetch origin main",
        "git grep x",
        "tar tf x.tar",
        "uv run pytest -q",
        "docker exec -it box ls -l",
    ] {
        assert_eq!(bash(&rules, command), "allow", "{command}");
    }
}

/// A table of patterns with the commands that they match, as `PATTERN: COMMAND ¦ COMMAND`.
fn cases(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = table.lines().filter_map(|line| line.split_once(": "));
    lines.flat_map(|(pattern, commands)| commands.split(" ¦ ").map(move |command| (pattern, command)))
}

fn answered<'a>(table: &'a str, expected: &str) -> Vec<(&'a str, &'a str)> {
    let is_wrong = |(pattern, command): &(&str, &str)| {
        let rules = rules(&format!("{{allow: [{}]}}", json!(format!("Bash({pattern})"))));
        bash(&rules, command) != expected
    };
    cases(table).filter(is_wrong).collect()
}

/// Options that run, load or write, of programs that users allow by a pattern without them.
#[test]
fn options_that_a_pattern_does_not_name_are_left_to_the_user() {
    assert_eq!(answered(include_str!("asked_options.txt"), "ask"), []);
}

/// Everyday commands under the patterns that users write for them.
#[test]
fn everyday_options_are_allowed_without_being_named() {
    assert_eq!(answered(include_str!("allowed_options.txt"), "allow"), []);
}

#[test]
fn an_unlisted_option_is_allowed_as_often_as_the_pattern_names_it() {
    for (pattern, command, expected) in [
        ("pytest -c setup.cfg *", "pytest -c setup.cfg tests", "allow"),
        ("pytest -c setup.cfg *", "pytest -c setup.cfg -c evil.cfg", "ask"),
        ("pytest -p *", "pytest -p x", "allow"),
        ("node -r ts-node/register *", "node -r ts-node/register x.ts", "allow"),
        ("node -r ts-node/register *", "node -r ts-node/register -r ./evil x.ts", "ask"),
        ("eslint -c *", "eslint -c x .", "allow"),
        ("npx eslint -c *", "npx eslint -c x .", "allow"),
        ("less *", "less -NXp foo a", "allow"),
        ("node *", "node -e x", "allow"),
        ("node *.js", "node -e x a.js", "ask"),
        ("curl http://localhost*", "curl http://localhost:80/x", "allow"),
        ("curl http://localhost*", "curl http://localhost:80@evil.com/x", "ask"),
        ("* *", "python3 -c x", "allow"),
        ("curl https://*", "curl https://x/y", "allow"),
    ] {
        let rules = rules(&format!("{{allow: [{}]}}", json!(format!("Bash({pattern})"))));
        assert_eq!(bash(&rules, command), expected, "{pattern}: {command}");
    }
}
