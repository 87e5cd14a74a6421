//! Columns of plain values. Tables of results are converted to columns for export to Parquet and
//! other formats.

use std::borrow::Cow;

/// The kind of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unsigned integers.
    Whole,
    /// Floating-point numbers.
    Number,
    /// Strings.
    Word,
    /// Structs (records): the metric consists of several metrics.
    Record,
    /// Lists and maps, which do not fit into a row.
    Many,
}

/// The value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The metric has no value: the metric has no meaning in this run, or the run's back end does
    /// not provide the metric.
    Null,
    /// An unsigned integer.
    Whole(u64),
    /// A floating-point number.
    Number(f64),
    /// A string.
    Word(String),
}

impl Cell {
    /// Returns the value as a floating-point number; `None` for a string or a missing value.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "counts in a run are below 2^52")]
            Self::Whole(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Null | Self::Word(_) => None,
        }
    }
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// The column's values.
    pub values: Values,
}

impl Column {
    /// Creates a column.
    #[must_use]
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Self { name: name.into(), values }
    }

    /// Creates a column from cells, each of which is null or has the kind `kind`. Integers above
    /// the largest signed 64-bit integer become that integer.
    #[must_use]
    pub fn of_cells<'a>(
        name: impl Into<String>,
        kind: Kind,
        cells: impl Iterator<Item = &'a Cell>,
    ) -> Self {
        let whole =
            |cell: &Cell| if let Cell::Whole(value) = cell { Some(int(*value)) } else { None };
        let word =
            |cell: &Cell| if let Cell::Word(word) = cell { Some(word.clone()) } else { None };
        let values = match kind {
            Kind::Whole => Values::OptInt(cells.map(whole).collect()),
            Kind::Number => Values::OptFloat(cells.map(Cell::number).collect()),
            Kind::Word | Kind::Record | Kind::Many => Values::OptText(cells.map(word).collect()),
        };
        Self::new(name, values)
    }
}

/// The values of a column. All integers are signed 64-bit integers, the type that every program
/// that reads Parquet supports.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Integers.
    Int(Vec<i64>),
    /// Integers or null.
    OptInt(Vec<Option<i64>>),
    /// Floating-point numbers.
    Float(Vec<f64>),
    /// Floating-point numbers or null.
    OptFloat(Vec<Option<f64>>),
    /// Strings. String constants of the program are not copied.
    Text(Vec<Cow<'static, str>>),
    /// Strings or null.
    OptText(Vec<Option<String>>),
    /// A column with the same value in all rows: the value, and the number of rows. [`Cell::Null`]
    /// stands for a missing string in every row.
    Repeated(Cell, usize),
}

impl Values {
    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Int(values) => values.len(),
            Self::OptInt(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::OptFloat(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::OptText(values) => values.len(),
            Self::Repeated(_, rows) => *rows,
        }
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the rows of a column of the same kind.
    ///
    /// # Panics
    /// Panics if the other column has another kind, or if both columns are [`Self::Repeated`] with
    /// different values.
    pub fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Int(values), Self::Int(more)) => values.extend(more),
            (Self::OptInt(values), Self::OptInt(more)) => values.extend(more),
            (Self::Float(values), Self::Float(more)) => values.extend(more),
            (Self::OptFloat(values), Self::OptFloat(more)) => values.extend(more),
            (Self::Text(values), Self::Text(more)) => values.extend(more),
            (Self::OptText(values), Self::OptText(more)) => values.extend(more),
            (Self::Repeated(value, rows), Self::Repeated(more, n)) if *value == more => *rows += n,
            _ => panic!("the columns have different kinds"),
        }
    }
}

/// A value that our simulator always provides, but another back end may not provide. A column of
/// such values has a type that allows nulls if at least one value is missing, and otherwise a type
/// that does not allow nulls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaybeKnown<T>(pub Option<T>);

impl<T> From<T> for MaybeKnown<T> {
    fn from(value: T) -> Self {
        Self(Some(value))
    }
}

/// A type whose values a column can hold, with the conversion to and from a column.
pub(crate) trait InColumn: Sized {
    /// The kind of the values.
    const KIND: Kind;

    fn write(values: &[Self]) -> Values;

    /// Returns the values of a column; `None` if the column is not of the kind [`Self::KIND`].
    fn read(values: &Values) -> Option<Vec<Self>>;

