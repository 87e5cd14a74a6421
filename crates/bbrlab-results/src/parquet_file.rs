//! Writes columns as Parquet files and reads them back, without Arrow.
//!
//! The columns are required or optional numbers and strings, compressed with Snappy, with a million
//! rows per row group. The same columns give the same bytes.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use bbrlab_run::{Cell, Column, Values};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use crate::provenance::VERSION;

/// Rows per row group. A reader has to hold one row group in memory.
const ROWS_PER_GROUP: usize = 1 << 20;

/// The columns of integers that rise in small steps and rarely repeat. For such a column, delta
/// encoding takes a fifth of the space of a dictionary.
const AS_DIFFERENCES: [&str; 1] = ["delay_ns"];

/// Files with at most this number of rows are written without dictionaries, page indices and
/// compression. In such small files, these three take more space than they save, and most of the
/// writing time.
const FEW_ROWS: usize = 16;

/// Number of rows written at a time for a column that repeats one value.
const ROWS_AT_A_TIME: usize = 1 << 13;

/// Metadata of a file: pairs of name and text.
pub type Origin<'a> = &'a [(&'a str, String)];

/// Encodes the columns as a Parquet file, with metadata on its origin.
///
/// # Panics
/// Panics if the columns differ in length.
#[must_use]
pub fn encode(columns: &[Column], origin: Origin<'_>) -> Vec<u8> {
    let rows = rows_of(columns);
    let mut file = Vec::new();
    let written = (|| {
        let mut writer = ParquetWriter::new(&mut file, columns, rows, origin)?;
        for from in (0..rows).step_by(ROWS_PER_GROUP) {
            writer.rows(columns, from, rows.min(from + ROWS_PER_GROUP))?;
        }
        writer.finish()
    })();
    written.expect("writing to memory cannot fail, and our schema is valid");
    file
}

/// Writes a Parquet file one row group at a time.
pub struct ParquetWriter<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file of `rows` rows in total. The Parquet file's columns have the names and types
    /// of `columns`.
    ///
    /// # Errors
    /// Fails if `out` cannot be written to.
    pub fn new(out: W, columns: &[Column], rows: usize, origin: Origin<'_>) -> io::Result<Self> {
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder("bbrlab").with_fields(fields).build()?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("bbrlab {VERSION}"))
            .set_key_value_metadata(Some(
                origin
                    .iter()
                    .map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()))
                    .collect(),
            ));
        for column in AS_DIFFERENCES.map(ColumnPath::from) {
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        if rows <= FEW_ROWS {
            properties = properties
                .set_compression(Compression::UNCOMPRESSED)
                .set_dictionary_enabled(false)
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true);
        }
        let properties = Arc::new(properties.build());
        Ok(Self(SerializedFileWriter::new(out, Arc::new(schema), properties)?))
    }

    /// Writes a row group, unless it has no rows. The columns must have the types of the columns
    /// passed to [`Self::new`].
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    ///
    /// # Panics
    /// Panics if the columns differ in length.
    pub fn group(&mut self, columns: &[Column]) -> io::Result<()> {
        match rows_of(columns) {
            0 => Ok(()),
            rows => self.rows(columns, 0, rows),
        }
    }

    fn rows(&mut self, columns: &[Column], from: usize, to: usize) -> io::Result<()> {
        let mut group = self.0.next_row_group()?;
        for column in columns {
            write_column(&mut group, &column.values, from, to)?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.0.close()?;
        Ok(())
    }
}

fn rows_of(columns: &[Column]) -> usize {
    let rows = columns.first().map_or(0, |column| column.values.len());
    assert!(columns.iter().all(|column| column.values.len() == rows), "columns of equal length");
    rows
}

