//! `Counter`, `combine` and `cut`: tallies made, added and divided.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use textodds_core::count;
use textodds_core::tally::Tally;

use crate::analyser::Analyser;
use crate::errors::{error, raised};
use crate::texts::Texts;

type Array<'py, T> = Bound<'py, PyArray1<T>>;

/// A tally as Python holds it.
#[derive(FromPyObject)]
pub struct TallyIn<'py>(
    u32,
    Vec<String>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u8>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
);

type TallyOut<'py> = (
    u32,
    Vec<String>,
    Array<'py, i64>,
    Array<'py, u64>,
    Array<'py, u8>,
    Array<'py, u64>,
    Array<'py, u32>,
    Array<'py, i64>,
    Array<'py, i64>,
);

fn taken(tally: TallyIn<'_>) -> PyResult<Tally> {
    let TallyIn(fraction, classes, class_documents, keys, arena, starts, class_of, occurrences, documents) =
        tally;
    Tally {
        fraction,
        classes,
        class_documents: class_documents.as_slice()?.to_vec(),
        keys: keys.as_slice()?.to_vec(),
        arena: arena.as_slice()?.to_vec(),
        starts: starts.as_slice()?.to_vec(),
        class_of: class_of.as_slice()?.to_vec(),
        occurrences: occurrences.as_slice()?.to_vec(),
        documents: documents.as_slice()?.to_vec(),
    }
    .checked()
    .map_err(raised)
}

fn given(py: Python<'_>, tally: Tally) -> TallyOut<'_> {
    (
        tally.fraction,
        tally.classes,
        PyArray1::from_vec(py, tally.class_documents),
        PyArray1::from_vec(py, tally.keys),
        PyArray1::from_vec(py, tally.arena),
        PyArray1::from_vec(py, tally.starts),
        PyArray1::from_vec(py, tally.class_of),
        PyArray1::from_vec(py, tally.occurrences),
        PyArray1::from_vec(py, tally.documents),
    )
}

/// Counts batches of labelled texts.
#[pyclass(module = "textodds._kernels")]
pub struct Counter {
    inner: Option<count::Counter>,
}

impl Counter {
    fn open(&mut self) -> PyResult<&mut count::Counter> {
        self.inner.as_mut().ok_or_else(|| error("InputError", "this counter is finished", None))
    }
}

#[pymethods]
impl Counter {
    #[new]
    fn new(analyser: &Analyser, threads: usize, budget: usize) -> Self {
        Self { inner: Some(count::Counter::new(analyser.inner.clone(), threads, budget)) }
    }

    /// Count a batch of texts, their labels, and their weights if they have any.
    #[pyo3(signature = (texts, labels, weights=None))]
    fn add(
        &mut self,
        py: Python<'_>,
        texts: Texts,
        labels: Texts,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let counter = self.open()?;
        let (texts, labels) = (texts.get()?, labels.get()?);
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        py.detach(|| counter.add(&texts, &labels, weights)).map_err(raised)
    }

    /// Memory held by tables and logs, in bytes.
    #[getter]
    fn bytes(&mut self) -> PyResult<usize> {
        Ok(self.open()?.bytes())
    }

    /// The tally, the number of words dropped, and in how many documents they were at most.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<(TallyOut<'py>, u64, u64)> {
        self.open()?;
        let Some(counter) = self.inner.take() else {
            return Err(error("InputError", "this counter is finished", None));
        };
        let (tally, pruned) = py.detach(|| counter.finish()).map_err(raised)?;
        Ok((given(py, tally), pruned.words, pruned.most_documents))
    }
}

/// `left + sign × right`; below zero is an error, or zero if `lenient`.
#[pyfunction]
pub fn combine<'py>(
    py: Python<'py>,
    left: TallyIn<'py>,
    right: TallyIn<'py>,
    sign: i64,
    lenient: bool,
) -> PyResult<TallyOut<'py>> {
    let (left, right) = (taken(left)?, taken(right)?);
    let sum = py.detach(|| left.combined(&right, sign.signum(), lenient, 1)).map_err(raised)?;
    Ok(given(py, sum))
}

/// A tally in `2^bits` parts by the hashes of words, the first with the documents of classes.
#[pyfunction]
pub fn cut<'py>(py: Python<'py>, tally: TallyIn<'py>, bits: u32) -> PyResult<Vec<TallyOut<'py>>> {
    if bits > 16 {
        return Err(error("InputError", "a tally is cut into 65,536 parts at most", None));
    }
    let tally = taken(tally)?;
    let parts = py.detach(|| tally.cut(bits));
    Ok(parts.into_iter().map(|part| given(py, part)).collect())
}
