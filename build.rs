//! How the program is linked on Linux. It is at a fixed address. The tests start it thousands of times and a client at every event: moving it to
//! another address took half of the system's time for a start. The static program has its flags in .cargo/config.toml.
#![expect(clippy::disallowed_methods, reason = "cargo tells a build script by variables what it builds")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    if is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    if is("CARGO_CFG_TARGET_ENV", "musl") && is("PROFILE", "release") {
        println!("cargo::rerun-if-changed=discard-unwind-tables.ld");
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/discard-unwind-tables.ld");
    }
    // Cargo forgets `strip` of the profile where this package has an `opt-level` of its own.
    if is("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
}
