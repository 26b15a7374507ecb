//! Any bytes as a model file, and any arrays as a model: an error, or scores; never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use textodds_core::analyse::{Analyser, Grams};
use textodds_core::prepare::{Accents, Preparation};
use textodds_core::score::{Exceptions, Linear};
use textodds_core::tensors::layout;
use textodds_core::tokenise::Unit;
use textodds_core::vocabulary::{Vocabulary, directory};

fn numbers<T>(bytes: &[u8], of: impl Fn(&[u8]) -> T, width: usize) -> Vec<T> {
    bytes.chunks_exact(width).map(of).collect()
}

fuzz_target!(|data: &[u8]| {
    if let Ok((_, places)) = layout(data) {
        assert!(places.iter().all(|place| place.start <= place.end && place.end <= data.len()));
    }
    let [a, b, data @ ..] = data else { return };
    let (head, rest) = data.split_at(data.len() * usize::from(*a) / 255);
    let (middle, tail) = rest.split_at(rest.len() * usize::from(*b) / 255);
    let keys = numbers(head, |eight| u64::from_le_bytes(eight.try_into().unwrap()), 8);
    let claimed = numbers(middle, |four| u32::from_le_bytes(four.try_into().unwrap()), 4);
    let made = directory(&keys[..keys.len() / 2 * 2], tail);
    for starts in [&claimed, &made] {
        let Ok(words) = Vocabulary::new(&keys, tail, starts).and_then(Vocabulary::checked) else { continue };
        let ends: Vec<u64> = (0..=words.len() as u64).collect();
        let classes = claimed.iter().copied().chain(std::iter::repeat(0)).take(words.len()).collect::<Vec<_>>();
        let values = vec![1.0; words.len()];
        let sparse = Exceptions::Sparse { starts: &ends, class_of: &classes, values: &values };
        let none: &[f64] = &[];
        let model = Linear::new(words, &[0.0; 3], &[0.0; 3], none, none, sparse, None, true, a % 2 == 0, None);
        if let Ok(model) = model.and_then(Linear::checked) {
            let preparation = Preparation { form: None, lower: true, accents: Accents::Keep };
            let analyser = Analyser::new(preparation, Grams::Tokens(Unit::Words), (1, 2), None, &[], None, None).unwrap();
            let text = String::from_utf8_lossy(data);
            let (scores, _) = model.score(&analyser, &[&text, ""], 1).unwrap();
            assert!(scores.iter().all(|score| score.is_finite()));
        }
    }
});
