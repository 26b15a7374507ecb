//! The numbers that the terms of a document have in a vocabulary.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::analyse::{Analyser, Scratch};
use crate::bag::Bag;
use crate::error::Error;
use crate::index::Index;
use crate::key::Term;
use crate::processor::at_its_best;
use crate::remembered::Remembered;
use crate::vocabulary::Vocabulary;

/// Numbers of character n-grams that are kept for words that may come again: 32 MiB of them.
const REMEMBERED: usize = 1 << 23;
/// Finders that are kept for the next batch.
const KEPT: usize = 16;
/// Longest text whose n-grams are found without spelling them out, which is how long ones are refused.
pub(crate) const LONG: usize = 1 << 26;

/// Finds the terms of one document after another in a vocabulary, always by the same analyser.
#[derive(Debug)]
pub(crate) struct Finder {
    /// Where documents are analysed.
    pub(crate) scratch: Scratch,
    /// The numbers of the terms of the document at hand, in their order, but for those that are not spelled out yet.
    /// By an index whose weights are packed they are ranks.
    pub(crate) ids: Vec<u32>,
    /// How many terms the document has.
    pub(crate) terms: usize,
    /// What [`Self::count`] has counted.
    pub(crate) bag: Bag,
    words: usize, // numbers that are of words, behind which are those of characters beside words
    is_spelled: bool, // the numbers of characters are with what is remembered
    is_beside: bool, // and they are beside words
    is_ranked: bool, // and they are ranks
    spelled: Scratch,
    remembered: Remembered,
    numbers: [Vec<u32>; 2],
}

impl Default for Finder {
    fn default() -> Self {
        Self {
            scratch: Scratch::default(),
            ids: Vec::new(),
            terms: 0,
            bag: Bag::default(),
            words: 0,
            is_spelled: false,
            is_beside: false,
            is_ranked: false,
            spelled: Scratch::default(),
            remembered: Remembered::for_at_most(REMEMBERED),
            numbers: Default::default(),
        }
    }
}

/// What terms are made by, and looked up in: a vocabulary as it is stored, and perhaps an index of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) analyser: &'a Analyser,
    pub(crate) vocabulary: Vocabulary<'a>,
    pub(crate) index: Option<&'a Index>,
    /// The word that stands for unknown ones; there is no index then.
    pub(crate) unknown: Option<u32>,
}

impl Finder {
    /// Find the terms of `text`, and `unknown` for those that are not there; how many are known.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`].
    pub(crate) fn find(&mut self, places: &Places<'_>, text: &str, row: usize) -> Result<u32, Error> {
        let Places { analyser, vocabulary, index, unknown } = *places;
        let packed = index.and_then(|index| index.packed.as_ref());
        if self.is_ranked != packed.is_some() {
            self.remembered = Remembered::for_at_most(REMEMBERED);
            self.is_ranked = packed.is_some();
        }
        self.ids.clear();
        let spelling = analyser.spelling();
        self.is_spelled = spelling.is_some();
        let Some(spelling) = spelling else { return self.find_terms(places, text, row) };
        self.is_beside = spelling.is_marked;
        let known = self.find_tokens(places, text, row)?;
        let Self { ids, spelled, remembered, .. } = self;
        self.words = ids.len();
        analyser.analyse_words(text, row, spelled)?;
        let (characters, numbered) = remembered.read(spelled, spelling, |grams, bytes, found| {
            let from = found.len();
            find_all(&vocabulary, grams, bytes, unknown, found);
            packed.into_iter().for_each(|packed| packed.rank(&mut found[from..]));
        });
        self.terms += characters;
        let of_unknown = |grams: &[u32]| grams.iter().filter(|id| Some(**id) == unknown).count();
        let unknown = if unknown.is_none() { 0 } else { remembered.in_order().map(of_unknown).sum() };
        Ok(known + (numbered - unknown) as u32)
    }

