//! The refusals of a back end: a list of the keys in a run that the back end does not support. This
//! module also has the refusals that several back ends share.

use bbrlab_link::Link;
use bbrlab_run::{Flow, FlowClass, FlowSettings, Frames, Hop, Place, Profile, Run, Sample, Source};
use bbrlab_stack::Stack;
use bbrlab_units::Time;

use crate::backend::Refusal;
use crate::paces::{PACES_MAX, paces};

/// The parts of a run that a back end must support. The other parts name the run, determine which
/// results are written, or are supported by every back end, such as the seed.
pub(super) struct Parts<'a> {
    pub(super) profile: Profile,
    pub(super) sample: Sample,
    pub(super) stack: &'a Stack,
    pub(super) links: &'a [Link],
    pub(super) classes: &'a [FlowClass],
    pub(super) flows: &'a [Flow],
}

impl<'a> Parts<'a> {
    /// Returns the parts of a run. The code names each field of [`Run`], so a new field is a
    /// compile error until the code assigns the field to a part or ignores the field.
    pub(super) fn of(run: &'a Run) -> Self {
        let Run {
            scenario: _,
            title: _,
            scenario_hash: _,
            profile,
            point: _,
            point_values: _,
            seed: _,
            duration: _,
            sample,
            flow_series: _,
            queue_series: _,
            stack,
            links,
            link_tables: _,
            bottleneck: _,
            classes,
            flows,
        } = run;
        Self { profile: *profile, sample: *sample, stack, links, classes, flows }
    }
}

/// Settings of flows. Each back end except the simulator has code of its own for each of these
/// settings. The code supports or refuses the setting.
pub(super) const KNOWN_SETTINGS: [&str; 8] =
    ["ecn", "dscp", "max_pacing_rate", "device", "rate_samples", "latency", "late", "read"];

/// Refused keys, each with its reason and the nearest value that the back end supports.
#[derive(Debug, Default)]
pub(super) struct Refusals(pub(super) Vec<Refusal>);

impl Refusals {
    /// Adds a refusal of a key, unless the list already has an equal refusal.
    pub(super) fn no(
        &mut self,
        place: Place,
        key: &'static str,
        reason: &str,
        nearest: Option<&str>,
    ) {
        let refusal =
            Refusal { place, key, reason: reason.to_owned(), nearest: nearest.map(str::to_owned) };
        if !self.0.contains(&refusal) {
            self.0.push(refusal);
        }
    }

    /// Adds a refusal of a key if `is_able` is false.
    pub(super) fn unless(
        &mut self,
        is_able: bool,
        place: Place,
        key: &'static str,
        reason: &str,
        nearest: Option<&str>,
    ) {
        if !is_able {
            self.no(place, key, reason, nearest);
        }
    }

    /// Refuses the settings that differ from their defaults and are not in `known`. This list has
    /// the settings that other code of the back end supports or refuses. A back end thus refuses a
    /// new setting until the back end lists it.
    pub(super) fn unknown_settings(
        &mut self,
        settings: &FlowSettings,
        place: Place,
        known: &[&str],
    ) {
        let is_key = |key: &&str| FlowSettings::SETTINGS.iter().any(|(name, _)| name == key);
        debug_assert!(known.iter().all(is_key), "{known:?}");
        for key in settings.differing_keys(&FlowSettings::default()) {
            self.unless(known.contains(&key), place, key, "does not support this key yet", None);
        }
    }

    /// Refuses a profile that describes another stack than Linux's.
    pub(super) fn unless_linux(&mut self, profile: Profile) {
        self.unless(
            profile.is_linux(),
            Place::Stack,
            "profile",
            "is a Linux and imitates no other stack",
            Some("`profile = \"linux\"`"),
        );
    }

    /// Refuses time series with one sample per ACK.
    pub(super) fn samples_at_acks(&mut self, sample: Sample) {
        self.unless(
            !matches!(sample, Sample::Ack),
            Place::Top,
            "sample",
            "samples at regular times, not at ACKs",
            Some("`sample = \"1ms\"`"),
        );
    }

    /// Refuses a run with more than `most` flows.
    pub(super) fn more_flows_than(&mut self, most: usize, flows: &[Flow]) {
        if let Some(beyond) = flows.get(most) {
            let reason = format!("runs at most {most} flows, and the scenario has {}", flows.len());
            self.no(Place::Flows(beyond.class), "count", &reason, None);
        }
    }

    /// Refuses sources whose rate changes [`PACES_MAX`] times or more.
    pub(super) fn changes_of_rates(&mut self, run: &Run) {
        for &Flow { class, start, stop } in &run.flows {
            let Some(FlowClass { source, .. }) = run.classes.get(class as usize) else { continue };
            let end = stop.unwrap_or(Time(run.duration.0));
            self.unless(
                paces(source, start, end).len() < PACES_MAX,
                Place::Flows(class),
                "on",
                "changes a source's rate fewer than 100,000 times",
                None,
            );
        }
    }

    /// Refuses the parts of sources that only the simulator supports. `nearest` is the key that the
    /// message recommends instead of `arrivals`.
    pub(super) fn chance_in_sources(
        &mut self,
        source: &Source,
        is_udp: bool,
        at: Place,
        nearest: &str,
    ) {
        match source {
            Source::Bursts(_) => {
                let constant = Some("`on` and `off` of constant lengths");
                self.no(at, "on", "draws no random periods", constant);
            }
            Source::Arrivals(_) => {
                self.no(at, "arrivals", "has a fixed number of flows", Some(nearest));
            }
            Source::Frames(Frames { every: _, bytes: _, keys }) => self.unless(
                keys.is_none(),
                at,
                "frames",
                "writes frames of one size",
                Some("no key frames"),
            ),
            // In a scenario, every UDP flow has a rate or frames, so this line refuses none of a
            // scenario's flows.
            Source::Unlimited | Source::Bytes(_) => {
                self.unless(
                    !is_udp,
                    at,
                    "udp",
                    "sends UDP only with `rate` or `frames`",
                    Some("`rate`"),
                );
            }
            Source::Cbr(_)
            | Source::Rates(_)
            | Source::OnOff { .. }
            | Source::Requests(_)
            | Source::Train { .. }
            | Source::Write { .. } => {}
        }
    }

