//! Tables in Arrow's format. Other packages read tables through Arrow's capsule interface, and
//! numpy reads single columns through its array interface. numpy and Arrow read the numbers without
//! a copy.
//!
//! Sources: [arrow], the `PyCapsule` interface; [numpy], the array interface.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    RecordBatchOptions, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use bbrlab_results::{decode, encode};
use bbrlab_run::{Cell, Column, Values};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

/// The last columns of every table, which identify the run, the back end and the version of bbrlab.
pub(crate) const LAST: [&str; 9] = [
    "scenario",
    "profile",
    "backend",
    "backend_version",
    "version",
    "commit",
    "digest",
    "seed",
    "scenario_hash",
];

/// The function that restores a pickled table, and its arguments.
type Pickle<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, usize));

/// A table of named columns.
#[pyclass(frozen, module = "bbrlab._bbrlab")]
pub(crate) struct Frame {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Frame {
    /// Makes a table from one or more parts, which become its record batches in this order. All
    /// parts must have the same columns.
    pub(crate) fn of_parts(parts: impl IntoIterator<Item = Vec<Column>>) -> PyResult<Self> {
        let mut schema: Option<SchemaRef> = None;
        let mut batches = Vec::new();
        for columns in parts {
            let rows = columns.first().map_or(0, |column| column.values.len());
            let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
                columns.into_iter().map(field_and_array).unzip();
            let schema = schema.get_or_insert_with(|| Arc::new(Schema::new(fields)));
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            let batch = RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options);
            batches.push(batch.map_err(wrong)?);
        }
        Ok(Self { schema: schema.unwrap_or_else(|| Arc::new(Schema::empty())), batches })
    }

    /// Makes a table with one record batch from arrays of equal length.
    pub(crate) fn of_arrays(columns: &[(String, ArrayRef)]) -> PyResult<Self> {
        let field = |(name, array): &(String, ArrayRef)| {
            Field::new(name.as_str(), array.data_type().clone(), true)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let rows = columns.first().map_or(0, |(_, array)| array.len());
        Self::of_batch(schema, columns.iter().map(|(_, array)| Arc::clone(array)).collect(), rows)
    }

    /// Returns the columns of this table, which must have one record batch.
    pub(crate) fn arrays(&self) -> Vec<(String, ArrayRef)> {
        let arrays = self.batches.first().map_or(&[][..], RecordBatch::columns);
        self.names().into_iter().zip(arrays.iter().cloned()).collect()
    }

    /// Returns the table with a new column after the column `after`, or at the end if there is no
    /// such column. The table must have one record batch.
    pub(crate) fn with_column(&self, after: &str, name: &str, array: ArrayRef) -> PyResult<Self> {
        let at = self.schema.index_of(after).map_or(self.schema.fields().len(), |at| at + 1);
        let mut fields = self.schema.fields().to_vec();
        fields.insert(at, Arc::new(Field::new(name, array.data_type().clone(), true)));
        let schema = Arc::new(Schema::new(fields));
        let of_batch = |batch: &RecordBatch| {
            let mut arrays = batch.columns().to_vec();
            arrays.insert(at, Arc::clone(&array));
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
        };
        let batches = self.batches.iter().map(of_batch).collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Self { schema, batches })
    }

    /// Returns the rows with these numbers, in this order, as a table with one record batch.
    pub(crate) fn taken(&self, rows: &[u64]) -> PyResult<Self> {
        let parts: Vec<usize> = self.batches.iter().map(RecordBatch::num_rows).collect();
        let places = places(&parts, rows)?;
        let arrays = self.schema.fields().iter().enumerate().map(|(at, field)| {
            let arrays: Vec<&dyn Array> =
                self.batches.iter().map(|batch| batch.column(at).as_ref()).collect();
            gathered(field.data_type(), &arrays, &places)
        });
        Self::of_batch(Arc::clone(&self.schema), arrays.collect::<PyResult<_>>()?, rows.len())
    }

    /// Makes a table with one record batch of `rows` rows.
    fn of_batch(schema: SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> PyResult<Self> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options);
        Ok(Self { schema, batches: vec![batch.map_err(wrong)?] })
    }

    /// Returns the table with the columns at the indices `places`, in this order.
    fn projected(&self, places: &[usize]) -> PyResult<Self> {
        let schema = Arc::new(self.schema.project(places).map_err(wrong)?);
        let batches = self.batches.iter().map(|batch| batch.project(places));
        Ok(Self { schema, batches: batches.collect::<Result<_, _>>().map_err(wrong)? })
    }

    /// Returns the table with the columns `first` at the beginning and the columns `last` at the
    /// end. Names of columns that the table does not have are ignored.
    pub(crate) fn ordered(&self, first: &[String], last: &[&str]) -> PyResult<Self> {
        let names = self.names();
        let place = |name: &str| names.iter().position(|known| known == name);
        let front: Vec<usize> = first.iter().filter_map(|name| place(name)).collect();
        let back: Vec<usize> = last.iter().filter_map(|name| place(name)).collect();
        let rest = (0..names.len()).filter(|at| !front.contains(at) && !back.contains(at));
        let places: Vec<usize> =
            front.iter().copied().chain(rest).chain(back.iter().copied()).collect();
        self.projected(&places)
    }

    /// Returns the columns of the table, with its record batches concatenated.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let fields = self.schema.fields().iter().enumerate();
        let column = |(at, field): (usize, &Arc<Field>)| {
            let arrays: Vec<&dyn Array> =
                self.batches.iter().map(|batch| batch.column(at).as_ref()).collect();
            Column::new(field.name().as_str(), values(field.data_type(), &arrays))
        };
        fields.map(column).collect()
    }
}

