//! From a document to its terms: prepared, tokenised, joined to n-grams, hashed or not.

use crate::error::Error;
use crate::fasttext::{FastText, MOST_BUCKETS};
use crate::grams::{folded, grams_of_words, join, join_edges, spaced};
use crate::key::{INLINE, MARK, Term};
use crate::murmur;
use crate::prepare::Preparation;
use crate::processor::at_its_best;
use crate::scan::Edges;
pub use crate::scratch::Scratch;
use crate::tokenise::Unit;
use crate::vocabulary::Words;

/// Longest document that is taken, in bytes of prepared text.
const LONGEST: usize = 1 << 30;
/// Zero bytes behind the text, so that keys are loaded sixteen bytes at a time.
pub(crate) const PADDING: [u8; 16] = [0; 16];

/// What terms are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grams {
    /// Runs of tokens, joined by one space.
    Tokens(Unit),
    /// Runs of characters of the whole text, white space of two or more folded to one space.
    Characters,
    /// Runs of characters of each space-padded word.
    CharactersInWords,
    /// The features of fastText, with so many buckets for what it hashes.
    FastText(u32),
}

/// What becomes of a term that is not in a vocabulary fixed in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// It is left out.
    Drop,
    /// It counts as the word [`UNKNOWN`].
    Count,
}

/// The word that stands for all words outside the vocabulary.
pub const UNKNOWN: &str = "<UNK>";
/// Stands between the fields of a text that has several.
pub const BETWEEN_FIELDS: char = '\u{1f}';

/// Everything that decides which terms a text has. Immutable, shared by threads.
#[derive(Debug)]
pub struct Analyser {
    pub(crate) preparation: Preparation,
    pub(crate) grams: Grams,
    pub(crate) ngrams: (usize, usize),
    pub(crate) characters: Option<(usize, usize)>,
    stop_words: Option<Words>,
    hashing: Option<(u32, u32)>, // bits, seed
    fixed: Option<(Words, Outside)>,
    fields: Option<Fields>,
}

/// The names of the fields that texts have, and what cuts each of them.
#[derive(Debug)]
struct Fields {
    names: Vec<String>,
    each: Box<Analyser>,
}

impl Analyser {
    /// An analyser of `ngrams.0` to `ngrams.1` grams, and of such `characters` of words beside them.
    ///
    /// # Errors
    /// [`Error::Setting`] if an n-gram range is empty or over 16, or the hash bits are outside 1 to 31.
    pub fn new(
        preparation: Preparation,
        grams: Grams,
        ngrams: (usize, usize),
        characters: Option<(usize, usize)>,
        stop_words: &[String],
        hashing: Option<(u32, u32)>,
        fixed: Option<(Words, Outside)>,
    ) -> Result<Self, Error> {
        for (first, last) in [Some(ngrams), characters].into_iter().flatten() {
            if first < 1 || last < first || last > 16 {
                return Err(Error::Setting(format!(
                    "n-grams from {first} to {last}: must be from 1 to 16, the first not above the second"
                )));
            }
        }
        if let Some((bits, _)) = hashing
            && !(1..=31).contains(&bits)
        {
            return Err(Error::Setting(format!("{bits} hash bits: must be from 1 to 31")));
        }
        if let Grams::FastText(buckets) = grams
            && (buckets > MOST_BUCKETS || hashing.is_some() || fixed.is_some())
        {
            return Err(Error::Setting(format!(
                "{buckets} buckets of fastText's: there are 2^31 - 1 at most, without another hash"
            )));
        }
        Ok(Self {
            preparation,
            grams,
            ngrams,
            characters,
            stop_words: (!stop_words.is_empty()).then(|| Words::from_strings(stop_words)),
            hashing,
            fixed,
            fields: None,
        })
    }

    /// The same for texts of several fields, [`BETWEEN_FIELDS`] them: every field has words of its own,
    /// such as `subject:free`, and no n-gram goes from one to the next.
    #[must_use]
    pub fn of_fields(self, names: Vec<String>) -> Self {
        let Self { preparation, grams, ngrams, characters, stop_words, hashing, fixed, .. } = self;
        let each = Self {
            preparation,
            grams,
            ngrams,
            characters,
            stop_words,
            hashing: None,
            fixed: None,
            fields: None,
        };
        let fields = Some(Fields { names, each: Box::new(each) });
        Self { preparation, grams, ngrams, characters, stop_words: None, hashing, fixed, fields }
    }

