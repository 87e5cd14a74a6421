//! `[sweep]`: lists of values, of which every combination is run, and `points`, a list of tables
//! whose values change together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::language::document::{At, Entry, Node, Step, Table, Value, called, parse_path, set};
use crate::language::reader::{Reader, found};
use bbrlab_run::SweepPoint;

/// An axis of the sweep: a list of choices. The sweep runs every combination of one choice from
/// each axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// The choices. For the list of a key, each choice sets one value; for `points`, each choice
    /// sets the values of one table.
    choices: Vec<Vec<Setting>>,
}

impl Axis {
    /// Returns one setting for each key that the axis sets.
    fn keys(&self) -> Vec<&Setting> {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let all = self.choices.iter().flatten();
        all.filter(|setting| known.insert(&*setting.key)).collect()
    }
}

/// A key with one of its swept values, or with the value that a `--set` gives it.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) key: Arc<str>,
    pub(crate) path: Arc<[Step]>,
    pub(crate) key_at: At,
    pub(crate) value: Arc<Node>,
}

/// A sweep's axes in the order of the file. From one sweep point to the next, the value of the last
/// axis changes fastest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweep {
    axes: Vec<Axis>,
    points: u64,
}

/// The largest number of sweep points of one file.
const POINTS_MAX: u64 = 50_000;

/// The tables with which a dotted key may begin.
const TABLES: [&str; 5] = ["stack", "bottleneck", "access", "links", "flows"];

/// Keys that cannot be swept, each with a text for the error message: the reason, or what to use
/// instead.
const NOT_SWEPT: [(&str, &str); 4] = [
    ("seed", "use `repeat`, which runs seed, seed + 1 ..."),
    ("repeat", "all points have the same `repeat`"),
    ("title", "all points have the same title"),
    ("sweep", "a sweep cannot contain a sweep"),
];

impl Sweep {
    /// Reads `[sweep]`. If a `--set` has set a key, the key's list in `[sweep]` is ignored.
    pub(crate) fn read(reader: &mut Reader<'_>, root: &Table, sets: &[Setting]) -> Self {
        let mut sweep = Self { axes: Vec::new(), points: 1 };
        let Some(entry) = root.get("sweep") else { return sweep };
        let Some(table) = reader.table(&entry.value, "sweep", "a table [sweep]") else {
            return sweep;
        };
        for (prefix, entry) in flattened(table) {
            if prefix.is_empty() && &*entry.key == "points" {
                sweep.axes.extend(read_points(reader, entry));
            } else {
                sweep.axes.extend(read_list(reader, &prefix, entry));
            }
        }
        sweep.fix(reader, root, sets);
        let mut seen: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for (number, axis) in sweep.axes.iter().enumerate() {
            for setting in axis.choices.iter().flatten() {
                if *seen.entry(setting.key.clone()).or_insert(number) != number {
                    let title = format!("`sweep`: expected `{}` once", setting.key);
                    let found = "found the key in a list and in `points`, or in two lists";
                    reader.problem(setting.key_at, title, found, Vec::new());
                    return sweep;
                }
            }
        }
        if let Some((first, second)) = sweep.nested(root) {
            let title = "`sweep`: expected keys that do not contain each other";
            let found = format!("found `{}` and `{}`", first.key, second.key);
            reader.problem(second.key_at, title, found, Vec::new());
            return sweep;
        }
        let product = sweep
            .axes
            .iter()
            .try_fold(1_u64, |product, axis| product.checked_mul(axis.choices.len() as u64))
            .filter(|&points| points <= POINTS_MAX);
        let Some(points) = product else {
            let sizes: Vec<String> =
                sweep.axes.iter().map(|axis| axis.choices.len().to_string()).collect();
            let title = format!("`sweep`: expected at most {POINTS_MAX} points");
            let found = format!("found a product of {}", sizes.join(" x "));
            reader.problem(entry.value.at, title, found, Vec::new());
            return Self { axes: Vec::new(), points: 1 };
        };
        sweep.points = points;
        sweep
    }

