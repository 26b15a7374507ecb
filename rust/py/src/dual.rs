//! Softmax regression, by dual coordinate ascent and by descent, over arrays that Python owns.

use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1,
    PyReadwriteArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use textodds_core::descend::{self, Stream};
use textodds_core::dual::{self, Problem, Rows, State};
use textodds_core::exponential::exp;
use textodds_core::{labels, shares};

use crate::errors::{error, raised};

pub type RowArrays<'py> =
    (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>, PyReadonlyArray1<'py, f64>);

pub fn borrowed<'a>(rows: &'a RowArrays<'_>) -> PyResult<Rows<'a>> {
    let (starts, features, values) = rows;
    Ok(Rows { starts: starts.as_slice()?, features: features.as_slice()?, values: values.as_slice()? })
}

fn sized(fits: bool) -> PyResult<()> {
    if fits { Ok(()) } else { Err(error("InputError", "the arrays have the wrong sizes", None)) }
}

/// Add `Σ_i x_i coefficients_iᵀ` to the weights (V, M), in place; coefficients are (N, M).
#[pyfunction]
pub fn add_rows<'py>(
    py: Python<'py>,
    rows: RowArrays<'py>,
    coefficients: PyReadonlyArray2<'py, f64>,
    mut weights: PyReadwriteArray2<'py, f64>,
) -> PyResult<()> {
    let rows = borrowed(&rows)?;
    let [n, m] = [coefficients.shape()[0], coefficients.shape()[1]];
    let features = weights.shape()[0];
    sized(m > 0 && weights.shape()[1] == m && rows.starts.len() == n + 1)?;
    let (coefficients, weights) = (coefficients.as_slice()?, weights.as_slice_mut()?);
    py.detach(|| {
        rows.checked(features)?;
        dual::add_rows(rows, coefficients, weights, m);
        Ok(())
    })
    .map_err(raised)
}

/// Whether a row has a feature twice, of so many.
#[pyfunction]
pub fn repeats<'py>(py: Python<'py>, rows: RowArrays<'py>, features: usize) -> PyResult<bool> {
    let rows = borrowed(&rows)?;
    py.detach(|| {
        rows.is_within(features)?;
        Ok(rows.repeats(features))
    })
    .map_err(raised)
}

/// `‖x_i‖²` of each row, (N,).
#[pyfunction]
pub fn row_squares<'py>(py: Python<'py>, rows: RowArrays<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let rows = borrowed(&rows)?;
    rows.checked(usize::MAX).map_err(raised)?;
    let mut squares = vec![0.0; rows.starts.len() - 1];
    py.detach(|| dual::squares(rows, &mut squares));
    Ok(PyArray1::from_vec(py, squares))
}

/// `e^x` of each number, with the same bits on every processor: those of `NumPy` differ where there is AVX-512, and
/// dual ascent, which is led by them, would end elsewhere within its gap.
#[pyfunction]
pub fn exponentials<'py>(
    py: Python<'py>,
    of: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let of = of.as_slice()?;
    Ok(PyArray1::from_vec(py, py.detach(|| of.iter().map(|x| exp(*x)).collect())))
}

/// `log x` of each number, with the same bits on every processor.
#[pyfunction]
pub fn logarithms<'py>(
    py: Python<'py>,
    of: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let of = of.as_slice()?;
    Ok(PyArray1::from_vec(py, py.detach(|| of.iter().map(|x| x.ln()).collect())))
}

/// `Wᵀx_i + b` of each row, (N, M); `known` rows were found to be sound before, and are not checked again.
#[pyfunction]
#[pyo3(signature = (rows, weights, bias, known=false))]
pub fn row_scores<'py>(
    py: Python<'py>,
    rows: RowArrays<'py>,
    weights: PyReadonlyArray2<'py, f64>,
    bias: PyReadonlyArray1<'py, f64>,
    known: bool,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = borrowed(&rows)?;
    let [features, m] = [weights.shape()[0], weights.shape()[1]];
    let (weights, bias) = (weights.as_slice()?, bias.as_slice()?);
    sized(m > 0 && bias.len() == m && !rows.starts.is_empty())?;
    let n = rows.starts.len() - 1;
    let scores = py.detach(|| {
        if !known {
            rows.checked(features)?;
        }
        let mut scores = vec![0.0; n * m];
        dual::scores(rows, weights, bias, &mut scores);
        Ok(scores)
    });
    PyArray1::from_vec(py, scores.map_err(raised)?).reshape([n, m])
}

type Shares<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

/// The loss of each row (N,), and its probabilities (N, M), from scores (N, M) and a bias that is added to them.
///
/// With the same bits on every processor. One column is the log-odds of the second of two classes.
#[pyfunction]
pub fn softmax<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray2<'py, f64>,
    bias: PyReadonlyArray1<'py, f64>,
    codes: PyReadonlyArray1<'py, i64>,
) -> PyResult<Shares<'py>> {
    let [n, m] = [scores.shape()[0], scores.shape()[1]];
    let (scores, bias, codes) = (scores.as_slice()?, bias.as_slice()?, codes.as_slice()?);
    let classes = if m == 1 { 2 } else { m as i64 };
    sized(
        m > 0 && bias.len() == m && codes.len() == n && codes.iter().all(|code| (0..classes).contains(code)),
    )?;
    let (losses, shares) = py.detach(|| {
        let (mut losses, mut shares) = (vec![0.0; n], vec![0.0; n * m]);
        shares::softmax(scores, bias, codes, &mut losses, &mut shares);
        (losses, shares)
    });
    Ok((PyArray1::from_vec(py, losses), PyArray1::from_vec(py, shares).reshape([n, m])?))
}