fn field(column: &Column) -> Result<Arc<Type>, ParquetError> {
    let (physical, is_optional) = match column.values {
        Values::Int(_) | Values::Repeated(Cell::Whole(_), _) => (Physical::INT64, false),
        Values::OptInt(_) => (Physical::INT64, true),
        Values::Float(_) | Values::Repeated(Cell::Number(_), _) => (Physical::DOUBLE, false),
        Values::OptFloat(_) => (Physical::DOUBLE, true),
        Values::Text(_) | Values::Repeated(Cell::Word(_), _) => (Physical::BYTE_ARRAY, false),
        Values::OptText(_) | Values::Repeated(Cell::Null, _) => (Physical::BYTE_ARRAY, true),
    };
    let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
    let repetition = if is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let field = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &Values,
    from: usize,
    to: usize,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has a field for each column");
    match values {
        Values::Int(values) => {
            column.typed::<Int64Type>().write_batch(&values[from..to], None, None)?;
        }
        Values::OptInt(values) => {
            let (present, levels) = split(&values[from..to], |value| *value);
            column.typed::<Int64Type>().write_batch(&present, Some(&levels), None)?;
        }
        Values::Float(values) => {
            column.typed::<DoubleType>().write_batch(&values[from..to], None, None)?;
        }
        Values::OptFloat(values) => {
            let (present, levels) = split(&values[from..to], |value| *value);
            column.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
        }
        Values::Text(values) => {
            let bytes: Vec<ByteArray> = values[from..to].iter().cloned().map(bytes_of).collect();
            column.typed::<ByteArrayType>().write_batch(&bytes, None, None)?;
        }
        Values::OptText(values) => {
            let (present, levels) =
                split(&values[from..to], |value| value.as_deref().map(ByteArray::from));
            column.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None)?;
        }
        Values::Repeated(cell, _) => {
            // The rows are written in batches, so that a long column takes little memory.
            let mut at = from;
            while at < to {
                let rows = (to - at).min(ROWS_AT_A_TIME);
                at += rows;
                match cell {
                    Cell::Whole(value) => {
                        let value = i64::try_from(*value).unwrap_or(i64::MAX);
                        column.typed::<Int64Type>().write_batch(&vec![value; rows], None, None)?;
                    }
                    Cell::Number(value) => {
                        column.typed::<DoubleType>().write_batch(
                            &vec![*value; rows],
                            None,
                            None,
                        )?;
                    }
                    Cell::Word(word) => {
                        let words = vec![ByteArray::from(word.as_str()); rows];
                        column.typed::<ByteArrayType>().write_batch(&words, None, None)?;
                    }
                    Cell::Null => {
                        let levels = vec![0; rows];
                        column.typed::<ByteArrayType>().write_batch(&[], Some(&levels), None)?;
                    }
                }
            }
        }
    }
    column.close()
}

/// Converts a text to Parquet's type, without a copy if it is a constant of the program.
fn bytes_of(word: Cow<'static, str>) -> ByteArray {
    match word {
        Cow::Borrowed(word) => Bytes::from_static(word.as_bytes()).into(),
        Cow::Owned(word) => word.into_bytes().into(),
    }
}

/// Returns the values that are present, and the definition level of each row: 1 with a value,
/// otherwise 0.
fn split<T, U>(values: &[T], present: impl Fn(&T) -> Option<U>) -> (Vec<U>, Vec<i16>) {
    let mut there = Vec::with_capacity(values.len());
    let mut levels = Vec::with_capacity(values.len());
    for value in values {
        let value = present(value);
        levels.push(i16::from(value.is_some()));
        there.extend(value);
    }
    (there, levels)
}

/// Reads the columns whose names `is_wanted` selects from a Parquet file that contains only numbers
/// and strings, such as [`encode`] writes. Optional columns of the file become `Opt...` values.
///
/// # Errors
/// Fails if the file has another format or is damaged.
pub fn decode(file: Vec<u8>, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Column>, String> {
    read_wanted(file, is_wanted).map_err(|error| describe(&error))
}

/// Reads a Parquet file one row group at a time.
pub(crate) struct ParquetReader(SerializedFileReader<Bytes>);

impl ParquetReader {
    /// Opens a Parquet file that is in memory.
    ///
    /// # Errors
    /// Fails if the file has another format or is damaged.
    pub(crate) fn new(file: Vec<u8>) -> Result<Self, String> {
        SerializedFileReader::new(Bytes::from(file)).map(Self).map_err(|error| describe(&error))
    }

    /// Returns the names of the columns.
    pub(crate) fn names(&self) -> Vec<String> {
        let schema = self.0.metadata().file_metadata().schema_descr_ptr();
        schema.columns().iter().map(|column| column.name().to_owned()).collect()
    }

    /// Returns the number of row groups.
    pub(crate) fn groups(&self) -> usize {
        self.0.num_row_groups()
    }

    /// Returns the columns of a row group, each as [`Values::OptInt`], [`Values::OptFloat`] or
    /// [`Values::OptText`].
    ///
    /// # Errors
    /// Fails if the row group is damaged, or the file has a column of a type that bbrlab does not
    /// write.
    pub(crate) fn group(&self, group: usize) -> Result<Vec<Values>, String> {
        let read = || -> Result<Vec<Values>, ParquetError> {
            let group = self.0.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            (0..group.num_columns())
                .map(|at| read_column(group.get_column_reader(at)?, rows))
                .collect()
        };
        read().map_err(|error| describe(&error))
    }
}

fn describe(error: &ParquetError) -> String {
    match error {
        ParquetError::General(text) => text.clone(),
        other => other.to_string(),
    }
}

fn read_wanted(
    file: Vec<u8>,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Column>, ParquetError> {
    let reader = SerializedFileReader::new(Bytes::from(file))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let mut columns = Vec::new();
    for at in 0..schema.num_columns() {
        let described = schema.column(at);
        if !is_wanted(described.name()) {
            continue;
        }
        let is_optional = described.max_def_level() > 0;
        let mut column: Option<Values> = None;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let part = read_column(group.get_column_reader(at)?, rows)?;
            column = Some(match column {
                None => part,
                Some(before) => join(before, part),
            });
        }
        let values = column.unwrap_or_else(|| match described.physical_type() {
            Physical::INT64 => Values::OptInt(Vec::new()),
            Physical::DOUBLE => Values::OptFloat(Vec::new()),
            _ => Values::OptText(Vec::new()),
        });
        let values = if is_optional { values } else { required(values) };
        columns.push(Column::new(described.name(), values));
    }
    Ok(columns)
}

fn read_column(reader: ColumnReader, rows: usize) -> Result<Values, ParquetError> {
    match reader {
        ColumnReader::Int64ColumnReader(mut reader) => {
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            Ok(Values::OptInt(spread(values, &levels)))
        }
        ColumnReader::DoubleColumnReader(mut reader) => {
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            Ok(Values::OptFloat(spread(values, &levels)))
        }
        ColumnReader::ByteArrayColumnReader(mut reader) => {
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            let words = values
                .iter()
                .map(|value| value.as_utf8().map(str::to_owned))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Values::OptText(spread(words, &levels)))
        }
        _ => Err(ParquetError::General("a column of a kind that bbrlab does not write".to_owned())),
    }
}