/// For each of the row numbers in `rows`, returns the index of the record batch that has the row,
/// and the row's index in this batch. `parts` has the number of rows of each record batch, in
/// order.
fn places(parts: &[usize], rows: &[u64]) -> PyResult<Vec<(usize, usize)>> {
    let mut ends = Vec::with_capacity(parts.len());
    let mut all = 0;
    for &part in parts {
        all += part;
        ends.push(all);
    }
    let place = |&row: &u64| {
        let row = usize::try_from(row).ok().filter(|&row| row < all);
        let row = row.ok_or_else(|| PyValueError::new_err(format!("expected rows below {all}")))?;
        let part = ends.partition_point(|&end| end <= row);
        Ok((part, row + parts[part] - ends[part]))
    };
    rows.iter().map(place).collect()
}

/// Returns one array with the values at `places`. A place is the index of an array in `arrays` and
/// an index in this array. All arrays have the type `kind`.
fn gathered(
    kind: &DataType,
    arrays: &[&dyn Array],
    places: &[(usize, usize)],
) -> PyResult<ArrayRef> {
    Ok(match kind {
        DataType::Int64 => {
            let arrays: Vec<_> = arrays.iter().map(|it| it.as_primitive::<Int64Type>()).collect();
            Arc::new(values_at(&arrays, places).collect::<Int64Array>())
        }
        DataType::Float64 => {
            let arrays: Vec<_> = arrays.iter().map(|it| it.as_primitive::<Float64Type>()).collect();
            Arc::new(values_at(&arrays, places).collect::<Float64Array>())
        }
        _ => {
            let arrays: Vec<_> = arrays.iter().map(|it| it.as_string::<i32>()).collect();
            check_texts(values_at(&arrays, places).flatten().map(str::len).sum())?;
            Arc::new(values_at(&arrays, places).collect::<StringArray>())
        }
    })
}

/// Returns the values at `places`, with `None` for nulls.
fn values_at<'a, A: ArrayAccessor>(
    arrays: &'a [A],
    places: &'a [(usize, usize)],
) -> impl Iterator<Item = Option<A::Item>> + 'a {
    places.iter().map(|&(array, at)| arrays[array].is_valid(at).then(|| arrays[array].value(at)))
}

/// Returns an error if this number of bytes of text is more than one Arrow array can hold, which is
/// 2^31 - 1.
fn check_texts(bytes: usize) -> PyResult<()> {
    if i32::try_from(bytes).is_ok() {
        return Ok(());
    }
    let limit = i32::MAX;
    Err(PyValueError::new_err(format!(
        "expected at most {limit} bytes of text in a column, found {bytes}; take fewer rows or columns"
    )))
}

/// Concatenates arrays of the type `kind`. If no value is missing, the result is a variant of
/// [`Values`] without missing values, such as `Int` instead of `OptInt`.
fn values(kind: &DataType, arrays: &[&dyn Array]) -> Values {
    let is_whole = arrays.iter().all(|array| array.null_count() == 0);
    match kind {
        DataType::Int64 => {
            let all = arrays.iter().flat_map(|array| array.as_primitive::<Int64Type>());
            if is_whole {
                Values::Int(all.flatten().collect())
            } else {
                Values::OptInt(all.collect())
            }
        }
        DataType::Float64 => {
            let all = arrays.iter().flat_map(|array| array.as_primitive::<Float64Type>());
            if is_whole {
                Values::Float(all.flatten().collect())
            } else {
                Values::OptFloat(all.collect())
            }
        }
        _ => {
            let all = arrays.iter().filter_map(|array| array.as_string_opt::<i32>()).flatten();
            if is_whole {
                Values::Text(all.flatten().map(|word| word.to_owned().into()).collect())
            } else {
                Values::OptText(all.map(|word| word.map(str::to_owned)).collect())
            }
        }
    }
}

