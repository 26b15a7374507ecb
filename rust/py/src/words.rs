//! Vocabularies as arrays: finding, listing, choosing and adding words.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyList;
use textodds_core::analyse::Analyser;
use textodds_core::fasttext::bits_of;
use textodds_core::key::{Key, Term};
use textodds_core::score::Finders;
use textodds_core::vocabulary::{self, Vocabulary, Words};

use crate::errors::{error, raised};

type Keys<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u8>>);

fn key(keys: &[u64], id: usize) -> PyResult<Key> {
    match keys.get(2 * id..2 * id + 2) {
        Some(pair) => Ok(Key { lo: pair[0], hi: pair[1] }),
        None => Err(error("InputError", &format!("there is no word number {id}"), None)),
    }
}

/// Where the words of each hash prefix begin.
#[pyfunction]
pub fn directory<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray1<'py, u64>,
    arena: PyReadonlyArray1<'py, u8>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (keys, arena) = (keys.as_slice()?, arena.as_slice()?);
    Ok(PyArray1::from_vec(py, py.detach(|| vocabulary::directory(keys, arena))))
}

/// The keys of these increasing bucket numbers of `2^bits`, as a vocabulary has them.
#[pyfunction]
pub fn bucket_keys<'py>(
    py: Python<'py>,
    numbers: PyReadonlyArray1<'py, u32>,
    bits: u32,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    if !(1..=31).contains(&bits) {
        return Err(error("InputError", &format!("{bits} hash bits: must be from 1 to 31"), None));
    }
    let keys = numbers.as_slice()?.iter().flat_map(|number| {
        let key = Term::bucket(*number, bits).key;
        [key.lo, key.hi]
    });
    Ok(PyArray1::from_vec(py, keys.collect()))
}

/// The keys of these increasing bucket numbers among so many of fastText's.
#[pyfunction]
pub fn fasttext_keys<'py>(
    py: Python<'py>,
    numbers: PyReadonlyArray1<'py, u32>,
    buckets: u32,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let bits = bits_of(buckets);
    let keys = numbers.as_slice()?.iter().flat_map(|number| {
        let key = Term::bucket_beside_words(*number, bits).key;
        [key.lo, key.hi]
    });
    Ok(PyArray1::from_vec(py, keys.collect()))
}

/// The hash by which each word stands in order.
#[pyfunction]
pub fn word_hashes<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray1<'py, u64>,
    arena: PyReadonlyArray1<'py, u8>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let (keys, arena) = (keys.as_slice()?, arena.as_slice()?);
    let hash = |&[lo, hi]: &[u64; 2]| Key { lo, hi }.hash(arena);
    Ok(PyArray1::from_vec(py, keys.as_chunks::<2>().0.iter().map(hash).collect()))
}

/// The words with these numbers, in that order.
#[pyfunction]
pub fn words(
    keys: PyReadonlyArray1<'_, u64>,
    arena: PyReadonlyArray1<'_, u8>,
    numbers: PyReadonlyArray1<'_, i64>,
) -> PyResult<Vec<String>> {
    let (keys, arena) = (keys.as_slice()?, arena.as_slice()?);
    let word = |id: &i64| {
        let id = usize::try_from(*id).unwrap_or(usize::MAX / 4);
        Ok(String::from_utf8_lossy(&key(keys, id)?.bytes(arena)).into_owned())
    };
    numbers.as_slice()?.iter().map(word).collect()
}

/// The number of each word, −1 where it is not there.
#[pyfunction]
pub fn find<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray1<'py, u64>,
    arena: PyReadonlyArray1<'py, u8>,
    directory: PyReadonlyArray1<'py, u32>,
    wanted: Vec<String>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let vocabulary = Vocabulary::new(keys.as_slice()?, arena.as_slice()?, directory.as_slice()?)
        .and_then(Vocabulary::checked)
        .map_err(raised)?;
    let number = |word: &String| vocabulary.find_name(word).map_or(-1, i64::from);
    Ok(PyArray1::from_vec(py, wanted.iter().map(number).collect()))
}

