//! Loss and gradient of softmax regression in one pass over rows: what tasks of a cluster add up.
//!
//! With scores `z_i = Wᵀx_i + b`, `p_i = softmax(z_i)` and weights `s_i`, the sums over rows of the loss
//! `s_i (log Σ_k e^{z_ik} − z_{i y_i})`, of the entropy `s_i H(p_i)`, and of the errors
//! `s_i (p_i − y_i) x_iᵀ` and `s_i (p_i − y_i)`. Two classes have one column, the log-odds of class 1.

use crate::compact::Reader;
use crate::error::Error;
use crate::exponential::exp;
use crate::processor::{at_its_best, prefetch};

/// Where the pass is made, and what it adds to.
#[derive(Debug)]
pub struct Slope<'a> {
    /// `W`, feature by feature, M columns each.
    pub weights: &'a [f64],
    /// `b`.
    pub bias: &'a [f64],
    /// `Σ s_i x_i (p_i − y_i)ᵀ`, as `weights`.
    pub gradient: &'a mut [f64],
    /// `Σ s_i (p_i − y_i)`.
    pub bias_gradient: &'a mut [f64],
}

impl Slope<'_> {
    /// Refuse arrays that do not fit together.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn checked(&self, terms: usize) -> Result<(), Error> {
        let m = self.bias.len();
        let fits = m > 0
            && self.weights.len() == terms * m
            && self.gradient.len() == terms * m
            && self.bias_gradient.len() == m;
        if fits { Ok(()) } else { Err(Error::Malformed("the arrays of a slope do not fit together".into())) }
    }
}

/// Add the gradient of packed rows of these weights, all 1 if there are none; the sums of losses and entropies.
///
/// # Errors
/// [`Error::Malformed`] for a row that is damaged, of an unknown class, or without a weight.
pub fn pass(rows: &mut Reader<'_>, costs: &[f64], slope: &mut Slope<'_>) -> Result<(f64, f64), Error> {
    match slope.bias.len() {
        1 => pass_of_two(rows, costs, slope),
        _ => pass_of_many(rows, costs, slope),
    }
}

/// How many values ahead a row asks for the weights it will need.
const AHEAD: usize = 12;

/// The weight of the next row.
#[inline(always)]
fn cost(costs: &[f64], row: usize) -> Result<f64, Error> {
    if costs.is_empty() {
        return Ok(1.0);
    }
    costs.get(row).copied().ok_or_else(|| Error::Malformed("a row has no weight".into()))
}

fn known(class: usize, classes: usize) -> Result<(), Error> {
    if class < classes { Ok(()) } else { Err(Error::Malformed("a row is of no class".into())) }
}

at_its_best! {
    fn pass_of_two(rows: &mut Reader<'_>, costs: &[f64], slope: &mut Slope<'_>) -> Result<(f64, f64), Error> {
        let (weights, gradient) = (slope.weights, &mut *slope.gradient);
        let (mut loss, mut entropy, mut row) = (0.0, 0.0, 0);
        while let Some(own) = rows.next_row()? {
            known(own, 2)?;
            let s = cost(costs, row)?;
            row += 1;
            let mut z = slope.bias[0];
            for (j, (v, x)) in rows.terms.iter().zip(&rows.values).enumerate() {
                if let Some(soon) = rows.terms.get(j + AHEAD) {
                    prefetch(weights, *soon as usize);
                }
                z += weights[*v as usize] * x;
            }
            let p = 1.0 / (1.0 + exp(-z));
            let total = exp(-z.abs()).ln_1p() + z.max(0.0); // log(1 + e^z)
            loss += s * (total - if own == 1 { z } else { 0.0 });
            entropy += s * (total - p * z).max(0.0);
            let error = s * (p - own as f64);
            slope.bias_gradient[0] += error;
            for (v, x) in rows.terms.iter().zip(&rows.values) {
                gradient[*v as usize] += error * x;
            }
        }
        Ok((loss, entropy))
    }
}

at_its_best! {
    fn pass_of_many(rows: &mut Reader<'_>, costs: &[f64], slope: &mut Slope<'_>) -> Result<(f64, f64), Error> {
        // With few classes the loops over them are unrolled.
        match slope.bias.len() {
            3 => pass_of::<3>(rows, costs, slope),
            4 => pass_of::<4>(rows, costs, slope),
            5 => pass_of::<5>(rows, costs, slope),
            8 => pass_of::<8>(rows, costs, slope),
            _ => pass_of::<0>(rows, costs, slope),
        }
    }
}

