//! Names of groups of flows that are the same at every point of a sweep.
//!
//! The default name of a group derives from its flows' congestion control or base RTT, so a swept
//! value can give two groups the same name. At such a point they would be one group, whose share is
//! 100 %, and comparisons would take its metrics for those of the smaller group at other points.
//! If the default names put some flows together at one point and not at another, groups whose names
//! change get the name of their first `[[flows]]` table, such as `flows[0]`.

use std::collections::BTreeMap;

use crate::keys::spec::Spec;
use crate::lowering::lower::{Network, is_named_by_rtt};

/// The groups of flows at the points of a sweep that have been seen so far.
#[derive(Default)]
pub(crate) struct GroupsOfPoints {
    /// For each `[[flows]]` table, the index of the first table that was in its group at all
    /// points.
    together: Vec<usize>,
    /// For each table, the name of its group; `None` if the name differs between points.
    names: Vec<Option<String>>,
    /// For each table, whether the scenario names its group at some point.
    is_given: Vec<bool>,
    /// Whether groups were named after base RTTs at the first point.
    by_rtt: bool,
    /// Whether a group of one point is divided at another point, or groups are named after base
    /// RTTs at some points only.
    varies: bool,
    /// Whether the points have different numbers of tables, which cannot be matched.
    is_uneven: bool,
}

impl GroupsOfPoints {
    /// Adds a point.
    pub(crate) fn see(&mut self, spec: &Spec, network: &Network) {
        let names: Vec<&str> = network.classes.iter().map(|class| class.group.as_str()).collect();
        let first_with = |is_it: &dyn Fn(usize) -> bool| (0..names.len()).find(|&at| is_it(at));
        let own: Vec<usize> = names
            .iter()
            .enumerate()
            .map(|(at, name)| first_with(&|other| names[other] == *name).unwrap_or(at))
            .collect();
        let by_rtt = is_named_by_rtt(&network.classes);
        if self.names.is_empty() {
            self.names = names.iter().map(|name| Some((*name).to_owned())).collect();
            self.is_given = spec.flows.iter().map(|flow| flow.group.is_some()).collect();
            (self.together, self.by_rtt) = (own, by_rtt);
            return;
        }
        if names.len() != self.names.len() {
            self.is_uneven = true;
            return;
        }
        self.varies |= own != self.together || by_rtt != self.by_rtt;
        let mut parts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for at in 0..names.len() {
            let part = (self.together[at], own[at]);
            self.together[at] = *parts.entry(part).or_insert(at);
            if self.names[at].as_deref() != Some(names[at]) {
                self.names[at] = None;
            }
            self.is_given[at] |= spec.flows[at].group.is_some();
        }
    }

    /// Returns, for each `[[flows]]` table, the name that its group needs in addition to the
    /// scenario's keys; empty if the default names are the same groups at all points.
    pub(crate) fn names(&self) -> Vec<Option<String>> {
        if !self.varies || self.is_uneven {
            return Vec::new();
        }
        let name = |at: usize| {
            let stable = || format!("flows[{}]", self.together[at]);
            (!self.is_given[at]).then(|| self.names[at].clone().unwrap_or_else(stable))
        };
        (0..self.names.len()).map(name).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    const TEXT: &str = "duration = \"1s\"\n[bottleneck]\nrate = \"5Mbit/s\"\n\
                        [[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\n\
                        [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\n";

    /// Returns the groups of the flows at each point.
    fn groups(text: &str) -> Vec<Vec<String>> {
        let scenario = Scenario::parse("s", "s.toml", text, None, &[]).expect("it is right");
        let of_run = |run| scenario.run(run).classes.into_iter().map(|class| class.group);
        (0..scenario.runs()).map(|run| of_run(run).collect()).collect()
    }

    fn swept(sweep: &str) -> Vec<Vec<String>> {
        groups(&format!("{TEXT}[sweep]\n{sweep}\n"))
    }

    #[test]
    fn groups_that_a_swept_value_would_join_are_named_after_their_tables() {
        let found = swept("\"flows[0].cc\" = [\"bbr1\", \"cubic\"]");
        assert_eq!(found, [["flows[0]", "cubic"], ["flows[0]", "cubic"]]);
        let both = swept(
            "\"flows[0].cc\" = [\"bbr1\", \"cubic\"]\n\"flows[1].cc\" = [\"bbr1\", \"cubic\"]",
        );
        assert!(both.iter().all(|point| *point == ["flows[0]", "flows[1]"]), "{both:?}");
        let third = format!("{TEXT}[[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\n");
        let found = groups(&format!("{third}[sweep]\n\"flows[0].cc\" = [\"bbr1\", \"cubic\"]\n"));
        assert!(found.iter().all(|point| *point == ["flows[0]", "cubic", "cubic"]), "{found:?}");
        let of_rtt = TEXT.replace("bbr1", "cubic");
        let found = groups(&format!("{of_rtt}[sweep]\n\"flows[0].rtt\" = [\"10ms\", \"20ms\"]\n"));
        assert!(found.iter().all(|point| *point == ["flows[0]", "flows[1]"]), "{found:?}");
    }

    #[test]
    fn names_that_keep_groups_apart_stay() {
        let found = swept("\"flows[0].cc\" = [\"bbr1\", \"bbr3\"]");
        assert_eq!(found, [["bbr1", "cubic"], ["bbr3", "cubic"]]);
        let found = swept("\"flows.cc\" = [\"bbr1\", \"cubic\"]");
        assert_eq!(found, [["bbr1", "bbr1"], ["cubic", "cubic"]]);
        let own = TEXT.replace("cc = \"bbr1\"", "cc = \"bbr1\"\ngroup = \"cubic\"");
        let found = groups(&format!("{own}[sweep]\n\"flows[0].cc\" = [\"bbr1\", \"cubic\"]\n"));
        assert_eq!(found, [["cubic", "cubic"], ["cubic", "cubic"]]);
    }

    #[test]
    fn flows_are_set_by_name_or_group() {
        let text = TEXT.replacen("rtt", "group = \"up\"\nrtt", 1);
        let text = text.replace("cc = \"cubic\"", "cc = \"cubic\"\nname = \"web\"");
        let sets = ["flows.up.count=2".to_owned(), "flows.web.cc=reno".to_owned()];
        let scenario = Scenario::parse("s", "s.toml", &text, None, &sets).expect("it is right");
        let run = scenario.run(0);
        let classes: Vec<u32> = run.flows.iter().map(|flow| flow.class).collect();
        assert_eq!((classes, run.classes[1].cc_name()), (vec![0, 0, 1], "reno"));
        let none = ["flows[0].count=0".to_owned()];
        let error = Scenario::parse("s", "s.toml", &text, None, &none).unwrap_err();
        assert!(error.render(false).contains("without these flows"), "{}", error.render(false));
    }

    #[test]
    fn the_scenario_of_a_run_has_the_name_and_gives_the_same_run() {
        let text = format!("{TEXT}[sweep]\n\"flows[0].cc\" = [\"bbr1\", \"cubic\"]\n");
        let scenario = Scenario::parse("s", "s.toml", &text, None, &[]).unwrap();
        let own = scenario.run_toml(1);
        assert!(own.contains("group = \"flows[0]\""), "{own}");
        let again = Scenario::parse("s", "s.toml", &own, None, &[]).unwrap();
        assert_eq!(again.point_hash(0), scenario.point_hash(1));
        let whole = Scenario::parse("s", "s.toml", &scenario.to_toml(), None, &[]).unwrap();
        assert_eq!(whole.hash(), scenario.hash());
    }
}
