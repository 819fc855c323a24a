use std::io::Write;

use serde_json::json;

use super::*;

fn line(id: &str, output: u64, time: &str) -> String {
    let usage = json!({"input_tokens": 100, "output_tokens": output, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 3});
    let message = json!({"id": id, "role": "assistant", "model": "m", "content": [], "usage": usage});
    format!("{}\n", json!({"type": "assistant", "timestamp": time, "message": message}))
}

fn append(path: &Path, text: &str) {
    File::options().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn tokens(session: &SessionSpending) -> u64 {
    session.used(&PriceTable::default()).tokens
}

/// Saved and loaded, as between two events.
fn again(session: &SessionSpending) -> SessionSpending {
    serde_json::from_slice(&serde_json::to_vec(session).unwrap()).unwrap()
}

#[test]
fn only_new_lines_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut session = SessionSpending::default();
    session.count("", &path, None).unwrap();
    assert_eq!(session, SessionSpending::default(), "there is no transcript yet");
    append(&path, &line("one", 10, "2026-01-31T12:00:00Z"));
    append(&path, &line("two", 10, "2026-01-31T12:00:01Z"));
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 226);
    // The lines that were counted are overwritten: they are not read again.
    let mut text = fs::read(&path).unwrap();
    text[..200].fill(b'x');
    fs::write(&path, &text).unwrap();
    append(&path, &line("three", 20, "2026-01-31T12:00:02Z"));
    let mut session = again(&session);
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 349);
    let before = session.clone();
    session.count("", &path, None).unwrap();
    assert_eq!(session, before);
}

#[test]
fn lines_of_one_answer_count_once_also_where_an_event_comes_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut session = SessionSpending::default();
    for (output, expected) in [(1, 104), (1, 104), (50, 153)] {
        append(&path, &line("one", output, "2026-01-31T12:00:00Z"));
        session = again(&session);
        session.count("", &path, None).unwrap();
        assert_eq!(tokens(&session), expected);
    }
    append(&path, &line("one", 2, "2026-01-31T12:00:00Z"));
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 153, "the largest counts");
    append(&path, &line("two", 1, "2026-01-31T12:00:01Z"));
    append(&path, &line("one", 60, "2026-01-31T12:00:02Z"));
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 163 + 104);
}

#[test]
fn a_half_written_line_counts_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut session = SessionSpending::default();
    let text = line("one", 10, "2026-01-31T12:00:00Z");
    append(&path, &text[..60]);
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 0);
    append(&path, &text[60..]);
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 113);
}

#[test]
fn what_was_used_stays_used_if_a_transcript_is_shortened_or_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let lines = [line("one", 10, "2026-01-31T12:00:00Z"), line("two", 10, "2026-01-31T12:00:01Z")].concat();
    let mut session = SessionSpending::default();
    append(&path, &lines);
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 226);
    // A copy of the same lines.
    fs::remove_file(&path).unwrap();
    append(&folder.path().join("other inode"), "");
    append(&path, &lines);
    append(&path, &line("three", 10, "2026-01-31T12:00:02Z"));
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 339);
    // Shortened, and longer than before in the end.
    fs::write(&path, "").unwrap();
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 339);
    for second in 10..20 {
        append(&path, &line(&format!("new {second}"), 10, &format!("2026-01-31T12:00:{second}Z")));
    }
    session.count("", &path, None).unwrap();
    assert_eq!(tokens(&session), 339 + 1130);
}

#[test]
fn a_day_has_the_lines_of_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let millis = |time: &str| time.parse::<Timestamp>().unwrap().as_millisecond();
    let day = |start, end| DaySpending { start: millis(start), end: millis(end), ..DaySpending::default() };
    let first = day("2026-01-30T23:00:00Z", "2026-01-31T23:00:00Z");
    let second = day("2026-01-31T23:00:00Z", "2026-02-01T23:00:00Z");
    let mut session = SessionSpending::default();
    append(&path, &line("yesterday", 1, "2026-01-30T22:59:59Z"));
    append(&path, &line("today", 2, "2026-01-30T23:00:00Z"));
    session.count("", &path, Some(&first)).unwrap();
    let prices = PriceTable::default();
    assert_eq!((tokens(&session), session.used_today(&prices).tokens), (209, 105));
    append(&path, &line("late", 3, "2026-01-31T22:59:00Z"));
    append(&path, &line("tomorrow", 4, "2026-01-31T23:00:01Z"));
    session = again(&session);
    session.count("", &path, Some(&second)).unwrap();
    assert_eq!((tokens(&session), session.used_today(&prices).tokens), (422, 107));
}

#[test]
fn sessions_of_a_day_are_summed_and_each_is_entered_once() {
    let root = tempfile::tempdir().unwrap();
    let folder = SpendingFolder::of(root.path()).unwrap();
    let lock = folder.lock(&Budget::unlimited()).unwrap();
    let now = Timestamp::now();
    let used = |tokens| UsedTokens { tokens, cost: 0.5, unpriced: Vec::new() };
    let day = folder.day(now);
    let day = lock.enter(day, "one", used(5)).unwrap();
    let day = lock.enter(day, "two", used(7)).unwrap();
    let day = lock.enter(day, "one", used(6)).unwrap();
    assert_eq!(day, folder.day(now));
    assert_eq!((day.used().tokens, day.used_with("two", &used(100)).tokens), (13, 106));
    let later = now + jiff::SignedDuration::from_hours(49);
    assert_eq!(folder.day(later).used(), UsedTokens::default());
}

#[test]
fn a_raise_adds_to_the_amount_and_forgets_what_was_said() {
    let mut session = SessionSpending::default();
    for name in ["agent.tokens a1", "agent.tokens", "session.cost"] {
        session.marks(name).told = true;
    }
    session.raise("agent.tokens", 50);
    session.raise("agent.tokens", 50);
    assert!((session.with_raise("agent.tokens", 10.0) - 20.0).abs() < 1e-9);
    assert!((session.with_raise("session.cost", 10.0) - 10.0).abs() < 1e-9);
    assert_eq!(session.marks.keys().collect::<Vec<_>>(), ["session.cost"]);
}
