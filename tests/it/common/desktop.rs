//! A private D-Bus with a small notification server that notes what arrives.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A notification as it arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Notification {
    pub title: String,
    pub body: String,
}

struct Server {
    arrived: Sender<Notification>,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Server {
    #[expect(clippy::too_many_arguments, reason = "the protocol has them")]
    fn notify(
        &self,
        _app_name: String,
        _replaces_id: u32,
        _app_icon: String,
        summary: String,
        body: String,
        _actions: Vec<String>,
        _hints: std::collections::HashMap<String, zbus::zvariant::OwnedValue>,
        _expire_timeout: i32,
    ) -> u32 {
        let _ = self.arrived.send(Notification { title: summary, body });
        1
    }

    fn get_capabilities(&self) -> Vec<String> {
        vec!["body".into()]
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("test".into(), "conclaude".into(), "1".into(), "1.2".into())
    }
}

/// A desktop that lives as long as this value.
pub(crate) struct Desktop {
    bus: Child,
    address: String,
    arrived: Receiver<Notification>,
    _connection: Option<zbus::Connection>,
}

impl Desktop {
    /// A bus with a notification server.
    pub(crate) fn start() -> Desktop {
        let mut desktop = Desktop::without_server();
        let (sender, arrived) = channel();
        let builder = zbus::connection::Builder::address(desktop.address.as_str())
            .and_then(|builder| builder.name("org.freedesktop.Notifications"))
            .and_then(|builder| {
                builder.serve_at("/org/freedesktop/Notifications", Server { arrived: sender })
            })
            .unwrap();
        let connection = zbus::block_on(builder.build()).unwrap();
        desktop.arrived = arrived;
        desktop._connection = Some(connection);
        desktop
    }

    /// A bus on which nobody shows notifications.
    pub(crate) fn without_server() -> Desktop {
        // The shell lives, and the bus with it, until its stdin closes.
        let mut bus = Command::new("dbus-run-session")
            .args(["--", "sh", "-c", "echo \"$DBUS_SESSION_BUS_ADDRESS\"; cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the notification tests need `dbus-run-session` (Debian package `dbus`)");
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Desktop { bus, address: address.trim().to_owned(), arrived: channel().1, _connection: None }
    }

    /// The address for `DBUS_SESSION_BUS_ADDRESS`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// All that arrived. The call that sent it has waited for the answer, so nothing is on its way.
    pub(crate) fn arrived(&self) -> Vec<Notification> {
        self.arrived.try_iter().collect()
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        drop(self.bus.stdin.take());
        let _ = self.bus.wait();
    }
}
