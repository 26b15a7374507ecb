use std::io::{self, Cursor, Read};

use super::*;

const CSV: Kind = Kind::Delimited { delimiter: None, quoting: true, header: true };

/// A stream that gives one byte at a time: every cut that reading can meet.
struct Drip(Cursor<Vec<u8>>);
impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(1);
        self.0.read(&mut buffer[..n])
    }
}

type Found = (Vec<(String, String)>, Vec<(u64, String)>);

fn read(data: &[u8], kind: Kind, size: usize) -> Found {
    let whole = Reader::new(Cursor::new(data.to_vec()), kind, false).unwrap();
    let dripped = Reader::new(Drip(Cursor::new(data.to_vec())), kind, true).unwrap();
    let found = collect(whole, size);
    assert_eq!(found, collect(dripped, size), "the cuts between reads change the rows");
    found
}

fn collect(mut reader: Reader, size: usize) -> Found {
    if let (Some(text), label) = (
        reader.names().iter().position(|name| name == "text"),
        reader.names().iter().position(|name| name == "label"),
    ) {
        reader.select(Columns { text, label, weight: None });
    }
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    let get = |strings: &Strings, i: usize| {
        let range = strings.offsets[i] as usize..strings.offsets[i + 1] as usize;
        String::from_utf8(strings.bytes[range].to_vec()).unwrap()
    };
    while let Some(batch) = reader.next_batch(size, true).unwrap() {
        for i in 0..batch.texts.len() {
            let label = if batch.labels.is_empty() { String::new() } else { get(&batch.labels, i) };
            rows.push((label, get(&batch.texts, i)));
        }
        bad.extend(batch.rejects.into_iter().map(|reject| (reject.line, reject.reason)));
    }
    (rows, bad)
}

fn row(label: &str, text: &str) -> (String, String) {
    (label.into(), text.into())
}

#[test]
fn quotes_newlines_bom_and_crlf_are_read_as_rfc_4180_says() {
    let data =
        b"\xEF\xBB\xBFlabel,text\r\nham,\"a \"\"b\"\", c\r\nd\"\r\n\r\nspam,plain \"inner\"\r\nham,\"\"";
    let expected = vec![row("ham", "a \"b\", c\r\nd"), row("spam", "plain \"inner\""), row("ham", "")];
    for size in [1, 10, 1 << 20] {
        assert_eq!(read(data, CSV, size), (expected.clone(), vec![]));
    }
}

#[test]
fn bad_rows_are_named_by_line_and_reason_and_the_rest_is_read() {
    let data = b"text,label\na,x\nb\n\"c\"d,x\n\xFFe,x\nf,\n\"g\nh\",y\n\"i,x\nj,x\n";
    let (rows, bad) = read(data, CSV, 1 << 20);
    assert_eq!(rows, [row("x", "a"), row("y", "g\nh"), row("x", "j")]);
    let expected = [
        (3, "1 fields where the header has 2"),
        (4, "text behind a closing quote"),
        (5, "invalid UTF-8 at byte 0 of the text"),
        (6, "label is empty"),
        (9, "a quote is opened and never closed"),
    ];
    assert_eq!(bad, expected.map(|(line, reason)| (line, reason.to_owned())));
}

#[test]
fn the_separator_is_found_from_the_header() {
    assert_eq!(read(b"label;text\nx;a,b\n", CSV, 99).0, [row("x", "a,b")]);
    assert_eq!(read(b"label\ttext\nx\ta,b\n", CSV, 99).0, [row("x", "a,b")]);
}

