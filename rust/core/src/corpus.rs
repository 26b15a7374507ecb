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
use crate::terms::Terms;
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
    let (mut out, rank) = ranked(&terms, &counts);
    for pair in ends.windows(2) {
        numbers[pair[0]..pair[1]].iter().for_each(|number| out.push(rank[*number as usize]));
        out.starts.push(out.codes.len() as u64);
    }
    Ok(out)
}

/// The pieces that are there, the most frequent first, before any text, and the place of each.
fn ranked(terms: &Terms, counts: &[u64]) -> (Encoded, Vec<u32>) {
    let mut order: Vec<u32> = (0..terms.len() as u32).filter(|number| counts[*number as usize] > 0).collect();
    order.sort_by(|a, b| {
        let (one, other) = (*a as usize, *b as usize);
        let alphabet = || terms.words()[one].1.order(terms.arena(), terms.words()[other].1, terms.arena());
        counts[other].cmp(&counts[one]).then_with(alphabet)
    });
    let mut out = Encoded { starts: vec![0], ..Encoded::default() };
    let mut rank = vec![0u32; terms.len()];
    let mut length = 0; // of all codes, so that they take no more memory than that
    for (place, number) in order.iter().enumerate() {
        length += counts[*number as usize] as usize * code_length(place as u32);
        rank[*number as usize] = place as u32;
        terms.words()[*number as usize].1.append(terms.arena(), &mut out.arena);
        out.ends.push(out.arena.len() as u64);
    }
    out.codes.reserve_exact(length);
    (out, rank)
}

/// Bytes of the number of a piece.
fn code_length(code: u32) -> usize {
    (u32::BITS - code.leading_zeros()).div_ceil(7).max(1) as usize
}

impl Encoded {
    /// Write the number of a piece.
    fn push(&mut self, mut code: u32) {
        while code >= 0x80 {
            self.codes.push(code as u8 | 0x80);
            code >>= 7;
        }
        self.codes.push(code as u8);
    }
}

/// Some texts of several stores, each by its store and its row there, as [`encode`] would make them of the texts
/// themselves, which need not be read for it: pieces get new numbers.
///
/// # Errors
/// [`Error::Malformed`] where the parts cannot be of one whole, [`Error::Overflow`] past 2^30 different pieces.
pub fn join(views: &[EncodedView<'_>], texts: &[(usize, usize)]) -> Result<Encoded, Error> {
    let (mut lexicon, mut common) = (Lexicon::default(), Vec::with_capacity(views.len()));
    for view in views {
        let bytes = [view.arena, &PADDING[..]].concat();
        let terms: Vec<Term> =
            view.spans()?.into_iter().map(|(from, to)| Term::of(&bytes, from, to - from)).collect();
        let mut numbers = Vec::with_capacity(terms.len());
        lexicon.number(&terms, &bytes, &mut numbers);
        lexicon.checked()?;
        common.push(numbers);
    }
    let terms = lexicon.into_terms();
    let mut counts = vec![0u64; terms.len()];
    for text in texts {
        each_common(views, &common, *text, |number| counts[number as usize] += 1)?;
    }
    let (mut out, rank) = ranked(&terms, &counts);
    for text in texts {
        each_common(views, &common, *text, |number| out.push(rank[number as usize]))?;
        out.starts.push(out.codes.len() as u64);
    }
    Ok(out)
}

/// Show `each` the number of every piece of a text among those of all stores.
fn each_common(
    views: &[EncodedView<'_>],
    common: &[Vec<u32>],
    (store, row): (usize, usize),
    mut each: impl FnMut(u32),
) -> Result<(), Error> {
    let (Some(view), Some(common)) = (views.get(store), common.get(store)) else {
        return Err(broken("there are fewer stores"));
    };
    each_number(view.text(row)?, |number| {
        each(*common.get(number).ok_or_else(|| broken("a word is not there"))?);
        Ok(())
    })
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
    let spans = view.spans()?;
    let mut out = Strings::default();
    for row in rows {
        let mut after_word = false;
        each_number(view.text(*row)?, |number| {
            let (from, to) = *spans.get(number).ok_or_else(|| broken("a word is not there"))?;
            let piece = &view.arena[from..to];
            let is_word = kind(piece[0]) == Kind::Word;
            if is_word && after_word {
                out.bytes.push(between);
            }
            out.bytes.extend_from_slice(piece);
            after_word = is_word;
            Ok(())
        })?;
        out.offsets.push(out.bytes.len() as i64);
    }
    Ok(out)
}

fn broken(what: &str) -> Error {
    Error::Malformed(format!("the documents are damaged: {what}"))
}

impl<'a> EncodedView<'a> {
    /// Where each piece begins and ends in the arena; none is empty.
    fn spans(&self) -> Result<Vec<(usize, usize)>, Error> {
        let arena = std::str::from_utf8(self.arena).map_err(|_| broken("a word is not UTF-8"))?;
        let mut spans = Vec::with_capacity(self.ends.len());
        let mut from = 0usize;
        for end in self.ends {
            let end = usize::try_from(*end).unwrap_or(usize::MAX);
            if end <= from || end > arena.len() || !arena.is_char_boundary(end) {
                return Err(broken("a word ends where it cannot"));
            }
            spans.push((from, end));
            from = end;
        }
        Ok(spans)
    }

    /// The codes of one text.
    fn text(&self, row: usize) -> Result<&'a [u8], Error> {
        let bounds = (self.starts.get(row), row.checked_add(1).and_then(|next| self.starts.get(next)));
        let (Some(start), Some(end)) = bounds else { return Err(broken("there are fewer")) };
        self.codes.get(*start as usize..*end as usize).ok_or_else(|| broken("they overlap"))
    }
}

/// Show `each` the number of every piece of a text.
fn each_number(codes: &[u8], mut each: impl FnMut(usize) -> Result<(), Error>) -> Result<(), Error> {
    let mut at = 0;
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
        each(code as usize)?;
    }
    Ok(())
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
    fn texts_of_several_stores_are_joined_as_if_they_were_encoded_together() {
        let first = ["the cat", "the dog\nran", "gone", "é\u{a0}ü the"];
        let second = ["a dog", "", "the the", " cat\u{1f}x"];
        for between in [b' ', b'\n'] {
            let stores = [encode(&first, between).unwrap(), encode(&second, between).unwrap()];
            let views: Vec<_> = stores.iter().map(view).collect();
            let wanted = [(1, 3), (0, 1), (1, 1), (1, 2), (0, 0), (0, 3), (0, 1)];
            let texts: Vec<&str> =
                wanted.iter().map(|(store, row)| [&first, &second][*store][*row]).collect();
            assert_eq!(join(&views, &wanted).unwrap(), encode(&texts, between).unwrap());
            assert!(join(&views, &[(2, 0)]).is_err());
            assert!(join(&views, &[(0, 4)]).is_err());
            assert_eq!(join(&views, &[]).unwrap(), encode(&[], between).unwrap());
        }
        let strange = Encoded { codes: vec![0xFF; stores_of("a b").codes.len()], ..stores_of("a b") };
        assert!(join(&[view(&strange)], &[(0, 0)]).is_err());
    }

    fn stores_of(text: &str) -> Encoded {
        encode(&[text], b' ').unwrap()
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
