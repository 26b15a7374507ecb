//! `Gatherer` and `Gathered`: texts as sparse rows over a vocabulary found on the way.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use textodds_core::gather;
use textodds_core::rows;
use textodds_core::tfidf::Norm;
use textodds_core::weigh::{Frequency, Weighting};

use crate::analyser::Analyser;
use crate::errors::{error, raised};
use crate::texts::Texts;

type Words<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u32>>);
type Rows<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>);

/// Gathers batches of texts.
#[pyclass(module = "textodds._kernels")]
pub struct Gatherer {
    inner: Option<gather::Gatherer>,
}

fn finished() -> PyErr {
    error("InputError", "these documents were gathered already", None)
}

#[pymethods]
impl Gatherer {
    #[new]
    fn new(analyser: &Analyser, threads: usize) -> Self {
        Self { inner: Some(gather::Gatherer::new(analyser.inner.clone(), threads)) }
    }

    /// Gather a batch.
    fn add(&mut self, py: Python<'_>, texts: Texts) -> PyResult<()> {
        let inner = self.inner.as_mut().ok_or_else(finished)?;
        let texts = texts.get()?;
        py.detach(|| inner.add(&texts)).map_err(raised)
    }

    /// Sparse rows of what was added since the last call, under numbers that stay.
    fn take_rows<'py>(
        &mut self,
        py: Python<'py>,
        frequency: &str,
        unit: bool,
        blocks: usize,
    ) -> PyResult<Rows<'py>> {
        let inner = self.inner.as_mut().ok_or_else(finished)?;
        let weighting =
            Weighting { frequency: frequency_named(frequency)?, scale: &[], norm: norm_of(unit), blocks };
        let (starts, features, values) = py.detach(|| inner.take_rows(&weighting)).map_err(raised)?;
        Ok((PyArray1::from_vec(py, starts), PyArray1::from_vec(py, features), PyArray1::from_vec(py, values)))
    }

    /// The vocabulary so far: keys, arena, and the number of each word in `take_rows`.
    fn vocabulary<'py>(&self, py: Python<'py>) -> PyResult<Words<'py>> {
        let inner = self.inner.as_ref().ok_or_else(finished)?;
        let (keys, arena, numbers) = py.detach(|| inner.vocabulary());
        Ok((PyArray1::from_vec(py, keys), PyArray1::from_vec(py, arena), PyArray1::from_vec(py, numbers)))
    }

    /// All that was gathered.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Gathered> {
        let inner = self.inner.take().ok_or_else(finished)?;
        Ok(Gathered { inner: py.detach(|| inner.finish()).map_err(raised)? })
    }
}

/// Documents and their vocabulary.
#[pyclass(module = "textodds._kernels")]
pub struct Gathered {
    inner: gather::Gathered,
}

#[pymethods]
impl Gathered {
    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// Documents that hold each term, by provisional number.
    #[pyo3(signature = (weights=None))]
    fn documents<'py>(
        &self,
        py: Python<'py>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        Ok(PyArray1::from_vec(py, py.detach(|| self.inner.documents(weights)).map_err(raised)?))
    }

    /// Occurrences of each term, by provisional number.
    #[pyo3(signature = (weights=None))]
    fn occurrences<'py>(
        &self,
        py: Python<'py>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        Ok(PyArray1::from_vec(py, py.detach(|| self.inner.occurrences(weights)).map_err(raised)?))
    }

    /// Weight of the documents of each class that hold each kept term, (V, K).
    fn by_class<'py>(
        &self,
        py: Python<'py>,
        codes: PyReadonlyArray1<'py, i64>,
        weights: PyReadonlyArray1<'py, f64>,
        classes: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (codes, weights) = (codes.as_slice()?, weights.as_slice()?);
        let table = py.detach(|| self.inner.by_class(codes, weights, classes)).map_err(raised)?;
        let words = table.len() / classes.max(1);
        PyArray1::from_vec(py, table).reshape([words, classes])
    }

    /// The names of terms by provisional number.
    fn names(&self, numbers: PyReadonlyArray1<'_, u32>) -> PyResult<Vec<String>> {
        Ok(self.inner.names(numbers.as_slice()?))
    }

    /// Keep some terms, in canonical order: keys, arena, and the provisional number of each.
    fn select<'py>(&mut self, py: Python<'py>, keep: PyReadonlyArray1<'py, bool>) -> PyResult<Words<'py>> {
        let keep = keep.as_slice()?;
        let inner = &mut self.inner;
        let (keys, arena, numbers) = py.detach(|| inner.select(keep)).map_err(raised)?;
        Ok((PyArray1::from_vec(py, keys), PyArray1::from_vec(py, arena), PyArray1::from_vec(py, numbers)))
    }

    /// Sparse rows of the kept terms: starts, numbers, values.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        frequency: &str,
        scale: PyReadonlyArray1<'py, f64>,
        unit: bool,
        blocks: usize,
    ) -> PyResult<Rows<'py>> {
        let weighting = Weighting {
            frequency: frequency_named(frequency)?,
            scale: scale.as_slice()?,
            norm: norm_of(unit),
            blocks,
        };
        let (starts, features, values) = py.detach(|| self.inner.rows(&weighting)).map_err(raised)?;
        Ok((PyArray1::from_vec(py, starts), PyArray1::from_vec(py, features), PyArray1::from_vec(py, values)))
    }
}

/// Sparse rows over hash buckets.
#[pyfunction]
pub fn bucket_rows<'py>(
    py: Python<'py>,
    analyser: &Analyser,
    texts: Texts,
    frequency: &str,
    unit: bool,
) -> PyResult<Rows<'py>> {
    let texts = texts.get()?;
    let weighting =
        Weighting { frequency: frequency_named(frequency)?, scale: &[], norm: norm_of(unit), blocks: 1 };
    let (starts, features, values) =
        py.detach(|| rows::bucket_rows(&analyser.inner, &weighting, &texts)).map_err(raised)?;
    Ok((PyArray1::from_vec(py, starts), PyArray1::from_vec(py, features), PyArray1::from_vec(py, values)))
}

/// What a number of occurrences counts, by its name.
pub fn frequency_named(name: &str) -> PyResult<Frequency> {
    match name {
        "count" => Ok(Frequency::Count),
        "log" => Ok(Frequency::Log),
        "binary" => Ok(Frequency::Binary),
        other => Err(error("InputError", &format!("unknown term frequency `{other}`"), None)),
    }
}

/// The length of that name; nothing stands for that which rows have.
pub fn norm_named(name: &str) -> PyResult<Norm> {
    match name {
        "" => Ok(Norm::None),
        "l1" => Ok(Norm::L1),
        "l2" => Ok(Norm::L2),
        other => Err(error("InputError", &format!("unknown norm `{other}`"), None)),
    }
}

/// Rows of length 1, or as they are.
pub fn norm_of(unit: bool) -> Norm {
    if unit { Norm::L2 } else { Norm::None }
}
