use super::*;

fn at(relative: &str) -> Location {
    let is_directory = relative.ends_with('/');
    let relative = relative.trim_end_matches('/');
    Location {
        absolute: format!("/home/me/project/{relative}"),
        relative: Some(relative.into()),
        is_directory,
        ..Location::default()
    }
}

fn outside(absolute: &str) -> Location {
    Location { absolute: absolute.into(), ..Location::default() }
}

fn covers(pattern: &str, location: &Location) -> bool {
    FilePattern::new(pattern, Some("/home/me")).unwrap().covers(location)
}

#[test]
fn patterns_follow_gitignore() {
    for (pattern, yes, no) in [
        (".env", vec![".env", "a/.env", ".env/x"], vec![".envrc", "env", "a.env"]),
        (".env*", vec![".env", ".env.local", "a/b/.envrc"], vec!["x.env"]),
        ("*.lock", vec!["Cargo.lock", "a/yarn.lock", "x.lock/inner"], vec!["lock", "a.lock.md"]),
        ("/Makefile", vec!["Makefile"], vec!["a/Makefile"]),
        ("src/gen", vec!["src/gen", "src/gen/a.rs", "src/gen/b/c"], vec!["gen", "a/src/gen", "src/generic"]),
        ("src/*.rs", vec!["src/a.rs", "src/a.rs/x"], vec!["src/b/a.rs", "src/a.py"]),
        ("docs/", vec!["docs/", "docs/a", "x/docs/a/b"], vec!["docs"]),
        ("docs/api/", vec!["docs/api/x", "docs/api/"], vec!["docs/api", "x/docs/api/y"]),
        ("a/**", vec!["a/b", "a/b/c"], vec!["b/a"]),
        ("**/secret.*", vec!["secret.pem", "a/b/secret.key"], vec!["secrets.pem"]),
        ("./x.toml", vec!["x.toml", "x.toml/y"], vec!["x.tom", "a/x.toml"]),
        ("./x/", vec!["x/", "x/y"], vec!["x", "a/x/y"]),
        ("./*.md", vec!["a.md"], vec!["b/a.md"]),
        ("{a,b}.txt", vec!["a.txt", "c/b.txt"], vec!["ab.txt"]),
        ("/", vec!["a", "b/c"], vec![]),
    ] {
        for path in yes {
            assert!(covers(pattern, &at(path)), "{pattern} should cover {path}");
        }
        for path in no {
            assert!(!covers(pattern, &at(path)), "{pattern} should not cover {path}");
        }
    }
}

#[test]
fn a_pattern_reaches_into_directories_that_it_names() {
    for (pattern, yes, no) in [
        ("dist/**", vec!["dist/", "dist/a/"], vec!["web/dist/", "target/"]),
        ("dist/*.js", vec!["dist/"], vec!["dist/a/", "web/dist/", "target/"]),
        ("packages/*/dist/*.js", vec!["packages/a/dist/"], vec!["packages/a/node_modules/", "target/"]),
        ("**/dist/*.js", vec!["dist/", "web/dist/"], vec!["target/", "dist/a/"]),
        ("**/gen/**", vec!["gen/", "a/gen/b/"], vec!["target/"]),
        ("vendor/**/*.c", vec!["vendor/", "vendor/a/"], vec!["target/"]),
        ("*/gen/x.ts", vec!["node_modules/", "a/gen/"], vec!["node_modules/a/"]),
        ("{dist,out}/*.js", vec!["dist/", "out/"], vec!["target/"]),
        ("*.lock", vec![], vec!["target/", "x.lock/"]),
        ("**/*.lock", vec![], vec!["target/"]),
        ("**/*/gen", vec![], vec!["target/"]),
        ("./*.lock", vec![], vec!["target/"]),
    ] {
        let pattern = FilePattern::new(pattern, None).unwrap();
        for path in yes {
            assert!(pattern.reaches_into(&at(path)), "{pattern:?} should reach into {path}");
        }
        for path in no {
            assert!(!pattern.reaches_into(&at(path)), "{pattern:?} should not reach into {path}");
        }
    }
}

#[test]
fn a_pattern_names_the_end_of_a_path() {
    for (pattern, yes, no) in [
        ("~/.ssh/", vec![".ssh/config", "me/.ssh/config"], vec!["config", "ssh/config", "x/.ssh/config"]),
        ("~/.ssh/**", vec![".ssh/config"], vec!["config"]),
        ("~/.config/{gh/hosts.yml,op}", vec!["hosts.yml", "gh/hosts.yml", "op/x"], vec!["x/hosts.yml", "gh"]),
        ("~/.cloudflared/*.json", vec![".cloudflared/a.json"], vec!["package.json", "x/a.json"]),
        ("//proc/*/environ", vec!["environ", "1/environ"], vec!["status"]),
        ("src/gen/", vec!["gen/a", "src/gen/a", "x/src/gen/a"], vec!["src/a", "x/gen/a"]),
        ("/Makefile", vec!["Makefile", "a/Makefile"], vec!["make"]),
    ] {
        let pattern = FilePattern::new(pattern, Some("/home/me")).unwrap();
        for end in yes {
            assert!(pattern.names_end(end), "{pattern:?} should name {end}");
        }
        for end in no {
            assert!(!pattern.names_end(end), "{pattern:?} should not name {end}");
        }
    }
}

