//! Reads a `[[flows]]` table, and checks conditions on several of its keys.

use std::collections::BTreeSet;

use bbrlab_cc::Algorithm;
use bbrlab_run::Reading;
use bbrlab_stack::EcnMode;
use bbrlab_units::{BitRate, Bytes, NS_PER_S, Span, Time};

use super::FlowSpec;
use super::cc::algorithm;
use super::keys::FLOW_KEYS;
use super::pace::RateSpec;
use crate::language::acts::Acts;
use crate::language::document::At;
use crate::language::key::read_keys;
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader, found};

impl FlowSpec {
    /// Reads a `[[flows]]` table of a run that lasts `duration`. Returns `None` only if the
    /// algorithm is unknown.
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        mut keys: Keys<'_>,
        duration: Span,
    ) -> Option<Self> {
        let mut flow = Self { at: keys.at, ..Self::default() };
        let others = FLOW_KEYS.iter().filter(|row| row.source.is_none());
        read_keys(others, &mut flow, reader, &mut keys);
        flow.choose_ecn(reader, &keys);
        flow.check_start(reader, &keys, duration);
        flow.check_way(reader, &keys);
        flow.read_source(reader, &mut keys);
        flow.check_steps(reader, &keys, duration);
        let has_cc = flow.outside.is_some() || keys.get("cc").and_then(algorithm).is_some();
        keys.finish(reader);
        has_cc.then_some(flow)
    }

    /// Makes flows with `prague` send ECT(1), as the kernel does. Another value of `ecn` is a
    /// mistake.
    fn choose_ecn(&mut self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        if self.cc_name() != Algorithm::Prague.name() || self.outside.is_some() {
            return;
        }
        match keys.get("ecn") {
            None => self.settings.ecn = EcnMode::L4s,
            Some(_) if self.settings.ecn == EcnMode::L4s => {}
            Some(node) => {
                let title =
                    format!("`{}`: expected \"l4s\" with `cc = \"prague\"`", keys.name("ecn"));
                let found = format!("found {}; TCP Prague always sends ECT(1)", found(&node.value));
                reader.problem(node.at, title, found, Vec::new());
            }
        }
    }

    /// Checks that every flow starts before the run ends. The latest possible start is the start of
    /// the last of the `count` flows plus the whole `start_jitter`.
    fn check_start(&self, reader: &mut Reader<'_>, keys: &Keys<'_>, duration: Span) {
        let first = u128::from(self.start.0);
        let last = first + u128::from(self.start_step.0) * u128::from(self.count - 1);
        let latest = last + u128::from(self.start_jitter.0);
        let causes = [
            ("start", first, "the flow starts at"),
            ("start_step", last, "the last flow starts at"),
            ("start_jitter", latest, "the last flow may start at"),
        ];
        let late = causes.into_iter().find(|&(_, start, _)| start >= u128::from(duration.0));
        // A missing key does not delay the start, so the key that makes the start too late is in
        // the table.
        if let Some((key, start, when)) = late
            && let Some(node) = keys.get(key)
        {
            let whole_seconds = || format!("{}s", start / u128::from(NS_PER_S));
            let start =
                u64::try_from(start).map_or_else(|_| whole_seconds(), |ns| show_span(Span(ns)));
            let end = show_span(duration);
            let title =
                format!("`{}`: expected a start before the end of the run, {end}", keys.name(key));
            let found = format!("found {}; {when} {start}", found(&node.value));
            reader.problem(node.at, title, found, Vec::new());
        }
    }

    fn check_way(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        for (key, given) in [("left_delay", &self.left_delay), ("right_delay", &self.right_delay)] {
            if let (Some(rtt), Some(_)) = (&self.rtt, given) {
                let title =
                    format!("`{}`: expected either `rtt` or explicit delays", keys.name("rtt"));
                let found = format!("found `{key}` as well");
                reader.problem(rtt.at, title, found, Vec::new());
                break;
            }
        }
        for key in ["left_link", "right_link"] {
            if let (true, Some(at)) = (keys.has("path"), keys.key_at(key)) {
                let title = format!("`{}`: expected either `path` or access links", keys.name(key));
                let found = "found both; a flow with `path` crosses only the links of the path";
                reader.problem(at, title, found, Vec::new());
            }
        }
        if let (false, Some(at)) = (keys.has("path"), keys.key_at("return_path")) {
            let title = format!("`{}`: expected a `path` as well", keys.name("return_path"));
            reader.problem(at, title, "found a `return_path` without a `path`", Vec::new());
        }
    }

    /// Reads the keys of the flow's source. The keys must describe at most one source: `on`, `off`
    /// and `rate` together describe one source, but `bytes` and `train` describe two.
    fn read_source(&mut self, reader: &mut Reader<'_>, keys: &mut Keys<'_>) {
        let sources = || FLOW_KEYS.iter().filter(|row| row.source.is_some());
        let has_sizes = ["arrivals", "requests", "page"].into_iter().any(|key| keys.has(key));
        let given = sources().filter(|row| keys.has(row.name)).filter_map(|row| row.source);
        let kinds: BTreeSet<&str> = given
            .filter(|&source| source != "sizes" && !(source == "bytes" && has_sizes))
            .collect();
        if kinds.len() > 1 {
            let given: Vec<(&str, At)> = sources()
                .filter_map(|row| {
                    keys.take(row.name);
                    keys.key_at(row.name).map(|at| (row.name, at))
                })
                .collect();
            let named: Vec<String> = given.iter().map(|(key, _)| format!("`{key}`")).collect();
            if self.is_udp {
                // If a UDP flow has several sources, report the sources that a UDP flow cannot
                // have.
                self.check_udp(reader, keys);
                return;
            }
            let last = given.iter().map(|&(_, at)| at).max_by_key(|at| at.start);
            let title = format!("`{}`: expected one source", keys.path);
            let found = format!("found {}", named.join(" and "));
            reader.problem(last.expect("two were given"), title, found, Vec::new());
            return;
        }
        read_keys(sources(), self, reader, keys);
        self.check_sizes(reader, keys);
        self.check_udp(reader, keys);
        self.check_late(reader, keys);
        self.check_rates(reader, keys);
        for (key, other) in [("on", "off"), ("off", "on")] {
            if keys.has(other) && !keys.has(key) {
                reader.missing(keys, key, "the other period, such as \"1s\"");
            }
        }
    }

    /// Checks that `rate` is constant with on and off periods, that no step of a UDP flow's `rate`
    /// is unlimited, and that `read` is not combined with `requests`, `page`, `video` or
    /// `arrivals`.
    fn check_rates(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        if let (Some(rate), Some(node)) = (&self.source.rate, keys.get("rate")) {
            let name = keys.name("rate");
            if rate.constant().is_none() && (keys.has("on") || keys.has("off")) {
                let title = format!("`{name}`: expected a constant rate with `on` and `off`");
                let found = format!("found {}", found(&node.value));
                reader.problem(node.at, title, found, Vec::new());
            }
            if self.is_udp && rate.has_unlimited_step() {
                let title = format!("`{name}`: expected a rate in each step with `cc = \"udp\"`");
                reader.problem(node.at, title, "found \"unlimited\"", Vec::new());
            }
        }
        let of_clients = ["requests", "page", "video", "arrivals"];
        let client = of_clients.into_iter().find(|&key| keys.has(key));
        if let (Some(key), Some(at)) = (client, keys.key_at("read")) {
            let title = format!("`{}`: expected no such key with `{key}`", keys.name("read"));
            reader.problem(at, title, format!("found `{key}` as well"), Vec::new());
        }
    }

    /// Checks that each step of the schedules in `rate` (for writing) and in `read` begins before
    /// the run ends.
    fn check_steps(&self, reader: &mut Reader<'_>, keys: &Keys<'_>, duration: Span) {
        let read = match &self.settings.reading {
            Some(Reading::Paced(paces)) => paces.last(),
            _ => None,
        };
        let last =
            [("rate", self.source.rate.as_ref().and_then(RateSpec::last_step)), ("read", read)];
        for (key, step) in last {
            let begins = step.map(|&(at, _)| at.since(Time::ZERO));
            if let (Some(begins), Some(node)) = (begins, keys.get(key))
                && begins > Span::ZERO
                && u128::from(self.start.0) + u128::from(begins.0) >= u128::from(duration.0)
            {
                let title = format!(
                    "`{}`: expected steps that begin before the end of the run, {}",
                    keys.name(key),
                    show_span(duration)
                );
                let from = match self.start {
                    Span::ZERO => String::new(),
                    start => format!(" after the flow's start at {}", show_span(start)),
                };
                let found = format!("found a step at {}{from}", show_span(begins));
                reader.problem(node.at, title, found, Vec::new());
            }
        }
    }

    /// Checks that a UDP flow has a rate, and no key that only applies to connections.
    fn check_udp(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        if !self.is_udp {
            return;
        }
        let of_connections = FLOW_KEYS.iter().filter(|row| row.acts == Acts::Connections);
        for (key, node) in of_connections.filter_map(|row| Some((row.name, keys.get(row.name)?))) {
            let title = format!("`{}`: expected no such key with `cc = \"udp\"`", keys.name(key));
            reader.problem(node.at, title, format!("found {}", found(&node.value)), Vec::new());
        }
        if !keys.has("rate") && !keys.has("frames") {
            let expected = "the rate of the datagrams, such as \"10Mbit/s\", or `frames`";
            reader.missing(keys, "rate", expected);
        }
    }

    /// Checks that a flow with `late` has messages, which can be late.
    fn check_late(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        // Whether a source has messages does not depend on the size and the rate passed here, so
        // both are arbitrary.
        let has_messages = self.source.source(1, (BitRate(1), Bytes(0)), 1).has_messages();
        if let (Some(_), false, Some(at)) =
            (self.settings.late, has_messages || self.is_udp, keys.key_at("late"))
        {
            let title = format!(
                "`{}`: expected a source with messages: a constant `rate`, `write`, `frames`, `bytes`, `train`, `arrivals`, `requests`, `page` or `video`",
                keys.name("late")
            );
            let found = if self.source.has_schedule() {
                "found rates with times, which write a stream without messages; `latency = true` measures the queueing delays of its packets"
            } else {
                "found a source without messages, so nothing can be late"
            };
            reader.problem(at, title, found, Vec::new());
        }
    }

    /// Checks that `arrivals`, `requests` and `page` have sizes, that `count` is 1 with `arrivals`,
    /// and that `start_step` is not set with `page`.
    fn check_sizes(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let (bytes, sizes) = (keys.get("bytes"), keys.get("sizes"));
        if let (Some(at), true) = (keys.key_at("start_step"), keys.has("page")) {
            let title = format!("`{}`: expected no such key with `page`", keys.name("start_step"));
            let found = "found both; the browser opens a connection when the page needs it";
            reader.problem(at, title, found, Vec::new());
        }
        if !["arrivals", "requests", "page"].into_iter().any(|key| keys.has(key)) {
            if let Some(node) = sizes {
                let title = format!("`{}`: expected `arrivals`, `requests` or `page`", keys.path);
                reader.problem(node.at, title, "found `sizes` without them", Vec::new());
            }
            return;
        }
        match (bytes, sizes) {
            (Some(_), Some(node)) => {
                let title = format!("`{}`: expected either `bytes` or `sizes`", keys.path);
                reader.problem(node.at, title, "found `sizes` as well", Vec::new());
            }
            (None, None) => {
                reader.missing(keys, "sizes", "the sizes of flows or responses, or `bytes`");
            }
            _ => {}
        }
        if let Some(node) = keys.get("count")
            && self.count > 1
            && keys.has("arrivals")
        {
            let title = format!("`{}`: expected 1 with `arrivals`", keys.name("count"));
            reader.problem(node.at, title, format!("found {}", found(&node.value)), Vec::new());
        }
    }
}
