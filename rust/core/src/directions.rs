//! Sparse rows along the directions of a class: what a quadratic model of texts asks of them.

use crate::dual::Rows;
use crate::error::Error;
use crate::processor::{at_its_best, prefetch};

/// Directions that are summed at a time, in registers.
const TILE: usize = 32;

/// How many words ahead a row asks for their numbers.
const AHEAD: usize = 6;

/// Numbers of a cache line.
const LINE: usize = 16;

/// Directions `b_r` over the words of a class.
#[derive(Debug, Clone, Copy)]
pub struct Directions<'a> {
    /// The words, increasing.
    pub words: &'a [i32],
    /// `b_r` of each word, word by word.
    pub basis: &'a [f32],
    /// `b_r · μ`, of each direction.
    pub centre: &'a [f64],
    /// What squares along each direction are worth.
    pub worth: &'a [f64],
}

impl Directions<'_> {
    /// Refuse arrays that do not fit together, or have a word from `features` on.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn checked(&self, features: usize) -> Result<(), Error> {
        let fits = self.worth.len() == self.centre.len()
            && self.words.len().checked_mul(self.centre.len()) == Some(self.basis.len())
            && self.words.first().is_none_or(|first| *first >= 0)
            && self.words.windows(2).all(|pair| pair[0] < pair[1])
            && self.words.last().is_none_or(|last| (*last as usize) < features);
        if fits {
            Ok(())
        } else {
            Err(Error::Malformed("the directions of a class do not fit together".into()))
        }
    }
}

/// `Σ_r worth_r (b_r · x_i − centre_r)²` of each row.
///
/// With the same bits on every processor: words are added in the order of the row, directions as `NumPy`'s `sum`
/// adds them. Linear in what is stored, times the number of directions.
///
/// # Errors
/// [`Error::Malformed`] for rows or directions that have a word from `features` on.
pub fn squares_along(rows: Rows<'_>, own: &Directions<'_>, features: usize) -> Result<Vec<f64>, Error> {
    rows.is_within(features)?;
    own.checked(features)?;
    let mut out = vec![0.0; rows.starts.len() - 1];
    let places = if rows.features.len() < own.words.len() / 16 {
        let place = |word| own.words.binary_search(word).map_or(u32::MAX, |at| at as u32);
        rows.features.iter().map(place).collect()
    } else {
        let mut place = vec![u32::MAX; features];
        (0..).zip(own.words).for_each(|(at, word)| place[*word as usize] = at);
        rows.features.iter().map(|word| place[*word as usize]).collect::<Vec<_>>()
    };
    along_all(rows, &places, own, &mut out);
    Ok(out)
}

at_its_best! {
    fn along_all(rows: Rows<'_>, places: &[u32], own: &Directions<'_>, out: &mut [f64]) {
        let rank = own.centre.len();
        let whole = rank - rank % TILE;
        let (mut kept, mut squares) = (Vec::new(), vec![0.0; rank]);
        for (out, range) in out.iter_mut().zip(rows.starts.windows(2)) {
            let range = range[0] as usize..range[1] as usize;
            let stored = known(&places[range.clone()], &rows.values[range], rank, &mut kept);
            for tile in (0..whole).step_by(TILE) {
                let mut sum = [0.0; TILE];
                for window in kept[..stored + AHEAD].windows(AHEAD + 1) {
                    let ((at, x), (soon, _)) = (window[0], window[AHEAD]);
                    prefetch(own.basis, soon + tile);
                    prefetch(own.basis, soon + tile + LINE);
                    let basis = &own.basis[at + tile..at + tile + TILE];
                    for (sum, b) in sum.iter_mut().zip(basis) {
                        *sum += x * f64::from(*b);
                    }
                }
                squares[tile..tile + TILE].copy_from_slice(&sum);
            }
            squares[whole..].fill(0.0);
            for (at, x) in &kept[..stored] {
                let basis = &own.basis[at + whole..at + rank];
                squares[whole..].iter_mut().zip(basis).for_each(|(sum, b)| *sum += x * f64::from(*b));
            }
            for ((square, centre), worth) in squares.iter_mut().zip(own.centre).zip(own.worth) {
                let away = *square - centre;
                *square = away * away * worth;
            }
            *out = pairwise(&squares);
        }
    }
}

/// Where the numbers of the words of a row that the class has begin, with their values, and how many these are.
///
/// Behind them [`AHEAD`] more can be read, which mean nothing.
#[inline(always)]
fn known(places: &[u32], values: &[f64], rank: usize, kept: &mut Vec<(usize, f64)>) -> usize {
    if kept.len() < places.len() + AHEAD {
        kept.resize(places.len() + AHEAD, (0, 0.0));
    }
    let mut stored = 0;
    for (place, x) in places.iter().zip(values) {
        kept[stored] = ((*place as usize).wrapping_mul(rank), *x); // to be written over, if it is not there
        stored += usize::from(*place != u32::MAX);
    }
    kept[stored..stored + AHEAD].fill((0, 0.0));
    stored
}

/// The sum of numbers in the order of `NumPy`'s: of halves, where there are more than 128.
fn pairwise(of: &[f64]) -> f64 {
    if of.len() <= 128 {
        return eight(of);
    }
    let half = of.len() / 2;
    let (first, second) = of.split_at(half - half % 8);
    pairwise(first) + pairwise(second)
}

/// Eight sums side by side, then what is left one by one.
fn eight(of: &[f64]) -> f64 {
    let (first, rest) = of.split_at(of.len() - of.len() % 8);
    let mut sum = [0.0; 8];
    for chunk in first.chunks_exact(8) {
        sum.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
    }
    let start = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    rest.iter().fold(start, |sum, x| sum + x)
}

/// `x_i · y_k` of each row with K sparse ones, (N, K); `turned` has these word by word.
///
/// Sums are in the order of the row.
///
/// # Errors
/// [`Error::Malformed`] for rows that do not fit together, or have a word that `turned` has not.
pub fn products(rows: Rows<'_>, turned: Rows<'_>, classes: usize) -> Result<Vec<f64>, Error> {
    turned.is_within(classes)?;
    rows.is_within(turned.starts.len() - 1)?;
    let mut out = vec![0.0; (rows.starts.len() - 1) * classes];
    for (i, out) in out.chunks_exact_mut(classes.max(1)).enumerate() {
        let (words, values) = rows.row(i);
        for (word, x) in words.iter().zip(values) {
            let (of, y) = turned.row(*word as usize);
            of.iter().zip(y).for_each(|(k, y)| out[*k as usize] += x * y);
        }
    }
    Ok(out)
}
