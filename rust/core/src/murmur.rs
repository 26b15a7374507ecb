//! `MurmurHash3` x86 32 bits, for feature hashing: the hash scikit-learn and Spark use.

use crate::key::MASKS;

/// `MurmurHash3_x86_32` of `bytes`.
#[must_use]
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let mut hash = seed;
    let mut blocks = bytes.chunks_exact(4);
    for block in &mut blocks {
        hash = mix(hash, u32::from_le_bytes([block[0], block[1], block[2], block[3]]));
    }
    let tail = blocks.remainder();
    let word = tail.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    finish(hash ^ scramble(word), bytes.len())
}

/// [`murmur3_32`] of `text[start..end]`, with seed 0, where a text goes on for 16 bytes.
///
/// A word of up to 16 bytes is hashed without a branch: which way it would go, no one can guess.
#[inline(always)]
#[must_use]
pub fn murmur3_32_within(text: &[u8], start: usize, end: usize) -> u32 {
    let length = end - start;
    let Some(chunk) = text.get(start..start + 16).and_then(<[u8]>::first_chunk::<16>) else {
        return murmur3_32(&text[start..end], 0);
    };
    if length > 15 {
        return murmur3_32(&text[start..end], 0);
    }
    let bytes = u128::from_le_bytes(*chunk) & MASKS[length & 15];
    let words = [bytes as u32, (bytes >> 32) as u32, (bytes >> 64) as u32, (bytes >> 96) as u32];
    let first = mix(0, words[0]);
    let second = mix(first, words[1]);
    let hashes = [0, first, second, mix(second, words[2])];
    finish(hashes[length / 4 & 3] ^ scramble(words[length / 4 & 3]), length)
}

#[inline(always)]
fn scramble(block: u32) -> u32 {
    block.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593)
}

#[inline(always)]
fn mix(hash: u32, block: u32) -> u32 {
    (hash ^ scramble(block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64)
}

#[inline(always)]
fn finish(hash: u32, length: usize) -> u32 {
    let mut hash = hash ^ length as u32;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85EB_CA6B);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

/// The bucket of a term among `2^bits`: the absolute value of the signed hash, modulo, as
/// scikit-learn's `HashingVectorizer(alternate_sign=False)` does.
#[must_use]
pub fn bucket(term: &[u8], bits: u32, seed: u32) -> u32 {
    column(murmur3_32(term, seed) as i32, 1 << bits)
}

/// The place of a signed hash among `size`.
#[inline(always)]
#[must_use]
pub fn column(hash: i32, size: u32) -> u32 {
    if hash == i32::MIN {
        return (i32::MAX as u32 - (size - 1)) % size; // its absolute value does not exist
    }
    hash.unsigned_abs() % size
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published vectors of the reference implementation, and a tail of each length.
    #[test]
    fn matches_the_published_vectors() {
        assert_eq!(murmur3_32(b"", 0), 0);
        assert_eq!(murmur3_32(b"", 1), 0x514E_28B7);
        assert_eq!(murmur3_32(b"test", 0x9747_b28c), 0x704B_81DC);
        assert_eq!(murmur3_32(b"Hello, world!", 0x9747_b28c), 0x2488_4CBA);
        assert_eq!(murmur3_32(b"aaa", 0x9747_b28c), 0x283E_0130);
        assert_eq!(murmur3_32(b"aa", 0x9747_b28c), 0x5D21_1726);
    }

    #[test]
    fn words_within_a_text_have_the_same_hash() {
        let text = b"the quick brown fox jumps over the lazy dog";
        for start in 0..text.len() {
            for end in start..text.len() {
                assert_eq!(murmur3_32_within(text, start, end), murmur3_32(&text[start..end], 0));
            }
        }
    }
}
