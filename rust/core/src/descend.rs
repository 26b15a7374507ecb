//! One pass of stochastic gradient descent for softmax regression, with `AdaGrad`'s step per feature.
//!
//! A row with scores `z = Wᵀx + b` and error `e = softmax(z) − y` moves the weights of feature `v` by
//! `−η x_v e / √G_v`, where `G_v` is the sum of `x_v² ‖e‖²` over the rows so far (Duchi, Hazan, Singer
//! 2011). Frequent features soon move little, rare ones still much.

use crate::dual::Rows;
use crate::error::Error;
use crate::exponential::exp;
use crate::processor::{at_its_best, prefetch};

/// What is learned, and how fast it may still change.
#[derive(Debug)]
pub struct Stream<'a> {
    /// `W`, feature by feature, with a column for each class.
    pub weights: &'a mut [f32],
    /// `G`.
    pub history: &'a mut [f32],
    /// `b`.
    pub bias: &'a mut [f64],
    /// `G` of the bias.
    pub bias_history: &'a mut [f64],
    /// η.
    pub rate: f64,
}

/// The sizes of a stream's arrays, if they fit together and with the rows.
///
/// # Errors
/// [`Error::Malformed`] if they do not.
pub fn checked(rows: Rows<'_>, codes: &[i64], costs: &[f64], stream: &Stream<'_>) -> Result<(), Error> {
    let classes = stream.bias.len();
    rows.checked(stream.history.len())?;
    let fits = classes > 0
        && stream.weights.len() == stream.history.len() * classes
        && stream.bias_history.len() == 1
        && rows.starts.len() == codes.len() + 1
        && costs.len() == codes.len()
        && codes.iter().all(|code| (0..classes as i64).contains(code));
    if fits { Ok(()) } else { Err(Error::Malformed("the arrays of a stream do not fit together".into())) }
}

at_its_best! {
    /// Learn the rows in their order; the sum of their losses, each as it was before the row was learned.
    pub fn pass(rows: Rows<'_>, codes: &[i64], costs: &[f64], stream: &mut Stream<'_>) -> f64 {
        let classes = stream.bias.len();
        let Stream { weights, history, bias, bias_history, rate } = stream;
        let mut error = vec![0.0; classes];
        let mut total = 0.0;
        for (i, (&own, &cost)) in codes.iter().zip(costs).enumerate() {
            let (features, values) = rows.row(i);
            error.copy_from_slice(bias);
            for (j, (v, x)) in features.iter().zip(values).enumerate() {
                if let Some(soon) = features.get(j + 12) {
                    prefetch(weights, *soon as usize * classes);
                    prefetch(history, *soon as usize);
                }
                let row = &weights[*v as usize * classes..(*v as usize + 1) * classes];
                error.iter_mut().zip(row).for_each(|(z, w)| *z += x * f64::from(*w));
            }
            let own = own as usize;
            let top = error.iter().fold(f64::NEG_INFINITY, |top, z| top.max(*z));
            let chosen = error[own];
            error.iter_mut().for_each(|z| *z = exp(*z - top));
            let sum: f64 = error.iter().sum();
            total += cost * (sum.ln() + top - chosen);
            error.iter_mut().for_each(|share| *share *= cost / sum);
            error[own] -= cost;
            let square: f64 = error.iter().map(|error| error * error).sum();
            if square == 0.0 {
                continue;
            }
            bias_history[0] += square;
            let step = *rate / bias_history[0].sqrt();
            bias.iter_mut().zip(&error).for_each(|(bias, error)| *bias -= step * error);
            for (v, x) in features.iter().zip(values) {
                let v = *v as usize;
                let past = f64::from(history[v]) + x * x * square;
                history[v] = past as f32;
                let step = if past > 0.0 { *rate * x / past.sqrt() } else { 0.0 };
                let row = &mut weights[v * classes..(v + 1) * classes];
                row.iter_mut().zip(&error).for_each(|(w, error)| *w -= (step * error) as f32);
            }
        }
        total
    }
}
