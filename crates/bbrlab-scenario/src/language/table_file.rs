//! Helpers to read tables in text files of other programs: find columns by name, and round numbers
//! with more decimal places than the simulator supports.

use std::borrow::Cow;

use crate::language::decimal::Decimal;

/// The columns of a file that are read, with their positions in a line, and the names of the
/// columns that are ignored.
pub(crate) struct Columns<'t> {
    read: Vec<(usize, &'t str)>,
    ignored: Vec<&'t str>,
}

impl<'t> Columns<'t> {
    /// Finds the columns whose names, in the first line of a file, are in `known`; `None` if one of
    /// these names occurs twice.
    pub(crate) fn named(header: impl Iterator<Item = &'t str>, known: &[&str]) -> Option<Self> {
        let (mut read, mut ignored) = (Vec::new(), Vec::new());
        for (place, name) in header.enumerate() {
            let name = unquoted(name);
            if !known.contains(&name) {
                ignored.push(name);
            } else if read.iter().any(|&(_, other)| other == name) {
                return None;
            } else {
                read.push((place, name));
            }
        }
        Some(Self { read, ignored })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names().any(|column| column == name)
    }

    /// Returns the names of the columns that are read, in the order of the file.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'t str> {
        self.read.iter().map(|&(_, name)| name)
    }

    /// Returns the values of a line in the order of [`Self::names`]. The error has the number of
    /// columns and the number of values.
    pub(crate) fn of<'l>(
        &self,
        values: impl Iterator<Item = &'l str>,
    ) -> Result<Vec<Cow<'l, str>>, (usize, usize)> {
        let values: Vec<&str> = values.map(unquoted).collect();
        let wanted = self.read.len() + self.ignored.len();
        if values.len() != wanted {
            return Err((wanted, values.len()));
        }
        Ok(self.read.iter().map(|&(place, _)| Cow::Borrowed(values[place])).collect())
    }

    /// Returns a sentence for users about the columns that are ignored, if there are any.
    pub(crate) fn note(&self) -> Option<String> {
        let names: Vec<String> = self.ignored.iter().map(|name| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => None,
            [name] => Some(format!("the column {name} is ignored")),
            [names @ .., last] => {
                Some(format!("the columns {} and {last} are ignored", names.join(", ")))
            }
        }
    }
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

/// Rounds the numbers of a file, and counts how many it has rounded.
#[derive(Default)]
pub(crate) struct Rounding {
    count: u64,
    /// The first rounded number, such as `on line 3: 999.6 to 1000`.
    first: Option<String>,
}

impl Rounding {
    /// Rounds a number to `places` decimal places, halves up. Numbers with at most `places` decimal
    /// places, and texts that are not numbers, do not change.
    pub(crate) fn apply(&mut self, value: &mut Cow<'_, str>, places: u32, line: usize) {
        let Some(rounded) = Decimal::parse(value).and_then(|number| number.rounded_to(places))
        else {
            return;
        };
        self.count += 1;
        self.first.get_or_insert_with(|| format!("on line {line}: {value} to {rounded}"));
        *value = Cow::Owned(rounded.to_string());
    }

    /// Returns a sentence for users about the values that were rounded, if there are any.
    pub(crate) fn note(self) -> Option<String> {
        let first = self.first?;
        Some(match self.count {
            1 => format!("1 value is rounded, {first}"),
            count => format!("{count} values are rounded, the first {first}"),
        })
    }
}
