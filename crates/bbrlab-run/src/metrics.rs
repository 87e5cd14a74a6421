//! The metrics of a group of runs by name, stored as an object in JSON.
//!
//! All points of a sweep have the same metrics, so the names are stored only once.

use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The mean of a metric over the seeds of a group, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupMetric {
    /// Number of runs in the group in which the metric has a value.
    pub n: u64,
    /// Mean over these runs.
    pub mean: Option<f64>,
    /// Lower and upper end of the mean's 95 % confidence interval; null for one run.
    pub ci95: Option<[f64; 2]>,
}

/// The metrics of a group of runs, by name. The order is: metrics of the whole run, of its links,
/// of its groups of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    names: Arc<[String]>,
    values: Vec<GroupMetric>,
}

impl Metrics {
    /// Combines values with their names. Several groups can share one list of names.
    ///
    /// # Panics
    /// Panics if the numbers of names and of metrics differ.
    #[must_use]
    pub fn new(names: Arc<[String]>, values: Vec<GroupMetric>) -> Self {
        assert_eq!(names.len(), values.len(), "each metric needs one name");
        Self { names, values }
    }

    /// Returns the metric `name`, such as `jain` or `flow_groups.bbr1.share`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&GroupMetric> {
        self.at(self.position(name)?)
    }

    /// Returns the position of the metric `name`.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names().position(|known| known == name)
    }

    /// Returns the metric at a position, from 0.
    #[must_use]
    pub fn at(&self, place: usize) -> Option<&GroupMetric> {
        self.values.get(place)
    }

    /// Iterates over the names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Iterates over the metrics with their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &GroupMetric)> {
        self.names().zip(&self.values)
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Metrics;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("metrics by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metrics, A::Error> {
                let (mut names, mut values) = (Vec::new(), Vec::new());
                while let Some((name, value)) = map.next_entry()? {
                    names.push(name);
                    values.push(value);
                }
                Ok(Metrics { names: names.into(), values })
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::{GroupMetric, Metrics};

    #[test]
    fn metrics_are_an_object_that_keeps_its_order() {
        let one = GroupMetric { n: 3, mean: Some(0.5), ci95: Some([0.25, 0.75]) };
        let none = GroupMetric { n: 0, mean: None, ci95: None };
        let metrics =
            Metrics::new(["jain".to_owned(), "goodput".to_owned()].into(), vec![one, none]);
        let text = serde_json::to_string(&metrics).unwrap();
        let expected = r#"{"jain":{"n":3,"mean":0.5,"ci95":[0.25,0.75]},"goodput":{"n":0,"mean":null,"ci95":null}}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), metrics);
        assert_eq!((metrics.get("jain"), metrics.get("fct")), (Some(&one), None));
    }
}
