//! Unpacks a gzip file with one member (RFC 1951 and 1952).

use crate::budget::Budget;

/// Codes of more bits do not exist.
const MAX_BITS: usize = 15;

/// The order in which the lengths of the codes for lengths are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The unpacked bytes, `max` at most. `None` if the data is damaged, larger, or followed by more.
pub(super) fn gunzip(packed: &[u8], max: usize, budget: &Budget) -> Option<Vec<u8>> {
    let data = packed.get(header_length(packed)?..)?;
    let mut reader = BitReader { bytes: data, at: 0, bits: 0, count: 0 };
    let mut out = Vec::new();
    loop {
        let is_last = reader.take(1)? == 1;
        match reader.take(2)? {
            0 => stored(&mut reader, &mut out, max)?,
            1 => coded(&mut reader, &mut out, max, &Codes::fixed()?)?,
            2 => {
                let codes = Codes::read(&mut reader)?;
                coded(&mut reader, &mut out, max, &codes)?;
            }
            _ => return None,
        }
        if budget.is_over() {
            return None;
        }
        if is_last {
            break;
        }
    }
    // The checksum and the size are the end of the file.
    let trailer = data.get(reader.at - reader.count / 8..)?;
    let size = trailer.get(4..8)?.try_into().ok().map(u32::from_le_bytes)?;
    let is_whole = trailer.len() == 8 && usize::try_from(size).ok()? == out.len();
    if is_whole { Some(out) } else { None }
}

/// How long the header is: ten bytes, and perhaps a name and other fields.
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

struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
    bits: u64,
    count: usize,
}

impl BitReader<'_> {
    /// Reads bytes until there are `count` bits, or no bytes are left.
    fn fill(&mut self, count: usize) {
        while self.count < count
            && let Some(byte) = self.bytes.get(self.at)
        {
            self.bits |= u64::from(*byte) << self.count;
            self.at += 1;
            self.count += 8;
        }
    }

    fn take(&mut self, count: usize) -> Option<usize> {
        self.fill(count);
        let value = usize::try_from(self.bits & ((1 << count) - 1)).ok()?;
        self.count = self.count.checked_sub(count)?;
        self.bits >>= count;
        Some(value)
    }
}

/// A code: how many codes of each length there are, and what they stand for.
struct Huffman {
    counts: [usize; MAX_BITS + 1],
    symbols: Vec<usize>,
}

impl Huffman {
    fn new(lengths: &[usize]) -> Option<Huffman> {
        let mut counts = [0; MAX_BITS + 1];
        for length in lengths {
            *counts.get_mut(*length)? += 1;
        }
        *counts.first_mut()? = 0;
        let mut symbols = Vec::new();
        for length in 1..=MAX_BITS {
            let of_length = lengths.iter().enumerate().filter(|(_, other)| **other == length);
            symbols.extend(of_length.map(|(symbol, _)| symbol));
        }
        Some(Huffman { counts, symbols })
    }

    fn symbol(&self, reader: &mut BitReader<'_>) -> Option<usize> {
        reader.fill(MAX_BITS);
        let (mut code, mut first, mut index) = (0, 0, 0);
        for length in 1..=MAX_BITS {
            code |= reader.take(1)?;
            let count = *self.counts.get(length)?;
            if code < first + count {
                return self.symbols.get(index + code.checked_sub(first)?).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// The codes of a block: for bytes and lengths, and for distances.
struct Codes {
    literals: Huffman,
    distances: Huffman,
}

impl Codes {
    fn fixed() -> Option<Codes> {
        let length = |symbol: usize| match symbol {
            0..=143 => 8,
            144..=255 => 9,
            256..=279 => 7,
            _ => 8,
        };
        let lengths: Vec<usize> = (0..288).map(length).collect();
        Some(Codes { literals: Huffman::new(&lengths)?, distances: Huffman::new(&[5; 30])? })
    }

    fn read(reader: &mut BitReader<'_>) -> Option<Codes> {
        let (literals, distances, count) = (reader.take(5)? + 257, reader.take(5)? + 1, reader.take(4)? + 4);
        let mut lengths = [0; 19];
        for symbol in ORDER.iter().take(count) {
            *lengths.get_mut(*symbol)? = reader.take(3)?;
        }
        let code = Huffman::new(&lengths)?;
        let mut lengths: Vec<usize> = Vec::new();
        while lengths.len() < literals + distances {
            let (length, times) = match code.symbol(reader)? {
                16 => (*lengths.last()?, 3 + reader.take(2)?),
                17 => (0, 3 + reader.take(3)?),
                18 => (0, 11 + reader.take(7)?),
                length => (length, 1),
            };
            lengths.extend(std::iter::repeat_n(length, times));
        }
        let (literal_lengths, rest) = lengths.split_at_checked(literals)?;
        let distances = Huffman::new(rest.get(..distances)?)?;
        Some(Codes { literals: Huffman::new(literal_lengths)?, distances })
    }
}

fn stored(reader: &mut BitReader<'_>, out: &mut Vec<u8>, max: usize) -> Option<()> {
    reader.take(reader.count % 8)?;
    let (length, check) = (reader.take(16)?, reader.take(16)?);
    if length != !check & 0xffff || out.len() + length > max {
        return None;
    }
    for _ in 0..length {
        out.push(u8::try_from(reader.take(8)?).ok()?);
    }
    Some(())
}

fn coded(reader: &mut BitReader<'_>, out: &mut Vec<u8>, max: usize, codes: &Codes) -> Option<()> {
    loop {
        let symbol = codes.literals.symbol(reader)?;
        match symbol {
            0..=255 => out.push(u8::try_from(symbol).ok()?),
            256 => return Some(()),
            _ => {
                let length = extended_length(reader, symbol.checked_sub(257)?)?;
                let symbol = codes.distances.symbol(reader)?;
                let distance = extended_distance(reader, symbol)?;
                let start = out.len().checked_sub(distance)?;
                for from in start..start + length {
                    out.push(*out.get(from)?);
                }
            }
        }
        if out.len() > max {
            return None;
        }
    }
}

/// A length: a base value plus some extra bits.
fn extended_length(reader: &mut BitReader<'_>, symbol: usize) -> Option<usize> {
    let extra = if symbol < 8 || symbol == 28 { 0 } else { symbol / 4 - 1 };
    let start = match symbol {
        0..=7 => symbol + 3,
        28 => 258,
        29.. => return None,
        _ => ((4 + symbol % 4) << (symbol / 4 - 1)) + 3,
    };
    Some(start + reader.take(extra)?)
}

fn extended_distance(reader: &mut BitReader<'_>, symbol: usize) -> Option<usize> {
    match symbol {
        0..=3 => Some(symbol + 1),
        4..=29 => {
            let extra = symbol / 2 - 1;
            Some(((2 + symbol % 2) << extra) + 1 + reader.take(extra)?)
        }
        _ => None,
    }
}
