//! Sparse rows of counts in about two bytes a term, for rows that are read again and again from afar.
//!
//! A row is its class, its number of terms, how many of these do not occur once, the terms in order, each by its
//! distance from the one before, and then the place and count of those that occur more often. Each is a number
//! of 16 bits, or the largest of these and then two more, the lower half first. What brings a row to one length stands beside, a number for each block of the row; what a term is worth in
//! all rows alike is left to whoever has the weights.

use crate::error::Error;
use crate::tfidf::Norm;
use crate::weigh::{Frequency, Weighting};

/// Rows as they are kept.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Packed {
    /// Classes and terms of all rows.
    pub stream: Vec<u16>,
    /// What each block of each row is multiplied by; empty if rows have no common length.
    pub factors: Vec<f32>,
}

/// Sparse rows of counts: row `i` is `starts[i]..starts[i + 1]` of the other two, its terms increasing.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'a> {
    /// Row boundaries.
    pub starts: &'a [i64],
    /// Term of each count.
    pub terms: &'a [i32],
    /// The counts, whole numbers above zero.
    pub counts: &'a [f64],
}

/// How rows are weighed, but for the scale of terms.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// What a number of occurrences counts.
    pub frequency: Frequency,
    /// One for terms of the second block; empty if there is but one block.
    pub second: &'a [u8],
    /// Number of terms that there are.
    pub terms: usize,
}

fn malformed() -> Error {
    Error::Malformed("packed rows are damaged".into())
}

/// Pack rows with their classes, weighed as `weighting` says; `second` as in [`Reading`].
///
/// # Errors
/// [`Error::Malformed`] where arrays do not fit together.
pub fn pack(
    rows: Counts<'_>,
    codes: &[i32],
    weighting: &Weighting<'_>,
    second: &[u8],
) -> Result<Packed, Error> {
    let n = codes.len();
    let fits = rows.starts.len() == n + 1
        && rows.starts.first() == Some(&0)
        && rows.starts.is_sorted()
        && rows.starts.last() == Some(&(rows.terms.len() as i64))
        && rows.counts.len() == rows.terms.len()
        && codes.iter().all(|code| *code >= 0)
        && rows.terms.iter().all(|term| {
            let term = *term as u32 as usize;
            (second.is_empty() || term < second.len())
                && (weighting.scale.is_empty() || term < weighting.scale.len())
        })
        && (weighting.blocks == 1 || !second.is_empty());
    if !fits {
        return Err(malformed());
    }
    let mut out = Packed::default();
    for (i, code) in codes.iter().enumerate() {
        let (from, to) = (rows.starts[i] as usize, rows.starts[i + 1] as usize);
        let (terms, counts) = (&rows.terms[from..to], &rows.counts[from..to]);
        let several = counts.iter().filter(|count| **count as u32 != 1).count();
        for number in [*code as usize, terms.len(), several] {
            write(&mut out.stream, u32::try_from(number).map_err(|_| malformed())?);
        }
        let (mut before, mut squares) = (0, [0.0; 2]);
        for (term, count) in terms.iter().zip(counts) {
            let term = *term as u32;
            write(&mut out.stream, term.checked_sub(before).ok_or_else(malformed)?);
            before = term;
            let value = weighting.value(term, *count as u32);
            squares[block_of(second, term)] += weighting.part(value);
        }
        for (place, count) in counts.iter().enumerate().filter(|(_, count)| **count as u32 != 1) {
            write(&mut out.stream, place as u32);
            write(&mut out.stream, *count as u32);
        }
        if weighting.norm != Norm::None {
            out.factors.extend(squares[..weighting.blocks].iter().map(|sum| weighting.factor(*sum) as f32));
        }
    }
    Ok(out)
}

fn block_of(second: &[u8], term: u32) -> usize {
    usize::from(second.get(term as usize).is_some_and(|flag| *flag != 0))
}

fn write(stream: &mut Vec<u16>, number: u32) {
    if number < u32::from(LONG) {
        stream.push(number as u16);
    } else {
        stream.extend([LONG, number as u16, (number >> 16) as u16]);
    }
}

/// Says that a number takes the next two places.
const LONG: u16 = u16::MAX;

/// Reads packed rows one after the other.
#[derive(Debug)]
pub struct Reader<'a> {
    stream: &'a [u16],
    factors: &'a [f32],
    reading: Reading<'a>,
    worth: [f64; 64], // of small counts
    /// Terms of the row at hand.
    pub terms: Vec<u32>,
    /// Their values, but for the scale of terms.
    pub values: Vec<f64>,
}

impl<'a> Reader<'a> {
    /// A reader from the first row on.
    #[must_use]
    pub fn new(stream: &'a [u16], factors: &'a [f32], reading: Reading<'a>) -> Self {
        let weighting = Weighting { frequency: reading.frequency, scale: &[], norm: Norm::None, blocks: 1 };
        let worth = std::array::from_fn(|count| weighting.frequency_of(count as u32));
        Self { stream, factors, reading, worth, terms: Vec::new(), values: Vec::new() }
    }

