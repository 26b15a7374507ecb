//! Runs of tokens and of characters: where n-grams stand in a text, and texts arranged for them.

use crate::scan::Edges;
use crate::tokenise::is_space;

/// Replace the edges of tokens by those of their n-grams; joined ones go behind the text.
pub(crate) fn join_edges(text: &mut Vec<u8>, edges: &mut Edges, ngrams: (usize, usize)) {
    let tokens: Vec<(usize, usize)> = edges.pairs().collect();
    if ngrams.0 > 1 {
        edges.clear();
    }
    for n in ngrams.0.max(2)..=ngrams.1 {
        for window in tokens.windows(n) {
            let from = text.len();
            join(text, window);
            edges.push(from, text.len());
        }
    }
}

/// Append tokens of the text to it, one space between them.
pub(crate) fn join(text: &mut Vec<u8>, tokens: &[(usize, usize)]) {
    for (i, (start, end)) in tokens.iter().enumerate() {
        if i > 0 {
            text.push(b' ');
        }
        text.extend_from_within(*start..*end);
    }
}

/// The edges of character n-grams of each word, the spaces around it included.
pub(crate) fn grams_of_words(text: &[u8], ngrams: (usize, usize), mut each: impl FnMut(usize, usize)) {
    let mut bounds = Vec::new();
    let mut start = 0; // at the space before a word
    while let Some(length) = memchr::memchr(b' ', &text[start + 1..]) {
        grams_of(text, (start, start + length + 2), ngrams, true, &mut bounds, &mut each);
        start += length + 1;
    }
}

/// The edges of character n-grams of a stretch of the text.
///
/// `whole`: a stretch shorter than n counts once, as itself (scikit-learn's `char_wb`).
pub(crate) fn grams_of(
    text: &[u8],
    stretch: (usize, usize),
    ngrams: (usize, usize),
    whole: bool,
    bounds: &mut Vec<usize>,
    each: &mut impl FnMut(usize, usize),
) {
    let (from, to) = stretch;
    bounds.clear();
    bounds.extend((from..to).filter(|i| text[*i] & 0xC0 != 0x80)); // not the middle of a character
    bounds.push(to);
    let characters = bounds.len() - 1;
    for n in ngrams.0..=ngrams.1 {
        for i in 0..(characters + 1).saturating_sub(n) {
            each(bounds[i], bounds[i + n]);
        }
        if whole && characters <= n {
            if characters < n {
                each(from, to);
            }
            break;
        }
    }
}

/// Append the text with each run of two or more white-space characters as one space.
pub(crate) fn folded(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if is_space(c) && rest.peek().is_some_and(|next| is_space(*next)) {
            while rest.next_if(|next| is_space(*next)).is_some() {}
            out.push(b' ');
        } else {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// Append the words of the text, one space before, between and behind them.
pub(crate) fn spaced(text: &str, out: &mut Vec<u8>) {
    out.push(b' ');
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        out.extend_from_slice(word.as_bytes());
        out.push(b' ');
    }
}
