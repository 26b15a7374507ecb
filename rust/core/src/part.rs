//! The counts of one thread: a hash table, a log of what it held before, and counts that are settled.

use crate::analyse::{Analyser, Scratch};
use crate::error::Error;
use crate::key::Term;
use crate::processor::prefetch_text;
use crate::table::{Entry, Table};
use crate::tally::{Cell, Tally};

/// What one thread counts into.
#[derive(Debug)]
pub(crate) struct Part {
    table: Table,
    log: Vec<Entry>,
    settled: Settled,
    serial: u32,
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

    /// The counts of the next word.
    #[inline]
    fn push(&mut self, cells: &[Cell]) {
        self.cells.extend_from_slice(cells);
        self.starts.push(self.cells.len());
    }

    fn words(&self) -> impl Iterator<Item = (usize, &[Cell])> {
        self.starts.windows(2).map(|pair| &self.cells[pair[0]..pair[1]]).enumerate()
    }
}

/// How much there is in a table and its counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extent {
    /// Words.
    pub(crate) words: usize,
    arena: usize, // bytes of long ones
    cells: usize, // pairs of a word and a class
}

impl Extent {
    /// What it takes in a table of its own, in bytes: no less where there is more of it.
    pub(crate) fn bytes(self) -> usize {
        let Self { words, arena, cells } = self;
        Table::bytes_of(words) + words * size_of::<usize>() + arena + cells * size_of::<Cell>()
    }
}

impl std::iter::Sum for Extent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, each| Self {
            words: sum.words + each.words,
            arena: sum.arena + each.arena,
            cells: sum.cells + each.cells,
        })
    }
}

impl Part {
    /// Nothing yet; a document may have `most_terms` terms.
    pub(crate) fn new(most_terms: usize) -> Self {
        Self {
            table: Table::default(),
            log: Vec::new(),
            settled: Settled::default(),
            serial: 0,
            scratch: Scratch::for_at_most(most_terms),
        }
    }

    /// What there is, leaving nothing.
    pub(crate) fn taken(&mut self) -> Self {
        let nothing = Self::new(self.scratch.most_terms());
        std::mem::replace(self, nothing)
    }

    /// How much there is, once it is settled.
    pub(crate) fn extent(&self) -> Extent {
        Extent {
            words: self.table.words as usize,
            arena: self.table.arena.len(),
            cells: self.settled.cells.len(),
        }
    }

    /// As much as there may be when it is settled.
    pub(crate) fn most_extent(&self) -> Extent {
        let settled = self.extent();
        Extent { cells: settled.cells + self.log.len() + settled.words, ..settled }
    }

    /// Whether the log is so long that settling it pays.
    pub(crate) fn log_is_long(&self) -> bool {
        self.log.len() > 4 * self.settled.cells.len() + (1 << 20)
    }

    /// Multiply all counts, which are settled.
    pub(crate) fn multiply(&mut self, by: i64) -> Result<(), Error> {
        for cell in &mut self.settled.cells {
            for count in [&mut cell.occurrences, &mut cell.documents] {
                *count = count.checked_mul(by).ok_or(Error::Overflow)?;
            }
        }
        Ok(())
    }

