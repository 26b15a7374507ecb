//! `Vectoriser` and its kin: texts as rows of counts, as scikit-learn has them.

use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use textodds_core::counted;
use textodds_core::tfidf;
use textodds_core::vectorise::{self, Count, CountRows};

use crate::analyser::Analyser;
use crate::errors::{error, raised};
use crate::gather::norm_named;
use crate::texts::Texts;
use crate::words::NameIndex;

type Names<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>);
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

    /// The rows, and the names of their columns, which are in the order of their characters.
    ///
    /// `limits`: the fewest and the most documents a column may be in. Last, whether there were any terms.
    fn finish<'py>(
        &mut self,
        py: Python<'py>,
        limits: Option<(f64, f64)>,
    ) -> PyResult<(Rows<'py>, Names<'py>, bool)> {
        fn done<T: Count + Element>(
            py: Python<'_>,
            inner: vectorise::Vectoriser<T>,
            limits: Option<(f64, f64)>,
        ) -> PyResult<(Rows<'_>, Names<'_>, bool)> {
            let any = inner.has_terms();
            let (rows, (bytes, ends)) = py.detach(|| inner.finish(limits)).map_err(raised)?;
            Ok((arrays(py, rows), (PyArray1::from_vec(py, bytes), PyArray1::from_vec(py, ends)), any))
        }
        match self.inner.take().ok_or_else(finished)? {
            Inner::Whole(inner) => done(py, inner, limits),
            Inner::Real(inner) => done(py, inner, limits),
        }
    }
}

/// Rows of some columns only: `columns` has the new number of each, below zero if it is left out.
#[pyfunction]
pub fn select_columns<'py>(
    py: Python<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    ids: PyReadonlyArray1<'py, i32>,
    counts: Bound<'py, PyAny>,
    columns: PyReadonlyArray1<'py, i32>,
) -> PyResult<Rows<'py>> {
    let (starts, ids, columns) = (starts.as_slice()?, ids.as_slice()?, columns.as_slice()?);
    if let Ok(counts) = counts.extract::<PyReadonlyArray1<'py, f64>>() {
        let counts = counts.as_slice()?;
        let rows = py.detach(|| vectorise::select((starts, ids, counts), columns)).map_err(raised)?;
        return Ok(arrays(py, rows));
    }
    let counts = counts.extract::<PyReadonlyArray1<'py, i64>>()?;
    let counts = counts.as_slice()?;
    let rows = py.detach(|| vectorise::select((starts, ids, counts), columns)).map_err(raised)?;
    Ok(arrays(py, rows))
}

/// Rows of counts of names, each in its column.
#[pyfunction]
pub fn count_rows<'py>(
    py: Python<'py>,
    analyser: &Analyser,
    names: &NameIndex,
    texts: Texts,
    threads: usize,
    real: bool,
) -> PyResult<Rows<'py>> {
    fn rows_as<'py, T: Count + Element>(
        py: Python<'py>,
        analyser: &Analyser,
        names: &NameIndex,
        texts: &[&str],
        threads: usize,
    ) -> PyResult<Rows<'py>> {
        let known = (names.words.view(), names.places.as_slice(), names.names);
        let finders = names.finders(&analyser.inner);
        let rows = py.detach(|| counted::count_rows::<T>(&analyser.inner, known, &finders, texts, threads));
        Ok(arrays(py, rows.map_err(raised)?))
    }
    let texts = texts.get()?;
    if real {
        rows_as::<f64>(py, analyser, names, &texts, threads)
    } else {
        rows_as::<i64>(py, analyser, names, &texts, threads)
    }
}

/// Weigh the values of rows in place; `norm` is `l1`, `l2` or nothing.
#[pyfunction]
pub fn weigh_rows<'py>(
    py: Python<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i32>,
    mut values: PyReadwriteArray1<'py, f64>,
    scale: PyReadonlyArray1<'py, f64>,
    norm: &str,
) -> PyResult<()> {
    let norm = norm_named(norm)?;
    let (starts, columns, values) = (starts.as_slice()?, columns.as_slice()?, values.as_slice_mut()?);
    let scale = scale.as_slice()?;
    py.detach(|| tfidf::weigh(starts, columns, values, scale, norm)).map_err(raised)
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
    let rows = py.detach(|| counted::hashed_rows(&analyser.inner, size, signed, &texts, threads));
    Ok(arrays(py, rows.map_err(raised)?))
}
