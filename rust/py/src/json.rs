//! `JsonLines`: rows from the usual objects of JSON lines, batch by batch; what is unusual is handed back.

use std::sync::{Mutex, MutexGuard};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use textodds_core::lines::{self, Keys, LabelKinds};

use crate::errors::error;
use crate::texts::Strings;

/// Takes bytes as they come.
#[pyclass(frozen, module = "textodds._kernels")]
pub struct JsonLines {
    lines: Mutex<lines::JsonLines>,
    keys: Mutex<Keys>,
}

/// Labels, and of each type (text, integer, boolean) the first row with such a label.
type Labels = (Strings, [Option<usize>; 3]);
type Line<'py> = (u64, Bound<'py, PyBytes>);
/// How many rows come before it, its number, and the line.
type Unusual<'py> = (usize, u64, Bound<'py, PyBytes>);
type Rows<'py> = (Strings, Option<Labels>, Option<Bound<'py, PyArray1<f64>>>, Vec<Unusual<'py>>);

fn held<T>(mutex: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    mutex.lock().map_err(|_| error("InputError", "the reader broke off in an earlier call", None))
}

#[pymethods]
impl JsonLines {
    #[new]
    fn new() -> Self {
        Self { lines: Mutex::default(), keys: Mutex::default() }
    }

    /// Say which keys hold text, label and weight.
    #[pyo3(signature = (text, label=None, weight=None))]
    fn select(&self, text: String, label: Option<String>, weight: Option<String>) -> PyResult<()> {
        let keys = Keys { text, label, weight };
        *held(&self.keys)? = keys.clone();
        held(&self.lines)?.select(keys);
        Ok(())
    }

    /// Take more bytes; none are the end.
    fn feed(&self, piece: &[u8]) -> PyResult<()> {
        held(&self.lines)?.feed(piece);
        Ok(())
    }

    /// Lines that were passed.
    #[getter]
    fn lines(&self) -> PyResult<u64> {
        Ok(held(&self.lines)?.lines())
    }

    /// Bytes that were taken and not yet passed.
    #[getter]
    fn waiting(&self) -> PyResult<usize> {
        Ok(held(&self.lines)?.rest().len())
    }

    /// Those bytes.
    fn rest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, held(&self.lines)?.rest()))
    }

    /// The next line that is not blank, and its number; it stays the next.
    fn peek<'py>(&self, py: Python<'py>) -> PyResult<Option<Line<'py>>> {
        let mut lines = held(&self.lines)?;
        Ok(lines.peek().map(|(number, line)| (number, PyBytes::new(py, line))))
    }

    /// Rows of about `size` bytes, and lines that Python must judge; nothing if it takes more bytes to tell.
    fn take<'py>(
        &self,
        py: Python<'py>,
        size: usize,
        most: usize,
        flush: bool,
    ) -> PyResult<Option<Rows<'py>>> {
        let keys = held(&self.keys)?.clone();
        let next = py.detach(|| Ok::<_, PyErr>(held(&self.lines)?.take(size, most, flush)))?;
        Ok(next.map(|(rows, unusual)| {
            let LabelKinds { text, integer, boolean } = rows.kinds;
            let labels = keys.label.map(|_| (rows.labels.into(), [text, integer, boolean]));
            let weights = keys.weight.map(|_| PyArray1::from_vec(py, rows.weights));
            let unusual = unusual.iter().map(|each| (each.before, each.number, PyBytes::new(py, &each.line)));
            (rows.texts.into(), labels, weights, unusual.collect())
        }))
    }
}
