//! Dual coordinate ascent for several labels a row: one logistic regression for each, all in one pass.
//!
//! Label `k` of row `i` is there or not, `y_ik` is 1 or 0, and each label is a problem of its own,
//! `min ½‖w_k‖² + Σ c_i log(1 + e^{−±z_ik})`, `z_i = Wᵀx_i + b`. [`dual`](crate::dual) says how one is solved: its dual has
//! a probability `q_ik` for each row, `w_k = Σ c_i x_i (y_ik − q_ik)`, and a row is taken by solving
//! `t + a σ(t) = z + a q°`, `q = σ(t)`, `a = c_i ‖x_i‖²`. Here a row is read once for all labels: their weights
//! stand side by side. Labels do not see each other, so that any grouping of them ends at the same bits.

use crate::dual::{AHEAD, Rows, add_outer, add_scaled, logistic};
use crate::error::Error;
use crate::processor::{at_its_best, prefetch};

/// A change of a probability that is too little to matter.
const UNSEEN: f64 = 1e-12;

/// The rows to learn from, and which labels each has.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The rows.
    pub rows: Rows<'a>,
    /// Row `i` has the labels `labels[label_starts[i]..label_starts[i + 1]]`.
    pub label_starts: &'a [i64],
    /// The labels, each below M.
    pub labels: &'a [i32],
    /// `c_i`: C times the weight of the row.
    pub costs: &'a [f64],
    /// `‖x_i‖²`.
    pub squares: &'a [f64],
    /// Square of the constant feature that carries the bias.
    pub bias_square: f64,
}

/// Where the ascent stands, of M labels.
#[derive(Debug)]
pub struct State<'a> {
    /// `W`, feature by feature, M columns each.
    pub weights: &'a mut [f64],
    /// `b`.
    pub bias: &'a mut [f64],
    /// The logits of `q`, row by row, M columns each.
    pub logits: &'a mut [f64],
    /// Of each label, the sum of `c_i (q_ik − p_ik)(t_ik − z_ik)` as it was found in the last pass: `KL(q ‖ p)` and
    /// `KL(p ‖ q)` together, no less than the gap between primal and dual.
    pub gaps: &'a mut [f64],
    /// Of each label, the sum of `c_i` times the probability of what is not so: no more than its loss.
    pub losses: &'a mut [f64],
}

impl Problem<'_> {
    /// Refuse arrays that do not fit together; rows that are `known` to be sound are not read again.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn checked(&self, state: &State<'_>, order: &[u32], known: bool) -> Result<(), Error> {
        let (n, m) = (self.costs.len(), state.bias.len());
        let fits = m > 0
            && self.rows.starts.len() == n + 1
            && self.costs.iter().all(|cost| cost.is_finite() && *cost >= 0.0)
            && self.squares.len() == n
            && self.label_starts.len() == n + 1
            && self.label_starts.first() == Some(&0)
            && self.label_starts.is_sorted()
            && self.label_starts.last() == Some(&(self.labels.len() as i64))
            && self.labels.iter().all(|label| (*label as u32 as usize) < m)
            && state.logits.len() == n * m
            && state.gaps.len() == m
            && state.losses.len() == m
            && state.weights.len().is_multiple_of(m)
            && order.iter().all(|i| (*i as usize) < n);
        if !fits {
            return Err(Error::Malformed("the arrays of a problem of labels do not fit together".into()));
        }
        if known { Ok(()) } else { self.rows.checked(state.weights.len() / m) }
    }
}

