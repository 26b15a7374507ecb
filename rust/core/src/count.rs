//! Counting documents into a tally, on several threads, in bounded memory.
//!
//! Documents of a batch are taken class by class, so that a word's slot in the hash table holds the
//! counts of one class at a time and the table costs the same for two classes or ten thousand. When
//! a word turns up in another class its slot is written to a log; the log becomes the tally.
//! A weight is handled as a kind of class: counts stay whole, and are multiplied when written.
//!
//! Whether rare words are dropped is asked after every so many bytes of text, and of the counts of all threads
//! together: what is left depends on the documents and their order, neither on threads nor on batches.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::analyse::Analyser;
use crate::error::Error;
use crate::part::{Extent, Part};
use crate::tally::{FRACTION, Tally};
use crate::threads::{on_threads, shares, worthwhile};

/// Bytes of the budget for each term that a document may have. Its terms are held at once, some 50 bytes each,
/// and a table to which they are all new takes up to 200 bytes for each.
const BYTES_OF_TERM: usize = 64;
/// No budget is so small that a document of so many terms would not do.
const FEWEST_TERMS: usize = 1 << 20;
/// No table is so small that words are dropped from it.
const FEWEST_WORDS: usize = 1 << 10;

/// What was dropped to stay within the memory budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Words dropped, counting a word again each time.
    pub words: u64,
    /// Words in at most this many documents, at that time, were dropped.
    pub most_documents: u64,
}

/// Counts batches of labelled texts.
#[derive(Debug)]
pub struct Counter {
    analyser: Arc<Analyser>,
    parts: Vec<Part>,
    budget: usize,
    fraction: u32,
    classes: HashMap<String, u32>,
    class_documents: Vec<i64>,
    groups: Groups,
    pruned: Pruned,
    since: usize, // bytes of text, times the sizes of n-grams, since the budget was looked at
}

/// Classes with a weight; the unit in which documents are grouped.
#[derive(Debug, Default)]
struct Groups {
    numbers: HashMap<(u32, i64), u32>,
    members: Vec<(u32, i64)>, // class, weight in units of 2^-fraction
    latest: Vec<(i64, u32)>,  // of each class, weight and group; most documents of a class weigh the same
}

impl Groups {
    fn number(&mut self, class: u32, weight: i64) -> u32 {
        let place = class as usize;
        if let Some((last, group)) = self.latest.get(place)
            && *last == weight
        {
            return *group;
        }
        let group = *self.numbers.entry((class, weight)).or_insert_with(|| {
            self.members.push((class, weight));
            self.members.len() as u32 - 1
        });
        if self.latest.len() <= place {
            self.latest.resize(place + 1, (-1, 0)); // no weight is negative
        }
        self.latest[place] = (weight, group);
        group
    }
}

impl Counter {
    /// A counter on `threads` threads whose words and counts stay within `budget` bytes.
    ///
    /// While it counts, tables with room for more words, one a thread, and logs take up to about four times that.
    #[must_use]
    pub fn new(analyser: Arc<Analyser>, threads: usize, budget: usize) -> Self {
        let most_terms = (budget / BYTES_OF_TERM).max(FEWEST_TERMS);
        Self {
            analyser,
            parts: (0..threads.max(1)).map(|_| Part::new(most_terms)).collect(),
            budget,
            fraction: 0,
            classes: HashMap::new(),
            class_documents: Vec::new(),
            groups: Groups::default(),
            pruned: Pruned::default(),
            since: 0,
        }
    }

    /// Count a batch. Linear in its bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] where lengths differ or a weight is negative, not finite or above 2^32;
    /// [`Error::DocumentTooLong`]; [`Error::Overflow`]. The batch is then not to be relied on.
    pub fn add(&mut self, texts: &[&str], labels: &[&str], weights: Option<&[f64]>) -> Result<(), Error> {
        if labels.len() != texts.len() || weights.is_some_and(|weights| weights.len() != texts.len()) {
            return Err(Error::Malformed("texts, labels and weights differ in number".into()));
        }
        if let Some(weights) = weights
            && let Some(bad) = weights.iter().find(|w| !(0.0..=4_294_967_296.0).contains(*w))
        {
            return Err(Error::Malformed(format!("a weight is {bad}; it must be from 0 to 2^32")));
        }
        if self.fraction == 0 && weights.is_some_and(|weights| weights.iter().any(|w| w.fract() != 0.0)) {
            self.switch_to_fractions()?;
        }
        let mut from = 0;
        while from < texts.len() {
            let rows = from..from + self.documents_until_look(&texts[from..]);
            from = rows.end;
            self.count(texts, labels, weights, rows)?;
            if self.since >= self.look_after() {
                self.stay_within(self.budget - self.budget / 8)?; // and room for more
            }
        }
        Ok(())
    }

