//! Gzip: what `gzip` packed, in one piece (RFC 1952).

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use crate::budget::Budget;

/// The output grows in such steps, and the time is looked at after each.
const STEP: usize = 1 << 20;

/// The unpacked bytes, `max` at most. `None` for damaged or larger data, and if more data follow.
pub(super) fn gunzip(packed: &[u8], max: usize, budget: &Budget) -> Option<Vec<u8>> {
    let data = packed.get(header_length(packed)?..)?;
    let mut state = Box::<DecompressorOxide>::default();
    let (mut out, mut read, mut written) = (Vec::new(), 0, 0);
    loop {
        // One byte more than is allowed: data that fill it are too large.
        out.resize((out.len() + STEP).min(max + 1), 0);
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, taken, given) = decompress(&mut state, data.get(read..)?, &mut out, written, flags);
        read += taken;
        written += given;
        match status {
            TINFLStatus::Done => break,
            TINFLStatus::HasMoreOutput if written <= max && !budget.is_over() => {}
            _ => return None,
        }
    }
    if written > max {
        return None;
    }
    out.truncate(written);
    // The checksum and the size are the end of the file.
    let trailer = data.get(read..)?;
    let size = trailer.get(4..8)?.try_into().ok().map(u32::from_le_bytes)?;
    let is_whole = trailer.len() == 8 && usize::try_from(size).ok()? == out.len();
    if is_whole { Some(out) } else { None }
}

/// The length of the header: ten bytes, and perhaps a name and other fields.
fn header_length(packed: &[u8]) -> Option<usize> {
    let flags = *packed.get(3)?;
    if packed.get(2) != Some(&8) || flags & 0xe0 != 0 {
        return None;
    }
    let mut at = 10;
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes(packed.get(at..at + 2)?.try_into().ok()?));
    }
    for text in [8, 16] {
        if flags & text != 0 {
            at += packed.get(at..)?.iter().position(|byte| *byte == 0)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// As `gzip` packs it, with each of its ways to store a block.
    fn packed(bytes: &[u8], level: &str) -> Vec<u8> {
        let mut gzip =
            Command::new("gzip").arg(level).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = gzip.stdin.take().unwrap();
        let bytes = bytes.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
        let output = gzip.wait_with_output().unwrap();
        writer.join().unwrap();
        output.stdout
    }

    #[test]
    fn all_is_unpacked_up_to_the_limit_and_nothing_above_it() {
        let zeros = vec![0; 3 * STEP + 5];
        let noise: Vec<u8> = (0..200_000_u64)
            .map(|at| (at.wrapping_mul(at).wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        for bytes in [&b""[..], b"a", &noise, &zeros] {
            for level in ["-1", "-9"] {
                let packed = packed(bytes, level);
                let unpacked = |max| gunzip(&packed, max, &Budget::unlimited());
                assert!(unpacked(bytes.len()).as_deref() == Some(bytes), "{} bytes, {level}", bytes.len());
                assert!(unpacked(bytes.len() + 1).as_deref() == Some(bytes));
                if let Some(less) = bytes.len().checked_sub(1) {
                    assert_eq!(unpacked(less), None, "{} bytes, {level}", bytes.len());
                }
            }
        }
    }

    #[test]
    fn what_is_damaged_is_not_unpacked() {
        let whole = packed(&b"some text, and some text again".repeat(100), "-6");
        for length in 0..whole.len() {
            assert_eq!(gunzip(&whole[..length], 1 << 20, &Budget::unlimited()), None, "{length}");
        }
        let mut more = whole.clone();
        more.push(0);
        assert_eq!(gunzip(&more, 1 << 20, &Budget::unlimited()), None);
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            // The result may be any text, but no panic.
            let _ = gunzip(&damaged, 1 << 20, &Budget::unlimited());
        }
    }
}
