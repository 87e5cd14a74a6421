//! Converts the Parquet files of results to CSV, for programs that cannot read Parquet.
//!
//! The format follows RFC 4180, except that lines end with a line feed. The first line contains the
//! names of the columns; each row is one line. A null is an empty field, an empty text is `""`. A
//! number is written with enough digits to give exactly the same number when it is read.

use std::io::{self, Write};

use bbrlab_run::{Cell, Values};

use crate::parquet_file::ParquetReader;
use crate::unwritten::Unwritten;

/// Writes a Parquet file as CSV.
///
/// # Errors
/// Fails if the file is damaged, or if writing to `out` fails. Rows are read in groups, so part of
/// the CSV may be written before damage is found.
pub fn write_csv(parquet: Vec<u8>, out: &mut impl Write) -> Result<(), Unwritten<String>> {
    let reader = ParquetReader::new(parquet).map_err(Unwritten::Without)?;
    write_names(out, &reader.names())?;
    for group in 0..reader.groups() {
        write_rows(out, &reader.group(group).map_err(Unwritten::Without)?)?;
    }
    Ok(())
}

fn write_names(out: &mut impl Write, names: &[String]) -> io::Result<()> {
    let names: Vec<String> = names.iter().map(|name| field(name)).collect();
    writeln!(out, "{}", names.join(","))
}

fn write_rows(out: &mut impl Write, columns: &[Values]) -> io::Result<()> {
    let rows = columns.first().map_or(0, Values::len);
    for row in 0..rows {
        for (place, values) in columns.iter().enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            match values {
                Values::Int(values) => write!(out, "{}", values[row])?,
                Values::OptInt(values) => write_some(out, values[row], |v| v.to_string())?,
                // Rust's `Debug` format writes numbers below 1e-4 and from 1e16 on with an
                // exponent, and other numbers with a decimal point.
                Values::Float(values) => write!(out, "{:?}", values[row])?,
                Values::OptFloat(values) => write_some(out, values[row], |v| format!("{v:?}"))?,
                Values::Text(values) => out.write_all(field(&values[row]).as_bytes())?,
                Values::OptText(values) => write_some(out, values[row].as_deref(), field)?,
                Values::Repeated(Cell::Null, _) => {}
                Values::Repeated(Cell::Whole(value), _) => write!(out, "{value}")?,
                Values::Repeated(Cell::Number(value), _) => write!(out, "{value:?}")?,
                Values::Repeated(Cell::Word(word), _) => out.write_all(field(word).as_bytes())?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn write_some<T>(
    out: &mut impl Write,
    value: Option<T>,
    show: impl FnOnce(T) -> String,
) -> io::Result<()> {
    value.map_or(Ok(()), |value| out.write_all(show(value).as_bytes()))
}

/// Returns a text as a CSV field. The text is quoted if necessary, or if it is empty, because an
/// empty field is a null.
fn field(text: &str) -> String {
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use bbrlab_run::{Column, Values};
    use expect_test::expect;

    use super::write_csv;
    use crate::parquet_file::encode;

    fn csv_of(columns: &[Column]) -> String {
        let mut text = Vec::new();
        write_csv(encode(columns, &[]), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn nulls_are_empty_texts_are_quoted_and_numbers_read_back() {
        let floats = [0.1, 1.0 / 3.0, 5e-324, f64::MAX, -0.0, 1e21, 100.0];
        let texts = ["", "plain", "a,b", "say \"so\"", "two\nlines", " blank ", "é\r"];
        let columns = vec![
            Column::new("x", Values::Float(floats.to_vec())),
            Column::new("n", Values::Int(vec![i64::MIN, i64::MAX, 0, 1, 2, 3, 4])),
            Column::new("with, comma", Values::Text(texts.map(Cow::Borrowed).to_vec())),
            Column::new("m", Values::OptInt(vec![None, Some(1), None, None, None, None, None])),
            Column::new(
                "y",
                Values::OptFloat(vec![Some(1e-7), None, None, None, None, None, None]),
            ),
            Column::new(
                "t",
                Values::OptText(vec![Some(String::new()), None, None, None, None, None, None]),
            ),
        ];
        let text = csv_of(&columns);
        expect![[r#"
            x,n,"with, comma",m,y,t
            0.1,-9223372036854775808,"",,1e-7,""
            0.3333333333333333,9223372036854775807,plain,1,,
            5e-324,0,"a,b",,,
            1.7976931348623157e308,1,"say ""so""",,,
            -0.0,2,"two
            lines",,,
            1e21,3, blank ,,,
            100.0,4,"é\r",,,
        "#]]
        .assert_eq(&text.replace('\r', "\\r"));
        for x in floats {
            let shown = format!("{x:?}");
            assert!(text.contains(&format!("\n{shown},")), "{shown}");
            assert_eq!(shown.parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
    }

    #[test]
    fn a_table_without_rows_has_its_names() {
        let empty = vec![
            Column::new("time_s", Values::Float(Vec::new())),
            Column::new("state", Values::OptText(Vec::new())),
        ];
        assert_eq!(csv_of(&empty), "time_s,state\n");
    }
}
