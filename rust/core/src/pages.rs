//! Rows of a table that have changed, beside the table: a change copies what is near these rows, not the table.
//!
//! A table that has changed shares with the one before it all but the pages that differ, and neither is ever
//! changed itself: who reads one goes on reading it, without a lock, while the next is made.

use std::sync::Arc;

/// Rows of a page, and pages of a folder.
const PAGE: usize = 16;

type Page = Arc<[f64]>;
type Folder = Arc<[Option<Page>; PAGE]>;

/// What differs from a table of `width` columns, and rows beyond its last.
#[derive(Debug, Clone)]
pub struct Pages {
    width: usize,
    rows: usize,
    folders: Vec<Option<Folder>>,
}

impl Pages {
    /// No change of a table with so many rows and columns.
    #[must_use]
    pub fn new(rows: usize, width: usize) -> Self {
        Self { width, rows, folders: vec![None; rows.div_ceil(PAGE * PAGE)] }
    }

    /// Number of rows, with those beyond the table.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Row `at`, if it is there: of its page, else of `table`.
    #[inline]
    #[must_use]
    pub fn row<'a>(&'a self, table: &'a [f64], at: usize) -> &'a [f64] {
        let folder = self.folders.get(at / (PAGE * PAGE)).and_then(Option::as_ref);
        match folder.and_then(|folder| folder[at / PAGE % PAGE].as_ref()) {
            Some(page) => &page[at % PAGE * self.width..][..self.width],
            None => &table[at * self.width..][..self.width],
        }
    }

    /// Replace row `at`, which may be a new one behind all others.
    ///
    /// # Panics
    /// If rows are left out before it, or `row` has another width.
    pub fn set(&mut self, table: &[f64], at: usize, row: &[f64]) {
        assert!(at <= self.rows && row.len() == self.width, "rows are changed in place, or added at the end");
        self.rows = self.rows.max(at + 1);
        if at / (PAGE * PAGE) == self.folders.len() {
            self.folders.push(None);
        }
        let folder = self.folders[at / (PAGE * PAGE)].get_or_insert_with(Folder::default);
        let page = Arc::make_mut(folder)[at / PAGE % PAGE].get_or_insert_with(|| {
            let from = (at - at % PAGE) * self.width;
            let (from, to) = (from.min(table.len()), (from + PAGE * self.width).min(table.len()));
            let mut rows = table[from..to].to_vec();
            rows.resize(PAGE * self.width, 0.0);
            rows.into()
        });
        Arc::make_mut(page)[at % PAGE * self.width..][..self.width].copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_table_is_the_one_that_is_copied_and_leaves_the_one_before() {
        let (rows, width) = (3000, 3);
        let table: Vec<f64> = (0..rows * width).map(|i| i as f64).collect();
        let mut copied = table.clone();
        let mut versions = vec![(Pages::new(rows, width), copied.clone())];
        let mut random = 1_usize;
        for n in 0..40 {
            let mut pages = versions[n].0.clone();
            for k in 0..30 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = if k == 0 { pages.len() } else { (random >> 33) % pages.len() };
                let row = [random as f64, f64::from(k), n as f64];
                copied.resize(copied.len().max((at + 1) * width), 0.0);
                copied[at * width..][..width].copy_from_slice(&row);
                pages.set(&table, at, &row);
            }
            versions.push((pages, copied.clone()));
        }
        for (pages, copied) in &versions {
            assert_eq!(pages.len() * width, copied.len());
            for at in 0..pages.len() {
                assert_eq!(pages.row(&table, at), &copied[at * width..][..width]);
            }
        }
    }
}
