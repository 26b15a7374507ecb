//! `Linear`: from texts straight to scores, over arrays that Python owns (and may have mapped).

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use textodds_core::analyse;
use textodds_core::rows::{reading, rows};
use textodds_core::score::{self, Changed, Exceptions, Finders, More};
use textodds_core::tfidf::Norm;
use textodds_core::vocabulary::Vocabulary;
use textodds_core::weigh::{Frequency, Weighting};

use crate::analyser::Analyser;
use crate::errors::raised;
use crate::gather::{frequency_named, norm_named};
use crate::table::Table;
use crate::texts::{Texts, one_text};

/// Bytes of a text that is read so soon that other threads of Python need not be let in meanwhile.
const BRIEF: usize = 4096;

/// A linear model over words.
#[pyclass(frozen, module = "textodds._kernels")]
pub struct Linear {
    analyser: Arc<analyse::Analyser>,
    keys: Py<PyArray1<u64>>,
    arena: Py<PyArray1<u8>>,
    directory: Py<PyArray1<u32>>,
    intercept: Py<PyArray1<f64>>,
    default: Py<PyArray1<f64>>,
    slope: Py<PyArray1<f64>>,
    base: Py<PyArray1<f64>>,
    weights: Weights,
    unknown: Option<u32>,
    presence: bool,
    replaces: bool,
    weighting: Option<WeightingArrays>,
    finders: Arc<Finders>,
}

type WordArrays = (Py<PyArray1<u64>>, Py<PyArray1<u8>>, Py<PyArray1<u32>>);
type Scores<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<u32>>);
type SparseArrays = (Py<PyArray1<u64>>, Py<PyArray1<u32>>, Py<PyArray1<f64>>);

/// New words, and of each its row, its place and its rank; see [`More`].
type MoreArrays = (WordArrays, Py<PyArray1<u32>>, Py<PyArray1<u32>>, Py<PyArray1<u32>>);

/// Frequency, scale, length, blocks.
type WeightingArrays = (Frequency, Py<PyArray1<f64>>, Norm, usize);

enum Weights {
    Dense(Py<PyArray1<f64>>),
    Sparse(SparseArrays),
    Changed { table: Py<Table>, less: Py<PyArray1<f64>>, more: Option<MoreArrays> },
}

/// The arrays of a model, borrowed for one call.
struct Borrowed<'py> {
    keys: PyReadonlyArray1<'py, u64>,
    arena: PyReadonlyArray1<'py, u8>,
    directory: PyReadonlyArray1<'py, u32>,
    floats: [PyReadonlyArray1<'py, f64>; 4], // intercept, default, slope, base
    weights: BorrowedWeights<'py>,
    weighting: Option<(Frequency, PyReadonlyArray1<'py, f64>, Norm, usize)>,
}

enum BorrowedWeights<'py> {
    Dense(PyReadonlyArray1<'py, f64>),
    Sparse(PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>),
    Changed(&'py Table, [PyReadonlyArray1<'py, f64>; 2], Option<BorrowedMore<'py>>), // table, less
}

struct BorrowedMore<'py> {
    keys: PyReadonlyArray1<'py, u64>,
    arena: PyReadonlyArray1<'py, u8>,
    directory: PyReadonlyArray1<'py, u32>,
    numbers: [PyReadonlyArray1<'py, u32>; 3], // rows, places, ranks
}

impl Weights {
    fn borrow<'py>(&'py self, py: Python<'py>) -> BorrowedWeights<'py> {
        match self {
            Self::Dense(values) => BorrowedWeights::Dense(values.bind(py).readonly()),
            Self::Sparse((starts, class_of, values)) => BorrowedWeights::Sparse(
                starts.bind(py).readonly(),
                class_of.bind(py).readonly(),
                values.bind(py).readonly(),
            ),
            Self::Changed { table, less, more } => {
                let more =
                    more.as_ref().map(|((keys, arena, directory), rows, places, ranks)| BorrowedMore {
                        keys: keys.bind(py).readonly(),
                        arena: arena.bind(py).readonly(),
                        directory: directory.bind(py).readonly(),
                        numbers: [rows, places, ranks].map(|array| array.bind(py).readonly()),
                    });
                let table = table.get();
                BorrowedWeights::Changed(
                    table,
                    [&table.base, less].map(|array| array.bind(py).readonly()),
                    more,
                )
            }
        }
    }
}

impl BorrowedWeights<'_> {
    fn exceptions(&self) -> PyResult<Exceptions<'_>> {
        Ok(match self {
            Self::Dense(values) => Exceptions::Dense(values.as_slice()?),
            Self::Sparse(starts, class_of, values) => Exceptions::Sparse {
                starts: starts.as_slice()?,
                class_of: class_of.as_slice()?,
                values: values.as_slice()?,
            },
            Self::Changed(table, [base, less], more) => Exceptions::Changed(Changed {
                table: base.as_slice()?,
                pages: &table.pages,
                less: less.as_slice()?,
                more: more.as_ref().map(BorrowedMore::words).transpose()?,
            }),
        })
    }
}

