//! `Vectoriser` and its kin: texts as rows of counts, as scikit-learn has them.

use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use textodds_core::lexicon::Lexicon;
use textodds_core::vectorise::{self, Count, CountRows};
use textodds_core::vocabulary::Vocabulary;

use crate::analyser::Analyser;
use crate::errors::{error, raised};
use crate::texts::Texts;

type Names<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>);
/// Row boundaries, columns, and values: int64 or float64.
type Rows<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyAny>);

fn arrays<T: Element>(py: Python<'_>, (starts, ids, values): CountRows<T>) -> Rows<'_> {
    let values = PyArray1::from_vec(py, values).into_any();
    (PyArray1::from_vec(py, starts), PyArray1::from_vec(py, ids), values)
}

/// Counts whole numbers or floating-point ones.
enum Inner {
    Whole(vectorise::Vectoriser<i64>),
    Real(vectorise::Vectoriser<f64>),
}

/// Counts batches of texts over a vocabulary that grows.
#[pyclass(module = "textodds._kernels")]
pub struct Vectoriser {
    inner: Option<Inner>,
}

fn finished() -> PyErr {
    error("InputError", "these documents were counted already", None)
}

#[pymethods]
impl Vectoriser {
    #[new]
    fn new(analyser: &Analyser, threads: usize, real: bool) -> PyResult<Self> {
        let analyser = analyser.inner.clone();
        let inner = if real {
            vectorise::Vectoriser::new(analyser, threads).map(Inner::Real)
        } else {
            vectorise::Vectoriser::new(analyser, threads).map(Inner::Whole)
        };
        Ok(Self { inner: Some(inner.map_err(raised)?) })
    }

    /// Count a batch.
    fn add(&mut self, py: Python<'_>, texts: Texts) -> PyResult<()> {
        let inner = self.inner.as_mut().ok_or_else(finished)?;
        let texts = texts.get()?;
        py.detach(|| match inner {
            Inner::Whole(inner) => inner.add(&texts),
            Inner::Real(inner) => inner.add(&texts),
        })
        .map_err(raised)
    }

    /// The rows, and the names of their columns in alphabetical order: bytes, ends, and numbers in the rows.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<(Rows<'py>, Names<'py>)> {
        fn done<'py, T: Count + Element>(
            py: Python<'py>,
            inner: vectorise::Vectoriser<T>,
        ) -> PyResult<(Rows<'py>, Lexicon)> {
            let (rows, lexicon) = py.detach(|| inner.finish()).map_err(raised)?;
            Ok((arrays(py, rows), lexicon))
        }
        let (rows, lexicon) = match self.inner.take().ok_or_else(finished)? {
            Inner::Whole(inner) => done(py, inner)?,
            Inner::Real(inner) => done(py, inner)?,
        };
        let (bytes, ends, numbers) = py.detach(|| lexicon.alphabetical());
        let names =
            (PyArray1::from_vec(py, bytes), PyArray1::from_vec(py, ends), PyArray1::from_vec(py, numbers));
        Ok((rows, names))
    }
}

/// Rows of counts of the words of a vocabulary, each in its column.
#[pyfunction]
pub fn count_rows<'py>(
    py: Python<'py>,
    analyser: &Analyser,
    words: (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u8>, PyReadonlyArray1<'py, u32>),
    columns: PyReadonlyArray1<'py, u32>,
    texts: Texts,
    threads: usize,
    real: bool,
) -> PyResult<Rows<'py>> {
    fn counted<'py, T: Count + Element>(
        py: Python<'py>,
        analyser: &Analyser,
        vocabulary: Vocabulary<'_>,
        columns: &[u32],
        texts: &[&str],
        threads: usize,
    ) -> PyResult<Rows<'py>> {
        let rows =
            py.detach(|| vectorise::count_rows::<T>(&analyser.inner, vocabulary, columns, texts, threads));
        Ok(arrays(py, rows.map_err(raised)?))
    }
    let texts = texts.get()?;
    let (keys, arena, directory) = words;
    let vocabulary = Vocabulary::new(keys.as_slice()?, arena.as_slice()?, directory.as_slice()?)
        .and_then(Vocabulary::checked)
        .map_err(raised)?;
    let columns = columns.as_slice()?;
    if real {
        counted::<f64>(py, analyser, vocabulary, columns, &texts, threads)
    } else {
        counted::<i64>(py, analyser, vocabulary, columns, &texts, threads)
    }
}

/// Rows of counts of hashed terms.
#[pyfunction]
pub fn hashed_rows<'py>(
    py: Python<'py>,
    analyser: &Analyser,
    size: u32,
    signed: bool,
    texts: Texts,
    threads: usize,
) -> PyResult<Rows<'py>> {
    let texts = texts.get()?;
    let rows = py.detach(|| vectorise::hashed_rows(&analyser.inner, size, signed, &texts, threads));
    Ok(arrays(py, rows.map_err(raised)?))
}
