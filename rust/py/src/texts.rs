//! Texts in: lists of `str` and Arrow string arrays, without copying. Texts out: Arrow.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, from_ffi, to_ffi};
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayRef, GenericByteArray, LargeStringArray, make_array};
use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyCapsule, PyList, PyString, PyTuple};
use textodds_core::prepare::{Accents, Preparation};
use textodds_core::{letters, lines, tokenise};

use crate::errors::error;

/// Texts borrowed from Python, safe to read while the GIL is released.
#[derive(Clone)]
pub enum Texts {
    /// Each string is held by a reference of its own.
    List(Arc<Vec<PyBackedStr>>),
    /// The array is held by the reference that Arrow's C interface hands over.
    Arrow(ArrayRef),
}

impl<'py> FromPyObject<'_, 'py> for Texts {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(strings) = object.cast::<Strings>() {
            return Ok(Self::Arrow(strings.get().array.clone()));
        }
        if let Ok(held) = object.cast::<Held>() {
            return Ok(held.get().texts.clone());
        }
        if let Ok(list) = object.cast::<PyList>() {
            return strings(list.iter(), list.len());
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return strings(tuple.iter(), tuple.len());
        }
        if object.hasattr("__arrow_c_array__")? {
            return imported(&object);
        }
        let kind = object.get_type().name()?;
        Err(error(
            "InputError",
            &format!("texts came as `{kind}`, which cannot be read"),
            Some("give a list of str or an Arrow string array"),
        ))
    }
}

fn strings<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, length: usize) -> PyResult<Texts> {
    let mut texts = Vec::with_capacity(length);
    for (row, item) in items.enumerate() {
        texts.push(item.extract::<PyBackedStr>().map_err(|_| not_text(row, &item))?);
    }
    Ok(Texts::List(Arc::new(texts)))
}

/// Whether all of some values are `str`, none of a class derived from it, of whole Unicode characters.
#[pyfunction]
pub fn are_texts(values: &Bound<'_, PyList>) -> bool {
    values.iter().all(|value| value.cast_exact::<PyString>().is_ok_and(|text| text.to_str().is_ok()))
}

/// One text.
pub fn one_text(item: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    item.extract::<PyBackedStr>().map_err(|_| not_text(0, item))
}

fn not_text(row: usize, item: &Bound<'_, PyAny>) -> PyErr {
    let problem = if item.is_instance_of::<PyString>() {
        format!("text {row} holds a lone surrogate, which is no character")
    } else {
        let kind = item.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
        format!("text {row} is of type `{kind}`, not str")
    };
    error("InputError", &problem, Some("each text must be a str of whole Unicode characters"))
}

fn imported(object: &Bound<'_, PyAny>) -> PyResult<Texts> {
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
        object.call_method0("__arrow_c_array__")?.extract()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: the capsules' names say what they hold, the PyCapsule protocol of Arrow that the
    // memory is valid; `from_raw` takes the array out and leaves the capsule marked as released.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    let data = data.map_err(|failure| error("InputError", &failure.to_string(), None))?;
    Ok(Texts::Arrow(make_array(data)))
}

impl Texts {
    /// Every text, checked to be UTF-8.
    pub fn get(&self) -> PyResult<Vec<&str>> {
        match self {
            Self::List(texts) => Ok(texts.iter().map(|text| &**text).collect()),
            Self::Arrow(array) => checked(array),
        }
    }
}

fn checked(array: &ArrayRef) -> PyResult<Vec<&str>> {
    if array.null_count() > 0 {
        let row = (0..array.len()).find(|i| array.is_null(*i)).unwrap_or(0);
        return Err(error("InputError", &format!("text {row} is null"), Some("leave such rows out")));
    }
    match array.data_type() {
        DataType::Utf8 => from_bytes(array.as_string::<i32>()),
        DataType::LargeUtf8 => from_bytes(array.as_string::<i64>()),
        DataType::Utf8View => {
            let views = array.as_string_view();
            let bytes = (0..views.len()).map(|i| view_bytes(views, i));
            bytes.enumerate().map(|(row, bytes)| utf8(row, bytes)).collect()
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            if dictionary.values().is_empty() {
                return Ok(Vec::new());
            }
            let values = checked(dictionary.values())?;
            Ok(dictionary.normalized_keys().into_iter().map(|key| values[key]).collect())
        }
        other => Err(error(
            "InputError",
            &format!("texts came as Arrow `{other}`"),
            Some("cast the column to string first"),
        )),
    }
}

fn from_bytes<T: ByteArrayType>(array: &GenericByteArray<T>) -> PyResult<Vec<&str>> {
    // Offsets and bytes, not `value`: nothing has checked yet that the bytes are UTF-8.
    let (offsets, bytes) = (array.value_offsets(), array.value_data());
    let ranges = offsets.windows(2).map(|pair| pair[0].as_usize()..pair[1].as_usize());
    let (first, last) = (offsets[0].as_usize(), offsets[offsets.len() - 1].as_usize());
    // Checked at once they cost half as much as one by one, which is how the one that is bad is found.
    if let Ok(all) = std::str::from_utf8(&bytes[first..last]) {
        let each = ranges.clone().map(|range| all.get(range.start - first..range.end - first));
        if let Some(texts) = each.collect() {
            return Ok(texts);
        }
    }
    ranges.enumerate().map(|(row, range)| utf8(row, &bytes[range])).collect()
}

fn view_bytes(array: &arrow_array::StringViewArray, i: usize) -> &[u8] {
    let view = &array.views()[i];
    let length = *view as u32 as usize;
    if length <= 12 {
        return &bytes_of(view)[4..4 + length];
    }
    let (buffer, offset) = ((*view >> 64) as u32 as usize, (*view >> 96) as usize);
    &array.data_buffers()[buffer][offset..offset + length]
}