impl BorrowedMore<'_> {
    fn words(&self) -> PyResult<More<'_>> {
        let (keys, arena) = (self.keys.as_slice()?, self.arena.as_slice()?);
        let [rows, places, ranks] = &self.numbers;
        Ok(More {
            words: Vocabulary::new(keys, arena, self.directory.as_slice()?).map_err(raised)?,
            rows: rows.as_slice()?,
            places: places.as_slice()?,
            ranks: ranks.as_slice()?,
        })
    }
}

impl Linear {
    fn borrow<'py>(&'py self, py: Python<'py>) -> Borrowed<'py> {
        Borrowed {
            keys: self.keys.bind(py).readonly(),
            arena: self.arena.bind(py).readonly(),
            directory: self.directory.bind(py).readonly(),
            floats: [&self.intercept, &self.default, &self.slope, &self.base]
                .map(|array| array.bind(py).readonly()),
            weights: self.weights.borrow(py),
            weighting: self
                .weighting
                .as_ref()
                .map(|(tf, scale, norm, blocks)| (*tf, scale.bind(py).readonly(), *norm, *blocks)),
        }
    }

    fn vocabulary<'a>(borrowed: &'a Borrowed<'_>) -> PyResult<Vocabulary<'a>> {
        let (keys, arena) = (borrowed.keys.as_slice()?, borrowed.arena.as_slice()?);
        Vocabulary::new(keys, arena, borrowed.directory.as_slice()?).map_err(raised)
    }

    fn weighting<'a>(borrowed: &'a Borrowed<'_>) -> PyResult<Option<Weighting<'a>>> {
        let Some((frequency, scale, norm, blocks)) = &borrowed.weighting else { return Ok(None) };
        Ok(Some(Weighting { frequency: *frequency, scale: scale.as_slice()?, norm: *norm, blocks: *blocks }))
    }

    fn model<'a>(&self, borrowed: &'a Borrowed<'_>) -> PyResult<score::Linear<'a>> {
        let [intercept, default, slope, base] = &borrowed.floats;
        score::Linear::new(
            Self::vocabulary(borrowed)?,
            intercept.as_slice()?,
            default.as_slice()?,
            slope.as_slice()?,
            base.as_slice()?,
            borrowed.weights.exceptions()?,
            self.unknown,
            self.presence,
            self.replaces,
            Self::weighting(borrowed)?,
        )
        .map_err(raised)
    }
}

