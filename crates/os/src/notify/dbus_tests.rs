use std::thread;

use proptest::prelude::*;

use super::*;

/// What `notify` says when the bus sends this, whatever it is sent, and then closes the connection.
fn answered(bytes: &[u8]) -> Result<(), String> {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let bytes = bytes.to_vec();
    let bus = thread::spawn(move || {
        (&theirs).write_all(&bytes).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let mut sent = Vec::new();
        // A connection that is closed with answers unread is reset; what was sent before is there.
        let _ = (&theirs).read_to_end(&mut sent);
        sent
    });
    let result = converse(&ours, 1000, "title", "body").map_err(|error| error.to_string());
    drop(ours);
    assert!(bus.join().unwrap().starts_with(b"\0AUTH EXTERNAL 31303030\r\n"));
    result
}

fn message(order: u8, kind: u8, fields: &[u8], body: &[u8]) -> Vec<u8> {
    let number = |n: usize| if order == b'B' { (n as u32).to_be_bytes() } else { (n as u32).to_le_bytes() };
    let mut bytes = vec![order, kind, 0, 1];
    bytes.extend(number(body.len()));
    bytes.extend(number(7));
    bytes.extend(number(fields.len()));
    bytes.extend(fields);
    align(&mut bytes, 8);
    bytes.extend(body);
    bytes
}

fn session(messages: &[Vec<u8>]) -> Vec<u8> {
    [b"OK 0123456789abcdef\r\n".to_vec(), messages.concat()].concat()
}

const SIGNAL: u8 = 4;

#[test]
fn the_second_reply_counts_in_either_byte_order_and_signals_do_not() {
    let hello = message(b'l', METHOD_RETURN, &[1; 13], b"\x04\0\0\0:1.5\0");
    let signal = message(b'l', SIGNAL, &[1; 30], b"\x04\0\0\0:1.5\0");
    let shown = message(b'B', METHOD_RETURN, &[1; 9], &[0, 0, 0, 1]);
    assert_eq!(answered(&session(&[hello.clone(), signal.clone(), shown])), Ok(()));
    let refused = message(b'B', ERROR, &[1; 9], b"\0\0\0\x07no \x1b[31mserver\0");
    assert!(answered(&session(&[hello.clone(), signal, refused])).unwrap_err().starts_with("no "));
    assert!(answered(&session(&[hello])).is_err());
}

#[test]
fn a_bus_that_refuses_or_is_none_is_an_error() {
    let rejected = answered(b"REJECTED EXTERNAL DBUS_COOKIE_SHA1\r\n").unwrap_err();
    assert_eq!(rejected, "the bus answered \"REJECTED EXTERNAL DBUS_COOKIE_SHA1\"");
    for bytes in [&b""[..], b"OK", b"OK 1\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", &[0xff; 9000]] {
        assert!(answered(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn a_message_that_is_too_large_is_not_read() {
    let mut huge = message(b'l', METHOD_RETURN, &[], &[]);
    huge[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(answered(&session(&[huge])).unwrap_err(), "a message of 4294967295 bytes");
}

#[test]
fn a_title_with_nul_keeps_its_other_characters() {
    let bytes = arguments("a\0b", "ü");
    assert!(bytes.windows(7).any(|window| window == b"\x02\0\0\0ab\0"));
}

#[test]
fn addresses_of_unix_sockets_are_understood() {
    let path = |address| socket(address).unwrap().unwrap().as_pathname().unwrap().to_owned();
    assert_eq!(path("unix:path=/run/user/1000/bus"), Path::new("/run/user/1000/bus"));
    assert_eq!(path("unix:guid=00ff,path=/tmp/a%20b%2cc,x=y"), Path::new("/tmp/a b,c"));
    assert_eq!(unescape("100%"), b"100%");
    assert_eq!(unescape("%zz%4"), b"%zz%4");
    for address in ["", "nonsense", "tcp:host=127.0.0.1,port=1", "unix:", "unix:path", "autolaunch:"] {
        assert!(socket(address).is_none(), "{address}");
    }
}

#[test]
fn the_first_address_that_answers_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bus");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    connect(&format!("tcp:host=x;unix:path=/no/such/socket;unix:path={}", path.display())).unwrap();
    assert_eq!(connect("unix:path=/no/such/socket").unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[cfg(target_os = "linux")]
#[test]
fn abstract_sockets_are_understood() {
    use std::os::linux::net::SocketAddrExt;
    let address = socket("unix:abstract=/tmp/dbus-1%5f,guid=1").unwrap().unwrap();
    assert_eq!(address.as_abstract_name(), Some(&b"/tmp/dbus-1_"[..]));
}

proptest! {
    #[test]
    fn no_message_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_reply(&mut bytes.as_slice());
    }
}
