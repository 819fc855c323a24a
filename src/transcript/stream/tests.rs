use std::io::Write;

use super::*;
use crate::transcript::tests::Slowly;

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
    let mut stream = Stream::of(text);
    (kinds(&mut stream), stream.counts)
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
            "2 lines not JSON",
            "3 lines in a form that this version does not know",
            "1 line at the end of a file half-written, and not read",
            "2 lines of kinds that this version does not know: new-kind (2)"
        ]
    );
    assert_eq!(counts.versions, BTreeMap::from([("2.1.325".to_owned(), 1)]));
    assert_eq!(read(b"").1.problems(), [""; 0]);
}

#[test]
fn a_line_over_32_mb_is_skipped_in_bounded_memory() {
    /// A line of spaces that is never in memory as a whole.
    struct Long(u64);
    impl Read for Long {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let length = room.len().min(usize::try_from(self.0).unwrap());
            room[..length].fill(b' ');
            self.0 -= length as u64;
            Ok(length)
        }
    }
    let line = b"{\"type\":\"user\"}\n";
    let text = |bytes: u64| line.chain(Long(bytes)).chain(&b"\n"[..]).chain(&line[..]);
    for (bytes, too_long) in [(MAX_LINE_BYTES - 1, 0), (MAX_LINE_BYTES + (1 << 20), 1), (200 << 20, 1)] {
        let mut stream = Stream::of(text(bytes));
        assert_eq!((kinds(&mut stream).len(), stream.counts.too_long), (2, too_long), "{bytes}");
        assert!(stream.buffer.len() as u64 <= MAX_LINE_BYTES * 2);
        assert_eq!(stream.counts.bytes, bytes + 1 + 2 * line.len() as u64);
    }
    let mut endless = Stream::of(Long(40 << 20));
    endless.each(|_| Ok(())).unwrap();
    assert_eq!((endless.counts.too_long, endless.counts.unfinished), (1, 0));
}

#[test]
fn a_growing_file_is_read_on_from_where_it_ended() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let read_on = |path: &Path, position| {
        let mut stream = Stream::open_at(path, position).unwrap();
        (kinds(&mut stream).len(), stream.position())
    };
    write!(file, "{{\"type\":\"user\"}}\n{{\"type\":\"us").unwrap();
    let (lines, position) = read_on(file.path(), 0);
    assert_eq!((lines, position), (1, 16));
    writeln!(file, "er\"}}").unwrap();
    assert_eq!(read_on(file.path(), position), (1, 32));
}

#[test]
fn lines_are_whole_however_the_pieces_of_a_file_part_them() {
    let long = format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "y".repeat(3 * BUFFER_BYTES));
    let text = format!("{{\"type\":\"user\"}}\n{long}{}", "{\"type\":\"system\"}\n".repeat(200));
    let mut stream = Stream::of(Slowly::new(&text));
    let kinds = kinds(&mut stream);
    assert_eq!((kinds.len(), kinds[1].as_str(), kinds[201].as_str()), (202, "user", "system"));
    assert_eq!(stream.counts.problems(), [""; 0]);
    assert_eq!(stream.buffer.len(), BUFFER_BYTES, "what a long line took is given back");
}
