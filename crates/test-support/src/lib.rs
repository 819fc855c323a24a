//! How thorough a property test is, how much work it was, and archives for tests.

#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

use std::time::Duration;

pub mod shell;

/// How many cases it tries: few locally, many in CI.
pub fn cases(local: u32, ci: u32) -> u32 {
    if std::env::var_os("CI").is_some() { ci } else { local }
}

/// The processor time of this thread: unlike a clock it stands still while others have the processor.
#[cfg(unix)]
pub fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to a struct that lives as long as the call.
    #[allow(unsafe_code, reason = "the clock of a thread has no safe interface")]
    let done = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(done, 0);
    Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

#[cfg(not(unix))]
pub fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// A zip archive of empty files, each with the kind of its mode, and with this extra field.
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
pub fn zip_archive(members: &[(&str, u32)], extra: &[u8]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, kind) in members {
        let offset = u32::try_from(bytes.len()).unwrap();
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        bytes.extend(b"PK\x03\x04");
        bytes.extend([0; 22]);
        bytes.extend(length);
        bytes.extend([0; 2]);
        bytes.extend(name.as_bytes());
        directory.extend(b"PK\x01\x02");
        directory.extend([0; 24]);
        directory.extend(length);
        directory.extend(u16::try_from(extra.len()).unwrap().to_le_bytes());
        directory.extend([0; 6]);
        directory.extend((kind << 28).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
        directory.extend(extra);
    }
    let (start, size, count) = (bytes.len(), directory.len(), members.len());
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06");
    bytes.extend([0; 4]);
    for number in [count, count] {
        bytes.extend(u16::try_from(number).unwrap().to_le_bytes());
    }
    for number in [size, start] {
        bytes.extend(u32::try_from(number).unwrap().to_le_bytes());
    }
    bytes.extend([0; 2]);
    bytes
}