    /// [`Self::find`] of terms that are not spelled.
    fn find_terms(&mut self, places: &Places<'_>, text: &str, row: usize) -> Result<u32, Error> {
        let analyser = places.analyser;
        if places.index.is_some() && !analyser.is_fasttext() {
            let known = self.find_tokens(places, text, row)?;
            self.words = self.ids.len();
            return Ok(known);
        }
        let Self { scratch, ids, .. } = self;
        if let Some(index) = places.index {
            analyser.read_fasttext(text, row, scratch)?;
            self.terms = scratch.terms.len() + scratch.buckets.len();
            index.find_buckets(scratch.terms(), &scratch.buckets, ids);
            self.words = ids.len();
            return Ok(ids.len() as u32);
        }
        analyser.analyse(text, row, scratch)?;
        let (terms, bytes) = scratch.terms();
        self.terms = terms.len();
        let (words, characters) = terms.split_at(scratch.words());
        let known = find_all(&places.vocabulary, words, bytes, places.unknown, ids);
        self.words = ids.len();
        Ok(known + find_all(&places.vocabulary, characters, bytes, places.unknown, ids))
    }

    /// Find tokens and n-grams of them, by an index if there is one.
    fn find_tokens(&mut self, places: &Places<'_>, text: &str, row: usize) -> Result<u32, Error> {
        let analyser = places.analyser;
        let Self { scratch, ids, numbers, .. } = self;
        if let Some(index) = places.index.filter(|_| text.len() < LONG) {
            analyser.analyse_tokens(text, row, scratch, (1, 1))?;
            if scratch.edges.is_ascii() || !have_spaces(scratch.terms()) {
                self.terms = index.find(scratch.terms(), numbers, ids);
                return Ok(ids.len() as u32);
            }
        }
        analyser.analyse_tokens(text, row, scratch, analyser.ngrams)?;
        let (tokens, bytes) = scratch.terms();
        self.terms = tokens.len();
        let known = find_all(&places.vocabulary, tokens, bytes, places.unknown, ids);
        let packed = places.index.and_then(|index| index.packed.as_ref());
        packed.into_iter().for_each(|packed| packed.rank(ids));
        Ok(known)
    }

    /// Append the numbers of characters to those of words, if they are not there.
    pub(crate) fn spell_out(&mut self) {
        if std::mem::take(&mut self.is_spelled) {
            self.remembered.in_order().for_each(|grams| self.ids.extend_from_slice(grams));
            self.words = if self.is_beside { self.words } else { self.ids.len() };
        }
    }

    /// Count the numbers of words, or of characters beside them, or both, in the order in which they come first.
    /// All are below `end`.
    pub(crate) fn count(&mut self, words: bool, characters: bool, end: usize) {
        let Self { ids, bag, remembered, .. } = self;
        bag.reserve(end);
        bag.add(&ids[if words { 0 } else { self.words }..if characters { ids.len() } else { self.words }], 1);
        if self.is_spelled && if self.is_beside { characters } else { words } {
            remembered.once().for_each(|(grams, times)| bag.add(grams, times));
        }
    }
}

/// Whether there is a space in a token, which may hang on the mark behind it: an n-gram is then not what its name,
/// cut at spaces, says.
fn have_spaces((tokens, text): (&[Term], &[u8])) -> bool {
    let has_space = |word: u64| {
        let other = word ^ 0x2020_2020_2020_2020;
        other.wrapping_sub(0x0101_0101_0101_0101) & !other & 0x8080_8080_8080_8080 != 0
    };
    tokens.iter().any(|Term { key, .. }| match key.arena_range() {
        Some(range) => memchr::memchr(b' ', &text[range]).is_some(),
        None => has_space(key.lo) || has_space(key.hi),
    })
}

/// Finders of one vocabulary and analyser, kept from batch to batch with the words that they remember; and an index
/// of both once there has been enough text.
#[derive(Debug, Default)]
pub struct Finders {
    kept: Mutex<Vec<Finder>>,
    read: AtomicUsize, // bytes of text
    index: OnceLock<Option<Index>>,
}

