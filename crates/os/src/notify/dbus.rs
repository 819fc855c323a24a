//! A notification over D-Bus: the sign-in and two method calls.
//!
//! `notify-rust` brings an async runtime and macros on Linux: half of the time of a quick build, and two megabytes of its binary. What a
//! notification needs of the protocol is small and has not changed in years:
//! <https://dbus.freedesktop.org/doc/dbus-specification.html>.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};

use conclaude_core::text::clean_line;

const NOTIFICATIONS: &str = "org.freedesktop.Notifications";

/// No reply to our calls comes near: what is larger is not meant for us.
const MAX_MESSAGE: usize = 1 << 20;
const MAX_LINE: u64 = 4096;

const METHOD_CALL: u8 = 1;
const METHOD_RETURN: u8 = 2;
const ERROR: u8 = 3;

/// The address of the session bus, if there is a session.
pub(super) fn address() -> Option<String> {
    if let Some(address) = variable("DBUS_SESSION_BUS_ADDRESS") {
        return Some(address.to_string_lossy().into_owned());
    }
    runtime_socket().is_some_and(|path| path.exists()).then(|| "unix:runtime=yes".to_owned())
}

/// Shows a notification. Waits for its acceptance as long as the bus takes.
pub(super) fn notify(addresses: &str, title: &str, body: &str) -> io::Result<()> {
    let stream = connect(addresses)?;
    converse(&stream, rustix::process::geteuid().as_raw(), title, body)
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn runtime_socket() -> Option<PathBuf> {
    variable("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join("bus"))
}

/// Connects to the first address that answers.
fn connect(addresses: &str) -> io::Result<UnixStream> {
    let mut error = io::Error::other("the address of the session bus is not one of a Unix socket");
    for address in addresses.split(';') {
        let Some(socket) = socket(address) else { continue };
        match socket.and_then(|socket| UnixStream::connect_addr(&socket)) {
            Ok(stream) => return Ok(stream),
            Err(failure) => error = failure,
        }
    }
    Err(error)
}

/// The socket of an address such as `unix:path=/run/user/1000/bus,guid=…`.
fn socket(address: &str) -> Option<io::Result<SocketAddr>> {
    let pairs = address.strip_prefix("unix:")?;
    pairs.split(',').filter_map(|pair| pair.split_once('=')).find_map(|(key, value)| match key {
        "path" => Some(SocketAddr::from_pathname(OsStr::from_bytes(&unescape(value)))),
        "abstract" => abstract_socket(&unescape(value)),
        "runtime" => runtime_socket().map(SocketAddr::from_pathname),
        _ => None,
    })
}

#[cfg(target_os = "linux")]
fn abstract_socket(name: &[u8]) -> Option<io::Result<SocketAddr>> {
    use std::os::linux::net::SocketAddrExt;
    Some(SocketAddr::from_abstract_name(name))
}

#[cfg(not(target_os = "linux"))]
fn abstract_socket(_: &[u8]) -> Option<io::Result<SocketAddr>> {
    None
}

/// `%20` is a space; a `%` without two digits stays.
fn unescape(value: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, ..] => digit(*high).zip(digit(*low)),
            _ => None,
        };
        bytes.push(escaped.map_or(*first, |(high, low)| high << 4 | low));
        rest = escaped.and_then(|_| rest.get(3..)).unwrap_or(after);
    }
    bytes
}

fn digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn converse(stream: &UnixStream, user: u32, title: &str, body: &str) -> io::Result<()> {
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    // The bus knows who we are from the socket; the id, in hexadecimal digits of its decimal ones, must be the same.
    let id = conclaude_core::text::hex(user.to_string().as_bytes());
    writer.write_all(format!("\0AUTH EXTERNAL {id}\r\n").as_bytes())?;
    let mut line = Vec::new();
    reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
    if !line.starts_with(b"OK") {
        let line = clean_line(String::from_utf8_lossy(&line).trim_end());
        return Err(io::Error::other(format!("the bus answered {line:?}")));
    }
    let mut calls = b"BEGIN\r\n".to_vec();
    calls.extend(call(1, "org.freedesktop.DBus", "Hello", "", &[]));
    calls.extend(call(2, NOTIFICATIONS, "Notify", "susssasa{sv}i", &arguments(title, body)));
    writer.write_all(&calls)?;
    // The bus answers `Hello` before it looks at the next message, so the second reply is that to `Notify`.
    read_reply(&mut reader)?;
    read_reply(&mut reader)
}

