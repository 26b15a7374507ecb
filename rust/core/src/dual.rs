//! Dual coordinate ascent for softmax regression: one row at a time, each solved exactly.
//!
//! With rows `x_i`, classes `y_i` and costs `c_i`, softmax regression is
//! `min ½‖W − W₀‖² + Σ c_i (log Σ_k e^{z_ik} − z_{i y_i})`, `z_i = Wᵀx_i + b`. Its dual has a
//! probability vector `q_i` per row, and `W = W₀ + Σ c_i x_i (y_i − q_i)ᵀ` (1). At the optimum `q_i`
//! is `softmax(z_i)`, and until then the gap between primal and dual is `Σ c_i KL(q_i ‖ softmax(z_i))`
//! (2). Maximising the dual over one `q_i` means solving `log q_k + a q_k = z_k + a q°_k + ν`,
//! `Σ q_k = 1`, where `q°` is the old one and `a = c_i ‖x_i‖²` (3).
//!
//! The bias is not penalised, which asks `Σ c_i (y_i − q_i) = 0` of the dual. It is treated as the
//! weight of a constant feature whose prior mean follows it from epoch to epoch: the proximal point
//! method, which ends at the unpenalised bias.
//!
//! Two classes have one column, the log-odds of class 1: `q` is then its logit.

use crate::error::Error;
use crate::exponential::exp;
use crate::processor::{at_its_best, prefetch};

/// Compressed sparse rows: row `i` is `starts[i]..starts[i + 1]` of the other two.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Row boundaries.
    pub starts: &'a [i64],
    /// Feature of each value, below the number of features.
    pub features: &'a [i32],
    /// The values.
    pub values: &'a [f64],
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> (&'a [i32], &'a [f64]) {
        let (from, to) = (self.starts[i] as usize, self.starts[i + 1] as usize);
        (&self.features[from..to], &self.values[from..to])
    }

    /// Ask for the weights, M columns each, that row `i` takes first.
    #[inline(always)]
    pub(crate) fn fetch(&self, i: usize, weights: &[f64], m: usize) {
        for v in self.row(i).0.iter().take(AHEAD) {
            prefetch(weights, *v as usize * m);
        }
    }
}

/// The rows to learn from.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The rows.
    pub rows: Rows<'a>,
    /// Class of each row.
    pub codes: &'a [i64],
    /// `c_i`: C times the weight of the row.
    pub costs: &'a [f64],
    /// `‖x_i‖²`.
    pub squares: &'a [f64],
    /// Square of the constant feature that carries the bias.
    pub bias_square: f64,
}

impl Rows<'_> {
    /// Refuse rows that do not fit together, have a feature from `features` on, or no numbers. Linear.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn checked(&self, features: usize) -> Result<(), Error> {
        let finite = self.values.iter().all(|value| value.is_finite());
        if finite { self.is_within(features) } else { Err(malformed()) }
    }

    /// Refuse rows that do not fit together, or have a feature from `features` on.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn is_within(&self, features: usize) -> Result<(), Error> {
        let most = self.features.iter().fold(0, |most, v| (*v as u32).max(most)); // negative ones are large
        let within = self.features.is_empty() || (most as usize) < features;
        if self.is_sound() && within { Ok(()) } else { Err(malformed()) }
    }

    /// Whether a row has a feature twice, of so many. Linear, and the rows need not be in order.
    #[must_use]
    pub fn repeats(&self, features: usize) -> bool {
        let mut last_row = vec![0u32; features];
        (0..self.starts.len() - 1).any(|i| {
            let row = i as u32 + 1;
            self.row(i).0.iter().any(|v| std::mem::replace(&mut last_row[*v as usize], row) == row)
        })
    }

    fn is_sound(&self) -> bool {
        self.starts.first() == Some(&0)
            && self.starts.is_sorted()
            && self.starts.last() == Some(&(self.values.len() as i64))
            && self.features.len() == self.values.len()
    }
}

fn malformed() -> Error {
    Error::Malformed("the arrays of a softmax problem do not fit together".into())
}

impl Problem<'_> {
    /// Refuse arrays that do not fit together; rows that are `known` to be sound are not read again.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn checked(&self, state: &State<'_>, order: &[u32], known: bool) -> Result<(), Error> {
        let (n, m) = (self.codes.len(), state.bias.len());
        let classes = if m == 1 { 2 } else { m as i64 };
        let fits = m > 0
            && self.rows.starts.len() == n + 1
            && self.costs.len() == n
            && self.costs.iter().all(|cost| cost.is_finite() && *cost >= 0.0)
            && self.squares.len() == n
            && state.logs.len() == n * m
            && state.gaps.len() == n
            && state.weights.len().is_multiple_of(m)
            && self.codes.iter().all(|code| (0..classes).contains(code))
            && order.iter().all(|i| (*i as usize) < n);
        match fits {
            false => Err(malformed()),
            true if known => Ok(()),
            true => self.rows.checked(state.weights.len() / m),
        }
    }
}

