//! Documents kept compactly: the pieces of each text by number, frequent ones in one byte.
//!
//! A text is cut into runs of words, of white space and of field marks. One `between` that stands between two
//! words is not written, since it can only stand there. Pieces are numbered by how often they come, and a
//! number takes a byte for every seven bits: texts of words take about a byte and a half a word, and any
//! document can be read alone.

use crate::analyse::{BETWEEN_FIELDS, PADDING};
use crate::error::Error;
use crate::key::{Term, hash_bytes};
use crate::lexicon::Lexicon;
use crate::lines::Strings;
use crate::processor::prefetch_text;
use crate::threads::{on_threads, text_shares};

/// Encoded texts. Text `i` is `codes[starts[i]..starts[i + 1]]`, piece `p` is `arena[ends[p - 1]..ends[p]]`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes of the pieces, one behind the other.
    pub arena: Vec<u8>,
    /// Where each piece ends.
    pub ends: Vec<u64>,
    /// The numbers of pieces.
    pub codes: Vec<u8>,
    /// Where each text starts, and the end of the last.
    pub starts: Vec<u64>,
}

/// The same, borrowed from a file that may hold anything.
#[derive(Debug, Clone, Copy)]
pub struct EncodedView<'a> {
    /// As in [`Encoded`].
    pub arena: &'a [u8],
    /// As in [`Encoded`].
    pub ends: &'a [u64],
    /// As in [`Encoded`].
    pub codes: &'a [u8],
    /// As in [`Encoded`].
    pub starts: &'a [u64],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Space,
    Field,
}

/// The kind of every byte.
const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Word; 256];
    let mut byte = b'\t';
    while byte <= b'\r' {
        kinds[byte as usize] = Kind::Space;
        byte += 1;
    }
    kinds[b' ' as usize] = Kind::Space;
    kinds[BETWEEN_FIELDS as usize] = Kind::Field;
    kinds
};

fn kind(byte: u8) -> Kind {
    KINDS[byte as usize]
}

/// Show `each` where the pieces of a text start and end.
fn pieces(text: &[u8], between: u8, mut each: impl FnMut(usize, usize)) {
    let (mut start, mut after_word) = (0, false);
    while start < text.len() {
        let own = kind(text[start]);
        let mut end = start + 1;
        while end < text.len() && kind(text[end]) == own {
            end += 1;
        }
        let before_word = end < text.len() && kind(text[end]) == Kind::Word;
        if !(after_word && before_word && end == start + 1 && text[start] == between) {
            each(start, end);
        }
        after_word = own == Kind::Word;
        start = end;
    }
}

/// Encode texts, in which `between` (a blank or a line feed) mostly stands between words. Linear in their bytes.
///
/// # Errors
/// [`Error::Overflow`] past 2^30 different pieces.
pub fn encode(texts: &[&str], between: u8) -> Result<Encoded, Error> {
    let mut lexicon = Lexicon::default();
    let (mut numbers, mut ends) = (Vec::new(), vec![0]);
    let (mut bytes, mut terms) = (Vec::new(), Vec::new());
    for text in texts {
        bytes.clear();
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(&PADDING);
        terms.clear();
        pieces(text.as_bytes(), between, |start, end| terms.push(Term::of(&bytes, start, end - start)));
        lexicon.number(&terms, &bytes, &mut numbers);
        lexicon.checked()?;
        ends.push(numbers.len());
    }
    let terms = lexicon.into_terms();
    let mut counts = vec![0u64; terms.len()];
    numbers.iter().for_each(|number| counts[*number as usize] += 1);
    let mut order: Vec<u32> = (0..terms.len() as u32).collect();
    order.sort_by(|a, b| {
        let (one, other) = (*a as usize, *b as usize);
        let alphabet = || terms.words()[one].1.order(terms.arena(), terms.words()[other].1, terms.arena());
        counts[other].cmp(&counts[one]).then_with(alphabet)
    });
    let mut out = Encoded::default();
    let mut rank = vec![0u32; terms.len()];
    for (place, number) in order.iter().enumerate() {
        rank[*number as usize] = place as u32;
        terms.words()[*number as usize].1.append(terms.arena(), &mut out.arena);
        out.ends.push(out.arena.len() as u64);
    }
    out.starts.push(0);
    for pair in ends.windows(2) {
        for number in &numbers[pair[0]..pair[1]] {
            let mut code = rank[*number as usize];
            while code >= 0x80 {
                out.codes.push(code as u8 | 0x80);
                code >>= 7;
            }
            out.codes.push(code as u8);
        }
        out.starts.push(out.codes.len() as u64);
    }
    Ok(out)
}

