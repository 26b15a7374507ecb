//! The kernels of textodds: what runs once per character, token or non-zero.
//!
//! A document's path: [`analyse`] turns text into terms, [`count`] adds terms to a [`tally`],
//! [`score`] adds up the weights of a document's terms, [`rows`] writes them as sparse rows.
//! [`lines`] reads the plain formats, [`tensors`] checks the header of a model file.
//!
//! Nothing here knows Python or panics on input.

#![deny(unsafe_code)] // but for two lines in `processor`, each with its proof

pub mod analyse;
pub mod count;
pub mod error;
pub mod key;
pub mod letters;
pub mod lines;
pub mod murmur;
pub mod prepare;
mod processor;
pub mod rows;
pub mod scan;
pub mod score;
mod table;
pub mod tally;
pub mod tensors;
pub mod tokenise;
pub mod vocabulary;

pub use error::Error;