    /// Removes the scenario file's list of values for each key that a `--set` has set. Reports a
    /// `--set` whose value a point of the sweep would still overwrite: by a key that overlaps with
    /// the key of the `--set`, by `sweep.points`, or by a list from another `--set`.
    fn fix(&mut self, reader: &mut Reader<'_>, root: &Table, sets: &[Setting]) {
        for set in sets {
            let target = Target::of(root, &set.path);
            self.axes.retain(|axis| {
                let clash = axis.keys().into_iter().find_map(|swept| {
                    let by = Target::of(root, &swept.path);
                    let is_same = by == target;
                    let clashes = is_same || overwrites(&by, &target, &set.value.value);
                    clashes.then_some((swept, is_same))
                });
                let Some((swept, is_same)) = clash else { return true };
                let (is_list, is_of_set) = (axis.keys().len() == 1, swept.key_at.source > 0);
                if is_same && is_list && !is_of_set {
                    return false;
                }
                let title = "`--set`: expected a key that no point of the sweep overwrites";
                let by = match (is_list, is_of_set) {
                    (true, true) => format!("`sweep.{}`", swept.key),
                    (true, false) => format!("the sweep of `{}`", swept.key),
                    (false, _) => format!("`sweep.points`, which set `{}`", swept.key),
                };
                let help = if is_list {
                    format!("`--set 'sweep.{}=[...]'` replaces the list of values", swept.key)
                } else {
                    "`--set 'sweep.points=[{ \"KEY\" = VALUE, ... }]'` replaces the points, for example by one of them".to_owned()
                };
                let help = (!is_of_set).then_some(help);
                let found = format!("found `{}` as well as {by}", set.key);
                reader.problem(set.key_at, title, found, help.into_iter().collect());
                false
            });
        }
    }

    /// Finds two keys of one sweep point that set overlapping values, such as `flows.cc` and
    /// `flows[0].cc`. The key that the point sets first is returned first. Such a point is an
    /// error, because its label would show a value that the second key overwrites.
    fn nested(&self, root: &Table) -> Option<(&Setting, &Setting)> {
        /// The largest number of swept keys that are compared with each other, to limit the time of
        /// checking.
        const CHECKED: usize = 300;
        let mut before: Vec<(&Setting, Target)> = Vec::new();
        for axis in &self.axes {
            let mut of_axis: BTreeMap<&str, (&Setting, Target)> = BTreeMap::new();
            for choice in &axis.choices {
                let mut of_choice: Vec<(&Setting, Target)> = Vec::new();
                for setting in choice.iter().take(CHECKED) {
                    let is_new = !of_axis.contains_key(&*setting.key);
                    if !is_new && choice.len() == 1 {
                        continue;
                    }
                    let target = Target::of(root, &setting.path);
                    let others = before.iter().filter(|_| is_new).chain(&of_choice);
                    for (other, theirs) in others {
                        let is_longer = theirs.path.len() < target.path.len();
                        let extends = || is_longer && self.only_names(other);
                        if theirs.overlaps(&target) && !extends() {
                            return Some((*other, setting));
                        }
                    }
                    of_choice.push((setting, target.clone()));
                    if is_new && before.len() + of_axis.len() < CHECKED {
                        of_axis.insert(&setting.key, (setting, target));
                    }
                }
            }
            before.extend(of_axis.into_values());
        }
        None
    }

    /// Returns whether all values of a swept key are names of queue disciplines. A sweep point may
    /// set such a key first and then parameters of the discipline, because a parameter does not
    /// overwrite the name.
    fn only_names(&self, setting: &Setting) -> bool {
        let is_queue = |step: &Step| matches!(step.key.as_str(), "queue" | "reverse_queue");
        let all = self.axes.iter().flat_map(|axis| axis.choices.iter().flatten());
        setting.path.last().is_some_and(is_queue)
            && all
                .filter(|other| other.key == setting.key)
                .all(|other| matches!(other.value.value, Value::Text(_)))
    }

    /// Returns the number of points of the sweep; 1 without a sweep.
    pub(crate) fn points(&self) -> u64 {
        self.points
    }

    /// Returns the choices of each axis. A choice is a list of settings.
    pub(crate) fn choices(&self) -> impl Iterator<Item = &[Vec<Setting>]> {
        self.axes.iter().map(|axis| axis.choices.as_slice())
    }

    /// Returns the scenario's tree at a point: without `[sweep]`, and with the point's values of
    /// the swept keys. Also returns these keys with their values.
    pub(crate) fn apply(
        &self,
        reader: &mut Reader<'_>,
        root: &Table,
        point: u64,
    ) -> (Table, SweepPoint) {
        let mut tree = root.clone();
        tree.entries.retain(|entry| &*entry.key != "sweep");
        for setting in self.settings(point) {
            if let Err(found) = set(&mut tree, &setting.path, setting.key_at, &setting.value) {
                let title = "`sweep`: expected a key of the scenario".to_owned();
                reader.problem(setting.key_at, title, format!("found {found}"), Vec::new());
            }
        }
        (tree, self.named(point))
    }

