//! Packed rows, and loss and gradient of softmax regression over them.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1, PyReadwriteArray2};
use pyo3::prelude::*;
use textodds_core::compact::{self, Counts, Reader, Reading};
use textodds_core::slope::{self, Slope};
use textodds_core::weigh::Weighting;

use crate::errors::raised;
use crate::gather::{frequency_named, norm_of};

type Array<'py, T> = Bound<'py, PyArray1<T>>;
type RowArrays<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>, PyReadonlyArray1<'py, f64>);

/// Stream, factors of rows.
type PackedArrays<'py> = (PyReadonlyArray1<'py, u16>, PyReadonlyArray1<'py, f32>);

/// Frequency, flags of the terms of the second block (or none), number of terms.
type ReadingArrays<'py> = (String, PyReadonlyArray1<'py, u8>, usize);

fn reading<'a>(how: &'a ReadingArrays<'_>) -> PyResult<Reading<'a>> {
    let (frequency, second, terms) = how;
    Ok(Reading { frequency: frequency_named(frequency)?, second: second.as_slice()?, terms: *terms })
}

/// Rows of counts with their classes, packed: stream, and factors of rows.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn pack_rows<'py>(
    py: Python<'py>,
    rows: RowArrays<'py>,
    codes: PyReadonlyArray1<'py, i32>,
    frequency: &str,
    scale: PyReadonlyArray1<'py, f64>,
    unit: bool,
    blocks: usize,
    second: PyReadonlyArray1<'py, u8>,
) -> PyResult<(Array<'py, u16>, Array<'py, f32>)> {
    let (starts, terms, counts) = &rows;
    let rows = Counts { starts: starts.as_slice()?, terms: terms.as_slice()?, counts: counts.as_slice()? };
    let weighting = Weighting {
        frequency: frequency_named(frequency)?,
        scale: scale.as_slice()?,
        norm: norm_of(unit),
        blocks,
    };
    let (codes, second) = (codes.as_slice()?, second.as_slice()?);
    let packed = py.detach(|| compact::pack(rows, codes, &weighting, second)).map_err(raised)?;
    Ok((PyArray1::from_vec(py, packed.stream), PyArray1::from_vec(py, packed.factors)))
}

/// Classes, starts, terms and values of packed rows, the latter but for the scale of terms.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn unpack_rows<'py>(
    py: Python<'py>,
    packed: PackedArrays<'py>,
    how: ReadingArrays<'py>,
) -> PyResult<(Array<'py, i64>, Array<'py, i64>, Array<'py, i32>, Array<'py, f64>)> {
    let mut reader = Reader::new(packed.0.as_slice()?, packed.1.as_slice()?, reading(&how)?);
    let (mut codes, mut starts, mut terms, mut values) = (vec![], vec![0], vec![], vec![]);
    while let Some(code) = reader.next_row().map_err(raised)? {
        codes.push(code as i64);
        terms.extend(reader.terms.iter().map(|term| *term as i32));
        values.extend_from_slice(&reader.values);
        starts.push(terms.len() as i64);
    }
    Ok((
        PyArray1::from_vec(py, codes),
        PyArray1::from_vec(py, starts),
        PyArray1::from_vec(py, terms),
        PyArray1::from_vec(py, values),
    ))
}

/// Add the gradient at weights (V, M) and bias (M,) in place; the sums of losses and of entropies.
///
/// `costs` are the weights of rows, all 1 if there are none.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn softmax_slope<'py>(
    py: Python<'py>,
    packed: PackedArrays<'py>,
    how: ReadingArrays<'py>,
    costs: PyReadonlyArray1<'py, f64>,
    weights: PyReadonlyArray2<'py, f64>,
    bias: PyReadonlyArray1<'py, f64>,
    mut gradient: PyReadwriteArray2<'py, f64>,
    mut bias_gradient: PyReadwriteArray1<'py, f64>,
) -> PyResult<(f64, f64)> {
    let reading = reading(&how)?;
    let mut reader = Reader::new(packed.0.as_slice()?, packed.1.as_slice()?, reading);
    let costs = costs.as_slice()?;
    let mut slope = Slope {
        weights: weights.as_slice()?,
        bias: bias.as_slice()?,
        gradient: gradient.as_slice_mut()?,
        bias_gradient: bias_gradient.as_slice_mut()?,
    };
    py.detach(|| {
        slope.checked(reading.terms)?;
        slope::pass(&mut reader, costs, &mut slope)
    })
    .map_err(raised)
}