    /// After how many bytes of text, times the sizes of n-grams, the budget is looked at.
    ///
    /// Were all of their terms new, a table for them would take about as much as the budget.
    fn look_after(&self) -> usize {
        (self.budget / 128).max(1 << 18)
    }

    /// How many of these documents come before the budget is looked at again.
    fn documents_until_look(&mut self, texts: &[&str]) -> usize {
        let (sizes, most) = (self.analyser.sizes(), self.look_after());
        if self.since >= most {
            self.since = 0;
        }
        for (i, text) in texts.iter().enumerate() {
            self.since += (text.len() + 1) * sizes;
            if self.since >= most {
                return i + 1;
            }
        }
        texts.len()
    }

    /// Count some documents of a batch.
    fn count(
        &mut self,
        texts: &[&str],
        labels: &[&str],
        weights: Option<&[f64]>,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        let by_group = self.grouped(labels, weights, rows)?;
        let by_group = self.in_order(by_group);
        self.share_out(texts, &by_group)?;
        let members = &self.groups.members;
        if members.len() > 1 << 20 {
            self.parts.iter_mut().try_for_each(|part| part.settle(members))?;
            self.groups = Groups::default();
        } else {
            let long = self.parts.iter_mut().filter(|part| part.log_is_long());
            long.into_iter().try_for_each(|part| part.settle(members))?;
        }
        Ok(())
    }

    /// If all threads together hold more than the budget, drop the rarest words until it is `wanted` bytes.
    fn stay_within(&mut self, wanted: usize) -> Result<(), Error> {
        let (members, budget) = (&self.groups.members, self.budget);
        let most = |parts: &[Part], of: fn(&Part) -> Extent| parts.iter().map(of).sum::<Extent>().bytes();
        // One thread's words may be another's too: together they take at most this.
        if most(&self.parts, Part::most_extent) <= budget && self.bytes() <= 2 * budget {
            return Ok(());
        }
        let settled = on_threads(self.parts.iter_mut().collect(), |part: &mut Part| part.settle(members));
        settled.into_iter().collect::<Result<(), Error>>()?;
        if most(&self.parts, Part::extent) <= budget && self.bytes() <= 2 * budget {
            return Ok(());
        }
        let [first, others @ ..] = self.parts.as_mut_slice() else { return Ok(()) };
        first.absorb(others.iter_mut().map(Part::taken).collect())?;
        let mut documents = 1;
        let mut most = budget;
        while first.extent().bytes() > most && first.extent().words > FEWEST_WORDS {
            self.pruned.words += first.drop_rare(documents << self.fraction);
            self.pruned.most_documents = self.pruned.most_documents.max(documents);
            (documents, most) = (documents * 2, wanted);
        }
        Ok(())
    }

    /// Group and row of each document, and the document counts of the classes.
    fn grouped(
        &mut self,
        labels: &[&str],
        weights: Option<&[f64]>,
        rows: Range<usize>,
    ) -> Result<Vec<(u32, u32)>, Error> {
        let unit = f64::from(1u32 << self.fraction);
        let mut last: Option<(&str, u32)> = None;
        let mut groups = Vec::with_capacity(rows.len());
        for row in rows {
            let label = labels[row];
            let class = match last {
                Some((name, class)) if name == label => class,
                _ => self.class(label),
            };
            last = Some((label, class));
            let weight = weights.map_or(1 << self.fraction, |weights| (weights[row] * unit).round() as i64);
            let total = &mut self.class_documents[class as usize];
            *total = total.checked_add(weight).ok_or(Error::Overflow)?;
            groups.push((self.groups.number(class, weight), row as u32));
        }
        Ok(groups)
    }