/// Where the ascent stands.
#[derive(Debug)]
pub struct State<'a> {
    /// `W`, feature by feature, M columns each.
    pub weights: &'a mut [f64],
    /// `b`.
    pub bias: &'a mut [f64],
    /// `log q`, row by row, M columns each; for one column, the logit.
    pub logs: &'a mut [f64],
    /// `c_i KL(q_i ‖ p_i)` of each row, as it was found when the row was taken last.
    pub gaps: &'a mut [f64],
}

/// One pass over the rows in the given order.
///
/// The sums over rows, as they were found, of `c_i KL(q_i ‖ p_i)` and of `c_i` times the loss.
#[must_use]
pub fn epoch(problem: &Problem<'_>, state: &mut State<'_>, order: &[u32]) -> (f64, f64) {
    match state.bias.len() {
        1 => epoch_of_two(problem, state, order),
        _ => epoch_of_many(problem, state, order),
    }
}

/// A step of Newton's method after which the next would be about its square.
const SMALL: f64 = 1e-5;

/// A change of a probability that is too little to matter.
const UNSEEN: f64 = 1e-12;

/// How many values ahead a row asks for the weights it will need.
pub(crate) const AHEAD: usize = 12;

at_its_best! {
    fn epoch_of_two(problem: &Problem<'_>, state: &mut State<'_>, order: &[u32]) -> (f64, f64) {
        let Problem { rows, codes, costs, squares, bias_square } = *problem;
        let weights = &mut *state.weights;
        let (mut gap, mut loss, mut bias) = (0.0, 0.0, state.bias[0]);
        for (at, &i) in order.iter().enumerate() {
            let i = i as usize;
            let (features, values) = rows.row(i);
            if let Some(&next) = order.get(at + 1) {
                rows.fetch(next as usize, weights, 1);
            }
            let z = bias + score_of_two(weights, features, values);
            let c = costs[i];
            let a = c * (squares[i] + bias_square);
            let old = state.logs[i];
            let q = logistic(old);
            let margin = if codes[i] == 1 { z } else { -z };
            let own = softplus(-margin);
            loss += c * own;
            // KL(q‖p) = q (t − z) + log(1 + e^z) − log(1 + e^t)
            state.gaps[i] = c * (q * (old - z) + softplus(z) - softplus(old)).max(0.0);
            gap += state.gaps[i];
            let new = step_of_two(a, z + a * q, old);
            state.logs[i] = new;
            let change = c * (q - logistic(new));
            if change != 0.0 {
                bias += bias_square * change;
                for (v, x) in features.iter().zip(values) {
                    weights[*v as usize] += change * x;
                }
            }
        }
        state.bias[0] = bias;
        (gap, loss)
    }
}

/// `wᵀx`, in four strands: one sum would wait for itself at every term.
#[inline(always)]
fn score_of_two(weights: &[f64], features: &[i32], values: &[f64]) -> f64 {
    let ((fours, rest), (values, last)) = (features.as_chunks::<4>(), values.as_chunks::<4>());
    let mut strands = [0.0; 4];
    for (j, (v, x)) in fours.iter().zip(values).enumerate() {
        if let Some(soon) = fours.get(j + AHEAD / 4) {
            soon.iter().for_each(|v| prefetch(weights, *v as usize));
        }
        for k in 0..4 {
            strands[k] += weights[v[k] as usize] * x[k];
        }
    }
    let tail: f64 = rest.iter().zip(last).map(|(v, x)| weights[*v as usize] * x).sum();
    (strands[0] + strands[2]) + (strands[1] + strands[3]) + tail
}

#[inline(always)]
pub(crate) fn logistic(t: f64) -> f64 {
    1.0 / (1.0 + exp(-t))
}

/// `log(1 + e^t)`.
#[inline(always)]
pub(crate) fn softplus(t: f64) -> f64 {
    exp(-t.abs()).ln_1p() + t.max(0.0)
}

