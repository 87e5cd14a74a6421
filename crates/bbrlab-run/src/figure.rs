//! The description of a metric: its name, kind, unit, meaning, and its role, which determines where
//! it is shown.
//!
//! `record.rs` defines every metric once, as a row of a table. From a table, the macros in this
//! module generate a struct with these metrics (a record) and the struct's JSON form. The
//! macros also generate two lists in the order of the table: the metrics' descriptions and their
//! values. The descriptions and values determine the columns of Parquet files, the metrics of
//! groups, `list metrics` and `docs/results.md`.

use crate::column::{Cell, Kind};

/// A metric in a struct of metrics: a row of a table in `record.rs`.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The metric's name, which is its key in JSON.
    pub name: &'static str,
    /// The metric's role.
    pub role: Role,
    /// The kind of the values.
    pub kind: Kind,
    /// The unit; empty for names, for hashes and for counts of events.
    pub unit: &'static str,
    /// The meaning and, where needed, the formula.
    pub meaning: &'static str,
    /// If the metric is itself a struct of metrics, the metrics in it; empty for a metric with a
    /// single value.
    pub parts: &'static [Figure],
}

/// The role of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Identifies the run, link or flow.
    Name,
    /// Given by the scenario.
    Given,
    /// A result of the run.
    Result,
    /// The cost of the run. The cost is not written to files, because it differs between machines.
    Cost,
}

/// A metric with a single value. The metric's name is unique within its table, because the name
/// includes the structs that contain the metric, as in `rtt_ms.mean`.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The names of the structs that contain the metric, followed by the metric's name.
    pub name: String,
    /// The description of the metric.
    pub figure: &'static Figure,
    /// The struct that contains the metric; `None` if the metric is directly in the table. The
    /// meaning of the metric, followed by the meaning of the struct, forms one text. For `mean` in
    /// `queue_packets`, this text is "mean over time, including the packet in service".
    pub of: Option<&'static Figure>,
}

/// Returns the metrics of a table that have a single value, in order, including the metrics in
/// nested structs. Each name begins with `prefix`, and `joint` separates the name of a struct from
/// the name of a metric in the struct.
#[must_use]
pub fn leaves(figures: &'static [Figure], prefix: &str, joint: &str) -> Vec<Leaf> {
    let mut all = Vec::new();
    for figure in figures {
        let name = format!("{prefix}{}", figure.name);
        match figure.kind {
            Kind::Many => {}
            Kind::Record => {
                let parts = leaves(figure.parts, &format!("{name}{joint}"), joint);
                all.extend(parts.into_iter().map(|part| Leaf { of: Some(figure), ..part }));
            }
            Kind::Whole | Kind::Number | Kind::Word => all.push(Leaf { name, figure, of: None }),
        }
    }
    all
}

/// A type that a metric's value can have: a number, a string, a list, a map or a struct of metrics.
pub trait Field {
    /// The kind of the values.
    const KIND: Kind;

    /// If the type is a struct of metrics, these metrics; otherwise empty.
    const PARTS: &'static [Figure] = &[];

    /// Appends one cell for each of the [`leaves`]: the value itself, or for a struct the values of
    /// its metrics.
    fn cells(&self, cells: &mut Vec<Cell>);

    /// Reads from the front of `cells` what [`Self::cells`] has appended. Lists and maps have no
    /// cells, so they become empty. Returns `None` if a cell is missing or has another kind than
    /// the metric.
    fn of_cells(cells: &mut dyn Iterator<Item = Cell>) -> Option<Self>
    where
        Self: Sized;

    /// Computes all metrics that have a formula, including the metrics of nested structs.
    fn derive(&mut self) {}
}

impl Field for u32 {
    const KIND: Kind = Kind::Whole;

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Whole(u64::from(*self)));
    }

    fn of_cells(cells: &mut dyn Iterator<Item = Cell>) -> Option<Self> {
        match cells.next()? {
            Cell::Whole(value) => u32::try_from(value).ok(),
            _ => None,
        }
    }
}

impl Field for u64 {
    const KIND: Kind = Kind::Whole;

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Whole(*self));
    }

    fn of_cells(cells: &mut dyn Iterator<Item = Cell>) -> Option<Self> {
        match cells.next()? {
            Cell::Whole(value) => Some(value),
            _ => None,
        }
    }
}

impl Field for f64 {
    const KIND: Kind = Kind::Number;

    fn cells(&self, cells: &mut Vec<Cell>) {
        // An infinite number or NaN becomes null, as in JSON, which has neither.
        cells.push(if self.is_finite() { Cell::Number(*self) } else { Cell::Null });
    }

    fn of_cells(cells: &mut dyn Iterator<Item = Cell>) -> Option<Self> {
        match cells.next()? {
            Cell::Number(value) => Some(value),
            Cell::Null => Some(Self::NAN),
            _ => None,
        }
    }
}

impl Field for String {
    const KIND: Kind = Kind::Word;

