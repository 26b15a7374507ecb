//! The tables of the tokeniser, for programs in other languages.

use pyo3::prelude::*;
use textodds_core::characters::{self, CLASSES, Mapping, Range};

type Tables = (Vec<Range>, Vec<Range>, Vec<Mapping>, Vec<Mapping>, Vec<Mapping>, Vec<(u32, u32, u32)>);

/// What the tokeniser knows of every character: kinds and combining classes as ranges, lower case, canonical and
/// compatible decompositions, and compositions.
#[pyfunction]
pub fn character_tables(py: Python<'_>) -> Tables {
    let found = py.detach(characters::characters);
    (found.kinds, found.combining, found.lower, found.canonical, found.compatible, found.composed)
}

/// The names of the classes of characters by number.
#[pyfunction]
pub fn character_classes() -> Vec<&'static str> {
    CLASSES.iter().map(|(name, _)| *name).chain(["space"]).collect()
}
