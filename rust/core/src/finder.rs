//! The numbers that the terms of a document have in a vocabulary.

use std::sync::{Mutex, PoisonError};

use crate::analyse::{Analyser, Scratch};
use crate::error::Error;
use crate::key::Term;
use crate::processor::at_its_best;
use crate::remembered::Remembered;
use crate::seen::Seen;
use crate::vocabulary::Vocabulary;

/// Numbers of character n-grams that are kept for words that may come again: 32 MiB of them.
const REMEMBERED: usize = 1 << 23;
/// Finders that are kept for the next batch.
const KEPT: usize = 16;

/// Finds the terms of one document after another in a vocabulary, always by the same analyser.
#[derive(Debug)]
pub(crate) struct Finder {
    /// Where documents are analysed.
    pub(crate) scratch: Scratch,
    /// The numbers of the terms of the document at hand, in their order, but for those that are not spelled out yet.
    pub(crate) ids: Vec<u32>,
    /// How many terms the document has.
    pub(crate) terms: usize,
    words: usize, // numbers that are of words, behind which are those of characters beside words
    is_spelled: bool, // the numbers of characters are with what is remembered
    is_beside: bool, // and they are beside words
    spelled: Scratch,
    remembered: Remembered,
    seen: Seen,
    read: usize, // bytes of text
}

impl Default for Finder {
    fn default() -> Self {
        Self {
            scratch: Scratch::default(),
            ids: Vec::new(),
            terms: 0,
            words: 0,
            is_spelled: false,
            is_beside: false,
            spelled: Scratch::default(),
            remembered: Remembered::for_at_most(REMEMBERED),
            seen: Seen::default(),
            read: 0,
        }
    }
}

impl Finder {
    /// Find the terms of `text`, and `unknown` for those that are not there; how many are known.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`].
    pub(crate) fn find(
        &mut self,
        analyser: &Analyser,
        vocabulary: &Vocabulary<'_>,
        unknown: Option<u32>,
        text: &str,
        row: usize,
    ) -> Result<u32, Error> {
        let Self { scratch, ids, spelled, remembered, .. } = self;
        self.read += text.len();
        ids.clear();
        let spelling = analyser.spelling();
        self.is_spelled = spelling.is_some();
        let Some(spelling) = spelling else {
            analyser.analyse(text, row, scratch)?;
            let (terms, bytes) = scratch.terms();
            let (words, characters) = terms.split_at(scratch.words());
            let known = find_all(vocabulary, words, bytes, unknown, ids);
            self.words = ids.len();
            self.terms = terms.len();
            return Ok(known + find_all(vocabulary, characters, bytes, unknown, ids));
        };
        self.is_beside = spelling.is_marked;
        analyser.analyse_tokens(text, row, scratch, analyser.ngrams)?;
        let (tokens, bytes) = scratch.terms();
        let known = find_all(vocabulary, tokens, bytes, unknown, ids);
        self.words = ids.len();
        analyser.analyse_words(text, row, spelled)?;
        let (characters, numbered) = remembered.read(spelled, spelling, |grams, bytes, found| {
            find_all(vocabulary, grams, bytes, unknown, found);
        });
        self.terms = tokens.len() + characters;
        let of_unknown = |grams: &[u32]| grams.iter().filter(|id| Some(**id) == unknown).count();
        let unknown = if unknown.is_none() { 0 } else { remembered.in_order().map(of_unknown).sum() };
        Ok(known + (numbered - unknown) as u32)
    }

    /// Append the numbers of characters to those of words, if they are not there.
    pub(crate) fn spell_out(&mut self) {
        if std::mem::take(&mut self.is_spelled) {
            self.remembered.in_order().for_each(|grams| self.ids.extend_from_slice(grams));
            self.words = if self.is_beside { self.words } else { self.ids.len() };
        }
    }

