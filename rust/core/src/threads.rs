//! Work shared among threads.

use crate::error::Error;

/// As many of these threads as are worth their while for so many bytes of text.
pub(crate) fn worthwhile(bytes: usize, threads: usize) -> usize {
    if bytes < 1 << 16 { 1 } else { threads.max(1) }
}

/// Cut `items` into `n` runs of about equal `size`.
pub(crate) fn shares<T>(items: &[T], n: usize, size: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let total: usize = items.iter().map(&size).sum();
    let (mut out, mut from, mut done) = (Vec::with_capacity(n), 0, 0);
    for share in 1..=n {
        let mut to = from;
        while to < items.len() && (share == n || done * n < total * share) {
            done += size(&items[to]);
            to += 1;
        }
        out.push(&items[from..to]);
        from = to;
    }
    out
}

/// Shares of texts of about as many bytes each, one for each thread that is worth its while, and the row that
/// each begins with.
pub(crate) fn text_shares<'a>(texts: &'a [&'a str], threads: usize) -> Vec<(&'a [&'a str], usize)> {
    let total = texts.iter().map(|text| text.len()).sum();
    let mut row = 0;
    let with_row = |share: &'a [&'a str]| {
        row += share.len();
        (share, row - share.len())
    };
    shares(texts, worthwhile(total, threads), |text| text.len()).into_iter().map(with_row).collect()
}

/// Do the first on a thread of its own, the second here.
pub(crate) fn both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), second)
    })
}

/// Do the last of some jobs here, the others on threads of their own; what came of each.
pub(crate) fn on_threads<J: Send, R: Send>(mut jobs: Vec<J>, work: impl Fn(J) -> R + Sync) -> Vec<R> {
    let last = jobs.pop();
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = jobs.into_iter().map(|job| scope.spawn(move || work(job))).collect();
        let mine = last.map(work);
        let done = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.chain(mine).collect()
    })
}

/// What each thread makes of its shares of batch after batch.
#[derive(Debug)]
pub(crate) struct Parts<P> {
    /// One for each thread.
    pub(crate) each: Vec<P>,
    /// Part and rows, in the order of the documents.
    pub(crate) runs: Vec<(usize, usize)>,
}

impl<P: Default + Send> Parts<P> {
    pub(crate) fn new(threads: usize) -> Self {
        Self { each: (0..threads.max(1)).map(|_| P::default()).collect(), runs: Vec::new() }
    }

    /// Have the texts of a batch added to the parts: `add` takes some texts and the row they begin with.
    pub(crate) fn add(
        &mut self,
        texts: &[&str],
        add: impl Fn(&mut P, &[&str], usize) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let shares = text_shares(texts, self.each.len());
        self.runs.extend(shares.iter().enumerate().map(|(part, (share, _))| (part, share.len())));
        let jobs = self.each.iter_mut().zip(shares).collect();
        on_threads(jobs, |(part, (share, row))| add(part, share, row)).into_iter().collect()
    }
}
