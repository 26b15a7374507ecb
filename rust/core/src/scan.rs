//! Finding runs of bytes, sixty-four at a time.
//!
//! A block of text becomes one word of bits, a bit per byte that belongs to a token; token edges
//! are where neighbouring bits differ. The same pass copies the text and lower-cases its ASCII, so
//! that plain text is looked at once. Bytes above 0x7F always belong: what they mean is for
//! [`crate::tokenise`] to say.

use wide::u8x16;

use crate::processor::at_its_best;

/// Bytes looked at together.
const BLOCK: usize = 64;

/// Which ASCII bytes belong to tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Letters, digits, underscores.
    Word,
    /// The same, and `.` `'` `:` `,` `;` where they hold a word together.
    JoinedWord,
    /// Everything but white space.
    NotSpace,
    /// Everything but what divides tokens of fastText: six characters of white space, and zero.
    FastText,
}

/// Where tokens start and end; memory is kept from text to text.
#[derive(Debug, Default)]
pub struct Edges {
    starts: Vec<u32>, // both have room for a block more than `length`
    ends: Vec<u32>,
    length: usize,
    high: Vec<u32>, // beginnings of the blocks that hold bytes above 0x7F
}

impl Edges {
    /// Forget all edges.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Keep the first so many tokens only.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Start and end of each token.
    #[must_use]
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        let (starts, ends) = (&self.starts[..self.length], &self.ends[..self.length]);
        starts.iter().zip(ends).map(|(start, end)| (*start as usize, *end as usize))
    }

    /// Append a token.
    #[inline(always)]
    pub fn push(&mut self, start: usize, end: usize) {
        self.make_room(self.length);
        self.starts[self.length] = start as u32;
        self.ends[self.length] = end as u32;
        self.length += 1;
    }

    /// Whether the text scanned last is ASCII.
    #[must_use]
    pub fn is_ascii(&self) -> bool {
        self.high.is_empty()
    }

    /// Take out all runs: start, end, and whether bytes above 0x7F may be in it.
    pub fn take_runs(&mut self) -> Vec<(usize, usize, bool)> {
        let mut high = self.high.iter().map(|base| *base as usize).peekable();
        let runs = self.pairs().map(|(start, end)| {
            while high.next_if(|base| base + BLOCK <= start).is_some() {}
            (start, end, high.peek().is_some_and(|base| *base < end))
        });
        let runs = runs.collect();
        self.clear();
        runs
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
        if self.starts.len() < length + 80 {
            let room = 2 * length + 1024;
            self.starts.resize(room, 0);
            self.ends.resize(room, 0);
        }
    }
}

