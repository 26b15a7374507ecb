//! Finding runs of bytes, sixty-four at a time.
//!
//! A block of text becomes one word of bits, a bit per byte that belongs to a token; token edges
//! are where neighbouring bits differ. The same pass copies the text and lower-cases its ASCII, so
//! that plain text is looked at once. Bytes above 0x7F always belong: what they mean is for
//! [`crate::tokenise`] to say.

use wide::u8x16;

/// Which ASCII bytes belong to tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Letters, digits, underscores.
    Word,
    /// The same, and `.` `'` `:` `,` `;` where they hold a word together.
    JoinedWord,
    /// Everything but white space.
    NotSpace,
}

/// Where tokens start and end; memory is kept from text to text.
#[derive(Debug, Default)]
pub struct Edges {
    starts: Vec<u32>, // both have room for a block more than `length`
    ends: Vec<u32>,
    length: usize,
}

impl Edges {
    /// Forget all edges.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Start and end of each token.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        let (starts, ends) = (&self.starts[..self.length], &self.ends[..self.length]);
        starts.iter().zip(ends).map(|(start, end)| (*start as usize, *end as usize))
    }

    /// Append a token.
    pub fn push(&mut self, start: usize, end: usize) {
        self.make_room(self.length);
        self.starts[self.length] = start as u32;
        self.ends[self.length] = end as u32;
        self.length += 1;
    }

    /// Keep only the tokens that `keep` wants.
    pub fn retain(&mut self, mut keep: impl FnMut(usize, usize) -> bool) {
        let mut kept = 0;
        for i in 0..self.length {
            let (start, end) = (self.starts[i], self.ends[i]);
            self.starts[kept] = start;
            self.ends[kept] = end;
            kept += usize::from(keep(start as usize, end as usize));
        }
        self.length = kept;
    }

    /// Room for the edges of one more block behind `length`.
    #[inline]
    fn make_room(&mut self, length: usize) {
        if self.starts.len() < length + 72 {
            let room = 2 * length + 1024;
            self.starts.resize(room, 0);
            self.ends.resize(room, 0);
        }
    }
}

