use std::collections::BTreeMap;
use std::io::Write;

use super::*;
use crate::transcript::tests::SlowReader;

/// The kinds of the lines that are given.
fn kinds<R: Read>(stream: &mut Stream<R>) -> Vec<String> {
    let mut kinds = Vec::new();
    stream
        .each(|entry| {
            kinds.push(entry.kind.text().unwrap().to_owned());
            Ok(())
        })
        .unwrap();
    kinds
}

/// What is given of a text: the kinds of its lines, and the counts.
fn read(text: &[u8]) -> (Vec<String>, Counts) {
    let mut stream = Stream::of(text, Path::new("f"));
    let kinds = kinds(&mut stream);
    stream.counts.add(&stream.at_end());
    (kinds, stream.counts)
}

#[test]
fn what_cannot_be_read_is_counted_and_hides_nothing() {
    let text = concat!(
        r#"{"type":"user","version":"2.1.325","message":{"content":"a"}}"#,
        "\n",
        r#"{"type":"atis-latch","x":[}"#,
        "\n\nnot json\n[1]\n\"text\"\n",
        r#"{"type":"new-kind","x":1}"#,
        "\n",
        r#"{"type":"new-kind","x":"#,
        "\n",
        r#"{"parentUuid":null,"message":{"content":7},"type":"assistant","version":3}"#,
        "\n",
        r#"{"x":{},"type":"new-kind"}"#,
        "\n",
        r#"{"type":"user","message":"text"}"#,
        "\n",
        r#"{"type":"user","message":{"con"#,
    );
    let (kinds, counts) = read(text.as_bytes());
    assert_eq!(kinds, ["user", "assistant"]);
    assert_eq!(
        counts.problems(),
        [
            "1 line half-written at the end of a file, not read (first: f:12)",
            "3 lines in a form that this version does not know (first: f:5)",
            "2 lines not JSON (first: f:4)",
            "2 lines of a kind that this version does not know: new-kind (first: f:7)",
            "1 line of kind `assistant` whose content is neither text nor blocks (first: f:9)",
        ]
    );
    assert_eq!(counts.versions, BTreeMap::from([("2.1.325".to_owned(), 1)]));
    assert_eq!(read(b"").1.problems(), [""; 0]);
}

