//! Any bytes as a file: every row is UTF-8 and has its label or its cells, and no cut between reads matters.
#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use textodds_core::lines::{Columns, JsonLines, Keys, Kind, Reader};

struct Chopped(Cursor<Vec<u8>>, usize);

impl Read for Chopped {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(self.1);
        self.0.read(&mut buffer[..n])
    }
}

type Rows = (Vec<u8>, Vec<u8>, Vec<i64>, Vec<(u64, String)>);

fn rows(data: &[u8], kind: Kind, chop: usize, size: usize) -> Option<Rows> {
    let mut reader = Reader::new(Chopped(Cursor::new(data.to_vec()), chop), kind, false).ok()?;
    if reader.names().len() > 1 {
        reader.select(Columns { text: 0, label: Some(1), weight: None });
    }
    let mut out = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    while let Some(batch) = reader.next_batch(size, true).ok()? {
        assert!(std::str::from_utf8(&batch.texts.bytes).is_ok());
        assert!(batch.labels.is_empty() || batch.labels.len() == batch.texts.len());
        out.2.extend(batch.texts.offsets.windows(2).map(|pair| pair[1] - pair[0]));
        out.0.extend(batch.texts.bytes);
        out.1.extend(batch.labels.bytes);
        out.3.extend(batch.rejects.into_iter().map(|bad| (bad.line, bad.reason)));
    }
    Some(out)
}

type Cells = (Vec<Vec<u8>>, Vec<Vec<i64>>, Vec<u64>, Vec<(u64, String)>);

/// All columns of a file that has some, the last first.
fn cells(data: &[u8], kind: Kind, chop: usize, size: usize) -> Option<Cells> {
    let mut reader = Reader::new(Chopped(Cursor::new(data.to_vec()), chop), kind, false).ok()?;
    let columns: Vec<usize> = (0..reader.names().len()).rev().collect();
    if columns.is_empty() {
        return None;
    }
    reader.select_columns(&columns);
    let (mut lines, mut rejects) = (Vec::new(), Vec::new());
    let (mut bytes, mut lengths) = (vec![Vec::new(); columns.len()], vec![Vec::new(); columns.len()]);
    while let Some(table) = reader.next_table(size, size, true).ok()? {
        for (at, strings) in table.columns.iter().enumerate() {
            assert!(std::str::from_utf8(&strings.bytes).is_ok());
            assert_eq!(strings.len(), table.lines.len());
            bytes[at].extend(&strings.bytes);
            lengths[at].extend(strings.offsets.windows(2).map(|pair| pair[1] - pair[0]));
        }
        lines.extend(table.lines);
        rejects.extend(table.rejects.into_iter().map(|bad| (bad.line, bad.reason)));
    }
    Some((bytes, lengths, lines, rejects))
}

type Objects = (Vec<u8>, Vec<u8>, Vec<i64>, Vec<(usize, u64)>);

/// The rows of JSON lines, and which lines are unusual, each behind so many rows.
fn objects(data: &[u8], chop: usize, size: usize, flush: bool) -> Objects {
    let mut lines = JsonLines::default();
    lines.select(Keys { text: "a".into(), label: Some("b".into()), weight: None });
    let mut out = Objects::default();
    for piece in data.chunks(chop).chain([&[][..]]) {
        lines.feed(piece);
        while let Some((rows, unusual)) = lines.take(size, size, flush) {
            assert!(std::str::from_utf8(&rows.texts.bytes).is_ok());
            assert_eq!(rows.labels.len(), rows.texts.len());
            let before = out.2.len();
            out.3.extend(unusual.iter().map(|line| (before + line.before, line.number)));
            out.2.extend(rows.texts.offsets.windows(2).map(|pair| pair[1] - pair[0]));
            out.0.extend(rows.texts.bytes);
            out.1.extend(rows.labels.bytes);
        }
    }
    out
}

fuzz_target!(|data: &[u8]| {
    let [choice, chop, data @ ..] = data else { return };
    let whole = objects(data, 1 << 20, 1 << 20, false);
    let chop = usize::from(*chop);
    assert_eq!(whole, objects(data, 1 + chop, 1 + chop, chop % 2 == 0));
    let kind = match choice % 6 {
        0 => Kind::Lines,
        1 => Kind::FastText,
        2 => Kind::Delimited { delimiter: Some(b','), quoting: false, header: true },
        3 => Kind::Delimited { delimiter: None, quoting: true, header: false },
        5 => Kind::FastTextSets,
        _ => Kind::Delimited { delimiter: None, quoting: true, header: true },
    };
    let whole = rows(data, kind, 1 << 20, 1 << 20);
    let chopped = rows(data, kind, 1 + chop, 1 + chop);
    assert_eq!(whole, chopped);
    let whole = cells(data, kind, 1 << 20, 1 << 20);
    assert_eq!(whole, cells(data, kind, 1 + chop, 1 + chop));
});