/// [`pass`] for M classes, or for any number if M is 0.
#[inline(always)]
fn pass_of<const M: usize>(
    rows: &mut Reader<'_>,
    costs: &[f64],
    slope: &mut Slope<'_>,
) -> Result<(f64, f64), Error> {
    let m = if M > 0 { M } else { slope.bias.len() };
    let (weights, gradient) = (slope.weights, &mut *slope.gradient);
    let (mut loss, mut entropy, mut row) = (0.0, 0.0, 0);
    let (mut z, mut p) = (vec![0.0; m], vec![0.0; m]);
    let (z, p) = (&mut z[..m], &mut p[..m]);
    while let Some(own) = rows.next_row()? {
        known(own, m)?;
        let s = cost(costs, row)?;
        row += 1;
        z.copy_from_slice(slope.bias);
        for (j, (v, x)) in rows.terms.iter().zip(&rows.values).enumerate() {
            if let Some(soon) = rows.terms.get(j + AHEAD) {
                prefetch(weights, *soon as usize * m);
            }
            let from = *v as usize * m;
            z.iter_mut().zip(&weights[from..from + m]).for_each(|(z, w)| *z += w * x);
        }
        let top = z.iter().fold(f64::NEG_INFINITY, |top, z| top.max(*z));
        p.iter_mut().zip(z.iter()).for_each(|(p, z)| *p = exp(z - top));
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
        let total = sum.ln() + top;
        loss += s * (total - z[own]);
        let mean: f64 = p.iter().zip(z.iter()).map(|(p, z)| p * z).sum();
        entropy += s * (total - mean).max(0.0);
        p[own] -= 1.0;
        p.iter_mut().for_each(|error| *error *= s);
        slope.bias_gradient.iter_mut().zip(p.iter()).for_each(|(sum, error)| *sum += error);
        for (v, x) in rows.terms.iter().zip(&rows.values) {
            let from = *v as usize * m;
            gradient[from..from + m].iter_mut().zip(p.iter()).for_each(|(sum, error)| *sum += error * x);
        }
    }
    Ok((loss, entropy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::{Counts, Packed, Reading, pack};
    use crate::tfidf::Norm;
    use crate::weigh::{Frequency, Weighting};

    fn rows() -> Packed {
        let counts = Counts { starts: &[0, 2, 3, 3], terms: &[0, 1, 1], counts: &[1.0, 5.0, 2.0] };
        let weighting = Weighting { frequency: Frequency::Count, scale: &[], norm: Norm::None, blocks: 1 };
        pack(counts, &[0, 1, 1], &weighting, &[]).unwrap()
    }

    fn at(weights: &[f64], bias: &[f64]) -> (f64, f64, Vec<f64>, Vec<f64>) {
        let packed = rows();
        let reading = Reading { frequency: Frequency::Count, second: &[], terms: 2 };
        let (mut g, mut b) = (vec![0.0; weights.len()], vec![0.0; bias.len()]);
        let mut slope = Slope { weights, bias, gradient: &mut g, bias_gradient: &mut b };
        slope.checked(2).unwrap();
        let mut reader = Reader::new(&packed.stream, &packed.factors, reading);
        let (loss, entropy) = pass(&mut reader, &[1.0, 2.0, 0.5], &mut slope).unwrap();
        (loss, entropy, g, b)
    }

    /// A third class that is all but impossible changes nothing.
    #[test]
    fn two_classes_are_the_same_with_one_column_or_three() {
        let (loss, entropy, g, b) = at(&[0.3, -0.7], &[0.1]);
        let (loss3, entropy3, g3, b3) = at(&[0.0, 0.3, 0.0, 0.0, -0.7, 0.0], &[0.0, 0.1, -600.0]);
        assert!((loss - loss3).abs() < 1e-12 && (entropy - entropy3).abs() < 1e-12);
        assert!((g[0] - g3[1]).abs() < 1e-12 && (g[1] - g3[4]).abs() < 1e-12 && (b[0] - b3[1]).abs() < 1e-12);
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        let weights = [0.3, -0.7, 0.2, 0.1, 0.4, -0.2];
        let (_, _, g, _) = at(&weights, &[0.1, 0.2, -0.3]);
        for v in 0..weights.len() {
            let (mut up, mut down) = (weights, weights);
            up[v] += 1e-6;
            down[v] -= 1e-6;
            let slope = (at(&up, &[0.1, 0.2, -0.3]).0 - at(&down, &[0.1, 0.2, -0.3]).0) / 2e-6;
            assert!((slope - g[v]).abs() < 1e-7, "{slope} {}", g[v]);
        }
    }
}