    /// Put the terms of `text` into `scratch`, document number `row` of its batch.
    ///
    /// Linear in the length of the text times the number of n-gram sizes.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`] above 1 GiB.
    pub fn analyse(&self, text: &str, row: usize, scratch: &mut Scratch) -> Result<(), Error> {
        self.analyse_to(text, row, scratch, (self.ngrams, self.characters))
    }

    /// How many terms begin at one place of a text at most: the lengths of n-grams of tokens and of characters.
    #[must_use]
    pub fn sizes(&self) -> usize {
        sizes_of(self.ngrams) + self.characters.map_or(0, sizes_of)
    }

    /// Whether terms are n-grams of one kind, any of them: neither hashed nor of a fixed vocabulary.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.joins_any() && self.characters.is_none()
    }

    /// Whether terms are those of fastText.
    pub(crate) fn is_fasttext(&self) -> bool {
        matches!(self.grams, Grams::FastText(_))
    }

    /// Whether terms are what stands in the text, in any number: neither hashed, fixed nor of fields.
    pub(crate) fn joins_any(&self) -> bool {
        let hashes = self.hashing.is_some() || self.is_fasttext();
        !hashes && self.fixed.is_none() && self.fields.is_none()
    }

    /// The n-grams that can be made of the terms of [`Self::analyse_single`]; none if they cannot.
    #[must_use]
    pub fn joinable(&self) -> Option<(usize, usize)> {
        (self.joins_any() && matches!(self.grams, Grams::Tokens(_)) && self.ngrams.1 > 1)
            .then_some(self.ngrams)
    }

    /// [`Self::analyse`] without joining tokens to n-grams.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`] above 1 GiB.
    pub fn analyse_single(&self, text: &str, row: usize, scratch: &mut Scratch) -> Result<(), Error> {
        self.analyse_to(text, row, scratch, ((1, 1), self.characters))
    }

    /// Append to `out` what of `text` decides its terms, prepared: its tokens, a line feed between them, or all of
    /// it where characters are counted. An analyser with these settings that prepares nothing finds the same
    /// terms in it.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`] above 1 GiB.
    pub fn canonical(
        &self,
        text: &str,
        row: usize,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        must_not_be_longer(text, row)?;
        if let Some(fields) = &self.fields {
            for (place, part) in text.splitn(fields.names.len(), BETWEEN_FIELDS).enumerate() {
                if place > 0 {
                    out.push(BETWEEN_FIELDS as u8);
                }
                fields.each.canonical(part, row, scratch, out)?;
            }
            return Ok(());
        }
        let unit = match self.grams {
            Grams::Tokens(unit) if self.characters.is_none() => unit,
            Grams::CharactersInWords => Unit::WHITESPACE,
            _ => {
                scratch.prepared.clear();
                self.preparation.apply(text, &mut scratch.prepared);
                out.extend_from_slice(scratch.prepared.as_bytes());
                return Ok(());
            }
        };
        self.cut(unit, false, text, scratch);
        for (place, (start, end)) in scratch.edges.pairs().enumerate() {
            if place > 0 {
                out.push(b'\n');
            }
            out.extend_from_slice(&scratch.text[start..end]);
        }
        Ok(())
    }

    /// Whether [`Self::canonical`] keeps all of a text, rather than its tokens.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        let characters = self.characters.is_some() && matches!(self.grams, Grams::Tokens(_));
        characters || matches!(self.grams, Grams::Characters | Grams::FastText(_))
    }

    /// Append the signed hash of every term of `text` to `hashes`: `MurmurHash3`, seed 0.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`] above 1 GiB.
    pub fn hash(
        &self,
        text: &str,
        row: usize,
        scratch: &mut Scratch,
        hashes: &mut Vec<i32>,
    ) -> Result<(), Error> {
        must_not_be_longer(text, row)?;
        let mut least = 1;
        match self.grams {
            Grams::Tokens(unit) => {
                let at_least = self.loosely(unit, self.ngrams);
                least = at_least.unwrap_or(1);
                self.cut(unit, at_least.is_some(), text, scratch);
                if self.ngrams.1 > 1 {
                    join_edges(&mut scratch.text, &mut scratch.edges, self.ngrams);
                }
            }
            Grams::Characters => {
                self.prepare(text, scratch, folded);
                scratch.character_grams(self.ngrams, false);
            }
            Grams::CharactersInWords => {
                self.prepare(text, scratch, spaced);
                scratch.character_grams(self.ngrams, true);
            }
            Grams::FastText(_) => return Err(Error::Setting("fastText has a hash of its own".into())),
        }
        if scratch.text.len() > 2 * LONGEST {
            return Err(Error::DocumentTooLong { row }); // long n-grams of a long document
        }
        let Scratch { text, edges, .. } = scratch;
        text.extend_from_slice(&PADDING);
        push_hashes(text, edges, least, hashes);
        Ok(())
    }

    /// The terms of a text, of such n-grams of tokens and of characters beside them.
    pub(crate) fn analyse_to(
        &self,
        text: &str,
        row: usize,
        scratch: &mut Scratch,
        (ngrams, characters): ((usize, usize), Option<(usize, usize)>),
    ) -> Result<(), Error> {
        must_not_be_longer(text, row)?;
        scratch.terms.clear();
        if let Some(fields) = &self.fields {
            self.push_fields(fields, text, row, scratch)?;
            self.settle(scratch);
            return Ok(());
        }
        match self.grams {
            Grams::Tokens(unit) => {
                let least = self.loosely(unit, ngrams);
                self.cut(unit, least.is_some(), text, scratch);
                scratch.must_hold(scratch.edges.pairs().len(), sizes_of(ngrams), row)?;
                self.push_tokens(scratch, ngrams, least);
            }
            Grams::Characters => {
                self.prepare(text, scratch, folded);
                scratch.must_hold_characters(&scratch.text, sizes_of(ngrams), row)?;
                scratch.character_grams(ngrams, false);
                self.push_edges(scratch);
            }
            Grams::CharactersInWords => {
                self.prepare(text, scratch, spaced);
                scratch.must_hold_characters(&scratch.text, sizes_of(ngrams), row)?;
                scratch.character_grams(ngrams, true);
                self.push_edges(scratch);
            }
            Grams::FastText(buckets) => {
                self.fasttext(buckets).analyse(text, row, scratch)?;
                scratch.words = scratch.terms.len();
                return Ok(());
            }
        }
        scratch.words = scratch.terms.len();
        if let Some(characters) = characters {
            scratch.must_hold_characters(text.as_bytes(), sizes_of(characters), row)?;
            self.push_characters(text, scratch, characters);
        }
        if scratch.text.len() > 2 * LONGEST {
            return Err(Error::DocumentTooLong { row }); // long n-grams of a long document
        }
        self.settle(scratch);
        Ok(())
    }

    fn fasttext(&self, buckets: u32) -> FastText<'_> {
        let Self { ngrams, characters, ref stop_words, .. } = *self;
        FastText { buckets, ngrams, characters, left_out: stop_words.as_ref() }
    }

    /// The words of a text of fastText as terms, and its buckets as numbers.
    pub(crate) fn read_fasttext(&self, text: &str, row: usize, scratch: &mut Scratch) -> Result<(), Error> {
        must_not_be_longer(text, row)?;
        match self.grams {
            Grams::FastText(buckets) => self.fasttext(buckets).read(text, row, scratch),
            _ => Err(Error::Setting("only fastText has such buckets".into())),
        }
    }

    /// Leave out, or count as unknown, the terms outside a vocabulary fixed in advance.
    fn settle(&self, scratch: &mut Scratch) {
        if let Some((words, outside)) = &self.fixed {
            let unknown = Term::of(UNKNOWN.as_bytes(), 0, UNKNOWN.len());
            let Scratch { text, terms, words: first, .. } = scratch;
            let (mut place, mut kept) = (0, 0);
            terms.retain_mut(|term| {
                let known = words.view().find(*term, text).is_some();
                if !known {
                    *term = unknown;
                }
                kept += usize::from(place < *first && (known || *outside == Outside::Count));
                place += 1;
                known || *outside == Outside::Count
            });
            *first = kept;
        }
    }

    /// The terms of every field, each under its name; those of characters behind all of words.
    fn push_fields(
        &self,
        fields: &Fields,
        text: &str,
        row: usize,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let mut field = scratch.field.take().unwrap_or_default();
        field.most = scratch.most;
        let mut characters = Vec::new();
        let Scratch { text: bytes, edges, .. } = scratch;
        bytes.clear();
        edges.clear();
        for (name, part) in fields.names.iter().zip(text.splitn(fields.names.len(), BETWEEN_FIELDS)) {
            fields.each.analyse(part, row, &mut field)?;
            for (place, term) in field.terms.iter().enumerate() {
                let from = bytes.len();
                let is_word = place < field.words;
                if !is_word {
                    bytes.push(MARK);
                }
                bytes.extend_from_slice(name.as_bytes());
                bytes.push(b':');
                let start = bytes.len();
                term.key.append(&field.text, bytes);
                if is_word {
                    edges.push(from, bytes.len());
                } else {
                    bytes.remove(start); // the mark stands before the name
                    characters.push((from, bytes.len()));
                }
                if bytes.len() > 2 * LONGEST {
                    return Err(Error::DocumentTooLong { row });
                }
            }
        }
        scratch.words = edges.pairs().len();
        characters.into_iter().for_each(|(from, to)| edges.push(from, to));
        scratch.field = Some(field);
        self.push_edges(scratch);
        Ok(())
    }

    /// Put the prepared text, arranged, into `scratch`.
    fn prepare(&self, text: &str, scratch: &mut Scratch, arranged: fn(&str, &mut Vec<u8>)) {
        scratch.prepared.clear();
        self.preparation.apply(text, &mut scratch.prepared);
        scratch.text.clear();
        arranged(&scratch.prepared, &mut scratch.text);
    }

    /// The fewest bytes of a token, if that can be seen to when tokens become terms: one pass less.
    fn loosely(&self, unit: Unit, ngrams: (usize, usize)) -> Option<usize> {
        let only_terms = self.stop_words.is_none() && self.hashing.is_none() && ngrams.1 == 1;
        unit.least().filter(|least| only_terms && *least > 1)
    }

    /// Tokens, less stop words; `loose` as [`Unit::tokens`] has it.
    fn cut(&self, unit: Unit, loose: bool, text: &str, scratch: &mut Scratch) {
        let Scratch { text: bytes, edges, .. } = scratch;
        unit.tokens(text, self.preparation, loose, bytes, edges);
        if let Some(stop_words) = &self.stop_words {
            edges.retain(|start, end| {
                stop_words.view().find(Term::of(bytes, start, end - start), bytes).is_none()
            });
        }
    }

    /// The tokens at the edges, and their n-grams, as terms.
    pub(crate) fn push_tokens(&self, scratch: &mut Scratch, ngrams: (usize, usize), least: Option<usize>) {
        if self.hashing.is_some() {
            if ngrams.1 > 1 {
                join_edges(&mut scratch.text, &mut scratch.edges, ngrams);
            }
            return self.push_edges(scratch);
        }
        let Scratch { text, edges, terms, .. } = scratch;
        text.extend_from_slice(&PADDING);
        match least {
            Some(least) => push_long_terms(text, edges, least, terms),
            None if ngrams.0 == 1 => push_terms(text, edges, terms),
            None => {}
        }
        for n in ngrams.0.max(2)..=ngrams.1 {
            push_joined(text, edges, terms, n);
        }
    }

    /// What stands at the edges as terms: themselves, or their buckets.
    fn push_edges(&self, scratch: &mut Scratch) {
        let Scratch { text, edges, terms, .. } = scratch;
        text.extend_from_slice(&PADDING);
        match self.hashing {
            None => push_terms(text, edges, terms),
            Some((bits, seed)) => terms.extend(
                edges
                    .pairs()
                    .map(|(start, end)| Term::bucket(murmur::bucket(&text[start..end], bits, seed), bits)),
            ),
        }
    }

    /// The character n-grams of each word behind the terms there are, each marked by [`MARK`].
    fn push_characters(&self, text: &str, scratch: &mut Scratch, characters: (usize, usize)) {
        let Scratch { prepared, text: bytes, edges, terms, .. } = scratch;
        prepared.clear();
        self.preparation.apply(text, prepared);
        let from = bytes.len();
        spaced(prepared, bytes);
        edges.clear();
        grams_of_words(&bytes[from..], characters, |start, end| edges.push(from + start, from + end));
        bytes.extend_from_slice(&PADDING);
        for (start, end) in edges.pairs() {
            terms.push(match self.hashing {
                None => Term::marked(bytes, start, end - start, MARK),
                Some((bits, seed)) => {
                    let marked: Vec<u8> = [&[MARK], &bytes[start..end]].concat();
                    Term::bucket(murmur::bucket(&marked, bits, seed), bits)
                }
            });
        }
    }
}

