//! The kernels of textodds: what runs once per character, token or non-zero.
//!
//! A document's path: [`analyse`] turns text into terms, [`count`] adds terms to a [`tally`],
//! [`score`] adds up the weights of a document's terms, [`rows`] writes them as sparse rows. [`pages`] are weights that change row by row.
//! Models that need every document at once [`gather`] them as rows; [`dual`], [`labels`], [`descend`] and
//! [`slope`] learn from rows, [`directions`] is what a quadratic model asks of them. [`compact`] packs rows that travel. [`sample`] keeps a few texts of many, [`corpus`] all of them compactly.
//! [`vectorise`] and [`counted`] write rows of counts as scikit-learn does. [`left_out`] scores documents under the counts of all others.
//! [`lines`] reads the plain formats, [`tensors`] checks the header of a model file.
//!
//! Nothing here knows Python or panics on input.

#![deny(unsafe_code)] // but for three lines in `processor` and `memory`, each with its proof

pub mod analyse;
mod bag;
mod changed;
pub mod characters;
pub mod compact;
pub mod corpus;
pub mod count;
pub mod counted;
pub mod descend;
pub mod directions;
pub mod dual;
pub mod error;
pub mod exponential;
pub mod fasttext;
mod finder;
pub mod gather;
mod grams;
mod index;
pub mod key;
pub mod labels;
pub mod left_out;
pub mod letters;
mod lexicon;
pub mod lines;
mod memory;
pub mod murmur;
mod opposed;
pub mod pages;
mod pairs;
mod part;
pub mod prepare;
mod processor;
mod remembered;
pub mod rows;
pub mod sample;
pub mod scan;
pub mod score;
mod scratch;
mod seen;
pub mod shares;
pub mod slope;
mod spelling;
mod table;
pub mod tally;
pub mod tensors;
mod terms;
pub mod tfidf;
mod threads;
pub mod tokenise;
pub mod vectorise;
pub mod vocabulary;
pub mod weigh;

pub use error::Error;