#[pymethods]
impl Linear {
    #[new]
    #[pyo3(signature = (analyser, vocabulary, intercept, default, slope, base, dense, sparse, unknown, presence, replaces, weighting=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        analyser: &Analyser,
        vocabulary: WordArrays,
        intercept: Py<PyArray1<f64>>,
        default: Py<PyArray1<f64>>,
        slope: Py<PyArray1<f64>>,
        base: Py<PyArray1<f64>>,
        dense: Option<Py<PyArray1<f64>>>,
        sparse: Option<SparseArrays>,
        unknown: Option<u32>,
        presence: bool,
        replaces: bool,
        weighting: Option<(String, Py<PyArray1<f64>>, String, usize)>,
    ) -> PyResult<Self> {
        let weights = match (dense, sparse) {
            (Some(values), None) => Weights::Dense(values),
            (None, Some(arrays)) => Weights::Sparse(arrays),
            _ => {
                return Err(crate::errors::error("InputError", "give dense or sparse weights", None));
            }
        };
        let (keys, arena, directory) = vocabulary;
        let weighting = match weighting {
            Some((tf, scale, norm, blocks)) => {
                Some((frequency_named(&tf)?, scale, norm_named(&norm)?, blocks))
            }
            None => None,
        };
        let analyser = analyser.inner.clone();
        let linear = Self {
            analyser,
            keys,
            arena,
            directory,
            intercept,
            default,
            slope,
            base,
            weights,
            unknown,
            presence,
            replaces,
            weighting,
            finders: Arc::default(),
        };
        linear.model(&linear.borrow(py))?.checked().map_err(raised)?; // once, not at every call
        Ok(linear)
    }

    /// The same with other weights: those of a table, less something common to all of its rows, and of words
    /// beyond the vocabulary. Costs as much as there are of these.
    #[pyo3(signature = (intercept, default, table, less, more=None))]
    fn changed(
        &self,
        py: Python<'_>,
        intercept: Py<PyArray1<f64>>,
        default: Py<PyArray1<f64>>,
        table: Py<Table>,
        less: Py<PyArray1<f64>>,
        more: Option<MoreArrays>,
    ) -> PyResult<Self> {
        let linear = Self {
            analyser: self.analyser.clone(),
            keys: self.keys.clone_ref(py),
            arena: self.arena.clone_ref(py),
            directory: self.directory.clone_ref(py),
            intercept,
            default,
            slope: self.slope.clone_ref(py),
            base: self.base.clone_ref(py),
            weights: Weights::Changed { table, less, more },
            unknown: self.unknown,
            presence: self.presence,
            replaces: false,
            weighting: self
                .weighting
                .as_ref()
                .map(|(tf, scale, norm, blocks)| (*tf, scale.clone_ref(py), *norm, *blocks)),
            finders: self.finders.clone(), // of the same words
        };
        let borrowed = linear.borrow(py);
        linear.model(&borrowed)?; // whose own words were checked
        if let BorrowedWeights::Changed(_, _, Some(more)) = &borrowed.weights {
            more.words()?.words.checked().map_err(raised)?;
        }
        drop(borrowed);
        Ok(linear)
    }

    /// Scores (N, K), and the number of known and of all terms of each text (N, 2).
    fn score<'py>(&self, py: Python<'py>, texts: Texts, threads: usize) -> PyResult<Scores<'py>> {
        let texts = texts.get()?;
        let borrowed = self.borrow(py);
        let model = self.model(&borrowed)?;
        let (scores, evidence) =
            py.detach(|| model.score_with(&self.finders, &self.analyser, &texts, threads)).map_err(raised)?;
        let shape = [texts.len(), model.classes()];
        let scores = PyArray1::from_vec(py, scores).reshape(shape)?;
        let evidence = PyArray1::from_vec(py, evidence).reshape([texts.len(), 2])?;
        debug_assert_eq!(scores.len(), shape[0] * shape[1]);
        Ok((scores, evidence))
    }

    /// Scores (K) of one text, and how many of its terms are known; without arrays, which would cost
    /// more than a short text does.
    fn one(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, u32)> {
        let held = one_text(text)?;
        let borrowed = self.borrow(py);
        let model = self.model(&borrowed)?;
        let score = || model.score_with(&self.finders, &self.analyser, &[&*held], 1);
        let (scores, evidence) =
            if held.len() < BRIEF { score() } else { py.detach(score) }.map_err(raised)?;
        Ok((scores, evidence[0]))
    }

    /// The number of each word of the vocabulary, −1 where it is not there; its index was checked before.
    fn find<'py>(&self, py: Python<'py>, words: Vec<String>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let borrowed = self.borrow(py);
        let vocabulary = Self::vocabulary(&borrowed)?;
        let number = |word: &String| vocabulary.find_name(word).map_or(-1, i64::from);
        Ok(PyArray1::from_vec(py, words.iter().map(number).collect()))
    }

    /// Where in the row of a text each of its terms is, −1 where it is not in the vocabulary; then that row: word
    /// numbers, counts, and values; and how many terms are unknown.
    #[allow(clippy::type_complexity)]
    fn reading<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<(
        Bound<'py, PyArray1<i32>>,
        Bound<'py, PyArray1<i32>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<f64>>,
        usize,
    )> {
        let held = one_text(text)?;
        let borrowed = self.borrow(py);
        let (vocabulary, weighting) = (Self::vocabulary(&borrowed)?, Self::weighting(&borrowed)?);
        let found = py
            .detach(|| reading(&self.analyser, vocabulary, self.unknown, weighting.as_ref(), &held))
            .map_err(raised)?;
        Ok((
            PyArray1::from_vec(py, found.places),
            PyArray1::from_vec(py, found.words),
            PyArray1::from_vec(py, found.counts),
            PyArray1::from_vec(py, found.values),
            found.unknown,
        ))
    }

    /// Compressed sparse rows: starts, word numbers, values; and known and all terms per text, (N, 2).
    #[allow(clippy::type_complexity)]
    #[pyo3(signature = (texts, weighted=true, threads=1))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        texts: Texts,
        weighted: bool,
        threads: usize,
    ) -> PyResult<(
        Bound<'py, PyArray1<i64>>,
        Bound<'py, PyArray1<i32>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray2<u32>>,
    )> {
        let texts = texts.get()?;
        let borrowed = self.borrow(py);
        let vocabulary = Self::vocabulary(&borrowed)?;
        let weighting = if weighted { Self::weighting(&borrowed)? } else { None };
        let rows = py
            .detach(|| rows(&self.analyser, vocabulary, self.unknown, weighting.as_ref(), &texts, threads))
            .map_err(raised)?;
        let texts = rows.evidence.len();
        Ok((
            PyArray1::from_vec(py, rows.starts),
            PyArray1::from_vec(py, rows.words),
            PyArray1::from_vec(py, rows.values),
            PyArray1::from_vec(py, rows.evidence.into_flattened()).reshape([texts, 2])?,
        ))
    }
}