/// Refuse a document above 1 GiB.
pub(crate) fn must_not_be_longer(text: &str, row: usize) -> Result<(), Error> {
    if text.len() > LONGEST { Err(Error::DocumentTooLong { row }) } else { Ok(()) }
}

/// How many lengths a range of n-grams has.
fn sizes_of((first, last): (usize, usize)) -> usize {
    last + 1 - first
}

at_its_best! {
    /// The words at these edges of a text, as terms.
    pub(crate) fn push_terms(text: &[u8], edges: &Edges, terms: &mut Vec<Term>) {
        terms.reserve(edges.pairs().len());
        for (start, end) in edges.pairs() {
            terms.push(Term::of(text, start, end - start));
        }
    }
}

at_its_best! {
    /// The hashes of what stands at these edges, if it has so many bytes at least.
    fn push_hashes(text: &[u8], edges: &Edges, least: usize, hashes: &mut Vec<i32>) {
        hashes.reserve(edges.pairs().len());
        for (start, end) in edges.pairs() {
            if end - start >= least {
                hashes.push(murmur::murmur3_32_within(text, start, end) as i32);
            }
        }
    }
}

at_its_best! {
    /// The words of at least so many bytes.
    fn push_long_terms(text: &[u8], edges: &Edges, least: usize, terms: &mut Vec<Term>) {
        terms.reserve(edges.pairs().len());
        for (start, end) in edges.pairs() {
            if end - start >= least {
                terms.push(Term::of(text, start, end - start));
            }
        }
    }
}

