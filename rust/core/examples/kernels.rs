//! One hot kernel on a small input that is always the same, for counting its instructions:
//! `kernels count`, `scripts`, `predict`, `pairs`, `characters` or `gather`.
//!
//! What is to be counted happens within `measured`; it prints a number that depends on the result.

use std::sync::Arc;

use textodds_core::Error;
use textodds_core::analyse::{Analyser, Grams};
use textodds_core::count::Counter;
use textodds_core::gather::Gatherer;
use textodds_core::prepare::{Accents, Form, Preparation};
use textodds_core::score::{Exceptions, Linear};
use textodds_core::tally::Tally;
use textodds_core::tfidf::Norm;
use textodds_core::tokenise::Unit;
use textodds_core::vocabulary::{Vocabulary, directory};
use textodds_core::weigh::{Frequency, Weighting};

const CLASSES: [&str; 4] = ["a", "b", "c", "d"];
const LATIN: [&str; 12] = ["ba", "ter", "in", "o", "men", "sta", "li", "ed", "qu", "ra", "th", "s"];
const OTHERS: [&str; 12] = ["ва", "तर", "ин", "字", "กา", "жа", "Ле", "한", "é", "ра", "αι", "م"];

/// The kernel.
#[inline(never)]
fn measured<T>(kernel: impl FnOnce() -> T) -> T {
    std::hint::black_box(kernel())
}

/// Texts of words of few syllables, of which short ones come often.
fn texts(documents: usize, syllables: &[&str]) -> Vec<String> {
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut text = |length: usize| {
        let mut text = String::new();
        for i in 0..length {
            for _ in 0..=next(4) * next(2) {
                text.push_str(syllables[next(syllables.len()) * next(3) / 2]);
            }
            text.push_str(if i % 9 == 8 { ", " } else { " " });
        }
        text
    };
    (0..documents).map(|i| text(40 + i % 80)).collect()
}

fn analyser(ngrams: (usize, usize), characters: Option<(usize, usize)>) -> Result<Arc<Analyser>, Error> {
    let preparation = Preparation { form: Some(Form::Nfc), lower: true, accents: Accents::Keep };
    let grams = Grams::Tokens(Unit::Words);
    Analyser::new(preparation, grams, ngrams, characters, &[], None, None).map(Arc::new)
}

fn counted(texts: &[&str]) -> Result<Tally, Error> {
    let labels: Vec<&str> = (0..texts.len()).map(|i| CLASSES[i % CLASSES.len()]).collect();
    let mut counter = Counter::new(analyser((1, 1), None)?, 1, 1 << 30);
    counter.add(texts, &labels, None)?;
    counter.finish().map(|(tally, _)| tally)
}

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| f64::from((i % 1009) as u32) / 1009.0 - 0.5).collect()
}

/// Scores of naive Bayes.
fn predict(texts: &[&str]) -> Result<f64, Error> {
    let tally = counted(&texts[..texts.len() / 2])?;
    let starts = directory(&tally.keys, &tally.arena);
    let words = Vocabulary::new(&tally.keys, &tally.arena, &starts)?;
    let (zeros, values) = ([0.0; CLASSES.len()], weights(tally.class_of.len()));
    let sparse = Exceptions::Sparse { starts: &tally.starts, class_of: &tally.class_of, values: &values };
    let model = Linear::new(words, &zeros, &zeros, &[], &[], sparse, None, false, false, None)?;
    let analyser = analyser((1, 1), None)?;
    let (scores, _) = measured(|| model.score(&analyser, texts, 1))?;
    Ok(scores.iter().sum())
}

/// Scores of softmax regression with pairs of words, and with characters.
fn predict_weighted(texts: &[&str], characters: Option<(usize, usize)>) -> Result<f64, Error> {
    let analyser = analyser((1, 2), characters)?;
    let mut gatherer = Gatherer::new(analyser.clone(), 1);
    gatherer.add(&texts[..texts.len() / 2])?;
    let mut rows = gatherer.finish()?;
    let all = vec![true; rows.documents(None)?.len()];
    let (keys, arena, _) = rows.select(&all)?;
    let starts = directory(&keys, &arena);
    let words = Vocabulary::new(&keys, &arena, &starts)?;
    let (zeros, dense) = ([0.0; CLASSES.len()], weights(words.len() * CLASSES.len()));
    let scale = vec![1.5; words.len()];
    let blocks = if characters.is_some() { 2 } else { 1 };
    let weighting = Weighting { frequency: Frequency::Log, scale: &scale, norm: Norm::L2, blocks };
    let dense = Exceptions::Dense(&dense);
    let model = Linear::new(words, &zeros, &zeros, &[], &[], dense, None, false, false, Some(weighting))?;
    let (scores, _) = measured(|| model.score(&analyser, texts, 1))?;
    Ok(scores.iter().sum())
}

fn main() -> Result<(), Error> {
    let kernel = std::env::args().nth(1).unwrap_or_default();
    let texts = texts(400, if kernel == "scripts" { &OTHERS } else { &LATIN });
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let result = match kernel.as_str() {
        "count" | "scripts" => {
            counted(&texts[..texts.len() / 4])?; // what is known of characters is found but once
            measured(|| counted(&texts))?.len() as f64
        }
        "predict" => predict(&texts)?,
        "pairs" => predict_weighted(&texts, None)?,
        "characters" => predict_weighted(&texts, Some((2, 5)))?,
        "gather" => {
            let mut gatherer = Gatherer::new(analyser((1, 2), Some((2, 5)))?, 1);
            measured(|| gatherer.add(&texts))?;
            gatherer.finish()?.documents(None)?.iter().sum()
        }
        other => return Err(Error::Setting(format!("there is no kernel `{other}`"))),
    };
    println!("{kernel}: {result}");
    Ok(())
}
