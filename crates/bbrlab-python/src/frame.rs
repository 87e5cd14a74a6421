//! Tables in Arrow's form. Other programs take them through Arrow's interface of capsules, numpy single columns through its array
//! interface; neither copies a number.
//!
//! Sources: [arrow], the `PyCapsule` interface; [numpy], the array interface.

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array as _, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    RecordBatchOptions, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use bbrlab_run::{Cell, Column, Values};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

/// A table of named columns.
#[pyclass(frozen, module = "bbrlab._bbrlab")]
pub(crate) struct Frame {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Frame {
    /// A table of parts that have the same columns, at least one.
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
            batches.push(batch.map_err(|error| PyValueError::new_err(error.to_string()))?);
        }
        Ok(Self { schema: schema.unwrap_or_else(|| Arc::new(Schema::empty())), batches })
    }
}

/// A column as Arrow has it; its numbers are not copied. Every column may have nulls, so that tables of different runs fit
/// together.
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

    /// A column in one or more pieces.
    fn chunks(&self, name: &str) -> PyResult<Vec<Chunk>> {
        let at = self.schema.index_of(name);
        let at = at.map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        Ok(self.batches.iter().map(|batch| Chunk { array: batch.column(at).clone() }).collect())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The table as a stream. Another schema than its own is not made: the interface leaves that open.
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

/// A piece of a column.
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

    /// How many values are missing.
    #[getter]
    fn nulls(&self) -> usize {
        self.array.null_count()
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// A byte for each value: 1 if it is there.
    fn valid(&self) -> Vec<u8> {
        (0..self.array.len()).map(|n| u8::from(self.array.is_valid(n))).collect()
    }

    /// The words of a column of text.
    fn texts(&self) -> PyResult<Vec<Option<String>>> {
        let texts = self.array.as_any().downcast_ref::<StringArray>();
        let texts = texts.ok_or_else(|| PyTypeError::new_err("a column of numbers"))?;
        Ok(texts.iter().map(|text| text.map(str::to_owned)).collect())
    }

    /// Where numpy finds the numbers, which stay where they are. What stands where one is missing means nothing.
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