    /// Group by group, in the order of class names: a word's entries in the log are then in order.
    fn in_order(&self, mut by_group: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        let rank = self.ranks();
        let place = |group: u32| (rank[self.groups.members[group as usize].0 as usize], group);
        let groups = self.groups.members.len();
        if groups > by_group.len() {
            by_group.sort_by_key(|(group, _)| place(*group));
            return by_group;
        }
        let mut next = vec![0; groups];
        by_group.iter().for_each(|(group, _)| next[*group as usize] += 1);
        let mut order: Vec<u32> = (0..groups as u32).collect();
        order.sort_unstable_by_key(|group| place(*group));
        let mut first = 0;
        for group in order {
            first += std::mem::replace(&mut next[group as usize], first);
        }
        let mut ordered = vec![(0, 0); by_group.len()];
        for (group, row) in by_group {
            let at = &mut next[group as usize];
            ordered[*at] = (group, row);
            *at += 1;
        }
        ordered
    }

    /// The place of each class in the order of names.
    fn ranks(&self) -> Vec<u32> {
        let mut names: Vec<(&String, &u32)> = self.classes.iter().collect();
        names.sort_unstable();
        let mut rank = vec![0; names.len()];
        for (place, (_, class)) in names.into_iter().enumerate() {
            rank[*class as usize] = place as u32;
        }
        rank
    }

    fn class(&mut self, label: &str) -> u32 {
        if let Some(class) = self.classes.get(label) {
            return *class;
        }
        let class = self.class_documents.len() as u32;
        self.classes.insert(label.to_owned(), class);
        self.class_documents.push(0);
        class
    }

    fn share_out(&mut self, texts: &[&str], by_group: &[(u32, u32)]) -> Result<(), Error> {
        let total: usize = by_group.iter().map(|(_, row)| texts[*row as usize].len()).sum();
        let analyser = &*self.analyser;
        let shares =
            shares(by_group, worthwhile(total, self.parts.len()), |(_, row)| texts[*row as usize].len());
        let jobs = self.parts.iter_mut().zip(shares).collect();
        on_threads(jobs, |(part, share)| part.count(analyser, texts, share)).into_iter().collect()
    }

    /// From here on weights are not whole: all counts become multiples of `2^-FRACTION`.
    fn switch_to_fractions(&mut self) -> Result<(), Error> {
        for part in &mut self.parts {
            part.settle(&self.groups.members)?;
            part.multiply(1 << FRACTION)?;
        }
        for count in &mut self.class_documents {
            *count = count.checked_mul(1 << FRACTION).ok_or(Error::Overflow)?;
        }
        self.groups = Groups::default();
        self.fraction = FRACTION;
        Ok(())
    }

    /// Memory held by tables and logs, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(Part::bytes).sum()
    }

    /// The tally of everything counted, and what had to be dropped. Linear, plus a sort of the words.
    ///
    /// # Errors
    /// [`Error::Overflow`] if a count no longer fits.
    pub fn finish(mut self) -> Result<(Tally, Pruned), Error> {
        self.stay_within(self.budget)?;
        let numbers = self.ranks();
        let mut classes = vec![String::new(); numbers.len()];
        let mut class_documents = vec![0; numbers.len()];
        for (name, class) in self.classes {
            classes[numbers[class as usize] as usize] = name;
            class_documents[numbers[class as usize] as usize] = self.class_documents[class as usize];
        }

        let (members, threads) = (&self.groups.members, self.parts.len());
        let parts = self.parts.into_iter().filter(|part| part.extent().words > 0).collect();
        let tallies = on_threads(parts, |part: Part| part.finish(members, &numbers));
        let empty = vec![0; classes.len()];
        let mut sum =
            Tally { fraction: self.fraction, classes, class_documents, ..Tally::with_capacity(0, 0) };
        for tally in tallies {
            let mut tally = tally?;
            tally.fraction = self.fraction;
            tally.classes.clone_from(&sum.classes);
            if sum.is_empty() {
                tally.class_documents = std::mem::take(&mut sum.class_documents);
                sum = tally;
            } else {
                tally.class_documents.clone_from(&empty);
                sum = sum.combined(&tally, 1, false, threads)?;
            }
        }
        Ok((sum.canonical(), self.pruned))
    }
}
