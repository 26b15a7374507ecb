//! Sparse rows along the directions of classes, over arrays that Python owns.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use textodds_core::directions::{self, Directions};

use crate::dual::{RowArrays, borrowed};
use crate::errors::raised;

/// Words (W,), basis (W R,), `b_r · μ` (R,), what squares are worth (R,).
type DirectionArrays<'py> = (
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, f32>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
);

/// `Σ_r worth_r (b_r · x_i − centre_r)²` of each row, (N,), over so many words.
#[pyfunction]
pub fn squares_along<'py>(
    py: Python<'py>,
    rows: RowArrays<'py>,
    directions: DirectionArrays<'py>,
    words: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let rows = borrowed(&rows)?;
    let (own, basis, centre, worth) = &directions;
    let own = Directions {
        words: own.as_slice()?,
        basis: basis.as_slice()?,
        centre: centre.as_slice()?,
        worth: worth.as_slice()?,
    };
    let found = py.detach(|| directions::squares_along(rows, &own, words)).map_err(raised)?;
    Ok(PyArray1::from_vec(py, found))
}

/// Products of N rows with K others, (N, K), which are given word by word.
#[pyfunction]
pub fn row_products<'py>(
    py: Python<'py>,
    rows: RowArrays<'py>,
    turned: RowArrays<'py>,
    classes: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (rows, turned) = (borrowed(&rows)?, borrowed(&turned)?);
    let found = py.detach(|| directions::products(rows, turned, classes)).map_err(raised)?;
    PyArray1::from_vec(py, found).reshape([rows.starts.len() - 1, classes])
}