    fn cells(&self, cells: &mut Vec<Cell>) {
        cells.push(Cell::Word(self.clone()));
    }

    fn of_cells(cells: &mut dyn Iterator<Item = Cell>) -> Option<Self> {
        match cells.next()? {
            Cell::Word(word) => Some(word),
            _ => None,
        }
    }
}

impl<T: Field> Field for Option<T> {
    const KIND: Kind = T::KIND;
    const PARTS: &'static [Figure] = T::PARTS;

    fn cells(&self, cells: &mut Vec<Cell>) {
        match self {
            Some(value) => value.cells(cells),
            None => cells.push(Cell::Null),
        }
    }

    fn of_cells(cells: &mut dyn Iterator<Item = Cell>) -> Option<Self> {
        match cells.next()? {
            Cell::Null => Some(None),
            first => T::of_cells(&mut std::iter::once(first).chain(cells)).map(Some),
        }
    }
}

impl<T: Field> Field for Vec<T> {
    const KIND: Kind = Kind::Many;
    const PARTS: &'static [Figure] = T::PARTS;

    fn cells(&self, _: &mut Vec<Cell>) {}

    fn of_cells(_: &mut dyn Iterator<Item = Cell>) -> Option<Self> {
        Some(Self::new())
    }

    fn derive(&mut self) {
        self.iter_mut().for_each(Field::derive);
    }
}

impl Field for serde_json::Map<String, serde_json::Value> {
    const KIND: Kind = Kind::Many;

    fn cells(&self, _: &mut Vec<Cell>) {}

    fn of_cells(_: &mut dyn Iterator<Item = Cell>) -> Option<Self> {
        Some(Self::new())
    }
}

/// Generates a record (a struct of metrics) from its table. A row is
/// `name: type, role, unit, meaning`, followed by a formula if the metric is computed from other
/// metrics of the record. If the type is a record itself, the meaning follows the meaning of each
/// of that record's metrics: "mean" becomes "mean of the congestion window".
macro_rules! record {
    ($(#[$attribute:meta])* $record:ident {
        $($(#[$on_figure:meta])* $name:ident: $kind:ty, $role:ident, $unit:literal, $meaning:literal
            $(, = $formula:expr)?;)*
    }) => {
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        $(#[$attribute])*
        pub struct $record {
            $(#[doc = $meaning] $(#[$on_figure])* pub $name: $kind,)*
        }

        impl $record {
            /// The descriptions of the struct's metrics, in order.
            pub const FIGURES: &'static [$crate::figure::Figure] = &[$($crate::figure::Figure {
                name: stringify!($name),
                role: $crate::figure::Role::$role,
                kind: <$kind as $crate::figure::Field>::KIND,
                unit: $unit,
                meaning: $meaning,
                parts: <$kind as $crate::figure::Field>::PARTS,
            },)*];

        }

        impl $crate::figure::Field for $record {
            const KIND: $crate::column::Kind = $crate::column::Kind::Record;
            const PARTS: &'static [$crate::figure::Figure] = Self::FIGURES;

            fn cells(&self, cells: &mut Vec<$crate::column::Cell>) {
                $($crate::figure::Field::cells(&self.$name, cells);)*
            }

            fn of_cells(cells: &mut dyn Iterator<Item = $crate::column::Cell>) -> Option<Self> {
                Some(Self { $($name: $crate::figure::Field::of_cells(cells)?,)* })
            }

            fn derive(&mut self) {
                $($crate::figure::Field::derive(&mut self.$name);)*
                $($({
                    const FORMULA: fn(&$record) -> $kind = $formula;
                    self.$name = FORMULA(self);
                })?)*
            }
        }
    };
}

/// Generates a table that is stored by columns. A row of the macro is `name: type, unit, meaning`,
/// followed by a formula if the value is computed from other values of the row.
macro_rules! columns {
    ($(#[$table_doc:meta])* $table:ident of $(#[$row_doc:meta])* $row:ident {
        $($name:ident: $kind:ty, $unit:literal, $meaning:literal $(, = $formula:expr)?;)*
    }) => {
        $(#[$row_doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $row {
            $(#[doc = $meaning] pub $name: $kind,)*
        }

        $(#[$table_doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $table {
            $(#[doc = $meaning] pub $name: Vec<$kind>,)*
        }

        impl $table {
            /// The descriptions of the table's columns, in order.
            pub const FIGURES: &'static [$crate::figure::Figure] = &[$($crate::figure::Figure {
                name: stringify!($name),
                role: $crate::figure::Role::Result,
                kind: <$kind as $crate::column::InColumn>::KIND,
                unit: $unit,
                meaning: $meaning,
                parts: &[],
            },)*];

            /// Appends a row.
            pub fn push(&mut self, row: $row) {
                $($(
                    let row = {
                        const FORMULA: fn(&$row) -> $kind = $formula;
                        $row { $name: FORMULA(&row), ..row }
                    };
                )?)*
                $(self.$name.push(row.$name);)*
            }

            /// Returns the number of rows.
            #[must_use]
            pub fn len(&self) -> usize {
                self.rows()
            }

            /// Returns whether there are no rows.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.rows() == 0
            }

            #[expect(unreachable_code, reason = "returns the length of the first column")]
            fn rows(&self) -> usize {
                $(return self.$name.len();)*
            }

            /// Returns the columns with their names, for a file.
            #[must_use]
            pub fn columns(&self) -> Vec<$crate::column::Column> {
                vec![$($crate::column::Column::new(
                    stringify!($name),
                    $crate::column::InColumn::write(&self.$name),
                ),)*]
            }

            /// Creates the table from these columns. The values of a missing column are unknown:
            /// the column did not exist when the file was written.
            ///
            /// # Errors
            /// Fails if a column whose values are never unknown is missing, or if a column has
            /// another kind than the table defines.
            pub fn from_columns(columns: &[$crate::column::Column]) -> Result<Self, String> {
                Ok(Self { $($name: $crate::column::read(columns, stringify!($name))?,)* })
            }
        }
    };
}