at_its_best! {
    /// One pass over the rows in the given order, for all labels.
    ///
    /// ```
    /// use textodds_core::{dual::Rows, labels::{Problem, State, epoch}};
    /// let rows = Rows { starts: &[0, 1, 2], features: &[0, 1], values: &[1.0, 1.0] };
    /// let problem = Problem {
    ///     rows, label_starts: &[0, 1, 1], labels: &[0], costs: &[1.0; 2], squares: &[1.0; 2], bias_square: 0.1,
    /// };
    /// let (mut weights, mut bias, mut logits) = ([0.0; 2], [0.0], [27.0, -27.0]);
    /// let (mut gaps, mut losses) = ([0.0], [0.0]);
    /// let mut state = State {
    ///     weights: &mut weights, bias: &mut bias, logits: &mut logits, gaps: &mut gaps, losses: &mut losses,
    /// };
    /// epoch(&problem, &mut state, &[0, 1]);
    /// assert!(weights[0] > 0.1 && weights[1] < -0.1); // the first row has the label, the second does not
    /// ```
    pub fn epoch(problem: &Problem<'_>, state: &mut State<'_>, order: &[u32]) {
        let Problem { rows, label_starts, labels, costs, squares, bias_square } = *problem;
        let m = state.bias.len();
        let weights = &mut *state.weights;
        let bias = &mut *state.bias;
        state.gaps.fill(0.0);
        state.losses.fill(0.0);
        let (mut z, mut change, mut own) = (vec![0.0; m], vec![0.0; m], vec![false; m]);
        let (mut active, mut work) = (Vec::new(), Work::new(m));
        for (at, &i) in order.iter().enumerate() {
            let i = i as usize;
            let (features, values) = rows.row(i);
            if let Some(&next) = order.get(at + 1) {
                rows.fetch(next as usize, weights, m);
            }
            z.copy_from_slice(bias);
            for (j, (v, x)) in features.iter().zip(values).enumerate() {
                if let Some(soon) = features.get(j + AHEAD) {
                    (0..m).step_by(8).for_each(|k| prefetch(weights, *soon as usize * m + k));
                }
                add_scaled(&mut z, &weights[*v as usize * m..(*v as usize + 1) * m], *x);
            }
            let there = &labels[label_starts[i] as usize..label_starts[i + 1] as usize];
            there.iter().for_each(|k| own[*k as usize] = true);
            let c = costs[i];
            let logits = &mut state.logits[i * m..(i + 1) * m];
            work.step(c * (squares[i] + bias_square), &z, logits);
            // Every loop maps: the compiler makes vector code of it. Logarithms would be half of the time.
            for k in 0..m {
                let turn = work.before[k] - work.q[k];
                // What is too little to see is left as it was, in q as in the weights.
                let seen = turn.abs() >= UNSEEN;
                let p = logistic(z[k]);
                state.losses[k] += c * if own[k] { 1.0 - p } else { p };
                state.gaps[k] += c * (work.before[k] - p) * (logits[k] - z[k]);
                logits[k] = if seen { work.t[k] } else { logits[k] };
                change[k] = if seen { c * turn } else { 0.0 };
            }
            there.iter().for_each(|k| own[*k as usize] = false);
            add_scaled(bias, &change, bias_square);
            add_outer(weights, (features, values), &change, &mut active);
        }
    }
}

/// A step of Newton's method after which the next would be about its square.
const SMALL: f64 = 1e-5;

/// Working memory of one row.
struct Work {
    before: Vec<f64>, // old q
    q: Vec<f64>,      // new q
    t: Vec<f64>,      // its logit
    right: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    off: Vec<f64>,
}

impl Work {
    fn new(m: usize) -> Self {
        let zeros = || vec![0.0; m];
        Self {
            before: zeros(),
            q: zeros(),
            t: zeros(),
            right: zeros(),
            low: zeros(),
            high: zeros(),
            off: zeros(),
        }
    }

