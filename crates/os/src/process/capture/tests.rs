use super::*;

fn no_file(_: &'static str) -> io::Result<(File, PathBuf)> {
    Err(io::Error::other("no room"))
}

fn captured(limit: usize, chunks: &[&str]) -> CapturedOutput {
    let mut capture = StreamCapture::new("stdout", Retention::Shown(limit));
    for chunk in chunks {
        capture.push(chunk.as_bytes(), Some(&mut no_file));
    }
    capture.finish()
}

#[test]
fn short_output_is_shown_whole() {
    assert_eq!(captured(100, &["one\ntw", "o\n"]).excerpt(None).as_deref(), Some("one\ntwo"));
    assert_eq!(captured(100, &["no newline"]).excerpt(Some(1)).as_deref(), Some("no newline"));
    assert_eq!(captured(100, &[]).excerpt(None), None);
}

#[test]
fn max_lines_keeps_first_and_last_and_counts_the_rest() {
    let lines: String = (1..=10).map(|n| format!("{n}\n")).collect();
    let shown = |max| captured(1000, &[&lines]).excerpt(Some(max)).unwrap();
    assert_eq!(shown(10), "1\n2\n3\n4\n5\n6\n7\n8\n9\n10");
    assert_eq!(shown(5), "1\n2\n3\n… 5 lines left out …\n9\n10");
    assert_eq!(shown(9), "1\n2\n3\n4\n5\n… 1 line left out …\n7\n8\n9\n10");
    assert_eq!(shown(1), "1\n… 9 lines left out …");
}

#[test]
fn lines_of_a_progress_bar_count_as_lines() {
    let shown = captured(1000, &["1%\r2%\r3%\r4%\r100%\n"]).excerpt(Some(2)).unwrap();
    assert_eq!(shown, "1%\n… 3 lines left out …\n100%");
}

#[test]
fn long_output_keeps_both_ends_in_whole_lines_and_says_where_the_rest_is() {
    let lines: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
    let text = captured(60, &[&lines]).excerpt(None).unwrap();
    assert_eq!(
        text,
        "line 1\nline 2\nline 3\nline 4\n… 993 lines left out; it could not be saved: no room …\nline 998\nline 999\nline 1000"
    );
    let text = captured(60, &[&lines]).excerpt(Some(2)).unwrap();
    assert!(text.starts_with("line 1\n… 998 lines left out") && text.ends_with("line 1000"), "{text}");
}

#[test]
fn one_endless_line_is_cut_by_bytes() {
    let text = captured(20, &[&"x".repeat(1000)]).excerpt(None).unwrap();
    assert_eq!(text, "xxxxxxxxxx\n… 980 bytes left out; it could not be saved: no room …\nxxxxxxxxxx");
}

#[test]
fn bytes_that_grow_when_cleaned_do_not_upset_the_count() {
    let mut capture = StreamCapture::new("stdout", Retention::Shown(20));
    capture.push(&[0xff; 1000], Some(&mut no_file));
    assert!(capture.finish().excerpt(None).unwrap().contains("… 980 bytes left out"));
}

#[test]
fn output_just_over_the_limit_shows_its_end() {
    let text = captured(20, &["0123456789abcdefghij", "k"]).excerpt(None).unwrap();
    assert_eq!(text, "0123456789\n… 1 byte left out; it could not be saved: no room …\nbcdefghijk");
}

#[test]
fn the_file_holds_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    let mut capture = StreamCapture::new("stdout", Retention::Shown(10));
    let mut spill = |_: &'static str| File::create(&path).map(|file| (file, path.clone()));
    for chunk in ["12345", "67890", "abc", "def"] {
        capture.push(chunk.as_bytes(), Some(&mut spill));
    }
    let captured = capture.finish();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "1234567890abcdef");
    assert!(captured.excerpt(None).unwrap().contains(&format!("all of it is in {}", path.display())));
}

#[test]
fn what_is_not_shown_is_counted_alone() {
    let mut capture = StreamCapture::new("stdout", Retention::Nothing);
    capture.push(b"secret\nlines", Some(&mut no_file));
    let captured = capture.finish();
    assert_eq!((captured.bytes, captured.lines, captured.excerpt(None)), (12, 2, None));
}

proptest::proptest! {
    #[test]
    fn an_excerpt_never_shows_more_lines_than_allowed(
        bytes: Vec<u8>, text in "[<a\n\u{1b}\rü]{0,200}", limit in 1usize..80, max in 1u32..12, step in 1usize..9,
    ) {
        let text = [bytes, text.into_bytes()].concat();
        let mut capture = StreamCapture::new("stdout", Retention::Shown(limit));
        for chunk in text.chunks(step) {
            capture.push(chunk, Some(&mut no_file));
        }
        let captured = capture.finish();
        proptest::prop_assert!(captured.head.len() <= limit && captured.tail.len() <= limit / 2);
        if let Some(shown) = captured.excerpt(Some(max)) {
            let lines = shown.lines().filter(|line| !line.starts_with('…')).count();
            proptest::prop_assert!(lines <= max as usize, "{} of {}", lines, max);
        }
    }
}
