//! A network namespace with loopback alone: whatever the client tries, it reaches the mock and nothing else.

use std::net::UdpSocket;
use std::process::{Command, ExitCode, Stdio};

use rustix::ioctl::{Opcode, Setter, Updater, ioctl};

use crate::client::Client;

/// Set for the program inside the namespace. Its value is the client to use.
pub(crate) const INSIDE: &str = "CONCLAUDE_REAL_CLIENT_INSIDE";

/// Whether this process is the one inside.
pub(crate) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Runs this program again in a namespace of its own, and gives its exit code.
pub(crate) fn enter(client: &Client, arguments: &[String]) -> Result<ExitCode, String> {
    let flags = usable()?;
    let own = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let status = Command::new("unshare")
        .args(flags)
        .arg("--")
        .arg(own)
        .args(arguments)
        .env(INSIDE, client.path())
        .status()
        .map_err(|error| format!("unshare cannot be started: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The flags with which this user may make a namespace: as root, or with a user namespace around it.
fn usable() -> Result<&'static [&'static str], String> {
    const WAYS: [&[&str]; 2] = [&["-n"], &["-r", "-n"]];
    let mut said = String::new();
    for flags in WAYS {
        let tried = Command::new("unshare").args(flags).arg("true").stdin(Stdio::null()).output();
        match tried {
            Ok(output) if output.status.success() => return Ok(flags),
            Ok(output) => said = String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => return Err(format!("`unshare` is missing (Debian package util-linux): {error}")),
        }
    }
    Err(format!(
        "this user may not make a network namespace ({said}): run as root, or allow unprivileged user namespaces"
    ))
}

/// Brings loopback up, and makes sure that there is no other way out.
pub(crate) fn prepare() -> Result<(), String> {
    // Any socket will do: the kernel only wants to know which namespace is meant.
    let socket =
        UdpSocket::bind("0.0.0.0:0").map_err(|error| format!("no socket in the namespace: {error}"))?;
    let mut loopback = Interface::named("lo");
    loopback.read(&socket)?;
    loopback.flags |= UP;
    loopback.write(&socket)?;
    let table = std::fs::read_to_string("/proc/self/net/dev")
        .map_err(|error| format!("the interfaces of the namespace cannot be listed: {error}"))?;
    for name in table.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim) {
        // Some kernels put tunnels that are down into every namespace. They lead nowhere.
        let mut other = Interface::named(name);
        other.read(&socket)?;
        if name != "lo" && other.flags & UP != 0 {
            return Err(format!("the namespace has an interface {name} that is up: it is not offline"));
        }
    }
    Ok(())
}

const UP: i16 = 1;
const GET_FLAGS: Opcode = 0x8913;
const SET_FLAGS: Opcode = 0x8914;

/// The kernel's `struct ifreq`, for its flags. By ioctl, since `ip` is not on every machine.
#[repr(C)]
#[derive(Clone, Copy)]
struct Interface {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

impl Interface {
    fn named(name: &str) -> Interface {
        let mut bytes = [0; 16];
        let length = name.len().min(15);
        bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
        Interface { name: bytes, flags: 0, rest: [0; 22] }
    }

    fn read(&mut self, socket: &UdpSocket) -> Result<(), String> {
        // SAFETY: SIOCGIFFLAGS reads the name and writes the flags of a `struct ifreq`, which this is, in size too.
        let done = unsafe { ioctl(socket, Updater::<GET_FLAGS, Interface>::new(self)) };
        done.map_err(|error| format!("the state of {} cannot be read: {error}", self.words()))
    }

    fn write(&self, socket: &UdpSocket) -> Result<(), String> {
        // SAFETY: SIOCSIFFLAGS only reads a `struct ifreq`, which this is, in size too.
        let done = unsafe { ioctl(socket, Setter::<SET_FLAGS, Interface>::new(*self)) };
        done.map_err(|error| format!("{} cannot be brought up: {error}", self.words()))
    }

    fn words(&self) -> String {
        String::from_utf8_lossy(&self.name).trim_end_matches('\0').to_owned()
    }
}
