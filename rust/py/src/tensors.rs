//! `layout`: where the tensors of a model file lie; `xxh64`: their checksums.

use std::collections::HashMap;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use textodds_core::tensors;

use crate::errors::error;

type Place = (String, String, Vec<usize>, usize, usize);

/// The metadata of a model file, and name, type, shape, start and end of each tensor.
#[pyfunction]
pub fn layout(file: PyReadonlyArray1<'_, u8>) -> PyResult<(HashMap<String, String>, Vec<Place>)> {
    let (metadata, places) =
        tensors::layout(file.as_slice()?).map_err(|problem| error("ModelFileError", &problem, None))?;
    let places = places.into_iter().map(|at| (at.name, at.dtype, at.shape, at.start, at.end));
    Ok((metadata, places.collect()))
}

/// XXH64 of some bytes, seed 0.
#[pyfunction]
pub fn xxh64(py: Python<'_>, content: PyReadonlyArray1<'_, u8>) -> PyResult<u64> {
    let content = content.as_slice()?;
    Ok(py.detach(|| tensors::xxh64(content)))
}