/// One pass over the rows in the given order; weights, bias and logs are changed in place.
///
/// `known` rows were found to be sound before, and are not checked again: it would be a pass over them.
/// The sums of `c KL(q ‖ p)` and of `c` times the loss, over rows as they were found.
#[pyfunction]
#[pyo3(signature = (rows, codes, costs, squares, bias_square, weights, bias, logs, gaps, order, known=false))]
#[allow(clippy::too_many_arguments)]
pub fn dual_epoch<'py>(
    py: Python<'py>,
    rows: RowArrays<'py>,
    codes: PyReadonlyArray1<'py, i64>,
    costs: PyReadonlyArray1<'py, f64>,
    squares: PyReadonlyArray1<'py, f64>,
    bias_square: f64,
    mut weights: PyReadwriteArray1<'py, f64>,
    mut bias: PyReadwriteArray1<'py, f64>,
    mut logs: PyReadwriteArray1<'py, f64>,
    mut gaps: PyReadwriteArray1<'py, f64>,
    order: PyReadonlyArray1<'py, u32>,
    known: bool,
) -> PyResult<(f64, f64)> {
    let rows = borrowed(&rows)?;
    let (codes, costs, squares) = (codes.as_slice()?, costs.as_slice()?, squares.as_slice()?);
    let problem = Problem { rows, codes, costs, squares, bias_square };
    let mut state = State {
        weights: weights.as_slice_mut()?,
        bias: bias.as_slice_mut()?,
        logs: logs.as_slice_mut()?,
        gaps: gaps.as_slice_mut()?,
    };
    let order = order.as_slice()?;
    py.detach(|| {
        problem.checked(&state, order, known)?;
        Ok(dual::epoch(&problem, &mut state, order))
    })
    .map_err(raised)
}

/// One pass for several labels a row, of which row `i` has `labels[label_starts[i]..label_starts[i + 1]]`; all of the
/// state is changed in place, gaps and losses (M,) are those of the pass.
#[pyfunction]
#[pyo3(signature = (rows, label_rows, costs, squares, bias_square, weights, bias, logits, gaps, losses, order, known=false))]
#[allow(clippy::too_many_arguments)]
pub fn label_epoch<'py>(
    py: Python<'py>,
    rows: RowArrays<'py>,
    label_rows: (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>),
    costs: PyReadonlyArray1<'py, f64>,
    squares: PyReadonlyArray1<'py, f64>,
    bias_square: f64,
    mut weights: PyReadwriteArray2<'py, f64>,
    mut bias: PyReadwriteArray1<'py, f64>,
    mut logits: PyReadwriteArray2<'py, f64>,
    mut gaps: PyReadwriteArray1<'py, f64>,
    mut losses: PyReadwriteArray1<'py, f64>,
    order: PyReadonlyArray1<'py, u32>,
    known: bool,
) -> PyResult<()> {
    let problem = labels::Problem {
        rows: borrowed(&rows)?,
        label_starts: label_rows.0.as_slice()?,
        labels: label_rows.1.as_slice()?,
        costs: costs.as_slice()?,
        squares: squares.as_slice()?,
        bias_square,
    };
    let mut state = labels::State {
        weights: weights.as_slice_mut()?,
        bias: bias.as_slice_mut()?,
        logits: logits.as_slice_mut()?,
        gaps: gaps.as_slice_mut()?,
        losses: losses.as_slice_mut()?,
    };
    let order = order.as_slice()?;
    py.detach(|| {
        problem.checked(&state, order, known)?;
        labels::epoch(&problem, &mut state, order);
        Ok(())
    })
    .map_err(raised)
}

/// One pass of stochastic descent; weights, history and bias are changed in place. The sum of losses.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn descend_pass<'py>(
    py: Python<'py>,
    rows: RowArrays<'py>,
    codes: PyReadonlyArray1<'py, i64>,
    costs: PyReadonlyArray1<'py, f64>,
    mut weights: PyReadwriteArray2<'py, f32>,
    mut history: PyReadwriteArray1<'py, f32>,
    mut bias: PyReadwriteArray1<'py, f64>,
    mut bias_history: PyReadwriteArray1<'py, f64>,
    rate: f64,
) -> PyResult<f64> {
    let rows = borrowed(&rows)?;
    let (codes, costs) = (codes.as_slice()?, costs.as_slice()?);
    let mut stream = Stream {
        weights: weights.as_slice_mut()?,
        history: history.as_slice_mut()?,
        bias: bias.as_slice_mut()?,
        bias_history: bias_history.as_slice_mut()?,
        rate,
    };
    py.detach(|| {
        descend::checked(rows, codes, costs, &stream)?;
        Ok(descend::pass(rows, codes, costs, &mut stream))
    })
    .map_err(raised)
}
