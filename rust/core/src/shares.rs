//! Losses and probabilities of rows whose scores are known.

use crate::dual::{logistic, softplus};
use crate::exponential::exp;
use crate::processor::at_its_best;

at_its_best! {
    /// `softmax(z_i + b)` of each row, M columns each, and `log Σ_k e^{z_ik + b_k} − z_{i y_i} − b_{y_i}`.
    ///
    /// Two classes have one column, the log-odds of class 1. Classes must be below their number.
    ///
    /// ```
    /// let (mut losses, mut shares) = ([0.0; 2], [0.0; 2]);
    /// textodds_core::shares::softmax(&[0.0, 2.0], &[0.0], &[1, 0], &mut losses, &mut shares);
    /// assert!((losses[0] - 2f64.ln()).abs() < 1e-15 && (losses[1] - 2.0 - (1.0 + (-2f64).exp()).ln()).abs() < 1e-15);
    /// assert!((shares[0] - 0.5).abs() < 1e-15);
    /// ```
    pub fn softmax(scores: &[f64], bias: &[f64], codes: &[i64], losses: &mut [f64], shares: &mut [f64]) {
        let m = bias.len();
        if m == 1 {
            for ((share, loss), (z, own)) in shares.iter_mut().zip(losses).zip(scores.iter().zip(codes)) {
                let z = z + bias[0];
                *share = logistic(z);
                *loss = softplus(if *own == 1 { -z } else { z });
            }
            return;
        }
        let rows = shares.chunks_exact_mut(m).zip(scores.chunks_exact(m));
        for ((p, z), (loss, own)) in rows.zip(losses.iter_mut().zip(codes)) {
            for k in 0..m {
                p[k] = z[k] + bias[k];
            }
            let top = p.iter().fold(f64::NEG_INFINITY, |top, z| top.max(*z));
            let behind = top - p[*own as usize];
            p.iter_mut().for_each(|p| *p = exp(*p - top));
            let total: f64 = p.iter().sum();
            let each = 1.0 / total;
            p.iter_mut().for_each(|p| *p *= each);
            *loss = total.ln() + behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A third class that is all but impossible changes nothing.
    #[test]
    fn two_classes_are_the_same_with_one_column_or_three() {
        let (mut loss, mut p, mut loss3, mut p3) = ([0.0], [0.0], [0.0], [0.0; 3]);
        softmax(&[0.7], &[0.3], &[1], &mut loss, &mut p);
        softmax(&[0.0, 0.7, -600.0], &[0.0, 0.3, 0.0], &[1], &mut loss3, &mut p3);
        assert!((loss[0] - loss3[0]).abs() < 1e-15 && (p[0] - p3[1]).abs() < 1e-15);
    }
}