/// The hash of each text, by which it is found again.
#[must_use]
pub fn hashes(texts: &[&str], threads: usize) -> Vec<u64> {
    let of_share = |(texts, _): (&[&str], usize)| {
        let each = texts.iter().enumerate().map(|(i, text)| {
            texts.get(i + 1).inspect(|next| prefetch_text(next));
            hash_bytes(text.as_bytes())
        });
        each.collect::<Vec<u64>>()
    };
    on_threads(text_shares(texts, threads), of_share).concat()
}

/// Some of the texts that [`encode`] was given.
///
/// # Errors
/// [`Error::Malformed`] where the parts cannot be of one whole.
pub fn decode(view: &EncodedView<'_>, between: u8, rows: &[usize]) -> Result<Strings, Error> {
    let broken = |what: &str| Error::Malformed(format!("the documents are damaged: {what}"));
    let arena = std::str::from_utf8(view.arena).map_err(|_| broken("a word is not UTF-8"))?;
    let mut spans = Vec::with_capacity(view.ends.len());
    let mut from = 0usize;
    for end in view.ends {
        let end = usize::try_from(*end).unwrap_or(usize::MAX);
        if end <= from || end > arena.len() || !arena.is_char_boundary(end) {
            return Err(broken("a word ends where it cannot"));
        }
        spans.push((from, end));
        from = end;
    }
    let mut out = Strings::default();
    for row in rows {
        let bounds = (view.starts.get(*row), row.checked_add(1).and_then(|next| view.starts.get(next)));
        let (Some(start), Some(end)) = bounds else { return Err(broken("there are fewer")) };
        let codes = view.codes.get(*start as usize..*end as usize).ok_or_else(|| broken("they overlap"))?;
        let (mut at, mut after_word) = (0, false);
        while at < codes.len() {
            let (mut code, mut shift) = (0u64, 0);
            loop {
                let byte = *codes.get(at).ok_or_else(|| broken("a number is cut off"))?;
                at += 1;
                code |= u64::from(byte & 0x7F) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
                if shift > 35 {
                    return Err(broken("a number is too long"));
                }
            }
            let (from, to) = *spans.get(code as usize).ok_or_else(|| broken("a word is not there"))?;
            let piece = &view.arena[from..to];
            let is_word = kind(piece[0]) == Kind::Word;
            if is_word && after_word {
                out.bytes.push(between);
            }
            out.bytes.extend_from_slice(piece);
            after_word = is_word;
        }
        out.offsets.push(out.bytes.len() as i64);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(texts: &[&str], between: u8) -> (Encoded, Vec<String>) {
        let encoded = encode(texts, between).unwrap();
        let rows: Vec<usize> = (0..texts.len()).collect();
        let strings = decode(&view(&encoded), between, &rows).unwrap();
        let found = strings.offsets.windows(2).map(|pair| {
            String::from_utf8(strings.bytes[pair[0] as usize..pair[1] as usize].to_vec()).unwrap()
        });
        let found = found.collect();
        (encoded, found)
    }

    fn view(encoded: &Encoded) -> EncodedView<'_> {
        let Encoded { arena, ends, codes, starts } = encoded;
        EncodedView { arena, ends, codes, starts }
    }

    #[test]
    fn texts_come_back_as_they_were() {
        let texts =
            ["", "a", "a b\nc", " a  b ", "\n", "a\u{1f}b c\u{1f}", "\u{1f}\u{1f} x", "é\u{a0}ü ß\r\n"];
        for between in [b' ', b'\n'] {
            assert_eq!(again(&texts, between).1, texts);
        }
    }

    #[test]
    fn frequent_words_take_one_byte() {
        let words: Vec<String> = (0..1000).map(|i| format!("w{i} the")).collect();
        let text = words.join("\n");
        let (encoded, found) = again(&[&text], b'\n');
        assert_eq!(found, [text]);
        assert!(encoded.codes.len() < 2 * 1001 * 3);
        assert!(encoded.arena.starts_with(b" the")); // one byte each: the blank before `the`, and `the`
    }

    #[test]
    fn damage_is_an_error() {
        let whole = encode(&["a b c", "d"], b' ').unwrap();
        let cut = Encoded { ends: vec![1, 9], ..whole.clone() };
        assert!(decode(&view(&cut), b' ', &[0]).is_err());
        let strange = Encoded { codes: vec![0xFF; whole.codes.len()], ..whole.clone() };
        assert!(decode(&view(&strange), b' ', &[0]).is_err());
        let backwards = Encoded { starts: vec![3, 1, 2], ..whole.clone() };
        assert!(decode(&view(&backwards), b' ', &[0]).is_err());
        assert!(decode(&view(&whole), b' ', &[2]).is_err());
        assert!(decode(&view(&whole), b' ', &[usize::MAX]).is_err());
        let halved = Encoded { arena: "é".into(), ends: vec![1, 2], codes: vec![0], starts: vec![0, 1] };
        assert!(decode(&view(&halved), b' ', &[0]).is_err());
    }
}