/// The words with these increasing numbers as a vocabulary of their own.
#[pyfunction]
pub fn select<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray1<'py, u64>,
    arena: PyReadonlyArray1<'py, u8>,
    numbers: PyReadonlyArray1<'py, i64>,
) -> PyResult<Keys<'py>> {
    let (keys, arena) = (keys.as_slice()?, arena.as_slice()?);
    let (mut new_keys, mut new_arena) = (Vec::new(), Vec::new());
    for id in numbers.as_slice()? {
        let key = key(keys, usize::try_from(*id).unwrap_or(usize::MAX / 4))?;
        let key = key.moved(arena, &mut new_arena);
        new_keys.extend([key.lo, key.hi]);
    }
    Ok((PyArray1::from_vec(py, new_keys), PyArray1::from_vec(py, new_arena)))
}

/// The names that stand one behind the other in `bytes`, each up to its end.
fn named<'a>(bytes: &'a [u8], ends: &[i64]) -> PyResult<Vec<&'a str>> {
    let name = |pair: &[i64]| {
        let (from, to) = (usize::try_from(pair[0]).ok()?, usize::try_from(pair[1]).ok()?);
        std::str::from_utf8(bytes.get(from..to)?).ok()
    };
    let names: Option<Vec<&str>> = ends.windows(2).map(name).collect();
    names.ok_or_else(|| error("InputError", "the names of columns are damaged", None))
}

/// The names that stand one behind the other in `packed`, as strings.
#[pyfunction]
pub fn name_list<'py>(
    py: Python<'py>,
    packed: PyReadonlyArray1<'py, u8>,
    ends: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, named(packed.as_slice()?, ends.as_slice()?)?)
}

/// How to find names, and the place of each of them.
#[pyclass(frozen, module = "textodds._kernels")]
pub struct NameIndex {
    pub words: Words,
    pub places: Vec<u32>, // of the words; an empty name is none
    pub names: usize,
    finders: Mutex<Option<(Arc<Analyser>, Arc<Finders>)>>,
}

impl NameIndex {
    /// What finds these names in the texts of an analyser; kept for the one that came last.
    pub fn finders(&self, analyser: &Arc<Analyser>) -> Arc<Finders> {
        let mut kept = self.finders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, finders)) = &*kept
            && Arc::ptr_eq(of, analyser)
        {
            return finders.clone();
        }
        let finders = Arc::new(Finders::default());
        *kept = Some((analyser.clone(), finders.clone()));
        finders
    }
}

#[pymethods]
impl NameIndex {
    /// An index of the names that stand one behind the other in `packed`.
    #[new]
    fn new(
        py: Python<'_>,
        packed: PyReadonlyArray1<'_, u8>,
        ends: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let names = named(packed.as_slice()?, ends.as_slice()?)?;
        let (words, places) = py.detach(|| Words::numbered(&names));
        Ok(Self { words, places, names: names.len(), finders: Mutex::default() })
    }

    fn __len__(&self) -> usize {
        self.names
    }

    /// The names as a vocabulary, keys and arena, and the place of each of its words.
    fn vocabulary<'py>(&self, py: Python<'py>) -> (Keys<'py>, Bound<'py, PyArray1<u32>>) {
        let keys = (PyArray1::from_slice(py, &self.words.keys), PyArray1::from_slice(py, &self.words.arena));
        (keys, PyArray1::from_slice(py, &self.places))
    }
}

/// The vocabulary with `word` in its place, and its number.
#[pyfunction]
pub fn insert<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray1<'py, u64>,
    arena: PyReadonlyArray1<'py, u8>,
    word: &str,
) -> PyResult<(Bound<'py, PyArray1<u64>>, usize)> {
    let (keys, arena) = (keys.as_slice()?, arena.as_slice()?);
    let new = Term::of(word.as_bytes(), 0, word.len());
    if new.key.is_long() || word.is_empty() {
        return Err(error("InputError", "only short words can be added", None));
    }
    let pairs = keys.as_chunks::<2>().0;
    let place = pairs.partition_point(|[lo, hi]| {
        let old = Key { lo: *lo, hi: *hi };
        let order = old.hash(arena).cmp(&new.hash);
        order.then_with(|| old.order(arena, new.key, &[])).is_lt()
    });
    let mut out = keys.to_vec();
    if pairs.get(place) != Some(&[new.key.lo, new.key.hi]) {
        out.splice(2 * place..2 * place, [new.key.lo, new.key.hi]);
    }
    Ok((PyArray1::from_vec(py, out), place))
}
