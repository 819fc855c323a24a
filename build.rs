//! Links the program at a fixed address on Linux. The tests start it thousands of times and a client at every event: moving it to
//! another address took half of the system's time for a start. The static program has its flags in .cargo/config.toml.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