/// The n-grams of the words at these edges, as terms; long ones are written behind the text.
fn push_joined(text: &mut Vec<u8>, edges: &Edges, terms: &mut Vec<Term>, n: usize) {
    let tokens: Vec<(usize, usize)> = edges.pairs().collect();
    for window in tokens.windows(n) {
        let length = window.iter().map(|(start, end)| end - start + 1).sum::<usize>() - 1;
        terms.push(if length <= INLINE {
            Term::joined(text, window)
        } else {
            let from = text.len();
            join(text, window);
            Term::of(text, from, length)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Accents;

    fn terms(analyser: &Analyser, text: &str) -> (Vec<String>, usize) {
        let mut scratch = Scratch::default();
        analyser.analyse(text, 0, &mut scratch).unwrap();
        let (terms, bytes) = scratch.terms();
        let name = |term: &Term| String::from_utf8(term.key.bytes(bytes)).unwrap();
        (terms.iter().map(name).collect(), scratch.words())
    }

    fn of_fields(ngrams: (usize, usize), characters: Option<(usize, usize)>) -> Analyser {
        let preparation = Preparation { form: None, lower: true, accents: Accents::Keep };
        Analyser::new(preparation, Grams::Tokens(Unit::Words), ngrams, characters, &[], None, None)
            .unwrap()
            .of_fields(vec!["subject".into(), "body".into()])
    }

    #[test]
    fn every_field_has_words_of_its_own_and_no_pair_goes_from_one_to_the_next() {
        let (found, _) = terms(&of_fields((1, 2), None), "Free phone\u{1f}See me\u{1f}there");
        let expected = [
            "subject:free",
            "subject:phone",
            "subject:free phone",
            "body:see",
            "body:me",
            "body:there",
            "body:see me",
            "body:me there",
        ];
        assert_eq!(found, expected);
        assert!(terms(&of_fields((1, 1), None), "").0.is_empty());
    }

    #[test]
    fn characters_of_fields_stand_behind_all_words_and_keep_their_mark() {
        let (found, words) = terms(&of_fields((1, 1), Some((3, 3))), "so\u{1f}we");
        assert_eq!(words, 2);
        assert_eq!(
            found,
            ["subject:so", "body:we", "~subject: so", "~subject:so ", "~body: we", "~body:we "]
        );
    }
}