    /// Returns `rows` unknown values, for a column that did not exist when the file was written;
    /// `None` if the type has no unknown value.
    fn unknown(_rows: usize) -> Option<Vec<Self>> {
        None
    }
}

/// Returns the values of the column `name`. If there is no such column, returns one unknown value
/// per row, or an error if `T` has no unknown value. Also returns an error if the column is not of
/// the kind `T::KIND`.
pub(crate) fn read<T: InColumn>(columns: &[Column], name: &str) -> Result<Vec<T>, String> {
    let Some(column) = columns.iter().find(|column| column.name == name) else {
        let rows = columns.first().map_or(0, |column| column.values.len());
        return T::unknown(rows).ok_or_else(|| format!("the column `{name}` is missing"));
    };
    T::read(&column.values).ok_or_else(|| {
        let kind = match T::KIND {
            Kind::Whole => "integers",
            Kind::Word => "words",
            _ => "numbers",
        };
        format!("the column `{name}` does not contain {kind}")
    })
}

/// Converts a number to a signed 64-bit integer. A number that is too large becomes the largest
/// such integer.
fn int<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

fn optional_ints<T: TryFrom<i64>>(values: &Values) -> Option<Vec<Option<T>>> {
    let narrow = |value: i64| T::try_from(value).ok();
    match values {
        Values::Int(values) => Some(values.iter().map(|&value| narrow(value)).collect()),
        Values::OptInt(values) => Some(values.iter().map(|value| value.and_then(narrow)).collect()),
        _ => None,
    }
}

macro_rules! integers_in_columns {
    ($($integer:ty),*) => {$(
        impl InColumn for $integer {
            const KIND: Kind = Kind::Whole;

            fn write(values: &[Self]) -> Values {
                Values::Int(values.iter().copied().map(int).collect())
            }

            fn read(values: &Values) -> Option<Vec<Self>> {
                Some(optional_ints(values)?.into_iter().map(Option::unwrap_or_default).collect())
            }
        }

        impl InColumn for Option<$integer> {
            const KIND: Kind = Kind::Whole;

            fn write(values: &[Self]) -> Values {
                Values::OptInt(values.iter().map(|value| value.map(int)).collect())
            }

            fn read(values: &Values) -> Option<Vec<Self>> {
                optional_ints(values)
            }

            fn unknown(rows: usize) -> Option<Vec<Self>> {
                Some(vec![None; rows])
            }
        }
    )*};
}

integers_in_columns!(u32, u64);

macro_rules! maybe_known_in_columns {
    ($($integer:ty),*) => {$(
        impl InColumn for MaybeKnown<$integer> {
            const KIND: Kind = Kind::Whole;

            fn write(values: &[Self]) -> Values {
                let values: Vec<Option<$integer>> = values.iter().map(|value| value.0).collect();
                let all: Option<Vec<$integer>> = values.iter().copied().collect();
                all.map_or_else(|| InColumn::write(&values), |all| InColumn::write(&all))
            }

            fn read(values: &Values) -> Option<Vec<Self>> {
                Some(Option::read(values)?.into_iter().map(Self).collect())
            }

            fn unknown(rows: usize) -> Option<Vec<Self>> {
                Some(vec![Self(None); rows])
            }
        }
    )*};
}

maybe_known_in_columns!(u32, u64);

impl InColumn for f64 {
    const KIND: Kind = Kind::Number;

    fn write(values: &[Self]) -> Values {
        Values::Float(values.to_vec())
    }

    fn read(values: &Values) -> Option<Vec<Self>> {
        if let Values::Float(values) = values { Some(values.clone()) } else { None }
    }
}

impl InColumn for Option<f64> {
    const KIND: Kind = Kind::Number;

    fn write(values: &[Self]) -> Values {
        Values::OptFloat(values.to_vec())
    }

    fn read(values: &Values) -> Option<Vec<Self>> {
        match values {
            Values::Float(values) => Some(values.iter().copied().map(Some).collect()),
            Values::OptFloat(values) => Some(values.clone()),
            _ => None,
        }
    }

    fn unknown(rows: usize) -> Option<Vec<Self>> {
        Some(vec![None; rows])
    }
}

impl InColumn for Cow<'static, str> {
    const KIND: Kind = Kind::Word;

    fn write(values: &[Self]) -> Values {
        Values::Text(values.to_vec())
    }

    fn read(values: &Values) -> Option<Vec<Self>> {
        if let Values::Text(values) = values { Some(values.clone()) } else { None }
    }
}
