//! An HTTP server on loopback, which answers as a test wants it and gives away what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

/// Long enough for any machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub path: String,
    pub head: String,
    pub body: Value,
}

/// What is answered.
pub(crate) enum Reply {
    /// Status with its reason, further headers, body.
    Says(&'static str, &'static str, &'static str),
    /// The connection is held, and never answered.
    Nothing,
}

pub(crate) const FINE: Reply = Reply::Says("200 OK", "", "{}");

pub(crate) struct Server {
    pub url: String,
    requests: Receiver<Request>,
}

impl Server {
    /// Accepts everything.
    pub(crate) fn new() -> Server {
        Server::answering(|_, _| FINE)
    }

    /// Answers each request, by its number from 0.
    pub(crate) fn answering(reply: impl Fn(usize, &Request) -> Reply + Send + 'static) -> Server {
        Server::on(TcpListener::bind("127.0.0.1:0").unwrap(), reply)
    }

    pub(crate) fn on(
        listener: TcpListener,
        reply: impl Fn(usize, &Request) -> Reply + Send + 'static,
    ) -> Server {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let request = read(&stream);
                let answer = reply(number, &request);
                if sender.send(request).is_err() {
                    return;
                }
                match answer {
                    Reply::Says(status, headers, body) => write(stream, status, headers, body),
                    Reply::Nothing => held.push(stream),
                }
            }
        });
        Server { url, requests }
    }

    /// What has come until now.
    pub(crate) fn received(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }

    /// The next request, which is on its way.
    pub(crate) fn next(&self) -> Request {
        self.requests.recv_timeout(PATIENCE).expect("a request comes")
    }
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() <= 2 {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let path = head.split_whitespace().nth(1).unwrap().to_owned();
    Request { path, head, body: serde_json::from_slice(&body).unwrap() }
}

fn write(mut stream: TcpStream, status: &str, headers: &str, body: &str) {
    // Whoever asked may be gone.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}",
        body.len()
    );
}