    /// Refuses keys that measure the delays of messages.
    pub(super) fn delays_of_messages(&mut self, settings: &FlowSettings, at: Place) {
        let FlowSettings { latency, late, .. } = settings;
        for (is_set, key, nearest) in
            [(*latency, "latency", "no `latency`"), (late.is_some(), "late", "no `late`")]
        {
            self.unless(!is_set, at, key, "measures no delays of messages yet", Some(nearest));
        }
    }

    /// Refuses routes that cross a link twice.
    pub(super) fn links_twice(&mut self, route: &[Hop], at: Place) {
        let is_twice = route
            .iter()
            .enumerate()
            .any(|(place, hop)| !matches!(hop, Hop::Delay(_)) && route[..place].contains(hop));
        self.unless(!is_twice, at, "path", "routes a flow over a link at most once", None);
    }
}

/// Returns the refusals as lines of text, without repeated lines: each refused key with the reason.
/// In an error for users, the name of the back end is before the reason. The name is the subject of
/// a sentence, and the reason is the rest of this sentence, from the verb on. Panics if a reason
/// does not begin with a verb, or if a refusal does not name a key of scenarios.
#[cfg(test)]
pub(super) fn lines(run: &Run, refusals: Vec<Refusal>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for it in refusals {
        check_key(&it);
        check_sentence(&it);
        let nearest = it.nearest.map(|nearest| format!("; {nearest}")).unwrap_or_default();
        let line = format!("{}: {}{nearest}\n", run.key(it.place, it.key), it.reason);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.concat()
}

/// Panics if the refused key is not a key of a table that can describe the refusal's place, such as
/// `[bottleneck]` or `[[links]]` for a link.
#[cfg(test)]
fn check_key(refusal: &Refusal) {
    let headers: &[&str] = match refusal.place {
        Place::Top => &[""],
        Place::Stack => &["[stack]"],
        Place::Flows(_) => &["[[flows]]"],
        Place::Link(_) => &["[bottleneck]", "[[links]]"],
        Place::Access => &["[access]"],
    };
    let sections = bbrlab_scenario::sections();
    let mut keys =
        sections.iter().filter(|it| headers.contains(&it.header)).flat_map(|it| &it.keys);
    // The key `links` is in no list of keys, because it stands for all tables `[[links]]` together.
    let is_known = refusal.key == "links" || keys.any(|key| key.name == refusal.key);
    assert!(is_known, "no key of {headers:?}: {refusal:?}");
}

/// Panics if the refusal's message is not a sentence. In the message, the reason follows the name
/// of the back end, so the reason must begin with a verb. The nearest value follows "the nearest
/// is", so this value must begin like a noun or code.
#[cfg(test)]
fn check_sentence(refusal: &Refusal) {
    let mut words = refusal.reason.split(' ');
    let first = words.find(|word| *word != "always").unwrap_or_default();
    let is_verb = first.ends_with('s') || ["cannot", "was"].contains(&first);
    let lower = first.chars().all(|letter| letter.is_ascii_lowercase());
    assert!(is_verb && lower, "the reason does not begin with a verb: {refusal:?}");
    let nearest = refusal.nearest.as_deref().unwrap_or("a");
    let begins = ["`", "a ", "an ", "no ", "the ", "one "];
    let is_value = nearest == "a" || begins.iter().any(|begin| nearest.starts_with(begin));
    assert!(is_value, "the nearest value does not begin like a noun or code: {refusal:?}");
}

#[cfg(test)]
mod tests {
    use bbrlab_run::Place;
    use bbrlab_scenario::Scenario;

    use super::{Refusals, lines};

    #[test]
    fn too_many_flows_are_counted_and_named_by_the_class_beyond_the_limit() {
        let text = "duration = \"5s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n\
                    [[flows]]\ncc = \"reno\"\nrtt = \"20ms\"\ncount = 3\n\
                    [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\ncount = 4\n";
        let run = Scenario::parse("x", "x", text, None, &[]).unwrap().run(0);
        let refused = |most| {
            let mut all = Refusals::default();
            all.more_flows_than(most, &run.flows);
            lines(&run, all.0)
        };
        assert_eq!(refused(7), "");
        let reason = "runs at most 6 flows, and the scenario has 7";
        assert_eq!(refused(6), format!("flows[1].count: {reason}\n"));
        assert_eq!(refused(2), format!("flows[0].count: {}\n", reason.replace('6', "2")));
    }

    #[test]
    fn a_setting_that_a_back_end_does_not_list_is_refused_unless_it_is_the_default() {
        let text = "duration = \"5s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n\
                    [[flows]]\ncc = \"reno\"\nrtt = \"20ms\"\nrate_samples = false\nlatency = true\n";
        let run = Scenario::parse("x", "x", text, None, &[]).unwrap().run(0);
        let mut all = Refusals::default();
        all.unknown_settings(&run.classes[0].settings, Place::Flows(0), &["latency", "read"]);
        assert_eq!(lines(&run, all.0), "flows[0].rate_samples: does not support this key yet\n");
    }
}
