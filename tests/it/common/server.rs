//! An HTTP server on loopback, which answers as a test wants it and gives away what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use super::wait::LIMIT;

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
            let (mut held, mut number) = (Vec::new(), 0);
            for stream in listener.incoming().flatten() {
                // A client that gave up before all was sent has asked nothing.
                let Some(request) = read(&stream) else { continue };
                let answer = reply(number, &request);
                number += 1;
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
        self.requests.recv_timeout(LIMIT).expect("a request comes")
    }
}

/// An address at which nobody listens yet. Its port is taken all the while: one that was given back could be another process's by now.
#[cfg(unix)]
pub(crate) struct ClosedPort {
    pub url: String,
    socket: TcpListener,
}

#[cfg(unix)]
impl ClosedPort {
    #[allow(unsafe_code, reason = "std listens as soon as it has bound")]
    pub(crate) fn new() -> ClosedPort {
        use std::os::fd::FromRawFd;
        // SAFETY: all zeros are an address, and its family and host are set; it lives as long as the call that is given
        // its size. The descriptor was opened a moment ago, and nobody else has it.
        let socket = unsafe {
            let mut address: libc::sockaddr_in = std::mem::zeroed();
            address.sin_family = libc::AF_INET as libc::sa_family_t;
            address.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
            let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
            libc::fcntl(socket, libc::F_SETFD, libc::FD_CLOEXEC);
            let size = size_of_val(&address) as libc::socklen_t;
            let bound = libc::bind(socket, (&raw const address).cast(), size);
            assert_eq!(bound, 0, "{}", std::io::Error::last_os_error());
            TcpListener::from_raw_fd(socket)
        };
        ClosedPort { url: format!("http://{}", socket.local_addr().unwrap()), socket }
    }

    /// From now on somebody listens, and accepts everything.
    #[allow(unsafe_code, reason = "std listens as soon as it has bound")]
    pub(crate) fn open(self) -> Server {
        use std::os::fd::AsRawFd;
        // SAFETY: the descriptor is open.
        assert_eq!(unsafe { libc::listen(self.socket.as_raw_fd(), 128) }, 0);
        Server::on(self.socket, |_, _| FINE)
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? <= 2 {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = head.split_whitespace().nth(1)?.to_owned();
    Some(Request { path, head, body: serde_json::from_slice(&body).unwrap() })
}

fn write(mut stream: TcpStream, status: &str, headers: &str, body: &str) {
    // The client may be gone.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}",
        body.len()
    );
}
