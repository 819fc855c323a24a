//! The channels by which users install conclaude: README, site, packages and messages are made from `Cargo.toml`.

use conclaude_engine::install::channels::CHANNELS;

#[test]
fn messages_name_the_channels_of_the_manifest() {
    let manifest = include_str!("../../Cargo.toml");
    let section = manifest.split("[package.metadata.channels]\n").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    let lines: Vec<String> = section.lines().filter(|line| line.contains(" = ")).map(str::to_owned).collect();
    let known: Vec<String> = CHANNELS.iter().map(|(name, line)| format!("{name} = {line:?}")).collect();
    assert_eq!(known, lines, "crates/engine/src/install/channels.rs is out of date");
}

#[test]
fn all_crates_have_the_same_version() {
    let manifest = include_str!("../../Cargo.toml");
    let versions =
        manifest.lines().filter(|line| line.starts_with("version = ") || line.contains("path = \"crates/"));
    let own = format!("version = {:?}", env!("CARGO_PKG_VERSION"));
    for line in versions.filter(|line| line.contains("version")) {
        assert!(line.contains(&own), "{line}");
    }
}

/// The value of a line `KEY = "VALUE"` of the manifest.
fn of_manifest(key: &str) -> &'static str {
    let start = format!("{key} = \"");
    let mut values = include_str!("../../Cargo.toml").lines().filter_map(|line| line.strip_prefix(&start));
    let value = values.next().unwrap().trim_end_matches('"');
    assert_eq!(values.next(), None, "{key} must be written once");
    value
}

fn read(name: &str) -> String {
    std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

#[test]
fn every_crate_inherits_the_addresses() {
    let crates = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/crates")).unwrap();
    let names = crates.map(|entry| format!("crates/{}/Cargo.toml", entry.unwrap().file_name().display()));
    for name in names.chain(["Cargo.toml".into()]) {
        let manifest = read(&name);
        for line in ["repository.workspace = true", "homepage.workspace = true"] {
            assert!(manifest.lines().any(|own| own == line), "{name} has no `{line}`");
        }
    }
}

#[test]
fn files_that_are_written_by_hand_have_the_address_of_the_repository() {
    let repository = of_manifest("repository");
    let (host_and_owner, name) = repository.rsplit_once('/').unwrap();
    let owner = host_and_owner.rsplit_once('/').unwrap().1;
    let report = format!("{repository}/security/advisories/new");
    for (file, wanted) in [
        ("SECURITY.md", report.clone()),
        (".github/ISSUE_TEMPLATE/config.yml", report),
        ("dist-workspace.toml", format!("tap = \"{owner}/homebrew-tap\"")),
        (".github/workflows/release.yml", format!("@github.com/{owner}/homebrew-tap.git")),
        ("Cargo.toml", format!("brew = \"brew install {owner}/tap/conclaude\"")),
        ("Cargo.toml", format!("plugin marketplace add {owner}/{name} && ")),
        ("plugin/README.md", format!("plugin marketplace add {owner}/{name}\n")),
    ] {
        assert!(read(file).contains(&wanted), "{file} has another address than {wanted}");
    }
}

#[test]
fn the_changelog_has_this_version_with_its_date() {
    let changelog = read("CHANGELOG.md");
    let mut titles = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    assert_eq!(titles.next(), Some("Unreleased"));
    let latest = titles.next().unwrap();
    let date = latest.strip_prefix(concat!(env!("CARGO_PKG_VERSION"), " - ")).unwrap_or_default();
    assert!(date.parse::<jiff::civil::Date>().is_ok(), "`{latest}` is not this version with a date");
}