    /// Count a share of a batch: group and row of each document.
    pub(crate) fn count(
        &mut self,
        analyser: &Analyser,
        texts: &[&str],
        share: &[(u32, u32)],
    ) -> Result<(), Error> {
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
            self.scratch.shrink();
        }
        Ok(())
    }

    /// Empty the slots into the log and sort that by the place of each word. Linear.
    fn logged(&mut self, place: impl Fn(u32) -> usize) -> Logged {
        let mut log = std::mem::take(&mut self.log);
        self.table.flush(&mut log);
        let mut starts = vec![0u32; self.table.words as usize + 2];
        log.iter().for_each(|entry| starts[place(entry.id) + 2] += 1);
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut entries = vec![Entry::default(); log.len()];
        for entry in log {
            let at = &mut starts[place(entry.id) + 1]; // moves on to the start of the next word
            entries[*at as usize] = entry;
            *at += 1;
        }
        Logged { starts, entries }
    }

    /// Memory held, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
            + self.log.capacity() * size_of::<Entry>()
            + self.settled.cells.capacity() * size_of::<Cell>()
            + self.settled.starts.capacity() * size_of::<usize>()
    }

    /// Add the log, and what is in the table, to the settled counts. Linear.
    pub(crate) fn settle(&mut self, members: &[(u32, i64)]) -> Result<(), Error> {
        let logged = self.logged(|id| id as usize);
        let mut settled = Settled { starts: vec![0], cells: Vec::new() };
        let mut cells = Vec::new();
        for id in 0..self.table.words as usize {
            cells.clear();
            cells.extend_from_slice(self.settled.of(id));
            logged.add_to(&mut cells, id, members)?;
            add_up(&mut cells)?;
            settled.push(&cells);
        }
        settled.cells.shrink_to_fit();
        self.settled = settled;
        Ok(())
    }

    /// Take in the words and counts of others; all are settled. Linear, but for a sort of what is taken in.
    pub(crate) fn absorb(&mut self, mut others: Vec<Self>) -> Result<(), Error> {
        others.retain(|other| other.table.words > 0);
        if others.is_empty() {
            return Ok(());
        }
        let mut next = self.table.words;
        let mut taken = Vec::new(); // number here, part, number there
        for (part, other) in others.iter().enumerate() {
            for (number, key) in other.table.keys() {
                let term = Term { key, hash: key.hash(&other.table.arena) };
                taken.push((self.table.slot(term, &other.table.arena, &mut next).id, part, number as usize));
            }
        }
        taken.sort_unstable();
        let mut taken = taken.into_iter().peekable();
        let mut sum = Settled { starts: vec![0], cells: Vec::new() };
        let mut cells = Vec::new();
        for id in 0..next {
            cells.clear();
            cells.extend_from_slice(self.settled.of(id as usize));
            while let Some((_, part, number)) = taken.next_if(|(here, _, _)| *here == id) {
                cells.extend_from_slice(others[part].settled.of(number));
            }
            add_up(&mut cells)?;
            sum.push(&cells);
        }
        sum.cells.shrink_to_fit();
        self.settled = sum;
        Ok(())
    }

    /// Drop the words in at most so many documents, which are settled; how many there were.
    pub(crate) fn drop_rare(&mut self, most: u64) -> u64 {
        let documents = |cells: &[Cell]| cells.iter().map(|cell| cell.documents as u64).sum::<u64>();
        let keep: Vec<bool> = self.settled.words().map(|(_, cells)| documents(cells) > most).collect();
        let (table, numbers) = self.table.kept(&keep);
        let dropped = self.table.words - table.words;
        self.settled = self.settled.renumbered(&numbers, table.words as usize);
        self.table = table;
        u64::from(dropped)
    }

    /// The tally, class `k` renamed to `numbers[k]`.
    pub(crate) fn finish(mut self, members: &[(u32, i64)], numbers: &[u32]) -> Result<Tally, Error> {
        let words = self.table.in_order();
        let mut ranks = vec![0; words.len()];
        words.iter().zip(0..).for_each(|((id, _), rank)| ranks[*id as usize] = rank);
        let logged = self.logged(|id| ranks[id as usize]);
        let mut tally = Tally::with_capacity(words.len(), logged.entries.len() + self.settled.cells.len());
        let mut cells = Vec::new();
        for (place, &(id, key)) in words.iter().enumerate() {
            cells.clear();
            cells.extend_from_slice(self.settled.of(id as usize));
            logged.add_to(&mut cells, place, members)?;
            cells.iter_mut().for_each(|cell| cell.class = numbers[cell.class as usize]);
            add_up(&mut cells)?;
            tally.push(key, &self.table.arena, &cells);
        }
        Ok(tally)
    }
}

/// A log by word: the word at place `v` has `entries[starts[v]..starts[v + 1]]`.
struct Logged {
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

impl Logged {
    /// Append the counts of the word at a place, each times its weight.
    #[inline]
    fn add_to(&self, cells: &mut Vec<Cell>, place: usize, members: &[(u32, i64)]) -> Result<(), Error> {
        for entry in &self.entries[self.starts[place] as usize..self.starts[place + 1] as usize] {
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
            out.push(self.of(id));
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
