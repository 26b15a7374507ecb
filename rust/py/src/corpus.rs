//! Documents kept compactly: encode, decode, hash.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use textodds_core::corpus::{self, EncodedView};

use crate::errors::raised;
use crate::texts::{Strings, Texts};

type Encoded<'py> = (
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u64>>,
);

/// Arena, ends of its pieces, codes and starts of the texts; `between` stands between most words.
#[pyfunction]
pub fn encode_texts(py: Python<'_>, texts: Texts, between: u8) -> PyResult<Encoded<'_>> {
    let texts = texts.get()?;
    Ok(arrays(py, py.detach(|| corpus::encode(&texts, between)).map_err(raised)?))
}

/// Some texts of several stores that `encode_texts` made, each by its store and its row there, in one store.
#[pyfunction]
pub fn join_texts<'py>(
    py: Python<'py>,
    stores: Vec<Borrowed<'py>>,
    which: PyReadonlyArray1<'py, i64>,
    rows: PyReadonlyArray1<'py, i64>,
) -> PyResult<Encoded<'py>> {
    let views = stores.iter().map(view).collect::<PyResult<Vec<_>>>()?;
    let texts: Vec<_> = numbers(&which)?.zip(numbers(&rows)?).collect();
    Ok(arrays(py, py.detach(|| corpus::join(&views, &texts)).map_err(raised)?))
}

type Borrowed<'py> = (
    PyReadonlyArray1<'py, u8>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u8>,
    PyReadonlyArray1<'py, u64>,
);

fn view<'a>((arena, ends, codes, starts): &'a Borrowed<'_>) -> PyResult<EncodedView<'a>> {
    Ok(EncodedView {
        arena: arena.as_slice()?,
        ends: ends.as_slice()?,
        codes: codes.as_slice()?,
        starts: starts.as_slice()?,
    })
}

fn numbers<'a>(rows: &'a PyReadonlyArray1<'_, i64>) -> PyResult<impl Iterator<Item = usize> + 'a> {
    Ok(rows.as_slice()?.iter().map(|row| usize::try_from(*row).unwrap_or(usize::MAX)))
}

fn arrays(py: Python<'_>, found: corpus::Encoded) -> Encoded<'_> {
    (
        PyArray1::from_vec(py, found.arena),
        PyArray1::from_vec(py, found.ends),
        PyArray1::from_vec(py, found.codes),
        PyArray1::from_vec(py, found.starts),
    )
}

/// The texts in some rows of what `encode_texts` made.
#[pyfunction]
pub fn decode_texts<'py>(
    py: Python<'py>,
    arena: PyReadonlyArray1<'py, u8>,
    ends: PyReadonlyArray1<'py, u64>,
    codes: PyReadonlyArray1<'py, u8>,
    starts: PyReadonlyArray1<'py, u64>,
    between: u8,
    rows: PyReadonlyArray1<'py, i64>,
) -> PyResult<Strings> {
    let store = (arena, ends, codes, starts);
    let (view, rows) = (view(&store)?, numbers(&rows)?.collect::<Vec<_>>());
    Ok(py.detach(|| corpus::decode(&view, between, &rows)).map_err(raised)?.into())
}

/// The hash of each text, by which samples are drawn.
#[pyfunction]
#[pyo3(signature = (texts, threads=1))]
pub fn text_hashes(py: Python<'_>, texts: Texts, threads: usize) -> PyResult<Bound<'_, PyArray1<u64>>> {
    let texts = texts.get()?;
    Ok(PyArray1::from_vec(py, py.detach(|| corpus::hashes(&texts, threads))))
}
