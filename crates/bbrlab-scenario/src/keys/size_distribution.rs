//! Sizes given by points of their cumulative distribution: in the scenario, in a file, or by the
//! name of a known distribution.

use std::sync::Arc;

use bbrlab_run::{Cdf, Distribution, Random};

use crate::language::decimal::Decimal;
use crate::language::document::{Node, Value};
use crate::language::reader::{Keys, Reader, found};

/// Points of the distribution of flow sizes in a data centre's web search: for each point, a size
/// in bytes, and the percentage of flows that have at most this size. Source: the workload of
/// [dctcp-paper] as published with the simulations of HPCC (Li et al., SIGCOMM 2019),
/// `traffic_gen/WebSearch_distribution.txt`.
const WEB_SEARCH: [(u64, u32); 12] = [
    (0, 0),
    (10_000, 15),
    (20_000, 20),
    (30_000, 30),
    (50_000, 40),
    (80_000, 53),
    (200_000, 60),
    (1_000_000, 70),
    (2_000_000, 80),
    (5_000_000, 90),
    (10_000_000, 97),
    (30_000_000, 100),
];

const POINTS: &str =
    "points such as [[\"1KB\", 0], [\"10KB\", \"50%\"], [\"1MB\", 1]], or the path of a file";

/// Returns the distribution of flow sizes in web search, as a description of random sizes.
pub(crate) fn web_search() -> Random {
    let points = WEB_SEARCH.map(|(bytes, percent)| (bytes, percent * (Cdf::ONE / 100)));
    random(Cdf::new(points.to_vec()).expect("it is a distribution"))
}

/// Returns the description of random sizes that have this distribution. The mean and the largest
/// size are computed from the points of the distribution.
fn random(cdf: Cdf) -> Random {
    let (mean, max) = (cdf.mean(), cdf.largest());
    Random { distribution: Distribution::Cdf(Arc::new(cdf)), mean, max }
}

/// Reads the points: as a list, from a file, or as `{ trace = "FILE", rows = [...] }`, the form in
/// which the folder of a sweep stores the content of the file.
pub(crate) fn read(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Option<Random> {
    let Some(node) = keys.take("points") else {
        reader.missing(keys, "points", POINTS);
        return None;
    };
    let name = keys.name("points");
    match &node.value {
        Value::Text(file) => read_file(reader, node, file, &name),
        Value::Table(table) => {
            let mut stored = Keys::new(table, &name, node.at);
            let (file, rows) = (stored.take("trace"), stored.take("rows"));
            stored.finish(reader);
            match (file, rows) {
                (_, Some(rows)) => read_points(reader, rows, &format!("{name}.rows")),
                (Some(file), None) => {
                    let path = reader.text(file, &format!("{name}.trace"))?.to_owned();
                    read_file(reader, file, &path, &name)
                }
                (None, None) => {
                    reader.wrong(node, &name, POINTS);
                    None
                }
            }
        }
        _ => read_points(reader, node, &name),
    }
}

fn read_points(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Random> {
    let Value::Array(rows) = &node.value else {
        reader.wrong(node, name, POINTS);
        return None;
    };
    let mut points = Vec::with_capacity(rows.len());
    for row in rows {
        let Value::Array(pair) = &row.value else {
            reader.wrong(row, name, "pairs of a size and a share, such as [\"10KB\", \"50%\"]");
            return None;
        };
        let [bytes, share] = pair.as_slice() else {
            reader.wrong(row, name, "pairs of a size and a share, such as [\"10KB\", \"50%\"]");
            return None;
        };
        let (bytes, share) = (reader.bytes(bytes, name)?, reader.ratio(share, name)?);
        points.push((bytes.0, parts(share)));
    }
    match Cdf::new(points) {
        Ok(cdf) => Some(random(cdf)),
        Err(reason) => {
            let title = format!("`{name}`: expected points that rise up to a share of 1");
            let found = format!("found a distribution that {reason}");
            reader.problem(node.at, title, found, Vec::new());
            None
        }
    }
}

/// Converts a share from 0 to 1 to units of `1 / Cdf::ONE`, rounded to the nearest unit.
fn parts(share: Decimal) -> u32 {
    let parts = share.times_over_rounded(u128::from(Cdf::ONE), 1);
    parts.and_then(|parts| u32::try_from(parts).ok()).unwrap_or(Cdf::ONE)
}

fn read_file(reader: &mut Reader<'_>, node: &Node, file: &str, name: &str) -> Option<Random> {
    match reader.read_cdf(file) {
        Ok(cdf) => {
            let (mean, max) = (cdf.mean(), cdf.largest());
            Some(Random { distribution: Distribution::Cdf(cdf), mean, max })
        }
        Err(reason) => {
            let title = format!(
                "`{name}`: expected the path of a file whose lines have a number of bytes and a \
                 share"
            );
            let found = format!("found {}; as a distribution it {reason}", found(&node.value));
            reader.problem(node.at, title, found, Vec::new());
            None
        }
    }
}

/// Returns the distribution with these points as TOML, as a scenario would write it.
pub(crate) fn show(cdf: &Cdf) -> String {
    format!("{{ distribution = \"cdf\", points = {} }}", show_points(cdf))
}

pub(crate) fn show_points(cdf: &Cdf) -> String {
    let point = |&(bytes, share): &(u64, u32)| {
        let share = Decimal::parse(&format!("{share}e-9")).expect("any `u32` can be parsed");
        format!("[\"{bytes}B\", {share}]")
    };
    let points: Vec<String> = cdf.points().iter().map(point).collect();
    format!("[{}]", points.join(", "))
}

#[cfg(test)]
mod tests {
    use super::web_search;

    #[test]
    fn a_web_search_has_a_mean_of_1_7_megabytes() {
        let sizes = web_search();
        assert_eq!((sizes.mean, sizes.max), (1_711_250, 30_000_000));
    }
}
