//! The choice of metrics, axis, colours and small multiples for a sweep's pictures, by the user or
//! by default.

use bbrlab_run::{Group, RunSummary};

use super::values_of;
use crate::answers::Answer;
use crate::chosen_answers::{add_of_flows, chosen_answers};
use crate::picture::head::noted;
use crate::picture::labels::Labels;
use crate::picture::shape::Shape;
use crate::picture::swept::Swept;
use crate::points::Points;
use crate::swept_key::{stem, swept_key};

/// The user's choice for the pictures of a sweep. By default, the pictures show the most important
/// metrics of the sweep along each swept quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepChoice {
    /// Names of the drawn metrics, such as `share`, `fct_ms.p95` or `links.bottleneck.utilization`.
    pub metrics: Vec<String>,
    /// The metric on the x axis, instead of a swept key.
    pub against: Option<String>,
    /// Names of the metrics that heat maps show, over the keys in `x` and `by`; empty for other
    /// pictures.
    pub heatmap: Vec<String>,
    /// The swept key on the x axis; with `against`, the key along which points are joined.
    pub x: Option<String>,
    /// The swept key shown by colours; in a heat map, the key of the vertical axis.
    pub by: Option<String>,
    /// The groups of flows that are drawn; all if empty.
    pub groups: Vec<String>,
    /// The values of swept keys by which the user chose the runs, as text; empty if all runs are
    /// drawn.
    pub only: String,
    /// Whether each dot of a scatter plot has a label with the value of the key along which dots
    /// are joined.
    pub dot_labels: bool,
    /// The size of each picture.
    pub shape: Shape,
    /// The texts that replace the default title, axis names and legends.
    pub labels: Labels,
}

impl Default for SweepChoice {
    fn default() -> Self {
        Self {
            metrics: Vec::new(),
            against: None,
            heatmap: Vec::new(),
            x: None,
            by: None,
            groups: Vec::new(),
            only: String::new(),
            dot_labels: false,
            shape: Shape::SCREEN,
            labels: Labels::default(),
        }
    }
}

/// The swept keys, divided by what shows their values: the x axis, the colours, or the small
/// multiples.
pub(super) struct Keys<'a> {
    pub(super) axis: &'a str,
    pub(super) color: Option<&'a str>,
    pub(super) multiples: Vec<&'a str>,
}

/// By default, colours show a key with at most this number of values, because more colours could
/// not be distinguished. If all keys have more values, colours show the first key.
const COLORS: usize = 8;

impl SweepChoice {
    /// Returns the note below the title, preceded by the values of swept keys by which the user
    /// chose the runs.
    pub(super) fn noted(&self, note: String) -> String {
        noted(&self.only, note)
    }

    /// Adds the chosen metrics of single flows to the sweep points, as means over the flows of
    /// groups.
    pub(super) fn add_of_flows(&self, points: &mut Points, runs: &[RunSummary]) {
        add_of_flows(points, runs, self.metrics.iter().chain(&self.against).chain(&self.heatmap));
    }

    /// Whether a group of flows is drawn.
    pub(super) fn shows(&self, group: &str) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|wanted| wanted == group)
    }

    /// If the user chose groups of flows, checks that all drawn metrics are metrics of groups of
    /// flows.
    pub(super) fn check_groups(&self, figures: &[Answer<'_>]) -> Result<(), String> {
        match figures.iter().find(|figure| !figure.metric.is_per_group()) {
            Some(figure) if !self.groups.is_empty() => Err(format!(
                "--group: expected metrics of groups of flows, found `{}`, which is a metric of the \
                 whole run or of a link; choose others, such as share or rtt_ms.mean",
                figure.metric.name()
            )),
            _ => Ok(()),
        }
    }

    /// Returns the metrics that the user chose; empty if the user chose none. `usual` are the
    /// metrics of the default plot, to which a chosen name may refer.
    pub(super) fn figures<'a>(
        &'a self,
        groups: &[Group],
        usual: &[Answer<'a>],
    ) -> Result<Vec<Answer<'a>>, String> {
        chosen_answers(&self.metrics, groups, usual)
    }

    /// Returns the keys for the x axis. Each of these keys has one picture.
    pub(super) fn axes<'a>(
        &self,
        swept: &'a [String],
        groups: &[Group],
    ) -> Result<Vec<&'a str>, String> {
        if let Some(wanted) = &self.x {
            return Ok(vec![swept_key(wanted, swept)?]);
        }
        let is_quantity = |key: &&String| Swept::new(key, &values_of(groups, key)).joins;
        let quantities: Vec<&str> = swept.iter().filter(is_quantity).map(String::as_str).collect();
        let quantities: Vec<&str> =
            quantities.into_iter().filter(|key| self.by.as_deref() != Some(*key)).collect();
        if !quantities.is_empty() {
            return Ok(quantities);
        }
        let others = swept.iter().find(|key| stem(key) != "cc" && self.by.as_ref() != Some(*key));
        Ok(others.or(swept.first()).map(String::as_str).into_iter().collect())
    }

    /// Decides for each key that is not on the x axis whether colours or small multiples show it.
    pub(super) fn keys<'a>(
        &self,
        axis: &'a str,
        swept: &'a [String],
        groups: &[Group],
    ) -> Result<Keys<'a>, String> {
        let others: Vec<&str> =
            swept.iter().map(String::as_str).filter(|key| *key != axis).collect();
        let n = |key: &str| values_of(groups, key).len();
        let color = if let Some(wanted) = &self.by {
            let key = swept_key(wanted, swept)?;
            if key == axis {
                return Err(format!("`{key}` is on the x axis: --by needs another swept key"));
            }
            Some(key)
        } else {
            let fits = || others.iter().copied().filter(|key| n(key) <= COLORS);
            // If several keys have the largest number of values, take the first of these keys.
            let most = fits().rev().max_by_key(|key| n(key));
            fits().find(|key| stem(key) == "cc").or(most).or(others.first().copied())
        };
        let multiples = others.into_iter().filter(|key| Some(*key) != color).collect();
        Ok(Keys { axis, color, multiples })
    }
}
