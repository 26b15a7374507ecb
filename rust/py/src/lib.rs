//! Python bindings: convert, release the GIL, call, map errors. No arithmetic lives here.

#![allow(clippy::needless_pass_by_value)] // what Python hands over is ours to drop

mod analyser;
mod characters;
mod corpus;
mod counter;
mod directions;
mod dual;
mod errors;
mod gather;
mod json;
mod left_out;
mod linear;
mod reader;
mod sample;
mod slope;
mod table;
mod tensors;
mod texts;
mod vectoriser;
mod words;

use pyo3::prelude::*;

/// The kernels of textodds.
#[pymodule]
mod _kernels {
    #[pymodule_export]
    use super::analyser::Analyser;
    #[pymodule_export]
    use super::characters::{character_classes, character_tables};
    #[pymodule_export]
    use super::corpus::{decode_texts, encode_texts, join_texts, text_hashes};
    #[pymodule_export]
    use super::counter::{Counter, combine, cut};
    #[pymodule_export]
    use super::directions::{row_products, squares_along};
    #[pymodule_export]
    use super::dual::{
        add_rows, descend_pass, dual_epoch, exponentials, label_epoch, logarithms, repeats, row_scores,
        row_squares, softmax,
    };
    #[pymodule_export]
    use super::gather::{Gathered, Gatherer, bucket_rows};
    #[pymodule_export]
    use super::json::JsonLines;
    #[pymodule_export]
    use super::left_out::{left_out, left_out_words};
    #[pymodule_export]
    use super::linear::Linear;
    #[pymodule_export]
    use super::reader::LineReader;
    #[pymodule_export]
    use super::sample::Sample;
    #[pymodule_export]
    use super::slope::{pack_rows, softmax_slope, unpack_rows};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::tensors::{layout, xxh64};
    #[pymodule_export]
    use super::texts::{Held, Strings, are_texts, disputed};
    #[pymodule_export]
    use super::vectoriser::{Vectoriser, count_rows, hashed_rows, select_columns, weigh_rows};
    #[pymodule_export]
    use super::words::{
        NameIndex, bucket_keys, directory, fasttext_keys, find, insert, name_list, select, word_hashes, words,
    };
}
