//! `Analyser`: settings in, terms out.

use std::sync::Arc;

use pyo3::prelude::*;
use textodds_core::analyse::{self, Grams, Outside, Scratch};
use textodds_core::key::Term;
use textodds_core::lines;
use textodds_core::prepare::{Accents, Form, Preparation};
use textodds_core::tokenise::Unit;
use textodds_core::vocabulary::Words;

use crate::errors::{error, raised};
use crate::texts::{Strings, Texts};

/// Decides which terms a text has.
#[pyclass(frozen, module = "textodds._kernels")]
pub struct Analyser {
    pub inner: Arc<analyse::Analyser>,
}

#[pymethods]
impl Analyser {
    #[new]
    #[pyo3(signature = (*, unit, lower, form, strip_accents, ngrams, characters, stop_words, hash_bits, hash_seed, vocabulary, count_unknown, fields))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        unit: &str,
        lower: bool,
        form: Option<&str>,
        strip_accents: Option<&str>,
        ngrams: (usize, usize),
        characters: Option<(usize, usize)>,
        stop_words: Vec<String>,
        hash_bits: Option<u32>,
        hash_seed: u32,
        vocabulary: Option<Vec<String>>,
        count_unknown: bool,
        fields: Vec<String>,
    ) -> PyResult<Self> {
        let grams = match unit {
            "words" => Grams::Tokens(Unit::Words),
            "whitespace" => Grams::Tokens(Unit::WHITESPACE),
            "sklearn" => Grams::Tokens(Unit::SKLEARN),
            "characters" => Grams::Characters,
            "characters-in-words" => Grams::CharactersInWords,
            other => match (Unit::of_pattern(other), other.strip_prefix("fasttext:").map(str::parse)) {
                (Some(unit), _) => Grams::Tokens(unit),
                (None, Some(Ok(buckets))) => Grams::FastText(buckets),
                _ => return Err(error("InputError", &format!("unknown unit `{other}`"), None)),
            },
        };
        let accents = match strip_accents {
            None => Accents::Keep,
            Some("unicode") => Accents::Strip,
            Some("ascii") => Accents::Ascii,
            Some(other) => {
                return Err(error("InputError", &format!("unknown way to strip accents `{other}`"), None));
            }
        };
        let form = match form {
            None => None,
            Some("NFC") => Some(Form::Nfc),
            Some("NFKC") => Some(Form::Nfkc),
            Some(other) => {
                return Err(error("InputError", &format!("unknown normal form `{other}`"), None));
            }
        };
        let outside = if count_unknown { Outside::Count } else { Outside::Drop };
        let inner = analyse::Analyser::new(
            Preparation { form, lower, accents },
            grams,
            ngrams,
            characters,
            &stop_words,
            hash_bits.map(|bits| (bits, hash_seed)),
            vocabulary.map(|words| (Words::from_strings(&words), outside)),
        )
        .map_err(raised)?;
        let inner = if fields.is_empty() { inner } else { inner.of_fields(fields) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What of each text decides its terms, prepared: to be read again by settings that prepare nothing.
    fn canonical(&self, py: Python<'_>, texts: Texts) -> PyResult<Strings> {
        let texts = texts.get()?;
        let read = || {
            let (mut scratch, mut strings) = (Scratch::default(), lines::Strings::default());
            for (row, text) in texts.iter().enumerate() {
                self.inner.canonical(text, row, &mut scratch, &mut strings.bytes)?;
                strings.offsets.push(strings.bytes.len() as i64);
            }
            Ok(strings)
        };
        Ok(py.detach(read).map_err(raised)?.into())
    }

    /// Whether `canonical` keeps all of a text, rather than its tokens.
    #[getter]
    fn keeps_all(&self) -> bool {
        self.inner.keeps_all()
    }

    /// The terms of each text; a bucket reads `#number`, beside words `# number`.
    fn terms(&self, py: Python<'_>, texts: Texts) -> PyResult<Vec<Vec<String>>> {
        let texts = texts.get()?;
        py.detach(|| {
            let mut scratch = Scratch::default();
            texts
                .iter()
                .enumerate()
                .map(|(row, text)| {
                    self.inner.analyse(text, row, &mut scratch)?;
                    let (terms, bytes) = scratch.terms();
                    let name = |term: &Term| String::from_utf8_lossy(&term.key.bytes(bytes)).into_owned();
                    Ok(terms.iter().map(name).collect())
                })
                .collect::<Result<_, _>>()
        })
        .map_err(raised)
    }
}