#[test]
fn fast_text_lines_have_one_label() {
    let (rows, bad) =
        read(b"__label__a one two\n\nthree\n__label__b __label__c x\n__label__d\n", Kind::FastText, 99);
    assert_eq!(rows, [row("a", "one two"), row("d", "")]);
    assert_eq!(bad.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn fast_text_lines_have_sets_of_labels_where_asked() {
    let data = b"__label__b __label__a __label__b one two\n\nthree\n__label__d\n__label__ x\n";
    let (rows, bad) = read(data, Kind::FastTextSets, 99);
    assert_eq!(rows, [row("\x1ea\x1eb", "one two"), row("\x1e", "three"), row("\x1ed", "")]);
    assert_eq!(bad.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5]);
}

#[test]
fn plain_lines_are_texts_even_when_empty() {
    assert_eq!(read(b"a\r\n\nb", Kind::Lines, 99).0, [row("", "a"), row("", ""), row("", "b")]);
}

#[test]
fn nothing_comes_from_nothing() {
    assert_eq!(read(b"", CSV, 99), (vec![], vec![]));
    assert_eq!(read(b"text,label\n", CSV, 99), (vec![], vec![]));
}

#[test]
fn a_cut_gzip_stream_is_an_error() {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"text,label\na,x\nb,y\n").unwrap();
    let data = gzip.finish().unwrap();
    assert_eq!(read(&data, CSV, 99).0.len(), 2);
    let cut = data[..data.len() - 12].to_vec();
    let outcome = Reader::new(Cursor::new(cut), CSV, false).and_then(|mut reader| {
        while reader.next_batch(99, true)?.is_some() {}
        Ok(())
    });
    assert!(matches!(outcome, Err(LineError::Truncated)));
}

type Cells = (Vec<(u64, Vec<String>)>, Vec<(u64, String)>);

fn table(data: &[u8], columns: &[usize], size: usize, most: usize) -> Cells {
    let read = |mut reader: Reader| {
        reader.select_columns(columns);
        let (mut rows, mut bad) = (Vec::new(), Vec::new());
        while let Some(table) = reader.next_table(size, most, true).unwrap() {
            assert!(table.lines.len() <= most);
            for (i, line) in table.lines.iter().enumerate() {
                let cell = |strings: &Strings| {
                    let range = strings.offsets[i] as usize..strings.offsets[i + 1] as usize;
                    String::from_utf8(strings.bytes[range].to_vec()).unwrap()
                };
                rows.push((*line, table.columns.iter().map(cell).collect()));
            }
            bad.extend(table.rejects.into_iter().map(|reject| (reject.line, reject.reason)));
        }
        (rows, bad)
    };
    let found = read(Reader::new(Cursor::new(data.to_vec()), CSV, false).unwrap());
    let dripped = read(Reader::new(Drip(Cursor::new(data.to_vec())), CSV, true).unwrap());
    assert_eq!(found, dripped, "the cuts between reads change the rows");
    found
}

#[test]
fn a_table_has_any_columns_in_any_order_and_the_line_of_each_row() {
    let data = b"a,b,c\n1,\"x\ny\",3\n\n4,,6\n7\n\xFF,8,9\n10,\xFF,12\n";
    for (size, most) in [(1, 99), (1 << 20, 1), (1 << 20, 99)] {
        let (rows, bad) = table(data, &[2, 0], size, most);
        let expected = [(2, ["3", "1"]), (5, ["6", "4"]), (8, ["12", "10"])];
        assert_eq!(rows, expected.map(|(line, cells)| (line, cells.map(str::to_owned).to_vec())));
        let expected =
            [(6, "1 fields where the header has 3"), (7, "invalid UTF-8 at byte 0 of the column `a`")];
        assert_eq!(bad, expected.map(|(line, reason)| (line, reason.to_owned())));
    }
}

#[test]
fn a_table_of_no_columns_still_has_rows() {
    let (rows, bad) = table(b"a,b\n1,2\n3\n", &[], 99, 99);
    assert_eq!((rows, bad.len()), (vec![(2, vec![])], 1));
}

/// Rows that a stray quote could swallow, and the line on which each begins.
fn many(rows: usize) -> String {
    (0..rows).map(|i| ["text number ", &i.to_string(), ",x\n"].concat()).collect()
}

#[test]
fn a_stray_quote_costs_its_own_line() {
    // What ends the quoted field, and whether that line is read: never closed, closed in the midst of a field,
    // closed by the quotes of another row, and closed as if it were legal.
    let closed = many(1200) + "stray\" quote,x\n" + &many(3);
    let legal = many(1200) + "closing\",x\n" + &many(3);
    for (behind, read_rows) in [(many(1200), 1200), (closed, 1204), (legal, 1204)] {
        let data = format!("text,label\nfirst,y\n\"stray,y\n{behind}");
        let (rows, bad) = read(data.as_bytes(), CSV, 1 << 20);
        assert_eq!(rows.len(), 1 + read_rows);
        assert_eq!(bad, [(3, "a quote is opened and never closed".to_owned())]);
        assert_eq!(rows[1], row("x", "text number 0"));
    }
    let (rows, bad) = read(b"text,label\n\"stray,y\n\"quoted, really\",x\nlast,x\n", CSV, 99);
    assert_eq!(rows, [row("x", "quoted, really"), row("x", "last")]);
    assert_eq!(bad.len(), 1);
}

