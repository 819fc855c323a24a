//! The ids of traces and spans, computed from what is recorded: whoever sends a record again sends the same span.

use sha2::{Digest, Sha256};

use conclaude_core::text::hex;

/// 32 hexadecimal digits.
pub(super) fn trace_id(of: &str) -> String {
    first_bytes::<16>("trace", of)
}

/// 16 hexadecimal digits.
pub(super) fn span_id(kind: &str, of: &str) -> String {
    first_bytes::<8>(kind, of)
}

/// Never all zeros, which stands for no id.
fn first_bytes<const N: usize>(kind: &str, of: &str) -> String {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(of).finalize();
    let mut id = [0; N];
    id.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    if id == [0; N] { "1".repeat(N * 2) } else { hex(&id) }
}