    /// Returns a sweep point's swept keys with their values.
    pub(crate) fn named(&self, point: u64) -> SweepPoint {
        let named = |setting: &Setting| (setting.key.to_string(), setting.value.value.to_label());
        self.settings(point).map(named).collect()
    }

    /// Returns the settings of a sweep point, from the first axis to the last.
    fn settings(&self, point: u64) -> impl Iterator<Item = &Setting> {
        // The last axis of a sweep changes fastest, so the stride shrinks from axis to axis.
        let mut stride = self.points();
        self.axes.iter().flat_map(move |axis| {
            let choices = axis.choices.len() as u64;
            stride /= choices;
            let choice = point / stride % choices;
            &axis.choices[usize::try_from(choice).expect("bounded by the list")]
        })
    }

    /// Returns the axes as a text, for the hash over all sweep points.
    pub(crate) fn canonical(&self) -> String {
        let mut text = String::new();
        for axis in &self.axes {
            for choice in &axis.choices {
                for setting in choice {
                    text.push_str(&setting.key);
                    text.push_str(&setting.value.value.to_label().to_string());
                }
                text.push('\n');
            }
            text.push('\n');
        }
        text
    }
}

/// Returns the entries of `[sweep]` or of a point with their full names. Entries of nested tables
/// are included, because in TOML the key `bottleneck.rate` without quotes is an entry `rate` in a
/// nested table `bottleneck`.
fn flattened(table: &Table) -> Vec<(String, &Entry)> {
    let mut flat = Vec::new();
    flatten_into(&mut flat, "", table, 0);
    flat
}

fn flatten_into<'t>(
    flat: &mut Vec<(String, &'t Entry)>,
    prefix: &str,
    table: &'t Table,
    depth: usize,
) {
    /// A table nested this deeply is read as the value of a key, not as a prefix of the keys in the
    /// table. No key of a scenario is nested as deeply.
    const DEPTH_MAX: usize = 8;
    for entry in &table.entries {
        let nested = depth > 0 || TABLES.contains(&&*entry.key);
        match &entry.value.value {
            Value::Table(inner) if nested && depth < DEPTH_MAX => {
                flatten_into(flat, &format!("{prefix}{}.", entry.key), inner, depth + 1);
            }
            _ => flat.push((prefix.to_owned(), entry)),
        }
    }
}

fn read_list(reader: &mut Reader<'_>, prefix: &str, entry: &Entry) -> Option<Axis> {
    let key = format!("{prefix}{}", entry.key);
    let path = swept_path(reader, &key, entry.key_at)?;
    let Value::Array(values) = &entry.value.value else {
        let title = format!("`sweep.\"{key}\"`: expected a list of values");
        let found = format!("found {}", found(&entry.value.value));
        reader.problem(entry.value.at, title, found, Vec::new());
        return None;
    };
    if values.is_empty() {
        let title = format!("`sweep.\"{key}\"`: expected a list of values");
        reader.problem(entry.value.at, title, "found an empty list", Vec::new());
        return None;
    }
    refuse_twins(reader, &format!("sweep.\"{key}\""), values);
    let key: Arc<str> = key.into();
    let settings = values.iter().map(|value| {
        vec![Setting {
            key: key.clone(),
            path: path.clone(),
            key_at: entry.key_at,
            value: value.clone(),
        }]
    });
    Some(Axis { choices: settings.collect() })
}

fn read_points(reader: &mut Reader<'_>, entry: &Entry) -> Option<Axis> {
    let title = "`sweep.points`: expected a list of tables such as [{ \"flows.cc\" = \"bbr1\" }]";
    let Value::Array(values) = &entry.value.value else {
        let found = format!("found {}", found(&entry.value.value));
        reader.problem(entry.value.at, title, found, Vec::new());
        return None;
    };
    if values.is_empty() {
        reader.problem(entry.value.at, title, "found an empty list", Vec::new());
        return None;
    }
    refuse_twins(reader, "sweep.points", values);
    let mut choices = Vec::with_capacity(values.len());
    for value in values {
        let Value::Table(table) = &value.value else {
            let found = format!("found {} in it", found(&value.value));
            reader.problem(value.at, title, found, Vec::new());
            return None;
        };
        let mut settings = Vec::new();
        for (prefix, entry) in flattened(table) {
            let key = format!("{prefix}{}", entry.key);
            let path = swept_path(reader, &key, entry.key_at)?;
            settings.push(Setting {
                key: key.into(),
                path,
                key_at: entry.key_at,
                value: entry.value.clone(),
            });
        }
        choices.push(settings);
    }
    Some(Axis { choices })
}

