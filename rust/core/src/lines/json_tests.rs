//! What is usual, and what is handed back.

use super::json::*;

fn keys() -> Keys {
    Keys { text: "text".into(), label: Some("label".into()), weight: Some("w".into()) }
}

fn is_usual(line: &str) -> bool {
    Objects::default().append(line.as_bytes(), &keys())
}

/// The texts and labels of all rows, and the unusual lines with the rows before each.
type Found = (Vec<u8>, Vec<u8>, Vec<f64>, Vec<(usize, u64)>);

fn read(data: &[u8], piece: usize, most: usize, flush: bool) -> Found {
    let mut lines = JsonLines::default();
    lines.select(keys());
    let mut found = Found::default();
    for piece in data.chunks(piece).chain([&[][..]]) {
        lines.feed(piece);
        while let Some((rows, unusual)) = lines.take(1 << 20, most, flush) {
            assert!(rows.texts.len() + unusual.len() <= most);
            let before = found.2.len();
            found.3.extend(unusual.iter().map(|line| (before + line.before, line.number)));
            found.0.extend(rows.texts.bytes);
            found.1.extend(rows.labels.bytes);
            found.2.extend(rows.weights);
        }
    }
    assert!(lines.rest().is_empty());
    found
}

#[test]
fn what_python_would_complain_of_or_word_otherwise_is_unusual() {
    let row = |label: &str| format!(r#"{{"text": "a", "label": {label}, "w": 2}}"#);
    for label in [r#""x""#, r#""\u00e9\ud83d\ude00\/""#, "3", "-12", "true", "false"] {
        assert!(is_usual(&row(label)), "{label}");
    }
    for label in [
        r#""""#,
        "null",
        "0.5",
        "1e3",
        "-0",
        "01",
        "[1]",
        "1234567890123456789",
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\u0041""#,
        r#""\x""#,
        r#""\u12g4""#,
        "\"\u{1}\"",
        "NaN",
        "True",
        "",
        "3]",
    ] {
        assert!(!is_usual(&row(label)), "{label}");
    }
    for weight in ["-1", "4294967297", "1e400", "\"1\"", "null", "true", "Infinity"] {
        let line = format!(r#"{{"text": "a", "label": "x", "w": {weight}}}"#);
        assert!(!is_usual(&line), "{weight}");
    }
    for line in ["", "{", "{}", "[]", "null", r#"{"text": "a"}"#, r#"{"\u0074ext": "a"}"#] {
        assert!(!is_usual(line), "{line}");
    }
}

#[test]
fn what_is_not_read_is_passed_over_and_checked() {
    for (value, usual) in [
        (r#"{"a": [1, 2.5e-3, {"b": [ ]}], "c": { }}"#, true),
        (r#""\"\\ \n""#, true),
        ("null", true),
        ("[1, ]", false),
        (r#"{"a"}"#, false),
        (r#"{"a": 1,}"#, false),
        ("1.", false),
        ("\"tab\there\"", false),
    ] {
        let line = format!(r#"{{"id": {value}, "text": "a", "label": "x" , "w":0.5}}"#);
        assert_eq!(is_usual(&line), usual, "{value}");
    }
    let deep = |depth| {
        format!(r#"{{"w": 1, "id": {}{}, "text": "", "label": 0}}"#, "[".repeat(depth), "]".repeat(depth))
    };
    assert!(is_usual(&deep(DEEPEST)) && !is_usual(&deep(DEEPEST + 1)) && !is_usual(&deep(100_000)));
}

#[test]
fn rows_and_unusual_lines_come_in_order_however_the_bytes_come() {
    let data = b"\xEF\xBB\xBF{\"text\": \"a\", \"label\": \"x\", \"w\": 1}\r\n\n \
        {\"w\": 2, \"text\": \"old\", \"text\": \"b\\n\", \"label\": 7}\nnonsense\n{\"text\": \"\xff\"}\n\
        {\"text\": \"c\", \"label\": true, \"w\": 3.5}";
    let whole = read(data, 1 << 20, 10, false);
    let found = (b"ab\nc".to_vec(), b"x7true".to_vec(), vec![1.0, 2.0, 3.5], vec![(2, 4), (2, 5)]);
    assert_eq!(whole, found);
    for piece in 1..data.len() {
        for (most, flush) in [(10, false), (10, true), (1, false), (2, true)] {
            assert_eq!(read(data, piece, most, flush), whole, "{piece} {most} {flush}");
        }
    }
}

#[test]
fn the_first_label_of_each_type_is_known_and_lines_can_be_looked_at() {
    let mut lines = JsonLines::default();
    lines.feed(b"\n{}\n {\"text\": \"\", \"label\": 1}\n{\"text\": \"\", \"label\": true}\n");
    assert_eq!(lines.peek(), Some((2, &b"{}"[..])));
    let (_, unusual) = lines.take(1 << 20, 10, false).unwrap();
    assert_eq!(unusual, [Unusual { before: 0, number: 2, line: b"{}".to_vec() }]);
    lines.select(Keys { weight: None, ..keys() });
    assert_eq!(lines.take(1 << 20, 10, false), None);
    let (rows, _) = lines.take(1 << 20, 10, true).unwrap();
    assert_eq!(rows.kinds, LabelKinds { text: None, integer: Some(0), boolean: Some(1) });
}