/// Write the places of the set bits to `out[length..]`; the new length.
///
/// Four at a time, set or not: what is written too much is overwritten by the next block.
#[inline(always)]
fn write_bits(mut bits: u64, base: u32, out: &mut [u32], length: usize) -> usize {
    let count = bits.count_ones() as usize;
    if let Some(room) = out.get_mut(length..length + 72) {
        for four in room.as_chunks_mut::<4>().0 {
            for place in four {
                *place = base + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
    }
    length + count
}

/// Copy `text` to `out`, lower-casing ASCII if `lower`, and find its runs; whether all is ASCII.
pub fn scan(runs: Runs, lower: bool, text: &[u8], out: &mut Vec<u8>, edges: &mut Edges) -> bool {
    edges.clear();
    if out.len() < text.len() {
        out.resize(text.len(), 0);
    }
    out.truncate(text.len());
    match (runs, lower) {
        (Runs::Word, true) => scan_as::<WORD, true>(text, out, edges),
        (Runs::Word, false) => scan_as::<WORD, false>(text, out, edges),
        (Runs::JoinedWord, true) => scan_as::<JOINED, true>(text, out, edges),
        (Runs::JoinedWord, false) => scan_as::<JOINED, false>(text, out, edges),
        (Runs::NotSpace, true) => scan_as::<NOT_SPACE, true>(text, out, edges),
        (Runs::NotSpace, false) => scan_as::<NOT_SPACE, false>(text, out, edges),
    }
}

const WORD: u8 = 0;
const JOINED: u8 = 1;
const NOT_SPACE: u8 = 2;

fn scan_as<const RUNS: u8, const LOWER: bool>(text: &[u8], out: &mut [u8], edges: &mut Edges) -> bool {
    let (mut carry, mut base, mut high) = (0, 0, u8x16::ZERO);
    let (mut n_starts, mut n_ends) = (0, 0);
    let (blocks, tail) = text.as_chunks::<64>();
    let (out_blocks, out_tail) = out.as_chunks_mut::<64>();
    let mut push = |bits: u64, base: usize, carry: &mut u64| {
        let before = bits << 1 | *carry;
        *carry = bits >> 63;
        edges.make_room(n_starts);
        n_starts = write_bits(bits & !before, base as u32, &mut edges.starts, n_starts);
        n_ends = write_bits(!bits & before, base as u32, &mut edges.ends, n_ends);
    };
    for (block, out) in blocks.iter().zip(out_blocks) {
        let bits = block_bits::<RUNS, LOWER>(block, out, text, base, carry, &mut high);
        push(bits, base, &mut carry);
        base += 64;
    }
    // The rest, and at least one bit of nothing to end the last token.
    let (mut block, mut lowered) = ([0; 64], [0; 64]);
    block[..tail.len()].copy_from_slice(tail);
    let bits = block_bits::<RUNS, LOWER>(&block, &mut lowered, text, base, carry, &mut high);
    out_tail.copy_from_slice(&lowered[..tail.len()]);
    push(bits & ((1 << tail.len()) - 1), base, &mut carry);
    debug_assert_eq!(n_starts, n_ends);
    edges.length = n_starts;
    high.to_bitmask() == 0
}

/// The bits of a block, its lower case in `out`, its bytes or-ed into `high`.
#[inline(always)]
fn block_bits<const RUNS: u8, const LOWER: bool>(
    block: &[u8; 64],
    out: &mut [u8; 64],
    text: &[u8],
    base: usize,
    carry: u64,
    high: &mut u8x16,
) -> u64 {
    let (mut inside, mut mid, mut outside_ascii) = (0u64, 0u64, 0u64);
    let (quarters, out) = (block.as_chunks::<16>().0, out.as_chunks_mut::<16>().0);
    for (i, (quarter, out)) in quarters.iter().zip(out).enumerate() {
        let mut bytes = u8x16::new(*quarter);
        *high |= bytes;
        if LOWER {
            bytes |= within(bytes, b'A', b'Z') & u8x16::splat(0x20);
        }
        *out = bytes.to_array();
        let belongs = if RUNS == NOT_SPACE { !is_space(bytes) } else { is_word(bytes) };
        // The sign bit of a byte above 0x7F puts it in, whatever `belongs` says.
        inside |= u64::from((belongs | bytes).to_bitmask()) << (16 * i);
        if RUNS == JOINED {
            mid |= u64::from(is_mid(bytes).to_bitmask()) << (16 * i);
            outside_ascii |= u64::from(bytes.to_bitmask()) << (16 * i);
        }
    }
    if RUNS == JOINED {
        // Between two that belong, or beside one outside ASCII; always at the ends of the block,
        // whose neighbours are in other blocks.
        let between = (inside << 1 | carry) & (inside >> 1);
        let beside = outside_ascii << 1 | outside_ascii >> 1;
        let mut candidates = mid & (between | beside | 1 << 63 | 1);
        while candidates != 0 {
            let at = candidates.trailing_zeros();
            inside |= u64::from(joins(text, base + at as usize)) << at;
            candidates &= candidates - 1;
        }
    }
    inside
}

#[inline(always)]
fn within(bytes: u8x16, from: u8, to: u8) -> u8x16 {
    (bytes - u8x16::splat(from)).simd_le(u8x16::splat(to - from))
}

#[inline(always)]
fn is_word(bytes: u8x16) -> u8x16 {
    within(bytes | u8x16::splat(0x20), b'a', b'z')
        | within(bytes, b'0', b'9')
        | bytes.simd_eq(u8x16::splat(b'_'))
}

/// `.` `,` `'` `"` `:` `;`
#[inline(always)]
fn is_mid(bytes: u8x16) -> u8x16 {
    (bytes | u8x16::splat(2)).simd_eq(u8x16::splat(b'.'))
        | (bytes | u8x16::splat(1)).simd_eq(u8x16::splat(b';'))
        | bytes.simd_eq(u8x16::splat(b'\''))
        | bytes.simd_eq(u8x16::splat(b'"'))
}

#[inline(always)]
fn is_space(bytes: u8x16) -> u8x16 {
    within(bytes, 9, 13) | within(bytes, 0x1C, 0x20)
}

/// WB6, WB7, WB11 and WB12 on ASCII: `can't`, `example.com`, `1,000.50` are one word each.
///
/// Next to a byte outside ASCII always: only the full rules can tell there.
fn joins(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|i| text.get(i)).copied().unwrap_or(0);
    let after = text.get(at + 1).copied().unwrap_or(0);
    let letters = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let digits = before.is_ascii_digit() && after.is_ascii_digit();
    (before | after) >= 0x80
        || match text[at] {
            b'.' | b'\'' => letters || digits,
            b':' => letters,
            b',' | b';' => digits,
            _ => false,
        }
}