fn bytes_of(view: &u128) -> &[u8; 16] {
    // SAFETY: sixteen initialised bytes, read as such; alignment of bytes is one.
    unsafe { &*std::ptr::from_ref(view).cast() }
}

fn utf8(row: usize, bytes: &[u8]) -> PyResult<&str> {
    std::str::from_utf8(bytes).map_err(|failure| {
        let problem = format!("text {row} is not UTF-8: byte {}", failure.valid_up_to());
        error("InputError", &problem, None)
    })
}

/// An Arrow array of strings, made in Rust.
#[pyclass(frozen, module = "textodds._kernels")]
pub struct Strings {
    array: ArrayRef,
}

impl From<lines::Strings> for Strings {
    fn from(strings: lines::Strings) -> Self {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(strings.offsets));
        let bytes = Buffer::from_vec(strings.bytes);
        // SAFETY: the reader has checked each string to be UTF-8, and strings end where they do.
        let array = unsafe { LargeStringArray::new_unchecked(offsets, bytes, None) };
        Self { array: Arc::new(array) }
    }
}

#[pymethods]
impl Strings {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn to_list(&self) -> PyResult<Vec<&str>> {
        checked(&self.array)
    }

    /// The texts at some positions.
    fn take(&self, rows: Vec<usize>) -> PyResult<Vec<&str>> {
        let texts = checked(&self.array)?;
        let taken: Option<Vec<&str>> = rows.iter().map(|row| texts.get(*row).copied()).collect();
        taken.ok_or_else(|| error("InputError", "a row is beyond the last text", None))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema); // a wish that a producer may leave unfulfilled
        let (array, schema) = to_ffi(&self.array.to_data())
            .map_err(|failure| error("InputError", &failure.to_string(), None))?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

/// Texts that were looked at once, to be used more than once.
#[pyclass(frozen, module = "textodds._kernels")]
pub struct Held {
    texts: Texts,
}

#[pymethods]
impl Held {
    #[new]
    fn new(texts: Texts) -> PyResult<Self> {
        texts.get()?;
        Ok(Self { texts })
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.texts.get()?.len())
    }

    /// Which blocks of 4,096 characters the texts have characters of, but for ASCII.
    fn blocks(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let texts = self.texts.get()?;
        let mut has = vec![false; 0x110];
        py.detach(|| {
            for text in texts.iter().map(|text| text.as_bytes()).filter(|text| !text.is_ascii()) {
                has[0] |= text.iter().any(|byte| (0xC2..0xE0).contains(byte));
                if !text.iter().any(|byte| *byte >= 0xE0) {
                    continue;
                }
                for pair in text.windows(2) {
                    match pair[0] {
                        0xE0..0xF0 => has[usize::from(pair[0] & 0xF)] = true,
                        0xF0.. => has[usize::from(pair[0] & 7) << 6 | usize::from(pair[1] & 0x3F)] = true,
                        _ => {}
                    }
                }
            }
        });
        Ok((0..).zip(has).filter_map(|(block, has)| has.then_some(block)).collect())
    }

    /// Whether one of these characters, none of them ASCII, is in a text.
    fn holds(&self, py: Python<'_>, characters: &str) -> PyResult<bool> {
        let texts = self.texts.get()?;
        let last = characters.chars().max().map_or(0, |c| c as usize);
        let mut wanted = vec![false; last + 1];
        characters.chars().for_each(|c| wanted[c as usize] = true);
        let is_wanted = |c: char| wanted.get(c as usize).is_some_and(|wanted| *wanted);
        // Most text, Latin-1 with it, has no byte that could begin one of them.
        let first = characters.chars().min().map_or(0xFF, |c| c.encode_utf8(&mut [0; 4]).as_bytes()[0]);
        let may_hold = |text: &str| text.bytes().fold(0, u8::max) >= first;
        Ok(py.detach(|| texts.iter().any(|text| may_hold(text) && text.chars().any(is_wanted))))
    }
}

/// The characters of which the caller knows otherwise than the kernels: whether they belong to words, are
/// white space, what their lower case is and that of a sigma beside them, what is left without accents.
///
/// One of each for each character: 0 or 1, 0 or 1, and the last two with a line feed between. Lower cases
/// are those of [`beside_sigma`].
#[pyfunction]
pub fn disputed(characters: &str, words: &[u8], spaces: &[u8], lowered: &str, stripped: &str) -> String {
    let without = Preparation { form: None, lower: false, accents: Accents::Strip };
    let mut plain = String::new();
    let mut agreed = |c: char, word: u8, space: u8, lower: &str, bare: &str| {
        plain.clear();
        without.apply(c.encode_utf8(&mut [0; 4]), &mut plain);
        letters::is_word(c) == (word == 1)
            && tokenise::is_space(c) == (space == 1)
            && beside_sigma(c).to_lowercase() == lower
            && plain == bare
    };
    let flags = words.iter().zip(spaces);
    let texts = lowered.split('\n').zip(stripped.split('\n'));
    let about = characters.chars().zip(flags).zip(texts);
    let strange =
        about.filter(|((c, (word, space)), (lower, bare))| !agreed(*c, **word, **space, lower, bare));
    strange.map(|((c, _), _)| c).collect()
}

/// A character, and where it decides which lower case a sigma has: the one for the end of a word, or not.
fn beside_sigma(c: char) -> String {
    format!("{c}\t{c}Σ\ta{c}Σ\taΣ{c}a\taΣ{c}")
}