fn swept_path(reader: &mut Reader<'_>, key: &str, at: At) -> Option<Arc<[Step]>> {
    let path = match parse_path(key) {
        Ok(path) => path,
        Err(found) => {
            let title = "`sweep`: expected keys such as \"bottleneck.buffer\" or \"flows[1].cc\"";
            reader.problem(at, title, format!("found {found}"), Vec::new());
            return None;
        }
    };
    if let Some((_, why)) = NOT_SWEPT.iter().find(|(name, _)| *name == path[0].key) {
        let title = "`sweep`: expected a key that can differ between points";
        reader.problem(at, title, format!("found `{}`", path[0].key), vec![(*why).to_owned()]);
        return None;
    }
    Some(path.into())
}

/// The values that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    /// The path, such as `flows[1].cc`. If `NAME` in `links.NAME.KEY` or `flows.NAME.KEY` means one
    /// table, the table's index replaces the name.
    path: Vec<Step>,
    /// If `NAME` means a group of several tables, the indices of these tables in ascending order;
    /// otherwise empty. With such a group, the first step of `path` has no index.
    tables: Vec<usize>,
}

impl Target {
    fn of(root: &Table, path: &[Step]) -> Self {
        let named = || {
            let (first, second) = (path.first()?, path.get(1)?);
            let Value::Array(tables) = &root.get(&first.key)?.value.value else { return None };
            let is_named = path.len() > 2 && first.index.is_none();
            let mut tables = is_named.then(|| called(tables, &second.key))?;
            let index = match tables[..] {
                [] => return None,
                [one] => {
                    tables.clear();
                    Some(one)
                }
                _ => None,
            };
            let first = Step { key: first.key.clone(), index };
            let path = std::iter::once(first).chain(path[2..].iter().cloned()).collect();
            Some(Self { path, tables })
        };
        named().unwrap_or_else(|| Self { path: path.to_vec(), tables: Vec::new() })
    }

    /// Returns whether the path leads into the table with index `table` in the list at the start of
    /// the path (`flows` or `links`).
    fn has_table(&self, table: usize) -> bool {
        let index = self.path.first().and_then(|step| step.index);
        let is_in_group = self.tables.is_empty() || self.tables.binary_search(&table).is_ok();
        index.is_none_or(|index| index == table) && is_in_group
    }

    /// Returns whether both paths lead to the same value, or one of them to a part of the value of
    /// the other. A list without an index stands for all of its elements.
    fn overlaps(&self, other: &Self) -> bool {
        let is_near = self.path.iter().zip(&other.path).all(|(a, b)| {
            a.key == b.key && (a.index.is_none() || b.index.is_none() || a.index == b.index)
        });
        let (few, all) = if self.tables.is_empty() { (other, self) } else { (self, other) };
        is_near && (few.tables.is_empty() || few.tables.iter().any(|&table| all.has_table(table)))
    }
}

/// Returns whether a sweep point that sets the key `swept` would overwrite `value` or an existing
/// part of `value`. The key `set` has the value `value`.
fn overwrites(swept: &Target, set: &Target, value: &Value) -> bool {
    let inner = swept.path.get(set.path.len()..).unwrap_or_default();
    swept.overlaps(set) && (inner.is_empty() || has(value, inner))
}

/// Returns whether `value` contains a value at `path`. The name of a queue discipline counts as a
/// table with only the key `discipline`.
fn has(value: &Value, path: &[Step]) -> bool {
    let Some((step, rest)) = path.split_first() else { return true };
    match value {
        Value::Table(table) => {
            table.get(&step.key).is_some_and(|entry| has(&entry.value.value, rest))
        }
        Value::Text(_) => step.key == "discipline",
        _ => false,
    }
}

/// Reports equal values in a list, which would give the same run twice.
fn refuse_twins(reader: &mut Reader<'_>, name: &str, values: &[Arc<Node>]) {
    /// The number of values at the start of a list that are compared with each other, to limit the
    /// time of checking.
    const CHECKED: usize = 300;
    let values = &values[..values.len().min(CHECKED)];
    for (index, value) in values.iter().enumerate() {
        if values[..index].iter().any(|before| before.value.says_the_same(&value.value)) {
            let title = format!("`{name}`: expected each value once");
            let found = format!("found {} a second time", found(&value.value));
            reader.problem(value.at, title, found, Vec::new());
            return;
        }
    }
}
