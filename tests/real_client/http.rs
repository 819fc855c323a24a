//! As much of HTTP as the mock needs: one request to a connection, read whole; one answer, then the connection is closed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A request as it came.
pub(crate) struct Request {
    pub method: String,
    /// Without what follows a question mark.
    pub path: String,
    pub body: Vec<u8>,
}

/// Reads a request. Nothing if the other side went away, or spoke something else.
pub(crate) fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let path = target.split('?').next()?.to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(&mut reader)?.to_ascii_lowercase();
        match header.split_once(':') {
            None if header.is_empty() => break,
            Some(("content-length", value)) => length = value.trim().parse().ok()?,
            Some(("transfer-encoding", value)) => chunked = value.contains("chunked"),
            Some(("expect", _)) => (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?,
            _ => {}
        }
    }
    let body = if chunked { chunks(&mut reader)? } else { exactly(&mut reader, length)? };
    Some(Request { method, path, body })
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut text = String::new();
    let read = reader.read_line(&mut text).ok()?;
    if read > 0 { Some(text.trim_end().to_owned()) } else { None }
}

fn exactly(reader: &mut impl Read, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let size = line(reader)?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        all.extend(exactly(reader, size)?);
        line(reader)?;
        if size == 0 {
            return Some(all);
        }
    }
}

/// Answers with JSON.
pub(crate) fn json(mut stream: &TcpStream, value: &Value) -> std::io::Result<()> {
    let body = value.to_string();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Answers with server-sent events. Each is named by its `type`.
pub(crate) fn events(mut stream: &TcpStream, events: &[Value]) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n"
    )?;
    for event in events {
        write!(stream, "event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message"))?;
    }
    stream.flush()
}
