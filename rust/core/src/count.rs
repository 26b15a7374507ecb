//! Counting documents into a tally, on several threads, in bounded memory.
//!
//! Documents of a batch are taken class by class, so that a word's slot in the hash table holds the
//! counts of one class at a time and the table costs the same for two classes or ten thousand. When
//! a word turns up in another class its slot is written to a log; the log becomes the tally.
//! A weight is handled as a kind of class: counts stay whole, and are multiplied when written.

use std::collections::HashMap;
use std::sync::Arc;

use crate::analyse::{Analyser, Scratch};
use crate::error::Error;
use crate::processor::{prefetch, prefetch_text};
use crate::table::{Entry, Table};
use crate::tally::{Cell, FRACTION, Tally};
use crate::threads::{on_threads, shares, worthwhile};

/// What was dropped to stay within the memory budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Words dropped, counting a word again each time.
    pub words: u64,
    /// Words in at most this many documents (of one thread, at that time) were dropped.
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
    /// A counter on `threads` threads whose tables and logs stay within `budget` bytes.
    #[must_use]
    pub fn new(analyser: Arc<Analyser>, threads: usize, budget: usize) -> Self {
        Self {
            analyser,
            parts: (0..threads.max(1)).map(|_| Part::new()).collect(),
            budget,
            fraction: 0,
            classes: HashMap::new(),
            class_documents: Vec::new(),
            groups: Groups::default(),
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
        let by_group = self.grouped(labels, weights)?;
        let by_group = self.in_order(by_group);
        self.count(texts, &by_group)?;
        if self.groups.members.len() > 1 << 20 {
            for part in &mut self.parts {
                part.settle(&self.groups.members)?;
            }
            self.groups = Groups::default();
        }
        let share = self.budget / self.parts.len();
        for part in &mut self.parts {
            part.stay_within(share, &self.groups.members, self.fraction)?;
        }
        Ok(())
    }

    /// Group and row of each document, and the document counts of the classes.
    fn grouped(&mut self, labels: &[&str], weights: Option<&[f64]>) -> Result<Vec<(u32, u32)>, Error> {
        let unit = f64::from(1u32 << self.fraction);
        let mut last: Option<(&str, u32)> = None;
        let mut groups = Vec::with_capacity(labels.len());
        for (row, label) in labels.iter().enumerate() {
            let class = match last {
                Some((name, class)) if name == *label => class,
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

    fn count(&mut self, texts: &[&str], by_group: &[(u32, u32)]) -> Result<(), Error> {
        let total: usize = texts.iter().map(|text| text.len()).sum();
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
            for cell in &mut part.settled.cells {
                for count in [&mut cell.occurrences, &mut cell.documents] {
                    *count = count.checked_mul(1 << FRACTION).ok_or(Error::Overflow)?;
                }
            }
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
    pub fn finish(self) -> Result<(Tally, Pruned), Error> {
        let numbers = self.ranks();
        let mut classes = vec![String::new(); numbers.len()];
        let mut class_documents = vec![0; numbers.len()];
        for (name, class) in self.classes {
            classes[numbers[class as usize] as usize] = name;
            class_documents[numbers[class as usize] as usize] = self.class_documents[class as usize];
        }

        let members = &self.groups.members;
        let mut pruned = Pruned::default();
        for part in &self.parts {
            pruned.words += part.pruned.words;
            pruned.most_documents = pruned.most_documents.max(part.pruned.most_documents);
        }
        let parts = self.parts.into_iter().filter(|part| part.table.words > 0).collect();
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
                sum = sum.combined(&tally, 1, false)?;
            }
        }
        Ok((sum.canonical(), pruned))
    }
}

/// What one thread counts into.
#[derive(Debug)]
struct Part {
    table: Table,
    log: Vec<Entry>,
    settled: Settled,
    serial: u32,
    pruned: Pruned,
    scratch: Scratch,
}

/// Counts by word number: word `v` has `cells[starts[v]..starts[v + 1]]`, classes increasing.
#[derive(Debug, Default)]
struct Settled {
    starts: Vec<usize>,
    cells: Vec<Cell>,
}

impl Settled {
    /// The counts of word `id`; none for a word that came later.
    #[inline]
    fn of(&self, id: usize) -> &[Cell] {
        match self.starts.get(id..id + 2) {
            Some(pair) => &self.cells[pair[0]..pair[1]],
            None => &[],
        }
    }

    fn words(&self) -> impl Iterator<Item = (usize, &[Cell])> {
        self.starts.windows(2).map(|pair| &self.cells[pair[0]..pair[1]]).enumerate()
    }
}

impl Part {
    fn new() -> Self {
        Self {
            table: Table::default(),
            log: Vec::new(),
            settled: Settled::default(),
            serial: 0,
            pruned: Pruned::default(),
            scratch: Scratch::default(),
        }
    }

    fn count(&mut self, analyser: &Analyser, texts: &[&str], share: &[(u32, u32)]) -> Result<(), Error> {
        if self.serial as usize + share.len() >= u32::MAX as usize {
            self.table.iter_mut().for_each(|slot| slot.stamp = 0);
            self.serial = 0;
        }
        for (i, &(group, row)) in share.iter().enumerate() {
            if let Some((_, next)) = share.get(i + 1) {
                prefetch_text(texts[*next as usize]);
            }
            self.serial += 1;
            analyser.analyse(texts[row as usize], row as usize, &mut self.scratch)?;
            let (terms, text) = self.scratch.terms();
            self.table.count(terms, text, group, self.serial, &mut self.log);
        }
        Ok(())
    }

    /// Empty the slots into the log and sort that by word. Linear.
    fn logged(&mut self) -> Logged {
        let mut log = std::mem::take(&mut self.log);
        self.table.flush(&mut log);
        let mut starts = vec![0u32; self.table.words as usize + 2];
        log.iter().for_each(|entry| starts[entry.id as usize + 2] += 1);
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut entries = vec![Entry::default(); log.len()];
        for entry in log {
            let at = &mut starts[entry.id as usize + 1]; // moves on to the start of the next word
            entries[*at as usize] = entry;
            *at += 1;
        }
        Logged { starts, entries }
    }

    fn bytes(&self) -> usize {
        self.table.bytes()
            + self.log.capacity() * size_of::<Entry>()
            + self.settled.cells.capacity() * size_of::<Cell>()
            + self.settled.starts.capacity() * size_of::<usize>()
    }

    fn settle(&mut self, members: &[(u32, i64)]) -> Result<(), Error> {
        let logged = self.logged();
        let mut settled = Settled { starts: vec![0], cells: Vec::new() };
        let mut cells = Vec::new();
        for id in 0..self.table.words as usize {
            cells.clear();
            cells.extend_from_slice(self.settled.of(id));
            logged.add_to(&mut cells, id, members)?;
            add_up(&mut cells)?;
            settled.cells.extend_from_slice(&cells);
            settled.starts.push(settled.cells.len());
        }
        settled.cells.shrink_to_fit();
        self.settled = settled;
        Ok(())
    }

    /// Settle a long log; drop the rarest words while over the budget.
    fn stay_within(&mut self, budget: usize, members: &[(u32, i64)], fraction: u32) -> Result<(), Error> {
        if self.log.len() > 4 * self.settled.cells.len() + (1 << 20) || self.bytes() > budget {
            self.settle(members)?;
        }
        let mut most = 1;
        while self.bytes() > budget && self.table.words > 1 << 10 {
            let documents = |cells: &[Cell]| cells.iter().map(|cell| cell.documents as u64).sum::<u64>();
            let keep: Vec<bool> =
                self.settled.words().map(|(_, cells)| documents(cells) > most << fraction).collect();
            let (table, numbers) = self.table.kept(&keep);
            self.pruned.words += u64::from(self.table.words - table.words);
            self.pruned.most_documents = self.pruned.most_documents.max(most);
            self.settled = self.settled.renumbered(&numbers, table.words as usize);
            self.table = table;
            most *= 2;
        }
        Ok(())
    }

    /// The tally, class `k` renamed to `numbers[k]`.
    fn finish(mut self, members: &[(u32, i64)], numbers: &[u32]) -> Result<Tally, Error> {
        let logged = self.logged();
        let words = self.table.in_order();
        let mut tally = Tally::with_capacity(words.len(), logged.entries.len() + self.settled.cells.len());
        let mut cells = Vec::new();
        for (i, &(id, key)) in words.iter().enumerate() {
            if let [.., (soon, _)] = words[i..words.len().min(i + 12)] {
                logged.fetch(soon as usize); // words are visited in an order of their own
            }
            cells.clear();
            cells.extend_from_slice(self.settled.of(id as usize));
            logged.add_to(&mut cells, id as usize, members)?;
            cells.iter_mut().for_each(|cell| cell.class = numbers[cell.class as usize]);
            add_up(&mut cells)?;
            tally.push(key, &self.table.arena, &cells);
        }
        Ok(tally)
    }
}

/// A log by word: word `v` has `entries[starts[v]..starts[v + 1]]`.
struct Logged {
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

impl Logged {
    /// Bring the entries of a word near.
    #[inline]
    fn fetch(&self, id: usize) {
        prefetch(&self.entries, self.starts[id] as usize);
    }

    /// Append the counts of word `id`, each times its weight.
    #[inline]
    fn add_to(&self, cells: &mut Vec<Cell>, id: usize, members: &[(u32, i64)]) -> Result<(), Error> {
        for entry in &self.entries[self.starts[id] as usize..self.starts[id + 1] as usize] {
            let (class, weight) = members[entry.group as usize];
            let times = |count: u16| weight.checked_mul(i64::from(count)).ok_or(Error::Overflow);
            let (occurrences, documents) = (times(entry.occurrences)?, times(entry.documents)?);
            cells.push(Cell { class, occurrences, documents });
        }
        Ok(())
    }
}

impl Settled {
    /// The counts of the words that have a new number.
    fn renumbered(&self, numbers: &[Option<u32>], words: usize) -> Self {
        let mut old: Vec<usize> = vec![0; words];
        for (id, new) in numbers.iter().enumerate() {
            if let Some(new) = new {
                old[*new as usize] = id;
            }
        }
        let mut out = Self { starts: vec![0], cells: Vec::new() };
        for id in old {
            out.cells.extend_from_slice(&self.cells[self.starts[id]..self.starts[id + 1]]);
            out.starts.push(out.cells.len());
        }
        out.cells.shrink_to_fit();
        out
    }
}

/// Sort cells by class and add up equal classes.
#[inline]
fn add_up(cells: &mut Vec<Cell>) -> Result<(), Error> {
    if cells.len() < 2 {
        return Ok(());
    }
    if !cells.is_sorted_by_key(|cell| cell.class) {
        cells.sort_unstable_by_key(|cell| cell.class);
    }
    let mut kept = 0;
    for i in 1..cells.len() {
        let cell = cells[i];
        let last = &mut cells[kept];
        if last.class == cell.class {
            last.occurrences = last.occurrences.checked_add(cell.occurrences).ok_or(Error::Overflow)?;
            last.documents = last.documents.checked_add(cell.documents).ok_or(Error::Overflow)?;
        } else {
            kept += 1;
            cells[kept] = cell;
        }
    }
    cells.truncate(kept + 1);
    Ok(())
}
