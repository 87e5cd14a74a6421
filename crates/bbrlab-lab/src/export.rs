//! `export --csv`: the Parquet files of results as CSV, for programs that read no Parquet.
//!
//! One line of names, then a line for each row, as RFC 4180 has it but for the ends of lines, which
//! are a line feed. A null is nothing, an empty text is `""`. A number has as many digits as it
//! takes to read the same number back.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bbrlab_results::ParquetReader;
use bbrlab_run::{Cell, Values};

use crate::atomic_file::{make_folder, write_by};
use crate::error::LabError;
use crate::named::{Kind, Results, folders_in, results_in};

/// The extension of the files that are exported.
const PARQUET: &str = "parquet";

/// Writes every Parquet file of the results in a folder as CSV, beside it or, in folders of the
/// same names, into `out`. Returns the files' names.
///
/// # Errors
/// If it is no folder of results, or a file in it is damaged or cannot be written.
pub fn export_csv(folder: &Path, out: Option<&Path>) -> Result<Vec<PathBuf>, LabError> {
    let mut written = Vec::new();
    for results in results_in(folder)? {
        for file in parquet_files(&results) {
            let target = out.map_or_else(|| results.path.clone(), |out| out.join(&results.below));
            let target = target.join(&file).with_extension("csv");
            if let Some(parent) = target.parent() {
                make_folder(parent)?;
            }
            to_csv(&results.path.join(&file), &target)?;
            written.push(target);
        }
    }
    if written.is_empty() {
        return Err(LabError::Usage(format!("{}: no Parquet file in it", folder.display())));
    }
    Ok(written)
}

/// The Parquet files of a run, or of a sweep and its runs, below their folder.
fn parquet_files(results: &Results) -> Vec<PathBuf> {
    let mut files = parquet_files_in(&results.path, Path::new(""));
    if results.kind == Kind::Sweep {
        for run in folders_in(&results.path) {
            files.extend(parquet_files_in(&results.path, &run));
        }
    }
    files
}

fn parquet_files_in(top: &Path, below: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(top.join(below)) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| below.join(entry.file_name()))
        .filter(|file| file.extension().is_some_and(|extension| extension == PARQUET))
        .collect();
    files.sort();
    files
}

fn to_csv(parquet: &Path, csv: &Path) -> Result<(), LabError> {
    let damaged =
        |reason: &String| LabError::Usage(format!("{} is damaged: {reason}", parquet.display()));
    let bytes = fs::read(parquet).map_err(|error| LabError::io("read", parquet, &error))?;
    let reader = ParquetReader::new(bytes).map_err(|reason| damaged(&reason))?;
    write_by(csv, |out| {
        write_names(out, &reader.names())?;
        // Rows are read piece by piece, so damage may show only when a part of the file is written.
        for group in 0..reader.groups() {
            let columns = reader.group(group).map_err(|reason| damaged(&reason))?;
            write_rows(out, &columns)?;
        }
        Ok(())
    })
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
                // Debug has an exponent where it is shorter, and a point where there is none.
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

/// A text as a field: in quotes if it has to be, or if it is empty, because nothing at all is a
/// null.
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
    use std::fs;

    use bbrlab_results::encode;
    use bbrlab_run::{Column, Values};
    use expect_test::expect;

    use super::to_csv;
    use crate::scratch::Scratch;

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
        let scratch = Scratch::new("csv");
        let (parquet, csv) = (scratch.path().join("x.parquet"), scratch.path().join("x.csv"));
        fs::write(&parquet, encode(&columns, &[])).unwrap();
        to_csv(&parquet, &csv).unwrap();
        let text = fs::read_to_string(&csv).unwrap();
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
        let scratch = Scratch::new("csv-empty");
        let (parquet, csv) = (scratch.path().join("x.parquet"), scratch.path().join("x.csv"));
        let empty = vec![
            Column::new("time_s", Values::Float(Vec::new())),
            Column::new("state", Values::OptText(Vec::new())),
        ];
        fs::write(&parquet, encode(&empty, &[])).unwrap();
        to_csv(&parquet, &csv).unwrap();
        assert_eq!(fs::read_to_string(&csv).unwrap(), "time_s,state\n");
    }

    #[test]
    fn a_damaged_file_is_named_and_leaves_nothing() {
        let scratch = Scratch::new("csv-damaged");
        let (parquet, csv) = (scratch.path().join("x.parquet"), scratch.path().join("x.csv"));
        fs::write(&parquet, b"PAR1").unwrap();
        let error = to_csv(&parquet, &csv).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains("x.parquet is damaged: "), "{error}");
        assert!(!csv.exists());
    }
}
