//! Several threads read a part each.

use super::*;

#[test]
fn several_threads_see_what_one_sees() {
    let test = session(CONFIG).file("broken.jsonl", "{\n{\"type\":\"user\"\nhalf");
    let replayed = |jobs: &str, more: &[&str]| {
        let (code, out, err) = run_in(&test.root(), &[&["replay", "--jobs", jobs], more].concat());
        let steady = |line: &&str| !line.contains(" MB in ") && !line.contains("\"seconds\"");
        (code, out.lines().filter(steady).collect::<Vec<_>>().join("\n"), err)
    };
    let folder = Transcripts::of(&test.root(), "session-1").path(None).parent().unwrap().to_owned();
    let sources: &[&str] = &[folder.to_str().unwrap(), "broken.jsonl"];
    for more in [sources, &[sources, &["--json"]].concat(), &[sources, &["--since", "1d", "--json"]].concat()]
    {
        let one = replayed("1", more);
        assert!(one.1.lines().count() > 10, "{one:?}");
        assert_eq!(replayed("3", more), one, "{more:?}");
    }
}

#[test]
fn a_session_that_is_named_twice_is_one() {
    let test = session(CONFIG);
    let file = Transcripts::of(&test.root(), "session-1").path(None);
    let folder = file.parent().unwrap();
    let sessions = |sources: &[&str]| {
        let (_, out, _) = run_in(&test.root(), &[&["replay", "--json"], sources].concat());
        serde_json::from_str::<Value>(&out).unwrap()["sessions"].clone()
    };
    let (file, folder) = (file.to_str().unwrap(), folder.to_str().unwrap());
    assert_eq!(sessions(&[file, folder, file]), sessions(&[folder]));
}