#[test]
fn what_of_a_line_is_not_understood_is_counted_with_its_first_line() {
    let user = |message: &str| format!("{{\"type\":\"user\"{message}}}\n");
    let assistant =
        |block: &str| format!("{{\"type\":\"assistant\",\"message\":{{\"content\":[{block}]}}}}\n");
    let text = [
        user(""),
        user(",\"message\":null"),
        user(",\"message\":{\"content\":5}"),
        assistant(r#"{"type":"new_block"},{"type":"new_block"}"#),
        assistant(r#"{"type":"tool_use","id":7,"name":"Bash","input":{}}"#),
        assistant(r#"{"type":"tool_use","id":"t","name":null,"input":{}}"#),
        user(r#","message":{"content":[{"type":"tool_result","tool_use_id":7}]}"#),
        "{\"type\":\"system\",\"subtype\":\"new_subtype\"}\n{\"type\":\"system\"}\n".into(),
        "{\"attachment\":{\"type\":\"new_attachment\"},\"type\":\"attachment\"}\n".into(),
        "{\"attachment\":{\"type\":\"skill_listing\"},\"type\":\"attachment\"}\n".into(),
    ];
    let (_, counts) = read(text.concat().as_bytes());
    assert_eq!(
        counts.problems(),
        [
            "1 line of kind `system` with a subtype that does not say what it is (first: f:9)",
            "1 line of kind `system` with a subtype that this version does not know: new_subtype (first: f:8)",
            "1 line of kind `user` whose content is neither text nor blocks (first: f:3)",
            "2 lines of kind `user` without a message (first: f:1)",
            "1 line with a `tool_result` without a `tool_use_id` (first: f:7)",
            "2 lines with a `tool_use` without an id, a name and an input (first: f:5)",
            "1 line with a block that this version does not know: new_block (first: f:4)",
            "1 line with an attachment that this version does not know: new_attachment (first: f:10)",
        ]
    );
}

#[test]
fn a_whole_last_line_needs_no_end_and_a_line_may_have_two_objects() {
    let (kinds, counts) = read(
        concat!(
            r#"{"type":"user","message":{"content":"a"}}{"type":"cost-state"}"#,
            "\n",
            r#"{"type":"mode","x":1}{"type":"user","message":{"content":"}{"}}"#,
            "\n",
            r#"{"type":"cost-state"}"#
        )
        .as_bytes(),
    );
    assert_eq!(kinds, ["user", "cost-state", "user", "cost-state"]);
    assert_eq!((counts.problems(), counts.lines), (vec![], 3));
    let (_, counts) = read(b"{\"type\":\"user\"}\n{\"type\":\"system\"}");
    let problem = "1 line of kind `system` with a subtype that does not say what it is (first: f:2)";
    assert_eq!(counts.problems(), [problem, "1 line of kind `user` without a message (first: f:1)"]);
    let (kinds, counts) = read(b"\xff{");
    assert_eq!((kinds.len(), counts.problems().len()), (0, 1), "no text at all is half-written, too");
}

#[test]
fn the_end_of_a_whole_last_line_may_come_later() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let read_on = |path: &Path, position| {
        let mut stream = Stream::open_at(path, position).unwrap();
        (kinds(&mut stream), stream.position().lines, stream.position())
    };
    write!(file, "{{\"type\":\"user\"}}").unwrap();
    let (found, lines, position) = read_on(file.path(), LinePosition::START);
    assert_eq!((found.len(), lines), (1, Some(0)));
    writeln!(file, "\n{{\"type\":\"system\"}}").unwrap();
    let (found, lines, _) = read_on(file.path(), position);
    assert_eq!((found, lines), (vec!["system".to_owned()], Some(2)));
}

#[test]
fn a_line_over_32_mb_is_skipped_in_bounded_memory() {
    /// A line of spaces that is never in memory as a whole.
    struct LongLine(u64);
    impl Read for LongLine {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let length = room.len().min(usize::try_from(self.0).unwrap());
            room[..length].fill(b' ');
            self.0 -= length as u64;
            Ok(length)
        }
    }
    let line = b"{\"type\":\"cost-state\"}\n";
    let text = |bytes: u64| line.chain(LongLine(bytes)).chain(&b"\n"[..]).chain(&line[..]);
    let too_long = |line: Option<u64>| -> Vec<String> {
        line.map(|line| format!("1 line over 32 MB, skipped (first: f:{line})")).into_iter().collect()
    };
    for (bytes, skipped) in
        [(MAX_LINE_BYTES - 1, None), (MAX_LINE_BYTES + (1 << 20), Some(2)), (200 << 20, Some(2))]
    {
        let mut stream = Stream::of(text(bytes), Path::new("f"));
        assert_eq!((kinds(&mut stream).len(), stream.counts.problems()), (2, too_long(skipped)), "{bytes}");
        assert!(stream.buffer.len() as u64 <= MAX_LINE_BYTES * 2);
        assert_eq!(stream.counts.bytes, bytes + 1 + 2 * line.len() as u64);
    }
    let mut endless = Stream::of(LongLine(40 << 20), Path::new("f"));
    endless.each(|_| Ok(())).unwrap();
    assert_eq!(endless.counts.problems(), too_long(Some(1)));
}

#[test]
fn a_growing_file_is_read_on_from_where_it_ended() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let read_on = |path: &Path, position| {
        let mut stream = Stream::open_at(path, position).unwrap();
        (kinds(&mut stream).len(), stream.position())
    };
    let at = |byte, lines| LinePosition { byte, lines: Some(lines) };
    write!(file, "{{\"type\":\"user\"}}\n{{\"type\":\"us").unwrap();
    let (lines, position) = read_on(file.path(), LinePosition::START);
    assert_eq!((lines, position), (1, at(16, 1)));
    writeln!(file, "er\"}}").unwrap();
    assert_eq!(read_on(file.path(), position), (1, at(32, 2)));
}

#[test]
fn lines_are_whole_however_the_pieces_of_a_file_part_them() {
    let long = format!("{{\"type\":\"cost-state\",\"x\":\"{}\"}}\n", "y".repeat(3 * BUFFER_BYTES));
    let last = "{\"type\":\"system\",\"subtype\":\"informational\"}\n".repeat(200);
    let text = format!("{{\"type\":\"cost-state\"}}\n{long}{last}");
    let mut stream = Stream::of(SlowReader::new(&text), Path::new("f"));
    let kinds = kinds(&mut stream);
    assert_eq!((kinds.len(), kinds[1].as_str(), kinds[201].as_str()), (202, "cost-state", "system"));
    assert_eq!(stream.counts.problems(), [""; 0]);
    assert_eq!(stream.buffer.len(), BUFFER_BYTES, "what a long line took is given back");
}