    /// Put the numbers of words, or of characters beside them, or both into `row`, in increasing order, each with
    /// how often it is there. All are below `end`.
    pub(crate) fn count(&mut self, words: bool, characters: bool, end: usize, row: &mut Vec<(u32, u32)>) {
        row.clear();
        // A table of all numbers pays where more is read than a few short texts.
        let tabled = self.seen.holds(end) || 8 * self.read > end;
        if !tabled {
            self.spell_out();
        }
        let ids = if words { 0 } else { self.words }..if characters { self.ids.len() } else { self.words };
        let ids = &mut self.ids[ids];
        if tabled {
            self.seen.reserve(end);
            self.seen.add(ids, 1);
            if self.is_spelled && if self.is_beside { characters } else { words } {
                self.remembered.once().for_each(|(grams, times)| self.seen.add(grams, times as i32));
            }
            self.seen.drain(row);
        } else {
            ids.sort_unstable();
            row.extend(ids.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
        }
    }
}

/// Finders of one vocabulary and analyser, kept from batch to batch with the words that they remember.
#[derive(Debug, Default)]
pub struct Finders(Mutex<Vec<Finder>>);

impl Finders {
    /// One of them, or a new one.
    pub(crate) fn take(&self) -> Finder {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keep a finder for later.
    pub(crate) fn put(&self, mut finder: Finder) {
        finder.scratch.shrink();
        finder.spelled.shrink();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < KEPT {
            all.push(finder);
        }
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

    /// What is remembered of words against the analysis of the whole text, with an unknown word and without.
    #[test]
    fn terms_are_found_as_if_nothing_were_remembered() {
        let mut state = 3;
        for analyser in analysers() {
            let texts: Vec<String> = (0..60).map(|i| random_text(&mut state, 3 * i)).collect();
            let mut scratch = Scratch::default();
            let mut names = vec!["<UNK>".to_owned()];
            for text in &texts[..40] {
                analyser.analyse(text, 0, &mut scratch).unwrap();
                let (terms, bytes) = scratch.terms();
                let some = terms.iter().filter(|term| term.hash % 3 > 0);
                names.extend(some.map(|term| String::from_utf8(term.key.bytes(bytes)).unwrap()));
            }
            let words = Words::from_strings(&names);
            let (vocabulary, finders) = (words.view(), [Finders::default(), Finders::default()]);
            let unk = vocabulary.find_name("<UNK>");
            for (unknown, finders) in [None, unk].into_iter().zip(&finders) {
                for text in texts.iter().chain(&texts) {
                    let mut finder = finders.take();
                    let known = finder.find(&analyser, &vocabulary, unknown, text, 0).unwrap();
                    analyser.analyse(text, 0, &mut scratch).unwrap();
                    let (terms, bytes) = scratch.terms();
                    let mut ids = Vec::new();
                    assert_eq!(known, find_all(&vocabulary, terms, bytes, unknown, &mut ids));
                    assert_eq!(finder.terms, terms.len());
                    let mut expected = Vec::new();
                    let of_words =
                        find_all(&vocabulary, &terms[..scratch.words()], bytes, None, &mut expected);
                    let mut row = Vec::new();
                    for (block, (words, characters)) in
                        [(false, true), (true, false), (true, true)].into_iter().enumerate()
                    {
                        // Spelled out or not, by sorting or by a table of all numbers.
                        finder.find(&analyser, &vocabulary, unknown, text, 0).unwrap();
                        finder.count(words, characters, vocabulary.len(), &mut row);
                        if unknown.is_none() {
                            let split = of_words as usize;
                            let mut some = [&ids[split..], &ids[..split], &ids[..]][block].to_vec();
                            some.sort_unstable();
                            let counted: Vec<u32> = row
                                .iter()
                                .flat_map(|(id, n)| std::iter::repeat_n(*id, *n as usize))
                                .collect();
                            assert_eq!(counted, some, "{text:?}");
                        }
                    }
                    finder.find(&analyser, &vocabulary, unknown, text, 0).unwrap();
                    finder.spell_out();
                    assert_eq!(finder.ids, ids, "{text:?}");
                    finders.put(finder);
                }
            }
        }
    }
}
