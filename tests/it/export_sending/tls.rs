//! Collectors with TLS, and behind a proxy.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;

use super::*;

const HOST: &str = "collector.test";

/// A collector with TLS, whose certificate is of an authority that nobody knows.
struct SecureCollector {
    port: u16,
    collector: Collector,
    authority: String,
}

impl SecureCollector {
    fn new() -> SecureCollector {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().unwrap();
        let names = vec![HOST.to_owned(), "127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
        let provider = rustls::crypto::ring::default_provider();
        let config = rustls::ServerConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .unwrap();
        let (collector, config) = (Collector::new(), Arc::new(config));
        let (listener, plain) = (TcpListener::bind("127.0.0.1:0").unwrap(), collector.url.clone());
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
                let plain = TcpStream::connect(plain.strip_prefix("http://").unwrap()).unwrap();
                // A client that does not trust the certificate goes away.
                let _ = pass_on(rustls::StreamOwned::new(connection, stream), plain);
            }
        });
        SecureCollector { port, collector, authority: authority.pem() }
    }
}

/// Passes one request and its answer on.
fn pass_on(
    mut secure: rustls::StreamOwned<rustls::ServerConnection, TcpStream>,
    mut plain: TcpStream,
) -> std::io::Result<()> {
    use std::io::{Read, Write};
    let mut request = Vec::new();
    let mut buffer = [0; 1 << 16];
    loop {
        let count = secure.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        request.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() >= length.parse::<usize>().unwrap() {
            break;
        }
    }
    plain.write_all(&request)?;
    let mut answer = Vec::new();
    plain.read_to_end(&mut answer)?;
    secure.write_all(&answer)?;
    secure.conn.send_close_notify();
    secure.flush()
}

/// A proxy that connects everybody to one address.
struct Proxy {
    url: String,
    heads: Receiver<String>,
}

impl Proxy {
    fn to(port: u16) -> Proxy {
        use std::io::{BufRead, BufReader, Write, copy};
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://user:secret@{}", listener.local_addr().unwrap());
        let (sender, heads) = channel();
        std::thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                let mut head = String::new();
                let mut reader = BufReader::new(client.try_clone().unwrap());
                while reader.read_line(&mut head).unwrap() > 2 {}
                sender.send(head).unwrap();
                client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
                let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
                let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client);
                let mut to_server = server;
                std::thread::spawn(move || copy(&mut reader, &mut to_server));
                std::thread::spawn(move || {
                    let _ = copy(&mut from_server, &mut to_client);
                    let _ = to_client.shutdown(std::net::Shutdown::Both);
                });
            }
        });
        Proxy { url, heads }
    }

    /// The first lines of what it was asked.
    fn asked(&self) -> Vec<String> {
        self.heads.try_iter().map(|head| head.lines().next().unwrap_or_default().to_owned()).collect()
    }
}

fn authority_file(root: &Path, collector: &SecureCollector) -> PathBuf {
    let path = root.join("authority.pem");
    std::fs::write(&path, &collector.authority).unwrap();
    path
}

/// What `audit export` says with these variables.
fn export_with(test: &Test, url: &str, variables: &[(&str, &str)]) -> String {
    let mut command = conclaude_in(&test.root());
    command.args(["audit", "export", "--otlp", url, "--retry-for", "0"]).envs(variables.iter().copied());
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap().replace(url, "[URL]")
}

#[test]
fn an_authority_of_ones_own_is_trusted_where_ssl_cert_file_names_it() {
    let (test, secure) = (with_records(1), SecureCollector::new());
    let url = format!("https://127.0.0.1:{}", secure.port);
    let file = authority_file(&test.root(), &secure);
    let said = export_with(&test, &url, &[]);
    assert_snapshot!(said, @"conclaude: logs: cannot reach [URL]/v1/logs: invalid peer certificate: UnknownIssuer; if the certificate is from your own authority, set SSL_CERT_FILE=FILE");
    assert!(secure.collector.received().is_empty(), "nothing is sent to a server that is not trusted");
    let said = export_with(&test, &url, &[("SSL_CERT_FILE", file.to_str().unwrap())]);
    assert_snapshot!(said, @"sent to [URL]: 1 record as logs; 1 record as traces; 1 record as metrics");
    assert_eq!(logged(&secure.collector.received()), [[1]]);
}

#[test]
fn a_server_without_tls_is_named_as_such() {
    use std::io::{Read, Write};
    let test = with_records(1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1 << 16]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
        }
    });
    assert_snapshot!(export_with(&test, &url, &[]), @"conclaude: logs: cannot reach [URL]/v1/logs: received corrupt message of type InvalidContentType; does the server use TLS? Without it the URL starts with http://");
}

#[test]
fn a_proxy_of_the_environment_is_used() {
    let (test, secure) = (with_records(1), SecureCollector::new());
    let proxy = Proxy::to(secure.port);
    let file = authority_file(&test.root(), &secure);
    let url = format!("https://{HOST}:4318");
    let variables = [("HTTPS_PROXY", proxy.url.as_str()), ("SSL_CERT_FILE", file.to_str().unwrap())];
    assert_snapshot!(export_with(&test, &url, &variables), @"sent to [URL]: 1 record as logs; 1 record as traces; 1 record as metrics");
    assert_eq!(logged(&secure.collector.received()), [[1]]);
    let asked = proxy.asked();
    assert!(asked.iter().all(|line| line == &format!("CONNECT {HOST}:4318 HTTP/1.1")), "{asked:?}");
    assert!(!asked.is_empty());
}

#[test]
fn a_host_of_no_proxy_is_reached_directly() {
    let (test, collector, closed) = (with_records(1), Collector::new(), ClosedPort::new());
    let unreachable = export_with(&test, &collector.url, &[("HTTP_PROXY", &closed.url)]);
    assert_snapshot!(unreachable, @"conclaude: logs: cannot reach [URL]/v1/logs: Connection refused (os error 111)");
    assert!(collector.received().is_empty());
    let variables = [("HTTP_PROXY", closed.url.as_str()), ("NO_PROXY", "localhost,127.0.0.1")];
    assert_snapshot!(export_with(&test, &collector.url, &variables), @"sent to [URL]: 1 record as logs; 1 record as traces; 1 record as metrics");
    assert_eq!(logged(&collector.received()), [[1]]);
}

#[test]
fn the_password_of_a_proxy_is_not_shown() {
    let (test, collector) = (with_records(1), Collector::new());
    let said = export_with(&test, &collector.url, &[("HTTP_PROXY", "ftp://user:secret@proxy")]);
    assert_snapshot!(said, @"conclaude: logs: cannot reach [URL]/v1/logs: HTTP_PROXY is not the URL of a proxy");
    assert!(collector.received().is_empty());
}