/// Puts each value in its row, with `None` in rows whose definition level is 0. A required column
/// has no definition levels.
fn spread<T>(values: Vec<T>, levels: &[i16]) -> Vec<Option<T>> {
    if levels.is_empty() {
        return values.into_iter().map(Some).collect();
    }
    let mut values = values.into_iter();
    levels.iter().map(|&level| if level > 0 { values.next() } else { None }).collect()
}

fn join(before: Values, part: Values) -> Values {
    match (before, part) {
        (Values::OptInt(mut all), Values::OptInt(more)) => {
            all.extend(more);
            Values::OptInt(all)
        }
        (Values::OptFloat(mut all), Values::OptFloat(more)) => {
            all.extend(more);
            Values::OptFloat(all)
        }
        (Values::OptText(mut all), Values::OptText(more)) => {
            all.extend(more);
            Values::OptText(all)
        }
        (before, _) => before,
    }
}

fn required(values: Values) -> Values {
    match values {
        Values::OptInt(values) => Values::Int(values.into_iter().flatten().collect()),
        Values::OptFloat(values) => Values::Float(values.into_iter().flatten().collect()),
        Values::OptText(values) => {
            Values::Text(values.into_iter().flatten().map(Cow::Owned).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Values, decode, encode};

    fn columns() -> Vec<Column> {
        vec![
            Column::new("time_s", Values::Float(vec![0.0, 0.01, 0.02])),
            Column::new("flow", Values::Int(vec![0, 1, 0])),
            Column::new("ssthresh_packets", Values::OptInt(vec![None, Some(10), None])),
            Column::new("rtt", Values::OptFloat(vec![Some(0.5), None, Some(-1.0)])),
            Column::new("state", Values::Text(vec!["".into(), "STARTUP".into(), "STARTUP".into()])),
            Column::new("swept", Values::OptText(vec![Some("2bdp".into()), None, None])),
        ]
    }

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(decode(encode(&columns(), &[]), |_| true).unwrap(), columns());
    }

    #[test]
    fn the_same_columns_give_the_same_bytes() {
        assert_eq!(encode(&columns(), &[]), encode(&columns(), &[]));
    }

    #[test]
    fn a_table_without_rows_is_a_file_too() {
        let empty = vec![Column::new("time_s", Values::Float(Vec::new()))];
        assert_eq!(decode(encode(&empty, &[]), |_| true).unwrap(), empty);
    }

    #[test]
    fn more_rows_than_a_group_holds_come_back_in_order() {
        let rows = i64::try_from(super::ROWS_PER_GROUP).unwrap() + 5;
        let long = vec![Column::new("n", Values::Int((0..rows).collect()))];
        assert_eq!(decode(encode(&long, &[]), |_| true).unwrap(), long);
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let mut file = encode(&columns(), &[]);
        file.truncate(file.len() / 2);
        assert!(decode(file, |_| true).is_err());
        assert!(decode(b"no parquet".to_vec(), |_| true).is_err());
    }
}
