//! Tf-idf of rows of counts, in place: the arithmetic of scikit-learn, in its order, to the last bit.

use crate::error::Error;
use crate::processor::prefetch;

/// Which length rows are brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// The one they have.
    None,
    /// A sum of absolute values of 1.
    L1,
    /// A sum of squares of 1.
    L2,
}

/// Multiply the values of rows by the scale of their columns (there is none, if it is empty), and bring rows to
/// one length.
///
/// # Errors
/// [`Error::Malformed`] if the arrays do not fit together.
pub fn weigh(
    starts: &[i64],
    columns: &[i32],
    values: &mut [f64],
    scale: &[f64],
    norm: Norm,
) -> Result<(), Error> {
    let is_whole = starts.first() == Some(&0) && starts.last() == Some(&(values.len() as i64));
    if !is_whole || !starts.is_sorted() || columns.len() != values.len() {
        return Err(Error::Malformed("these rows do not fit together".into()));
    }
    let has_scale = |column: &i32| usize::try_from(*column).is_ok_and(|column| column < scale.len());
    if !scale.is_empty() && !columns.iter().all(has_scale) {
        return Err(Error::Malformed("a column has no scale".into())); // and nothing was changed
    }
    for pair in starts.windows(2) {
        let row = pair[0] as usize..pair[1] as usize;
        let (columns, values) = (&columns[row.clone()], &mut values[row]);
        if !scale.is_empty() {
            for (i, value) in values.iter_mut().enumerate() {
                if let Some(soon) = columns.get(i + 16) {
                    prefetch(scale, *soon as usize);
                }
                *value *= scale[columns[i] as usize];
            }
        }
        let sum: f64 = match norm {
            Norm::None => continue,
            Norm::L1 => values.iter().map(|value| value.abs()).sum(),
            Norm::L2 => values.iter().map(|value| value * value).sum::<f64>().sqrt(),
        };
        if sum != 0.0 {
            values.iter_mut().for_each(|value| *value /= sum);
        }
    }
    Ok(())
}
