//! Any text: terms come out, counting and uncounting gives nothing, one batch equals two.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use textodds_core::analyse::{Analyser, Grams, Scratch};
use textodds_core::count::Counter;
use textodds_core::prepare::{Accents, Form, Preparation};
use textodds_core::tally::Tally;
use textodds_core::tokenise::Unit;
use textodds_core::vectorise::Vectoriser;

fn tally(analyser: &Arc<Analyser>, batches: &[&[&str]]) -> Tally {
    let mut counter = Counter::new(analyser.clone(), 1, 1 << 30);
    for batch in batches {
        let labels: Vec<&str> = batch.iter().map(|text| if text.len() % 2 == 0 { "a" } else { "b" }).collect();
        counter.add(batch, &labels, None).unwrap();
    }
    counter.finish().unwrap().0
}

fuzz_target!(|data: &[u8]| {
    let [choice, more, data @ ..] = data else { return };
    let text = String::from_utf8_lossy(data);
    let grams = match choice % 7 {
        0 => Grams::Tokens(Unit::Words),
        1 => Grams::Tokens(Unit::WHITESPACE),
        2 => Grams::Tokens(Unit::SKLEARN),
        3 => Grams::Tokens(Unit::of_pattern("[a-z0-9]{2,}").unwrap()),
        4 => Grams::Tokens(Unit::of_pattern(r"\b[a-z]{2,}\b").unwrap()),
        5 => Grams::Characters,
        _ => Grams::CharactersInWords,
    };
    let form = [None, Some(Form::Nfc), Some(Form::Nfkc)][usize::from(more % 3)];
    let accents = [Accents::Keep, Accents::Strip, Accents::Ascii][usize::from(more & 32 != 0) * (1 + data.len() % 2)];
    let preparation = Preparation { form, lower: more & 16 == 0, accents };
    let longest = 1 + usize::from(more >> 6);
    let hashing = (more & 8 != 0).then_some((10, 7));
    let characters = (choice & 64 != 0).then_some((2, 4));
    let stop = ["the".to_owned()];
    let analyser = Arc::new(Analyser::new(preparation, grams, (1, longest), characters, &stop, hashing, None).unwrap());

    let mut scratch = Scratch::default();
    analyser.analyse(&text, 0, &mut scratch).unwrap();
    let (terms, bytes) = scratch.terms();
    assert!(terms.iter().all(|term| term.key.hash(bytes) == term.hash && !term.key.bytes(bytes).is_empty()));

    let documents: Vec<&str> = text.split('\n').collect();
    let (left, right) = documents.split_at(documents.len() / 2);
    let whole = tally(&analyser, &[&documents]);
    assert_eq!(whole, tally(&analyser, &[right, left]));
    let (a, b) = (tally(&analyser, &[left]), tally(&analyser, &[right]));
    assert_eq!(whole, a.combined(&b, 1, false, 1).unwrap());
    assert_eq!(a, whole.combined(&b, -1, false, 2).unwrap());

    if analyser.is_plain() {
        let rows = |threads: usize, batches: &[&[&str]]| {
            let mut vectoriser = Vectoriser::<i64>::new(analyser.clone(), threads).unwrap();
            batches.iter().for_each(|batch| vectoriser.add(batch).unwrap());
            vectoriser.finish(None).unwrap()
        };
        let (all, names) = rows(1, &[&documents]);
        assert!((all.clone(), names.clone()) == rows(2, &[left, right]));
        assert_eq!(all.0.len(), documents.len() + 1);
        let counted: f64 = all.2.iter().map(|count| *count as f64).sum();
        assert_eq!(counted, documents.iter().map(|text| {
            analyser.analyse(text, 0, &mut scratch).unwrap();
            scratch.terms().0.len() as f64
        }).sum::<f64>());
    }
});