fn wrong(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Converts a column to Arrow. Numbers are not copied, except from a column with missing values or
/// with one value for all rows. Every column is nullable, so that tables of different runs have the
/// same types and can be concatenated.
fn field_and_array(column: Column) -> (Field, ArrayRef) {
    let array: ArrayRef = match column.values {
        Values::Int(values) => Arc::new(Int64Array::from(values)),
        Values::OptInt(values) => Arc::new(Int64Array::from(values)),
        Values::Float(values) => Arc::new(Float64Array::from(values)),
        Values::OptFloat(values) => Arc::new(Float64Array::from(values)),
        Values::Text(values) => Arc::new(StringArray::from_iter_values(values)),
        Values::OptText(values) => Arc::new(StringArray::from(values)),
        Values::Repeated(cell, rows) => repeated(&cell, rows),
    };
    (Field::new(column.name, array.data_type().clone(), true), array)
}

fn repeated(cell: &Cell, rows: usize) -> ArrayRef {
    match cell {
        Cell::Null => Arc::new(StringArray::new_null(rows)),
        Cell::Whole(value) => {
            let value = i64::try_from(*value).unwrap_or(i64::MAX);
            Arc::new(Int64Array::from(vec![value; rows]))
        }
        Cell::Number(value) => Arc::new(Float64Array::from(vec![*value; rows])),
        Cell::Word(word) => {
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(word, rows)))
        }
    }
}

#[pymethods]
impl Frame {
    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Returns the table with only these columns, in this order.
    fn select(&self, names: Vec<String>) -> PyResult<Self> {
        let place = |name: &String| self.schema.index_of(name);
        let places = names.iter().map(place).collect::<Result<Vec<usize>, _>>().map_err(wrong)?;
        self.projected(&places)
    }

    /// Returns the rows with these numbers, in this order.
    fn take(&self, py: Python<'_>, rows: Vec<u64>) -> PyResult<Self> {
        py.detach(|| self.taken(&rows))
    }

    /// Returns a column in one or more chunks.
    fn chunks(&self, name: &str) -> PyResult<Vec<Chunk>> {
        let at = self.schema.index_of(name);
        let at = at.map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        Ok(self.batches.iter().map(|batch| Chunk { array: batch.column(at).clone() }).collect())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        PyCapsule::new_with_value(py, schema.map_err(wrong)?, c"arrow_schema")
    }

    /// Returns the data for a pickle: the table as a Parquet file, with its parts concatenated, and
    /// the number of rows, which a table without columns has too.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py>> {
        for at in 0..self.schema.fields().len() {
            let texts = self.batches.iter().filter_map(|it| it.column(at).as_string_opt::<i32>());
            check_texts(texts.map(|texts| texts.value_data().len()).sum())?;
        }
        let file = py.detach(|| {
            let columns = self.columns();
            if columns.is_empty() { Vec::new() } else { encode(&columns, &[]) }
        });
        let restore = py.get_type::<Self>().getattr("_restore")?;
        Ok((restore, (PyBytes::new(py, &file), self.__len__())))
    }

    #[staticmethod]
    fn _restore(py: Python<'_>, file: Vec<u8>, rows: usize) -> PyResult<Self> {
        if file.is_empty() {
            return Self::of_batch(Arc::new(Schema::empty()), Vec::new(), rows);
        }
        let columns = py.detach(|| decode(file, |_| true)).map_err(PyValueError::new_err)?;
        Self::of_parts([columns])
    }

    /// Returns the table as a stream. A requested schema is ignored, which the interface permits.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// A chunk of a column.
#[pyclass(frozen, module = "bbrlab._bbrlab")]
pub(crate) struct Chunk {
    array: ArrayRef,
}

#[pymethods]
impl Chunk {
    /// `int`, `float` or `text`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.array.data_type() {
            DataType::Int64 => "int",
            DataType::Float64 => "float",
            _ => "text",
        }
    }

    /// Number of missing values.
    #[getter]
    fn nulls(&self) -> usize {
        self.array.null_count()
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// Returns a byte per value: 1 if the value is present, 0 if it is missing.
    fn valid(&self) -> Vec<u8> {
        (0..self.array.len()).map(|n| u8::from(self.array.is_valid(n))).collect()
    }

    /// Returns the values of a text column.
    fn texts(&self) -> PyResult<Vec<Option<String>>> {
        let texts = self.array.as_any().downcast_ref::<StringArray>();
        let texts = texts.ok_or_else(|| PyTypeError::new_err("a column of numbers"))?;
        Ok(texts.iter().map(|text| text.map(str::to_owned)).collect())
    }

    /// Describes the memory of the numbers for numpy, which reads this memory without a copy.
    /// Missing values have arbitrary numbers in this memory.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let array = self.array.as_any();
        let (address, kind) = if let Some(numbers) = array.downcast_ref::<Int64Array>() {
            (numbers.values().as_ptr().addr(), "i8")
        } else if let Some(numbers) = array.downcast_ref::<Float64Array>() {
            (numbers.values().as_ptr().addr(), "f8")
        } else {
            return Err(PyTypeError::new_err("a column of text"));
        };
        let order = if cfg!(target_endian = "little") { "<" } else { ">" };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.array.len(),))?;
        interface.set_item("typestr", format!("{order}{kind}"))?;
        interface.set_item("data", (address, true))?;
        Ok(interface)
    }
}
