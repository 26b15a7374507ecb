//! Rows as they are kept: checked, and end to end.

use super::Kind;
use super::fields::Outcome;
use super::reader::Reader;

/// A row that breaks the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// Line on which it begins, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
    /// Its bytes.
    pub row: Vec<u8>,
}

/// Texts end to end: text `i` is `bytes[offsets[i]..offsets[i + 1]]`, and is UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strings {
    /// Boundaries, one more than there are texts.
    pub offsets: Vec<i64>,
    /// The texts.
    pub bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl Strings {
    /// Number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn open(&self) -> &[u8] {
        &self.bytes[self.offsets[self.len()] as usize..]
    }

    /// Make what was appended since the last text a text.
    pub(super) fn close(&mut self) {
        self.offsets.push(self.bytes.len() as i64);
    }

    /// Drop what was appended since the last text.
    pub(super) fn drop_open(&mut self) {
        self.bytes.truncate(self.offsets[self.len()] as usize);
    }
}

/// Rows read together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// The texts.
    pub texts: Strings,
    /// Their labels, where labels are read.
    pub labels: Strings,
    /// Their weights, where weights are read.
    pub weights: Vec<f64>,
    /// Rows left out.
    pub rejects: Vec<Reject>,
    pub(super) weight: Vec<u8>,
}

/// Rows of a table read together, every field a string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The columns, in the order in which they were selected.
    pub columns: Vec<Strings>,
    /// Line on which each row begins, from 1.
    pub lines: Vec<u64>,
    /// Rows left out.
    pub rejects: Vec<Reject>,
}

/// Which columns hold what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Columns {
    /// The text.
    pub text: usize,
    /// The label.
    pub label: Option<usize>,
    /// The weight.
    pub weight: Option<usize>,
}

/// What is filled row by row: each row is appended, then checked and kept or dropped.
pub(super) trait Rows {
    fn append(&mut self, reader: &Reader) -> Outcome;
    fn close(&mut self, reader: &Reader) -> Result<(), String>;
    fn drop_open(&mut self);
    fn count(&self) -> usize;
    fn bytes(&self) -> usize;
    fn rejects(&mut self) -> &mut Vec<Reject>;
}

impl Rows for Batch {
    fn append(&mut self, reader: &Reader) -> Outcome {
        match reader.kind {
            Kind::Delimited { .. } => reader.delimited(self),
            Kind::FastText => reader.fast_text(self),
            Kind::FastTextSets => reader.fast_text_set(self),
            Kind::Lines => reader.plain(self),
        }
    }

    fn close(&mut self, reader: &Reader) -> Result<(), String> {
        let columns = reader.columns;
        let labelled = matches!(reader.kind, Kind::FastText | Kind::FastTextSets) || columns.label.is_some();
        utf8(self.texts.open(), "text")?;
        if labelled {
            utf8(self.labels.open(), "label")?;
            if self.labels.open().is_empty() {
                return Err("label is empty".into());
            }
        }
        if columns.weight.is_some() {
            self.weights.push(weight(&self.weight)?);
        }
        self.texts.close();
        if labelled {
            self.labels.close();
        }
        self.weight.clear();
        Ok(())
    }

    fn drop_open(&mut self) {
        self.texts.drop_open();
        self.labels.drop_open();
        self.weight.clear();
    }

    fn count(&self) -> usize {
        self.texts.len()
    }

    fn bytes(&self) -> usize {
        self.texts.bytes.len()
    }

    fn rejects(&mut self) -> &mut Vec<Reject> {
        &mut self.rejects
    }
}

impl Rows for Table {
    fn append(&mut self, reader: &Reader) -> Outcome {
        reader.record(|i, bytes| {
            if let Some(Some(slot)) = reader.slots.get(i) {
                self.columns[*slot].bytes.extend_from_slice(bytes);
            }
        })
    }

    fn close(&mut self, reader: &Reader) -> Result<(), String> {
        for (strings, column) in self.columns.iter().zip(&reader.selected) {
            if std::str::from_utf8(strings.open()).is_err() {
                return utf8(strings.open(), &format!("column `{}`", reader.names[*column]));
            }
        }
        self.columns.iter_mut().for_each(Strings::close);
        self.lines.push(reader.line);
        Ok(())
    }

    fn drop_open(&mut self) {
        self.columns.iter_mut().for_each(Strings::drop_open);
    }

    fn count(&self) -> usize {
        self.lines.len()
    }

    fn bytes(&self) -> usize {
        // An empty field takes room too: its boundary.
        self.columns.iter().map(|strings| strings.bytes.len() + 8 * strings.len()).sum()
    }

    fn rejects(&mut self) -> &mut Vec<Reject> {
        &mut self.rejects
    }
}

fn utf8(bytes: &[u8], column: &str) -> Result<(), String> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("invalid UTF-8 at byte {} of the {column}", error.valid_up_to())),
    }
}

fn weight(bytes: &[u8]) -> Result<f64, String> {
    let text = String::from_utf8_lossy(bytes);
    match text.trim().parse::<f64>() {
        Ok(weight) if (0.0..=4_294_967_296.0).contains(&weight) => Ok(weight),
        _ => Err(format!("weight is `{text}`; it must be a number from 0 to 2^32")),
    }
}