impl Finders {
    /// One of them, or a new one.
    pub(crate) fn take(&self) -> Finder {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keep a finder for later.
    pub(crate) fn put(&self, mut finder: Finder) {
        finder.scratch.shrink();
        finder.spelled.shrink();
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < KEPT {
            all.push(finder);
        }
    }

    /// The index, made when all texts until now, `bytes` more among them, are worth it.
    pub(crate) fn index(
        &self,
        bytes: usize,
        worth: usize,
        make: impl FnOnce() -> Option<Index>,
    ) -> Option<&Index> {
        let read = self.read.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if read >= worth { self.index.get_or_init(make).as_ref() } else { None }
    }
}

at_its_best! {
    /// Append the number of each known term, and `unknown` for each other; how many are known.
    ///
    /// In rounds of 64, so that all the memory a round needs is on its way before any is used.
    pub(crate) fn find_all(words: &Vocabulary<'_>, terms: &[Term], text: &[u8], unknown: Option<u32>, ids: &mut Vec<u32>) -> u32 {
        let mut known = 0;
        let mut buckets = [(0, 0); 64];
        ids.reserve(terms.len());
        for round in terms.chunks(buckets.len()) {
            for (bucket, term) in buckets.iter_mut().zip(round) {
                *bucket = words.bucket(*term);
            }
            for (bucket, term) in buckets.iter().zip(round) {
                let found = words.find_in(*bucket, *term, text);
                known += u32::from(found.is_some() && found != unknown);
                if let Some(id) = found.or(unknown) {
                    ids.push(id);
                }
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::Grams;
    use crate::index::{Packed, Worth};
    use crate::prepare::{Accents, Form, Preparation};
    use crate::tokenise::Unit;
    use crate::vocabulary::Words;

    const ALPHABET: &str = "aaabBcde'.,- \n\u{a0}\u{1c}éÉЖи字न्ि\u{301}\u{338}Σİ";

    fn random_text(state: &mut u64, length: usize) -> String {
        let alphabet: Vec<char> = ALPHABET.chars().collect();
        let mut next = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            alphabet[(*state >> 33) as usize % alphabet.len()]
        };
        (0..length).map(|_| next()).collect()
    }

    fn analysers() -> Vec<Analyser> {
        let mut all = Vec::new();
        for (form, accents, lower) in [
            (Some(Form::Nfc), Accents::Keep, true),
            (Some(Form::Nfkc), Accents::Keep, true),
            (None, Accents::Strip, false),
            (Some(Form::Nfc), Accents::Ascii, true),
        ] {
            let preparation = Preparation { form, lower, accents };
            for (grams, ngrams, characters) in [
                (Grams::Tokens(Unit::Words), (1, 2), Some((2, 5))),
                (Grams::Tokens(Unit::SKLEARN), (1, 1), Some((1, 16))),
                (Grams::CharactersInWords, (1, 5), None),
                (Grams::Characters, (2, 3), None),
                (Grams::Tokens(Unit::Words), (1, 3), None),
            ] {
                let stop_words = ["a".to_owned(), "éa".to_owned()];
                all.push(
                    Analyser::new(preparation, grams, ngrams, characters, &stop_words, None, None).unwrap(),
                );
            }
        }
        all
    }

    /// Numbers in the order in which they come first, with how often they come.
    fn counted(numbers: &[u32]) -> Vec<(u32, u32)> {
        let mut counts: Vec<(u32, u32)> = Vec::new();
        for number in numbers {
            match counts.iter_mut().find(|(other, _)| other == number) {
                Some((_, count)) => *count += 1,
                None => counts.push((*number, 1)),
            }
        }
        counts
    }

    fn vocabulary_of(analyser: &Analyser, texts: &[String]) -> Words {
        let mut scratch = Scratch::default();
        let mut names = vec!["<UNK>".to_owned()];
        for text in texts {
            analyser.analyse(text, 0, &mut scratch).unwrap();
            let (terms, bytes) = scratch.terms();
            let some = terms.iter().filter(|term| term.hash % 3 > 0);
            names.extend(some.map(|term| String::from_utf8(term.key.bytes(bytes)).unwrap()));
        }
        Words::from_strings(&names)
    }

    /// What is remembered of words, and an index, against the analysis of the whole text and a search for each
    /// term: with an unknown word and without, numbers as they are and as ranks.
    #[test]
    fn terms_are_found_as_if_nothing_were_remembered() {
        let mut state = 3;
        for analyser in analysers() {
            let texts: Vec<String> = (0..60).map(|i| random_text(&mut state, 3 * i)).collect();
            let words = vocabulary_of(&analyser, &texts[..40]);
            let vocabulary = words.view();
            let scale: Vec<f64> = (0..vocabulary.len()).map(|number| ((number * 7) % 13) as f64).collect();
            let weights: Vec<f64> = (0..2 * vocabulary.len()).map(|number| number as f64).collect();
            let indices = [
                Index::new(&analyser, &vocabulary, Worth::Nothing),
                Index::new(&analyser, &vocabulary, Worth::Packed(Packed::new(&scale, &weights, 2))),
            ];
            let unk = vocabulary.find_name("<UNK>");
            let places =
                [(None, None), (unk, None), (None, indices[0].as_ref()), (None, indices[1].as_ref())];
            for (unknown, index) in places {
                let places = Places { analyser: &analyser, vocabulary, index, unknown };
                let finders = Finders::default();
                for text in texts.iter().chain(&texts) {
                    assert_text(&places, &finders, text);
                }
            }
        }
    }

    fn assert_text(places: &Places<'_>, finders: &Finders, text: &str) {
        let Places { analyser, vocabulary, index, unknown } = *places;
        let (mut finder, mut scratch) = (finders.take(), Scratch::default());
        let known = finder.find(places, text, 0).unwrap();
        analyser.analyse(text, 0, &mut scratch).unwrap();
        let (terms, bytes) = scratch.terms();
        let mut ids = Vec::new();
        assert_eq!(known, find_all(&vocabulary, terms, bytes, unknown, &mut ids));
        assert_eq!(finder.terms, terms.len());
        let mut of_words = Vec::new();
        find_all(&vocabulary, &terms[..scratch.words()], bytes, unknown, &mut of_words);
        let packed = index.and_then(|index| index.packed.as_ref());
        let number = |at: u32| packed.map_or(at, |packed| packed.number(at));
        let split = of_words.len();
        for (block, expected) in [(false, true), (true, false), (true, true)].into_iter().zip([
            &ids[split..],
            &ids[..split],
            &ids[..],
        ]) {
            finder.find(places, text, 0).unwrap();
            finder.count(block.0, block.1, vocabulary.len());
            let mut row = finder.bag.take();
            let counts: Vec<(u32, u32)> =
                row.numbers.iter().map(|at| (number(*at), row.count(*at))).collect();
            assert_eq!(counts, counted(expected), "{text:?}");
        }
        finder.find(places, text, 0).unwrap();
        finder.spell_out();
        assert_eq!(finder.ids.iter().map(|at| number(*at)).collect::<Vec<u32>>(), ids, "{text:?}");
        finders.put(finder);
    }

    /// Words and buckets of fastText by their places, some of which are not there.
    #[test]
    fn buckets_are_found_by_their_numbers() {
        let preparation = Preparation { form: None, lower: false, accents: Accents::Keep };
        let analyser =
            Analyser::new(preparation, Grams::FastText(50), (1, 3), Some((1, 3)), &[], None, None).unwrap();
        let mut terms: Vec<Term> =
            (0..50).filter(|i| i % 7 > 0).map(|i| Term::bucket_beside_words(i, 6)).collect();
        terms.extend(["a", "aa", "</s>"].map(|word| Term::of(word.as_bytes(), 0, word.len())));
        terms.sort_by_key(|term| term.hash);
        let keys: Vec<u64> = terms.iter().flat_map(|term| [term.key.lo, term.key.hi]).collect();
        let directory = crate::vocabulary::directory(&keys, &[]);
        let vocabulary = Vocabulary::new(&keys, &[], &directory).unwrap();
        let index = Index::new(&analyser, &vocabulary, Worth::Nothing);
        let mut state = 5;
        for n in 0..50 {
            let places = Places { analyser: &analyser, vocabulary, index: index.as_ref(), unknown: None };
            assert_text(&places, &Finders::default(), &random_text(&mut state, n));
        }
    }
}
