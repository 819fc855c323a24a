//! What the README must say. Its examples are run by `tests/docs`.

#[test]
fn seed_004_line_418_the_readme_says_what_is_tested_on_which_platform() {
    let readme = include_str!("../../README.md");
    let table = readme.split("| platform | what is tested |").nth(1).unwrap();
    for platform in ["| Linux", "| macOS", "| Windows"] {
        assert!(table.contains(platform), "{platform}");
    }
}
