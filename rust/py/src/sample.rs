//! `Sample`: texts of smallest hash.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use textodds_core::sample::{self, Copies};

use crate::errors::raised;
use crate::texts::Texts;

/// A fair sample of texts that depends on the texts alone.
#[pyclass(module = "textodds._kernels")]
pub struct Sample {
    inner: sample::Sample,
}

#[pymethods]
impl Sample {
    #[new]
    fn new(most: usize) -> Self {
        Self { inner: sample::Sample::new(most) }
    }

    /// Let a batch of texts, labels and weights pass, and the hashes of the texts.
    #[pyo3(signature = (texts, labels, weights, hashes))]
    fn add(
        &mut self,
        py: Python<'_>,
        texts: Texts,
        labels: Texts,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        hashes: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let (texts, labels) = (texts.get()?, labels.get()?);
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let (sample, hashes) = (&mut self.inner, hashes.as_slice()?);
        py.detach(|| sample.add(&texts, &labels, weights, hashes)).map_err(raised)
    }

    /// Take in another sample.
    fn merge(&mut self, other: &Self) {
        self.inner.merge(&other.inner);
    }

    /// Let a text pass that came in so many rows of a total weight, in units of 2^-30.
    fn put(&mut self, text: &str, label: &str, rows: u64, weight: u64) {
        self.inner.put(text, label, Copies { rows, weight });
    }

    /// Whether every text that came is in the sample.
    #[getter]
    fn is_whole(&self) -> bool {
        self.inner.is_whole()
    }

    /// Text, label, rows and their total weight in units of 2^-30, in the order of hashes, by columns.
    #[allow(clippy::type_complexity)]
    fn columns(&self) -> (Vec<&str>, Vec<&str>, Vec<u64>, Vec<u64>) {
        let rows = self.inner.rows();
        rows.map(|(text, label, Copies { rows, weight })| (text, label, rows, weight)).collect()
    }
}
