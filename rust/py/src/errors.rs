//! From a kernel's error to the Python error a user meets.

use pyo3::exceptions::{PyEOFError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use textodds_core::Error;
use textodds_core::lines::LineError;

/// An error of `textodds.errors` with an optional hint.
pub fn error(class: &str, problem: &str, hint: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let raised = (|| {
            let class = py.import("textodds.errors")?.getattr(class)?;
            let named = PyDict::new(py);
            named.set_item("hint", hint)?;
            class.call((problem,), Some(&named))
        })();
        raised.map_or_else(|failure| failure, PyErr::from_value)
    })
}

/// The one place where kernel errors become Python errors.
pub fn raised(failure: Error) -> PyErr {
    let problem = failure.to_string();
    match failure {
        Error::Setting(_) | Error::Malformed(_) => error("InputError", &problem, None),
        Error::DocumentTooLong { .. } => {
            error("InputError", &problem, Some("cut it into parts, or leave it out"))
        }
        Error::TooManyTerms { .. } => error(
            "InputError",
            &problem,
            Some(
                "allow more memory (`--memory 8GB`), ask for fewer lengths of n-grams, or cut the text into parts",
            ),
        ),
        Error::NegativeCount { .. } => error(
            "NegativeCount",
            &problem,
            Some("only what was learned can be subtracted or forgotten; nothing was changed"),
        ),
        Error::Overflow => error("InputError", &problem, Some("use smaller weights")),
    }
}

/// Reading errors keep to Python's own classes, which the data layer words for the user.
pub fn reading(failure: LineError) -> PyErr {
    match failure {
        LineError::Io(failure) => failure.into(), // FileNotFoundError, PermissionError, …
        LineError::Truncated => PyEOFError::new_err("the gzip stream ends in the middle"),
        LineError::TooLong { line } => {
            PyValueError::new_err(format!("the record at line {line} is longer than 1 GiB"))
        }
        LineError::Header { line, reason } => {
            PyValueError::new_err(format!("its header, at line {line}, breaks the rules: {reason}"))
        }
        LineError::LoneReturn => PyValueError::new_err("its lines end in a carriage return (CR) alone"),
        LineError::Utf32 => PyValueError::new_err("the file is UTF-32, not UTF-8"),
        LineError::Utf16 => PyValueError::new_err("the file is UTF-16, not UTF-8"),
    }
}
