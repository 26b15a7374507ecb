//! The header of a model file, checked by the `safetensors` crate before anything is used, and checksums.

use std::collections::HashMap;

use safetensors::SafeTensors;

/// Where a tensor lies in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Its type as the format spells it: `F64`, `U32`, …
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// First byte in the file.
    pub start: usize,
    /// One behind the last byte.
    pub end: usize,
}

/// XXH64 of some bytes, seed 0: a checksum, several times as fast as CRC-32; part of the file format.
#[must_use]
pub fn xxh64(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh64::xxh64(bytes, 0)
}

/// The free-text part of the header and the place of every tensor, by name.
///
/// Lengths, offsets, gaps and overlaps have been checked against the file.
///
/// # Errors
/// What the format's own reader says is wrong.
pub fn layout(file: &[u8]) -> Result<(HashMap<String, String>, Vec<Place>), String> {
    let (header, metadata) = SafeTensors::read_metadata(file).map_err(|error| error.to_string())?;
    let data = header + 8;
    let mut places: Vec<Place> = metadata
        .tensors()
        .into_iter()
        .map(|(name, info)| Place {
            name,
            dtype: info.dtype.to_string(),
            shape: info.shape.clone(),
            start: data + info.data_offsets.0,
            end: data + info.data_offsets.1,
        })
        .collect();
    places.sort_by(|a, b| a.name.cmp(&b.name));
    if places.last().is_some_and(|place| place.end > file.len()) {
        return Err("the file ends before its tensors do".into());
    }
    Ok((metadata.metadata().clone().unwrap_or_default(), places))
}
