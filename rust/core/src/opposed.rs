//! Weights of two classes that are opposite, of the features of fastText: one number for each.
//!
//! A bucket's stands at its number, so that it is found and added in one step into a quarter of the memory that its
//! place and both weights take.

use crate::fasttext::bits_of;
use crate::key::Term;
use crate::memory::filled;
use crate::processor::{at_its_best, prefetch};
use crate::table::Table;
use crate::vocabulary::Vocabulary;

/// The place of a word that is not known.
const NONE: u32 = u32::MAX;

/// The weights of the second class.
#[derive(Debug)]
pub(crate) struct Opposed {
    words: Table,      // with their places
    weights: Vec<f64>, // of buckets by number, NaN for those that are not there, and behind them of words
}

impl Opposed {
    /// Whether rows of two weights are each a number and its opposite.
    pub(crate) fn are(weights: &[f64]) -> bool {
        weights.as_chunks().0.iter().all(|[first, second]| first.to_bits() == (-second).to_bits())
    }

    /// The weights of words and buckets, rows of two.
    pub(crate) fn new(vocabulary: &Vocabulary<'_>, buckets: u32, rows: &[f64]) -> Self {
        let n_words =
            (0..vocabulary.len()).filter(|number| vocabulary.key(*number).bucket().is_none()).count();
        let mut weights = filled(f64::NAN, buckets as usize + n_words);
        let (mut words, mut next, bits) = (Table::default(), buckets, bits_of(buckets));
        for (number, [_, weight]) in rows.as_chunks().0.iter().enumerate() {
            let key = vocabulary.key(number);
            match key.bucket() {
                None => {
                    let hash = key.hash(vocabulary.arena());
                    let place = words.slot(Term { key, hash }, vocabulary.arena(), &mut next).id;
                    weights[place as usize] = *weight;
                }
                Some(bucket) => {
                    // Others cannot be found by a name either.
                    if bucket < buckets && Term::bucket_beside_words(bucket, bits).key == key {
                        weights[bucket as usize] = *weight;
                    }
                }
            }
        }
        Self { words, weights }
    }

    /// The mean weight of the words and buckets of a text that have one, added up in this order; and how many have.
    pub(crate) fn mean(
        &self,
        (words, text): (&[Term], &[u8]),
        buckets: &[u32],
        places: &mut Vec<u32>,
    ) -> (f64, u32) {
        places.clear();
        self.words.find_all(words, text, NONE, places);
        let of_words = sum_known(&self.weights, places, (0.0, 0));
        let (sum, n) = sum_known(&self.weights, buckets, of_words);
        (sum / f64::from(n.max(1)), n)
    }
}

at_its_best! {
    /// Go on with a sum by the weights in some places, and with how many of them there are.
    fn sum_known(weights: &[f64], places: &[u32], before: (f64, u32)) -> (f64, u32) {
        let (mut sum, mut n) = before;
        for (i, place) in places.iter().enumerate() {
            if let Some(soon) = places.get(i + 32) {
                prefetch(weights, *soon as usize);
            }
            let weight = weights.get(*place as usize).copied().unwrap_or(f64::NAN);
            let is_known = !weight.is_nan();
            sum += if is_known { weight } else { 0.0 };
            n += u32::from(is_known);
        }
        (sum, n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::{Analyser, Grams};
    use crate::prepare::{Accents, Form, Preparation};
    use crate::score::{Exceptions, Linear};
    use crate::tfidf::Norm;
    use crate::vocabulary::directory;
    use crate::weigh::{Frequency, Weighting};

    /// Many texts at once, for which there is an index, against each by itself, which the vocabulary is searched for.
    #[test]
    fn scores_have_the_same_bits_with_opposed_weights_and_without() {
        let preparation = Preparation { form: None::<Form>, lower: false, accents: Accents::Keep };
        for (buckets, ngrams, characters) in
            [(0, (1, 1), None), (50, (1, 3), None), (50, (1, 2), Some((2, 3)))]
        {
            let grams = Grams::FastText(buckets);
            let analyser = Analyser::new(preparation, grams, ngrams, characters, &[], None, None).unwrap();
            let mut terms: Vec<Term> =
                (0..buckets).filter(|i| i % 7 > 0).map(|i| Term::bucket_beside_words(i, 6)).collect();
            terms.extend(["a", "ab", "cc", "</s>"].map(|word| Term::of(word.as_bytes(), 0, word.len())));
            terms.sort_by_key(|term| term.hash);
            let keys: Vec<u64> = terms.iter().flat_map(|term| [term.key.lo, term.key.hi]).collect();
            let places = directory(&keys, &[]);
            let vocabulary = Vocabulary::new(&keys, &[], &places).unwrap();
            let half = |i: usize| ((i * 37 % 101) as f64 - 50.0) / 7.0;
            let weights: Vec<f64> = (0..terms.len()).flat_map(|i| [-half(i), half(i)]).collect();
            assert!(Opposed::are(&weights) && !Opposed::are(&[1.0, 1.0]));
            let weighting = Weighting { frequency: Frequency::Count, scale: &[], norm: Norm::L1, blocks: 1 };
            let (dense, zeros) = (Exceptions::Dense(&weights), [0.0; 2]);
            let model = Linear::new(
                vocabulary,
                &[0.25, -1.0],
                &zeros,
                &[],
                &[],
                dense,
                None,
                false,
                false,
                Some(weighting),
            );
            let model = model.unwrap();
            let texts: Vec<String> = (0..300u32)
                .map(|i| {
                    (0..i % 40)
                        .map(|j| ["a", "ab ", " ", "c", "c", "</s> "][(i * 7 + j * j) as usize % 6])
                        .collect()
                })
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (scores, evidence) = model.score(&analyser, &texts, 1).unwrap();
            for (i, text) in texts.iter().enumerate() {
                let (alone, seen) = model.score(&analyser, &[text], 1).unwrap();
                let bits = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect::<Vec<u64>>();
                assert_eq!(bits(&scores[2 * i..2 * i + 2]), bits(&alone), "{text:?}");
                assert_eq!(evidence[2 * i..2 * i + 2], seen, "{text:?}");
            }
        }
    }
}
