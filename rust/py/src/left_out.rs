//! Exact leave-one-out scores of naive Bayes, over arrays that Python owns.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use textodds_core::dual::Rows;
use textodds_core::left_out::{Counts, Without, bernoulli, check, complement, known, multinomial};

use crate::errors::{error, raised};

type Numbers<'py> = PyReadonlyArray1<'py, f64>;
type RowArrays<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>, Numbers<'py>);
/// Starts, class and count of cells, documents of words, totals of classes.
type CountArrays<'py> =
    (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>, Numbers<'py>, Numbers<'py>, Numbers<'py>);
/// Class, weight and fewest documents of a word, of each document left out.
type WithoutArrays<'py> = (PyReadonlyArray1<'py, u32>, Numbers<'py>, Numbers<'py>);

/// Scores (N, K) of each document under the counts of all others.
///
/// `model` is multinomial, binary (words count once), complement or bernoulli. The latter has `absent`, whose
/// absent words count: their sum by class (K,), and for the own class of each document (N,).
#[pyfunction]
#[pyo3(signature = (model, rows, counts, without, alpha, log_zero, absent=None, threads=1))]
#[allow(clippy::too_many_arguments)]
pub fn left_out<'py>(
    py: Python<'py>,
    model: &str,
    rows: RowArrays<'py>,
    counts: CountArrays<'py>,
    without: WithoutArrays<'py>,
    alpha: f64,
    log_zero: f64,
    absent: Option<(Numbers<'py>, Numbers<'py>)>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = Rows { starts: rows.0.as_slice()?, features: rows.1.as_slice()?, values: rows.2.as_slice()? };
    let counts = Counts {
        starts: counts.0.as_slice()?,
        class_of: counts.1.as_slice()?,
        counts: counts.2.as_slice()?,
        documents: counts.3.as_slice()?,
        totals: counts.4.as_slice()?,
    };
    let without = Without {
        codes: without.0.as_slice()?,
        weights: without.1.as_slice()?,
        least: without.2.as_slice()?,
    };
    let shape = [without.codes.len(), counts.totals.len()];
    let absent = match &absent {
        None => None,
        Some((by_class, own)) => Some((by_class.as_slice()?, own.as_slice()?)),
    };
    if absent.is_some_and(|(by_class, own)| by_class.len() != shape[1] || own.len() != shape[0]) {
        return Err(error("InputError", "the arrays have the wrong sizes", None));
    }
    let out = PyArray2::<f64>::zeros(py, shape, false);
    let mut writable = out.try_readwrite()?;
    let scores = writable.as_slice_mut()?;
    py.detach(|| {
        check(rows, counts, without, scores.len())?;
        let log = |x: f64| if x > 0.0 { x.ln() } else { log_zero };
        match (model, absent) {
            ("multinomial" | "binary", None) => {
                multinomial(rows, counts, without, alpha, model == "binary", log, threads, scores);
            }
            ("complement", None) => complement(rows, counts, without, alpha, log, scores),
            ("bernoulli", Some((by_class, own))) => {
                bernoulli(rows, counts, without, alpha, by_class, own, log, scores);
            }
            _ => return Err(textodds_core::Error::Malformed(format!("no such model: {model}"))),
        }
        Ok(())
    })
    .map_err(raised)?;
    drop(writable);
    Ok(out)
}

/// How many words of each document the model of all others knows, (N,), if it knows those that are in so many
/// documents at least: each once, or as often as it occurs.
#[pyfunction]
pub fn left_out_words<'py>(
    py: Python<'py>,
    rows: RowArrays<'py>,
    documents: Numbers<'py>,
    weights: Numbers<'py>,
    least: Numbers<'py>,
    presence: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let rows = Rows { starts: rows.0.as_slice()?, features: rows.1.as_slice()?, values: rows.2.as_slice()? };
    let (documents, weights, least) = (documents.as_slice()?, weights.as_slice()?, least.as_slice()?);
    let found = py.detach(|| known(rows, documents, weights, least, presence)).map_err(raised)?;
    Ok(PyArray1::from_vec(py, found))
}