#[test]
fn patterns_reach_outside_of_the_project_where_they_say_so() {
    for (pattern, path, expected) in [
        (".env", "/srv/other/.env", true),
        ("src/a", "/srv/src/a", false),
        ("~/.ssh/", "/home/me/.ssh/id_rsa", true),
        ("~/.ssh", "/home/me/.ssh", true),
        ("~/.ssh", "/home/you/.ssh/id_rsa", false),
        ("/etc/passwd", "/etc/passwd", true),
        ("/etc/", "/etc/ssl/x", true),
        ("/etc/*.conf", "/etc/a/b.conf", false),
        ("//bin/", "/bin/sh", true),
        ("//bin/", "/opt/bin/sh", false),
        ("//{bin,lib}/x*", "/lib/xy", true),
    ] {
        assert_eq!(covers(pattern, &outside(path)), expected, "{pattern} {path}");
    }
    // The project's own path is not compared with names.
    assert!(!covers("project", &at("src/a.rs")) && !covers("me/", &at("x")) && !covers("me/", &at("")));
    assert!(covers("/bin/", &at("bin/app")) && !covers("//bin/", &at("bin/app")));
    assert!(covers("//home/me/project/src/", &at("src/a.rs")));
    assert!(covers("/home/me/project/src", &at("src/a.rs")), "an absolute pattern for a file of the project");
}

#[test]
fn a_pattern_may_mean_what_it_names_and_nothing_in_it() {
    let names = |pattern: &str, location: &Location| {
        FilePattern::new(pattern, Some("/home/me")).unwrap().names(location)
    };
    for (pattern, path, expected) in [
        ("//{,*,home/*}", "/", true),
        ("//{,*,home/*}", "/var", true),
        ("//{,*,home/*}", "/home/you", true),
        ("//{,*,home/*}", "/var/lib", false),
        ("~", "/home/me", true),
        ("~", "/home/me/x", false),
        ("x", "/srv/x", true),
        ("x", "/srv/x/y", false),
    ] {
        assert_eq!(names(pattern, &outside(path)), expected, "{pattern} {path}");
    }
    assert!(names("./", &at("")) && !names("./", &at("src")) && !names("./", &outside("/")));
    assert!(names("src", &at("src")) && names("./src", &at("src")) && !names("./src", &at("src/a")));
}

#[test]
fn a_project_below_a_directory_of_the_machine_has_files_of_its_own() {
    let own = |pattern: &str, root: &str, relative: &str| {
        let absolute = format!("{}/{relative}", root.trim_end_matches('/'));
        let location = Location { absolute, relative: Some(relative.into()), ..Location::default() };
        let pattern = FilePattern::new(pattern, None).unwrap().without_root();
        assert!(pattern.covers(&location), "{pattern:?} {location:?}");
        pattern.leaves_to_project(&location)
    };
    assert!(own("//usr/", "/usr/src/app", "main.c"));
    assert!(own("/usr/", "/usr/src/app", "main.c"));
    assert!(own("*.lock", "/home/me/app", "a.lock"));
    // No project is the whole machine.
    assert!(!own("//usr/", "/", "usr/bin/env"));
    assert!(!own("//usr/", "/usr", "bin/env"));
    assert!(!own("//usr/bin/", "/usr", "bin/env"));
    let outside = FilePattern::new("//usr/", None).unwrap();
    assert!(!outside.leaves_to_project(&self::outside("/usr/src/other/main.c")));
    // The project's own `bin/` is not a directory of the machine.
    assert!(!FilePattern::new("/bin/", None).unwrap().without_root().covers(&at("bin/app")));
}

#[test]
fn in_a_worktree_patterns_are_anchored_at_its_top_level_as_well() {
    let inside = Location {
        in_worktree: Some("src/gen/a.rs".into()),
        ..at(".claude/worktrees/agent-a1/src/gen/a.rs")
    };
    let elsewhere =
        Location { in_worktree: Some("src/gen/a.rs".into()), ..outside("/build/wt/src/gen/a.rs") };
    for pattern in ["src/gen/**", "/src/gen", "./src/", "a.rs", "gen/"] {
        assert!(covers(pattern, &inside) && covers(pattern, &elsewhere), "{pattern}");
    }
    assert!(covers(".claude/worktrees/", &inside) && !covers("gen/a.rs", &inside));
    assert!(!covers("build/", &elsewhere), "the names of the directories above it do not count");
}

#[test]
fn what_is_too_long_to_be_compared_is_covered() {
    assert!(covers("x", &at(&"a".repeat(5_000))));
}
