//! `LineReader`: CSV, TSV, fastText lines and plain lines, batch by batch.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use numpy::PyArray1;
use pyo3::prelude::*;
use textodds_core::lines::{Columns, Kind, Reader};

use crate::errors::{error, reading};
use crate::texts::Strings;

/// Reads a file, or standard input for `-`.
#[pyclass(frozen, module = "textodds._kernels")]
pub struct LineReader {
    reader: Mutex<Reader>,
    bytes_read: Arc<AtomicU64>,
    batch_bytes: usize,
    labelled: Mutex<Columns>,
    kind: Kind,
}

type Reject = (u64, String, Vec<u8>);
type Table<'py> = (Vec<Strings>, Bound<'py, PyArray1<u64>>, Vec<Reject>);
type Rows<'py> = (Strings, Option<Strings>, Option<Bound<'py, PyArray1<f64>>>, Vec<Reject>);

fn poisoned<T>(_: T) -> PyErr {
    error("InputError", "the reader broke off in an earlier call", None)
}

#[pymethods]
impl LineReader {
    #[new]
    #[pyo3(signature = (path, kind, delimiter, quoting, header, batch_bytes = 4 << 20))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        kind: &str,
        delimiter: Option<&str>,
        quoting: bool,
        header: bool,
        batch_bytes: usize,
    ) -> PyResult<Self> {
        let delimiter = match delimiter.map(str::as_bytes) {
            None => None,
            Some(&[byte]) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Some(byte),
            Some(_) => {
                return Err(error("InputError", "a delimiter is one ASCII character", None));
            }
        };
        let kind = match kind {
            "delimited" => Kind::Delimited { delimiter, quoting, header },
            "fasttext" => Kind::FastText,
            "fasttext-sets" => Kind::FastTextSets,
            "lines" => Kind::Lines,
            other => {
                return Err(error("InputError", &format!("unknown kind of lines `{other}`"), None));
            }
        };
        let reader = py.detach(|| Reader::open(&path, kind)).map_err(reading)?;
        let bytes_read = reader.bytes_read();
        let labelled = Mutex::new(Columns::default());
        Ok(Self { reader: Mutex::new(reader), bytes_read, batch_bytes: batch_bytes.max(1), labelled, kind })
    }

    /// Names of the columns, or numbers from 1; none for an empty file or other kinds.
    #[getter]
    fn columns(&self) -> PyResult<Vec<String>> {
        Ok(self.reader.lock().map_err(poisoned)?.names().to_vec())
    }

    /// Bytes taken from the file so far; may be asked while another thread reads.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Say which columns hold text, label and weight.
    #[pyo3(signature = (text, label=None, weight=None))]
    fn select(&self, text: usize, label: Option<usize>, weight: Option<usize>) -> PyResult<()> {
        let columns = Columns { text, label, weight };
        *self.labelled.lock().map_err(poisoned)? = columns;
        self.reader.lock().map_err(poisoned)?.select(columns);
        Ok(())
    }

    /// Texts, labels, weights and rejected rows; nothing at the end.
    fn next_batch<'py>(&self, py: Python<'py>, skip_bad: bool) -> PyResult<Option<Rows<'py>>> {
        let columns = *self.labelled.lock().map_err(poisoned)?;
        let outcome = py.detach(|| {
            let mut reader = self.reader.lock().map_err(poisoned)?;
            reader.next_batch(self.batch_bytes, skip_bad).map_err(reading)
        })?;
        Ok(outcome.map(|batch| {
            let labelled =
                matches!(self.kind, Kind::FastText | Kind::FastTextSets) || columns.label.is_some();
            let rejects = batch.rejects.into_iter().map(|bad| (bad.line, bad.reason, bad.row));
            (
                batch.texts.into(),
                labelled.then(|| batch.labels.into()),
                columns.weight.map(|_| PyArray1::from_vec(py, batch.weights)),
                rejects.collect(),
            )
        }))
    }

    /// Say which columns make up a table.
    fn select_columns(&self, positions: Vec<usize>) -> PyResult<()> {
        let mut reader = self.reader.lock().map_err(poisoned)?;
        let width = reader.names().len();
        for (i, position) in positions.iter().enumerate() {
            if *position >= width || positions[..i].contains(position) {
                let problem = format!("column {position} of {width} is not there, or is named twice");
                return Err(error("InputError", &problem, None));
            }
        }
        reader.select_columns(&positions);
        Ok(())
    }

    /// Columns of at most `most` rows, the line of each row, and rejected rows; nothing at the end.
    fn next_table<'py>(&self, py: Python<'py>, most: usize, skip_bad: bool) -> PyResult<Option<Table<'py>>> {
        let outcome = py.detach(|| {
            let mut reader = self.reader.lock().map_err(poisoned)?;
            reader.next_table(self.batch_bytes, most.max(1), skip_bad).map_err(reading)
        })?;
        Ok(outcome.map(|table| {
            let rejects = table.rejects.into_iter().map(|bad| (bad.line, bad.reason, bad.row));
            (
                table.columns.into_iter().map(Strings::from).collect(),
                PyArray1::from_vec(py, table.lines),
                rejects.collect(),
            )
        }))
    }
}