    /// Solve `t + a σ(t) = z + a q°` for every label: Newton's method, kept inside `[z + a q° − a, z + a q°]`.
    #[inline(always)]
    fn step(&mut self, a: f64, z: &[f64], logits: &[f64]) {
        let m = z.len();
        let (before, q, t) = (&mut self.before[..m], &mut self.q[..m], &mut self.t[..m]);
        let (right, low, high) = (&mut self.right[..m], &mut self.low[..m], &mut self.high[..m]);
        let (off, logits) = (&mut self.off[..m], &logits[..m]);
        for k in 0..m {
            before[k] = logistic(logits[k]);
            right[k] = z[k] + a * before[k];
            low[k] = right[k] - a;
            high[k] = right[k];
            t[k] = logits[k].max(low[k]).min(high[k]);
        }
        for _ in 0..50 {
            for k in 0..m {
                let share = logistic(t[k]);
                let wrong = t[k] + a * share - right[k];
                high[k] = if wrong > 0.0 { t[k] } else { high[k] };
                low[k] = if wrong > 0.0 { low[k] } else { t[k] };
                let step = wrong / (1.0 + a * share * (1.0 - share));
                let next = t[k] - step;
                let inside = next >= low[k] && next <= high[k];
                t[k] = if inside { next } else { 0.5 * (low[k] + high[k]) };
                off[k] = step.abs();
            }
            if off.iter().fold(0.0f64, |most, step| most.max(*step)) < SMALL {
                break;
            }
        }
        for k in 0..m {
            q[k] = logistic(t[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual;

    /// Labels side by side are the logistic regressions that each of them is alone.
    #[test]
    fn labels_together_are_labels_alone() {
        let rows = Rows {
            starts: &[0, 2, 3, 5, 6],
            features: &[0, 1, 2, 1, 2, 0],
            values: &[1.0, 0.5, 2.0, 0.3, 1.0, 0.7],
        };
        let squares = [1.25, 4.0, 1.09, 0.49];
        let targets = [[true, false], [false, true], [true, true], [false, false]];
        let start = |own: bool| if own { 20.0 } else { -20.0 };
        let costs = [3.0, 1.0, 2.0, 5.0];
        let problem = Problem {
            rows,
            label_starts: &[0, 1, 2, 4, 4],
            labels: &[0, 1, 0, 1],
            costs: &costs,
            squares: &squares,
            bias_square: 0.1,
        };
        let mut logits: Vec<f64> = targets.iter().flatten().map(|own| start(*own)).collect();
        let (mut weights, mut bias, mut gaps, mut losses) = (vec![0.0; 6], vec![0.0; 2], [0.0; 2], [0.0; 2]);
        let mut state = State {
            weights: &mut weights,
            bias: &mut bias,
            logits: &mut logits,
            gaps: &mut gaps,
            losses: &mut losses,
        };
        let order = [2, 0, 3, 1];
        problem.checked(&state, &order, false).unwrap();
        for _ in 0..3 {
            epoch(&problem, &mut state, &order);
        }
        for k in 0..2 {
            let codes: Vec<i64> = targets.iter().map(|own| i64::from(own[k])).collect();
            let mut alone: Vec<f64> = targets.iter().map(|own| start(own[k])).collect();
            let (mut w, mut b, mut row_gaps) = (vec![0.0; 3], vec![0.0], vec![0.0; 4]);
            let one =
                dual::Problem { rows, codes: &codes, costs: &costs, squares: &squares, bias_square: 0.1 };
            let mut state =
                dual::State { weights: &mut w, bias: &mut b, logs: &mut alone, gaps: &mut row_gaps };
            let mut found = (0.0, 0.0);
            for _ in 0..3 {
                found = dual::epoch(&one, &mut state, &order);
            }
            assert!((b[0] - bias[k]).abs() < 1e-9);
            for v in 0..3 {
                assert!((w[v] - weights[2 * v + k]).abs() < 1e-9);
            }
            assert!(gaps[k] >= found.0 && losses[k] <= found.1 && losses[k] > 0.0);
        }
    }

    #[test]
    fn a_label_out_of_range_is_an_error() {
        let rows = Rows { starts: &[0, 1], features: &[0], values: &[1.0] };
        let problem = Problem {
            rows,
            label_starts: &[0, 1],
            labels: &[1],
            costs: &[1.0],
            squares: &[1.0],
            bias_square: 0.1,
        };
        let state = State {
            weights: &mut [0.0],
            bias: &mut [0.0],
            logits: &mut [0.0],
            gaps: &mut [0.0],
            losses: &mut [0.0],
        };
        assert!(problem.checked(&state, &[0], false).is_err());
    }
}