    /// The class of the next row, whose terms are then at hand; nothing after the last.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the stream is none of [`pack`]'s.
    #[inline(always)]
    pub fn next_row(&mut self) -> Result<Option<usize>, Error> {
        let mut stream = self.stream; // a local, which stays in registers
        if stream.is_empty() {
            return Ok(None);
        }
        let [class, length, several] = [number(&mut stream)?, number(&mut stream)?, number(&mut stream)?];
        if length as usize > stream.len() {
            return Err(malformed());
        }
        let blocks = if self.reading.second.is_empty() { 1 } else { 2 };
        let mut factors = [1.0; 2];
        if !self.factors.is_empty() {
            let (these, rest) = self.factors.split_at_checked(blocks).ok_or_else(malformed)?;
            self.factors = rest;
            factors[..blocks].iter_mut().zip(these).for_each(|(factor, own)| *factor = f64::from(*own));
        }
        self.terms.resize(length as usize, 0);
        let mut term = 0u32;
        for place in &mut self.terms {
            term = term.wrapping_add(number(&mut stream)?);
            *place = term;
        }
        self.values.clear();
        self.values.resize(length as usize, factors[0]);
        for _ in 0..several {
            let (place, count) = (number(&mut stream)?, number(&mut stream)?);
            let worth = self.worth.get(count as usize).copied().unwrap_or_else(|| self.large(count));
            *self.values.get_mut(place as usize).ok_or_else(malformed)? *= worth;
        }
        self.stream = stream;
        if self.terms.iter().fold(0, |most, term| most.max(*term)) as usize >= self.reading.terms.max(1) {
            return Err(malformed());
        }
        if blocks == 2 && factors[0] != 0.0 {
            for (term, value) in self.terms.iter().zip(&mut self.values) {
                if block_of(self.reading.second, *term) == 1 {
                    *value *= factors[1] / factors[0];
                }
            }
        }
        Ok(Some(class as usize))
    }

    #[cold]
    fn large(&self, count: u32) -> f64 {
        let weighting =
            Weighting { frequency: self.reading.frequency, scale: &[], norm: Norm::None, blocks: 1 };
        weighting.frequency_of(count)
    }
}

#[inline(always)]
fn number(stream: &mut &[u16]) -> Result<u32, Error> {
    let (first, rest) = stream.split_first().ok_or_else(malformed)?;
    *stream = rest;
    if *first == LONG { long_number(stream) } else { Ok(u32::from(*first)) }
}

#[cold]
fn long_number(stream: &mut &[u16]) -> Result<u32, Error> {
    let ([low, high], rest) = stream.split_first_chunk().ok_or_else(malformed)?;
    *stream = rest;
    Ok(u32::from(*low) | u32::from(*high) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: [f64; 5] = [1.0, 2.0, 0.5, 3.0, 1.5];

    #[test]
    fn rows_come_back_with_their_classes_and_lengths() {
        let rows =
            Counts { starts: &[0, 3, 3, 5], terms: &[0, 2, 4, 1, 3], counts: &[1.0, 300.0, 2.0, 1.0, 1.0] };
        let weighting = Weighting { frequency: Frequency::Log, scale: &SCALE, norm: Norm::L2, blocks: 1 };
        let packed = pack(rows, &[2, 0, 70_000], &weighting, &[]).unwrap();
        let reading = Reading { frequency: Frequency::Log, second: &[], terms: 5 };
        let mut reader = Reader::new(&packed.stream, &packed.factors, reading);
        for (code, terms) in [(2, vec![0, 2, 4]), (0, vec![]), (70_000, vec![1, 3])] {
            assert_eq!(reader.next_row().unwrap(), Some(code));
            assert_eq!(reader.terms, terms);
            let length: f64 =
                terms.iter().zip(&reader.values).map(|(v, x)| (SCALE[*v as usize] * x).powi(2)).sum();
            assert!(terms.is_empty() || (length - 1.0).abs() < 1e-6);
        }
        assert_eq!(reader.next_row().unwrap(), None);
    }

    #[test]
    fn damaged_streams_are_refused_or_read_but_never_panic() {
        let reading = Reading { frequency: Frequency::Count, second: &[], terms: 5 };
        let units = [0, 1, 2, 3, 7, 300, LONG - 1, LONG];
        for word in 0..units.len().pow(4) {
            let stream: Vec<u16> = (0..4).map(|at| units[word / units.len().pow(at) % units.len()]).collect();
            let mut reader = Reader::new(&stream, &[1.0], reading);
            while let Ok(Some(_)) = reader.next_row() {
                assert!(reader.terms.iter().all(|term| *term < 5));
            }
        }
    }
}