#[test]
fn a_stray_quote_behind_a_field_of_several_lines_costs_its_own_line() {
    let data = format!("text,label\n\"one\ntwo\",\"x\n{}last\",x\n", many(20));
    let (rows, bad) = read(data.as_bytes(), CSV, 1 << 20);
    assert_eq!((rows.len(), bad.len()), (21, 1));
}

#[test]
fn a_stray_quote_before_a_field_of_several_lines_costs_its_own_line() {
    let data = b"label,text\nham,\"stray\nspam,b\nham,\"two\nlines\"\nspam,c\n";
    let rows = vec![row("spam", "b"), row("ham", "two\nlines"), row("spam", "c")];
    assert_eq!(read(data, CSV, 1 << 20), (rows, vec![(2, "a quote is opened and never closed".into())]));
}

#[test]
fn a_long_text_stays_one_field() {
    for line in ["no comma\n", "one, comma\nno comma\n", "a, b, c\n", "one, \"\"comma\"\"\n"] {
        let text = line.repeat(3000);
        let data = format!("text,label\n\"{text}\",x\nlast,y\n");
        let text = text.replace("\"\"", "\"");
        assert_eq!(read(data.as_bytes(), CSV, 1 << 20), (vec![row("x", &text), row("y", "last")], vec![]));
    }
    let one = format!("text\n\"{}\"\nlast\n", "any line\n".repeat(3000));
    assert_eq!(read(one.as_bytes(), CSV, 1 << 20).0.len(), 2);
}

#[test]
fn a_broken_text_of_many_lines_is_left_out_whole_and_its_lines_are_counted() {
    let data = format!("text,label\n\"{}\"behind,x\nlast,y\n", "a line of prose\n".repeat(50));
    let (rows, bad) = read(data.as_bytes(), CSV, 1 << 20);
    assert_eq!(rows, [row("y", "last")]);
    assert_eq!(bad, [(2, "text behind a closing quote; 51 lines are left out".to_owned())]);
    let reader = Reader::new(Cursor::new(data.into_bytes()), CSV, false);
    let batch = reader.unwrap().next_batch(1 << 20, true).unwrap().unwrap();
    assert_eq!(batch.rejects[0].row.len(), 50 * 16 + "\"\"behind,x".len());
}

#[test]
fn a_header_that_breaks_the_rules_is_an_error() {
    for data in [&b"text,\"label\na,x\n"[..], b"\"text\"s,label\na,x\n"] {
        let outcome = Reader::new(Cursor::new(data.to_vec()), CSV, false);
        assert!(matches!(outcome, Err(LineError::Header { line: 1, .. })));
    }
}

#[test]
fn lines_that_end_in_a_return_alone_are_an_error() {
    let outcome = Reader::new(Cursor::new(b"text,label\ra,x\rb,y\r".to_vec()), CSV, false);
    assert!(matches!(outcome, Err(LineError::LoneReturn)));
    let (rows, bad) = read(b"__label__a x\r__label__b y\r", Kind::FastText, 99);
    assert_eq!((rows, bad), (vec![], vec![(1, "lines end in a carriage return (CR) alone".to_owned())]));
    assert_eq!(read(b"text,label\r\na\rb,x\r\n", CSV, 99).0, [row("x", "a\rb")]);
}

#[test]
fn a_blank_line_is_an_empty_text_where_there_is_one_column() {
    assert_eq!(read(b"text\na\n\nb\r\n\r\n", CSV, 99).0, ["a", "", "b", ""].map(|text| row("", text)));
    assert_eq!(read(b"text,label\na,x\n\nb,x\n", CSV, 99).0.len(), 2);
}

#[test]
fn utf_16_and_utf_32_are_told_apart() {
    for (data, is_32) in [
        (&b"\xFF\xFEt\0"[..], false),
        (b"\xFE\xFF\0t", false),
        (b"\xFF\xFE\0\0t\0\0\0", true),
        (b"\0\0\xFE\xFF\0\0\0t", true),
    ] {
        let outcome = Reader::new(Cursor::new(data.to_vec()), CSV, false).err();
        assert!(matches!((outcome, is_32), (Some(LineError::Utf32), true) | (Some(LineError::Utf16), false)));
    }
}