fn arguments(title: &str, body: &str) -> Vec<u8> {
    const REPLACES_NONE: u32 = 0;
    const EXPIRES_AS_THE_SERVER_LIKES: i32 = -1;
    let mut bytes = Vec::new();
    put_string(&mut bytes, "conclaude");
    put_u32(&mut bytes, REPLACES_NONE);
    put_string(&mut bytes, ""); // icon
    put_string(&mut bytes, title);
    put_string(&mut bytes, body);
    put_u32(&mut bytes, 0); // actions
    put_u32(&mut bytes, 0); // hints, whose (absent) elements are aligned to eight bytes
    align(&mut bytes, 8);
    bytes.extend(EXPIRES_AS_THE_SERVER_LIKES.to_le_bytes());
    bytes
}

/// A method call to a service whose interface and path are called like itself.
fn call(serial: u32, service: &str, member: &str, signature: &str, body: &[u8]) -> Vec<u8> {
    const NO_FLAGS: u8 = 0;
    const VERSION: u8 = 1;
    let mut bytes = vec![b'l', METHOD_CALL, NO_FLAGS, VERSION];
    put_u32(&mut bytes, body.len() as u32);
    put_u32(&mut bytes, serial);
    let start = bytes.len() + 4;
    let mut fields = vec![0; start];
    put_field(&mut fields, 1, b'o', &format!("/{}", service.replace('.', "/")));
    put_field(&mut fields, 2, b's', service);
    put_field(&mut fields, 3, b's', member);
    put_field(&mut fields, 6, b's', service);
    if !signature.is_empty() {
        put_field(&mut fields, 8, b'g', signature);
    }
    put_u32(&mut bytes, (fields.len() - start) as u32);
    bytes.extend(fields.into_iter().skip(start));
    align(&mut bytes, 8);
    bytes.extend(body);
    bytes
}

/// A field of the header: its code, and a variant with its value.
fn put_field(bytes: &mut Vec<u8>, code: u8, kind: u8, value: &str) {
    align(bytes, 8);
    bytes.extend([code, 1, kind, 0]);
    if kind == b'g' {
        bytes.push(value.len() as u8);
        bytes.extend(value.bytes().chain([0]));
    } else {
        put_string(bytes, value);
    }
}

fn put_string(bytes: &mut Vec<u8>, text: &str) {
    // The bus closes the connection on a NUL inside of a string.
    let text = text.replace('\0', "");
    put_u32(bytes, text.len() as u32);
    bytes.extend(text.bytes().chain([0]));
}

fn put_u32(bytes: &mut Vec<u8>, number: u32) {
    align(bytes, 4);
    bytes.extend(number.to_le_bytes());
}

fn align(bytes: &mut Vec<u8>, to: usize) {
    bytes.resize(bytes.len().next_multiple_of(to), 0);
}

/// Reads up to the next reply: signals and calls of others may come before it.
fn read_reply(reader: &mut impl Read) -> io::Result<()> {
    loop {
        match read_message(reader)? {
            (METHOD_RETURN, _) => return Ok(()),
            (ERROR, body) => {
                // An error carries one string: its length, the text and a NUL.
                let text = String::from_utf8_lossy(body.get(4..).unwrap_or_default()).into_owned();
                return Err(io::Error::other(clean_line(text.trim_end_matches('\0'))));
            }
            _ => {}
        }
    }
}

/// Reads one message: its type and its body.
fn read_message(reader: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 16];
    reader.read_exact(&mut head)?;
    let [order, kind, _, _, b0, b1, b2, b3, _, _, _, _, f0, f1, f2, f3] = head;
    // Every sender writes in the byte order of its machine, and says so.
    let number =
        |bytes| if order == b'B' { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) } as usize;
    let (body, fields) = (number([b0, b1, b2, b3]), number([f0, f1, f2, f3]));
    if body > MAX_MESSAGE || fields > MAX_MESSAGE {
        return Err(io::Error::other(format!("a message of {} bytes", body.saturating_add(fields))));
    }
    let fields = fields.next_multiple_of(8);
    let mut rest = vec![0; fields + body];
    reader.read_exact(&mut rest)?;
    Ok((kind, rest.split_off(fields)))
}

#[cfg(test)]
#[path = "dbus_tests.rs"]
mod tests;