/// The `t` with `t + a σ(t) = r`, near `t`: (3) for two classes.
///
/// The left side rises at least as fast as `t` and bends one way on either side of 0, so Newton's
/// method, kept inside `[r − a, r]`, finds it.
#[inline(always)]
pub(crate) fn step_of_two(a: f64, r: f64, near: f64) -> f64 {
    let (mut low, mut high) = (r - a, r);
    let mut t = near.clamp(low, high);
    for _ in 0..50 {
        let q = logistic(t);
        let off = t + a * q - r;
        if off > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let step = off / (1.0 + a * q * (1.0 - q));
        let next = t - step;
        t = if next >= low && next <= high { next } else { 0.5 * (low + high) };
        if step.abs() < SMALL {
            break;
        }
    }
    t
}

at_its_best! {
    fn epoch_of_many(problem: &Problem<'_>, state: &mut State<'_>, order: &[u32]) -> (f64, f64) {
        // With few classes the loops over them are unrolled.
        match state.bias.len() {
            3 => take_rows::<3>(problem, state, order),
            4 => take_rows::<4>(problem, state, order),
            5 => take_rows::<5>(problem, state, order),
            6 => take_rows::<6>(problem, state, order),
            8 => take_rows::<8>(problem, state, order),
            _ => take_rows::<0>(problem, state, order),
        }
    }
}

/// [`epoch`] for M classes, or for any number if M is 0.
#[inline(always)]
fn take_rows<const M: usize>(problem: &Problem<'_>, state: &mut State<'_>, order: &[u32]) -> (f64, f64) {
    let Problem { rows, codes, costs, squares, bias_square } = *problem;
    let m = if M > 0 { M } else { state.bias.len() };
    let weights = &mut *state.weights;
    let bias = &mut state.bias[..m];
    let (mut gap, mut loss) = (0.0, 0.0);
    let mut work = Work::new(m);
    for (at, &i) in order.iter().enumerate() {
        let i = i as usize;
        let (features, values) = rows.row(i);
        if let Some(&next) = order.get(at + 1) {
            rows.fetch(next as usize, weights, m);
        }
        let z = &mut work.z[..m];
        z.copy_from_slice(bias);
        for (j, (v, x)) in features.iter().zip(values).enumerate() {
            if let Some(soon) = features.get(j + AHEAD) {
                prefetch(weights, *soon as usize * m);
                if m > 8 {
                    prefetch(weights, *soon as usize * m + 8);
                }
            }
            let from = *v as usize * m;
            add_scaled(z, &weights[from..from + m], *x);
        }
        let c = costs[i];
        let of_row = i * m..(i + 1) * m;
        let curvature = c * (squares[i] + bias_square);
        let (row_gap, row_loss) = work.step(curvature, codes[i] as usize, &mut state.logs[of_row]);
        state.gaps[i] = c * row_gap;
        gap += state.gaps[i];
        loss += c * row_loss;
        let change = &mut work.change[..m];
        change.iter_mut().for_each(|change| *change *= c);
        add_scaled(bias, change, bias_square);
        add_outer(weights, (features, values), change, &mut work.active);
    }
    (gap, loss)
}

#[inline(always)]
pub(crate) fn add_scaled(out: &mut [f64], row: &[f64], by: f64) {
    let n = out.len().min(row.len());
    let (out, row) = (&mut out[..n], &row[..n]);
    for k in 0..n {
        out[k] += row[k] * by;
    }
}

/// Add `x_v change` to the weights of each feature of a row, in the classes that change only.
#[inline(always)]
pub(crate) fn add_outer(
    weights: &mut [f64],
    (features, values): (&[i32], &[f64]),
    change: &[f64],
    active: &mut Vec<usize>,
) {
    let m = change.len();
    active.clear();
    active.extend((0..m).filter(|k| change[*k] != 0.0));
    if active.is_empty() {
        return;
    }
    if active.len() * 6 < m {
        for (v, x) in features.iter().zip(values) {
            let row = &mut weights[*v as usize * m..(*v as usize + 1) * m];
            active.iter().for_each(|k| row[*k] += change[*k] * x);
        }
    } else {
        for (v, x) in features.iter().zip(values) {
            add_scaled(&mut weights[*v as usize * m..(*v as usize + 1) * m], change, *x);
        }
    }
}

at_its_best! {
    /// Add `Σ_i x_i coefficients_iᵀ` to the weights; `coefficients` are row by row, M each.
    pub fn add_rows(rows: Rows<'_>, coefficients: &[f64], weights: &mut [f64], m: usize) {
        let mut active = Vec::new();
        for (i, change) in coefficients.chunks_exact(m).enumerate() {
            add_outer(weights, rows.row(i), change, &mut active);
        }
    }
}