/// Write the places of the set bits to `out[length..]`; the new length.
///
/// Sixteen at a time, set or not, which suits most blocks and leaves no branch to guess wrongly;
/// what is written too much is overwritten by the next block.
#[inline(always)]
fn write_bits(mut bits: u64, base: u32, out: &mut [u32], length: usize) -> usize {
    let count = bits.count_ones() as usize;
    if let Some(room) = out.get_mut(length..length + 80) {
        for sixteen in room.as_chunks_mut::<16>().0 {
            for place in sixteen {
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

at_its_best! {
    /// Copy `text` to `out`, lower-casing ASCII if `lower`, and find its runs.
    pub fn scan(runs: Runs, lower: bool, text: &[u8], out: &mut Vec<u8>, edges: &mut Edges) {
        edges.clear();
        edges.high.clear();
        out.clear();
        out.reserve(text.len() + 2 * BLOCK);
        match (runs, lower) {
            (Runs::Word, true) => scan_as::<WORD, true>(text, out, edges),
            (Runs::Word, false) => scan_as::<WORD, false>(text, out, edges),
            (Runs::JoinedWord, true) => scan_as::<JOINED, true>(text, out, edges),
            (Runs::JoinedWord, false) => scan_as::<JOINED, false>(text, out, edges),
            (Runs::NotSpace, true) => scan_as::<NOT_SPACE, true>(text, out, edges),
            (Runs::NotSpace, false) => scan_as::<NOT_SPACE, false>(text, out, edges),
            (Runs::FastText, true) => scan_as::<FASTTEXT, true>(text, out, edges),
            (Runs::FastText, false) => scan_as::<FASTTEXT, false>(text, out, edges),
        }
    }
}

const WORD: u8 = 0;
const JOINED: u8 = 1;
const NOT_SPACE: u8 = 2;
const FASTTEXT: u8 = 3;

#[inline(always)]
fn scan_as<const RUNS: u8, const LOWER: bool>(text: &[u8], out: &mut Vec<u8>, edges: &mut Edges) {
    let mut state = State::default();
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    for block in blocks {
        let mut block = *block;
        let bits = block_bits::<RUNS, LOWER>(&mut block, text, &state, edges);
        out.extend_from_slice(&block);
        state.push(bits, edges);
    }
    // The rest, and at least one bit of nothing to end the last token.
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    let bits = block_bits::<RUNS, LOWER>(&mut block, text, &state, edges);
    out.extend_from_slice(&block[..rest.len()]);
    state.push(bits & ((1 << rest.len()) - 1), edges);
    debug_assert_eq!(state.starts, state.ends);
    edges.length = state.starts;
}

/// How far a scan has come.
#[derive(Default)]
struct State {
    base: usize, // of the block at hand
    carry: u64,  // last bit of the block before
    starts: usize,
    ends: usize,
}

impl State {
    /// Write down where the bits of the block at hand differ from their neighbours.
    #[inline(always)]
    fn push(&mut self, bits: u64, edges: &mut Edges) {
        let before = bits << 1 | self.carry;
        edges.make_room(self.starts);
        self.starts = write_bits(bits & !before, self.base as u32, &mut edges.starts, self.starts);
        self.ends = write_bits(!bits & before, self.base as u32, &mut edges.ends, self.ends);
        self.carry = bits >> 63;
        self.base += BLOCK;
    }
}

/// The bits of a block, which is lower-cased in place.
#[inline(always)]
fn block_bits<const RUNS: u8, const LOWER: bool>(
    block: &mut [u8; BLOCK],
    text: &[u8],
    state: &State,
    edges: &mut Edges,
) -> u64 {
    let (mut inside, mut mid, mut outside_ascii) = (0u64, 0u64, 0u64);
    for (i, quarter) in block.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let mut bytes = u8x16::new(*quarter);
        if LOWER {
            bytes |= within(bytes, b'A', b'Z') & u8x16::splat(0x20);
            *quarter = bytes.to_array();
        }
        let belongs = match RUNS {
            NOT_SPACE => !is_space(bytes),
            FASTTEXT => !divides_fasttext(bytes),
            _ => is_word(bytes),
        };
        // The sign bit of a byte above 0x7F puts it in, whatever `belongs` says.
        inside |= u64::from((belongs | bytes).to_bitmask()) << (16 * i);
        outside_ascii |= u64::from(bytes.to_bitmask()) << (16 * i);
        if RUNS == JOINED {
            mid |= u64::from(is_mid(bytes).to_bitmask()) << (16 * i);
        }
    }
    if outside_ascii != 0 {
        edges.high.push(state.base as u32);
    }
    if RUNS == JOINED {
        // Between two that belong, or beside one outside ASCII; always at the ends of the block,
        // whose neighbours are in other blocks.
        let between = (inside << 1 | state.carry) & (inside >> 1);
        let beside = outside_ascii << 1 | outside_ascii >> 1;
        let mut candidates = mid & (between | beside | 1 << 63 | 1);
        while candidates != 0 {
            let at = candidates.trailing_zeros();
            inside |= u64::from(joins(text, state.base + at as usize)) << at;
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

#[inline(always)]
fn divides_fasttext(bytes: u8x16) -> u8x16 {
    within(bytes, 9, 13) | bytes.simd_eq(u8x16::splat(b' ')) | bytes.simd_eq(u8x16::splat(0))
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
