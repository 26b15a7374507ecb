//! `Table`: a table that is changed by rows, and of which every version stays as it was.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use textodds_core::pages::Pages;

use crate::errors::error;

/// Rows of numbers over an array that Python owns, and that nobody changes.
#[pyclass(frozen, module = "textodds._kernels")]
pub struct Table {
    pub(crate) base: Py<PyArray1<f64>>,
    pub(crate) pages: Pages,
}

fn refused(problem: &str) -> PyErr {
    error("InputError", problem, None)
}

#[pymethods]
impl Table {
    /// The table of a flat array with so many columns.
    #[new]
    fn new(py: Python<'_>, base: Py<PyArray1<f64>>, width: usize) -> PyResult<Self> {
        let size = base.bind(py).readonly().as_slice()?.len();
        if width == 0 || !size.is_multiple_of(width) {
            return Err(refused(&format!("{size} numbers are no table of {width} columns")));
        }
        Ok(Self { base, pages: Pages::new(size / width, width) })
    }

    fn __len__(&self) -> usize {
        self.pages.len()
    }

    /// The rows with these numbers.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        numbers: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let base = self.base.bind(py).readonly();
        let base = base.as_slice()?;
        let numbers = numbers.as_slice()?;
        let mut rows = Vec::with_capacity(numbers.len() * self.pages.width());
        for number in numbers {
            let row = usize::try_from(*number).ok().filter(|row| *row < self.pages.len());
            let row = row.ok_or_else(|| refused(&format!("there is no row {number}")))?;
            rows.extend_from_slice(self.pages.row(base, row));
        }
        PyArray1::from_vec(py, rows).reshape([numbers.len(), self.pages.width()])
    }

    /// The table with other rows under these numbers; those behind its last are new, and come in order.
    fn changed(
        &self,
        py: Python<'_>,
        numbers: PyReadonlyArray1<'_, i64>,
        rows: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Self> {
        let base = self.base.bind(py).readonly();
        let (base, numbers) = (base.as_slice()?, numbers.as_slice()?);
        if rows.shape() != [numbers.len(), self.pages.width()] {
            return Err(refused("there is not one row of the table's width for each number"));
        }
        let mut pages = self.pages.clone();
        for (number, row) in numbers.iter().zip(rows.as_slice()?.chunks_exact(pages.width())) {
            let at = usize::try_from(*number).ok().filter(|at| *at <= pages.len());
            pages.set(base, at.ok_or_else(|| refused(&format!("there is no row {number}")))?, row);
        }
        Ok(Self { base: self.base.clone_ref(py), pages })
    }
}