at_its_best! {
    /// `Wᵀx_i + b` of each row, row by row, M each.
    pub fn scores(rows: Rows<'_>, weights: &[f64], bias: &[f64], out: &mut [f64]) {
        let m = bias.len();
        for (i, z) in out.chunks_exact_mut(m).enumerate() {
            z.copy_from_slice(bias);
            let (features, values) = rows.row(i);
            for (j, (v, x)) in features.iter().zip(values).enumerate() {
                if let Some(soon) = features.get(j + AHEAD) {
                    prefetch(weights, *soon as usize * m);
                }
                add_scaled(z, &weights[*v as usize * m..(*v as usize + 1) * m], *x);
            }
        }
    }
}

/// The sum of some values, in four strands.
#[inline(always)]
fn sum(values: &[f64]) -> f64 {
    let (fours, rest) = values.as_chunks::<4>();
    let mut strands = [0.0; 4];
    for four in fours {
        for k in 0..4 {
            strands[k] += four[k];
        }
    }
    (strands[0] + strands[2]) + (strands[1] + strands[3]) + rest.iter().sum::<f64>()
}

/// The sum of products, in four strands.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut strands = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            strands[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (strands[0] + strands[2]) + (strands[1] + strands[3]) + rest
}

at_its_best! {
    /// `‖x_i‖²` of each row.
    pub fn squares(rows: Rows<'_>, out: &mut [f64]) {
        for (i, square) in out.iter_mut().enumerate() {
            let values = rows.row(i).1;
            *square = dot(values, values);
        }
    }
}

/// Working memory of one row with many classes.
struct Work {
    z: Vec<f64>,
    q: Vec<f64>,
    right: Vec<f64>,
    rate: Vec<f64>,
    wrong: Vec<f64>,
    before: Vec<f64>,   // old log q
    change: Vec<f64>,   // old q less new q
    active: Vec<usize>, // classes where that is not zero
}

impl Work {
    fn new(m: usize) -> Self {
        let zeros = || vec![0.0; m];
        Self {
            z: zeros(),
            q: zeros(),
            right: zeros(),
            rate: zeros(),
            wrong: zeros(),
            before: zeros(),
            change: zeros(),
            active: Vec::new(),
        }
    }

    /// Solve (3) for one row with scores `z`; the old `log q` gives way to the new one.
    ///
    /// `KL(q ‖ p)` of the old `q`, and the loss.
    #[inline(always)]
    fn step(&mut self, a: f64, own: usize, logs: &mut [f64]) -> (f64, f64) {
        let m = logs.len();
        let (z, q, right) = (&mut self.z[..m], &mut self.q[..m], &mut self.right[..m]);
        let (rate, wrong) = (&mut self.rate[..m], &mut self.wrong[..m]);
        let (change, before) = (&mut self.change[..m], &mut self.before[..m]);
        before.copy_from_slice(logs);
        let room = -a.max(1e-300).ln(); // up to here a q is below 1 and nothing bends
        // Every loop either maps or sums: the compiler makes vector code of both, not of a mixture.
        let top = z.iter().fold(f64::NEG_INFINITY, |top, z| top.max(*z));
        for k in 0..m {
            q[k] = exp(z[k] - top);
        }
        let log_total = sum(q).ln() + top;
        for k in 0..m {
            q[k] = exp(logs[k]);
            change[k] = q[k];
            right[k] = z[k] + a * q[k];
            wrong[k] = logs[k] - z[k];
        }
        let found = ((dot(q, wrong) + log_total).max(0.0), log_total - z[own]);
        // Newton on (3) and Σ q = 1 together. The first step starts from the old q.
        let mut shift = -log_total;
        for _ in 0..30 {
            for k in 0..m {
                rate[k] = 1.0 / (1.0 + a * q[k]);
                wrong[k] = logs[k] + a * q[k] - right[k] - shift;
                z[k] = q[k] * rate[k];
            }
            let turn = (1.0 - sum(q) + dot(z, wrong)) / sum(z);
            shift += turn;
            for k in 0..m {
                let step = ((turn - wrong[k]) * rate[k]).max(-40.0).min((room - logs[k]).max(2.0));
                logs[k] = (logs[k] + step).max(-600.0);
                let new = exp(logs[k]);
                wrong[k] = (new - q[k]).abs();
                q[k] = new;
            }
            if sum(wrong) < SMALL {
                break;
            }
        }
        let total = sum(q);
        let log_sum = total.ln();
        for k in 0..m {
            let turn = change[k] - q[k] / total;
            // What is too little to see is left as it was, in q as in the weights.
            change[k] = if turn.abs() < UNSEEN { 0.0 } else { turn };
            logs[k] = if turn.abs() < UNSEEN { before[k] } else { logs[k] - log_sum };
        }
        found
    }
}