pub(crate) use {columns, record};

#[cfg(test)]
#[expect(unreachable_pub, reason = "the macros declare their items as public")]
mod tests {
    use super::{Field as _, Role, leaves};
    use crate::column::{Cell, Column, Kind, Values};

    record! {
        /// Apples of a tree.
        Tree {
            name: String, Name, "", "which";
            apples: u64, Result, "apples", "how many";
            weight_g: Weight, Result, "g", "of an apple";
            per_gram: Option<f64>, Result, "1/g", "apples / their mean weight",
                = |tree| tree.weight_g.mean.map(|mean| f64::from(u32::try_from(tree.apples).unwrap()) / mean);
            twice: Option<f64>, Result, "1/g", "two times that", = |tree| tree.per_gram.map(|x| 2.0 * x);
        }
    }

    record! {
        /// Weights.
        #[derive(Copy)]
        Weight {
            mean: Option<f64>, Result, "g", "mean";
            max: Option<f64>, Result, "g", "maximum";
        }
    }

    columns! {
        /// Trees.
        Trees of
        /// A tree.
        TreeRow {
            apples: u32, "apples", "how many";
            picked: Option<u32>, "apples", "how many were picked";
            left: Option<u32>, "apples", "apples - picked", = |row| row.picked.map(|n| row.apples - n);
            half: Option<u32>, "apples", "left / 2", = |row| row.left.map(|n| n / 2);
        }
    }

    fn tree() -> Tree {
        let weight_g = Weight { mean: Some(100.0), max: None };
        let mut tree = Tree { name: "old".to_owned(), apples: 50, weight_g, ..Tree::default() };
        tree.derive();
        tree
    }

    #[test]
    fn a_row_of_the_table_is_all_that_a_derived_figure_takes() {
        let json = serde_json::to_string(&tree()).unwrap();
        assert_eq!(
            json,
            r#"{"name":"old","apples":50,"weight_g":{"mean":100.0,"max":null},"per_gram":0.5,"twice":1.0}"#
        );
        let names: Vec<String> =
            leaves(Tree::FIGURES, "", "_").into_iter().map(|leaf| leaf.name).collect();
        assert_eq!(names, ["name", "apples", "weight_g_mean", "weight_g_max", "per_gram", "twice"]);
        let mut cells = Vec::new();
        tree().cells(&mut cells);
        assert_eq!(
            cells,
            [
                Cell::Word("old".to_owned()),
                Cell::Whole(50),
                Cell::Number(100.0),
                Cell::Null,
                Cell::Number(0.5),
                Cell::Number(1.0),
            ]
        );
        assert_eq!(Tree::FIGURES[2].kind, Kind::Record);
        assert_eq!(Tree::FIGURES[0].role, Role::Name);
    }

    #[test]
    fn a_row_of_the_table_is_all_that_a_derived_column_takes() {
        let mut trees = Trees::default();
        trees.push(TreeRow { apples: 9, picked: Some(4), ..TreeRow::default() });
        trees.push(TreeRow { apples: 3, ..TreeRow::default() });
        assert_eq!((trees.len(), trees.is_empty()), (2, false));
        let columns = trees.columns();
        assert_eq!((columns.len(), Trees::FIGURES[2].meaning), (4, "apples - picked"));
        assert_eq!(columns[2], Column::new("left", Values::OptInt(vec![Some(5), None])));
        assert_eq!(columns[3], Column::new("half", Values::OptInt(vec![Some(2), None])));
        assert_eq!(Trees::from_columns(&columns), Ok(trees));
    }

    #[test]
    fn numbers_that_json_cannot_represent_have_no_value_in_a_row() {
        let mut cells = Vec::new();
        f64::NAN.cells(&mut cells);
        None::<u64>.cells(&mut cells);
        assert_eq!(cells, [Cell::Null, Cell::Null]);
    }
}
