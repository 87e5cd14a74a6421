//! The scenarios that are part of the program: the files below `scenarios/` in the repository.

use crate::language::error::{ScenarioError, ScenarioErrors};
use crate::language::nearest::nearest_dotted;

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// The scenario's id: its path below `scenarios/`, with dots instead of slashes.
    pub id: &'static str,
    /// The path of the scenario's file in the repository.
    pub file: &'static str,
    /// The file's text.
    pub text: &'static str,
}

/// A commented scenario that users copy and change. The scenario sets the most common keys and
/// lists other keys in comments.
pub const STARTER: &str = include_str!("starter.toml");

macro_rules! builtins {
    ($($id:literal: $file:literal,)*) => {
        /// The built-in scenarios: papers first, then the test cases of C4, contradictions between
        /// papers, ECN, queues, examples and networks.
        pub const BUILTINS: &[Builtin] = &[$(Builtin {
            id: $id,
            file: concat!("scenarios/", $file),
            text: include_str!(concat!("../../../scenarios/", $file)),
        },)*];
    };
}

builtins! {
    "lanigan2020.single-flow": "lanigan2020/single-flow.toml",
    "lanigan2020.single-flow.as-run": "lanigan2020/single-flow.as-run.toml",
    "lanigan2020.bandwidth-step": "lanigan2020/bandwidth-step.toml",
    "lanigan2020.bandwidth-step.as-run": "lanigan2020/bandwidth-step.as-run.toml",
    "lanigan2020.intra-protocol": "lanigan2020/intra-protocol.toml",
    "lanigan2020.intra-protocol.as-run": "lanigan2020/intra-protocol.as-run.toml",
    "lanigan2020.vs-vegas": "lanigan2020/vs-vegas.toml",
    "lanigan2020.vs-vegas.as-run": "lanigan2020/vs-vegas.as-run.toml",
    "lanigan2020.vs-cubic": "lanigan2020/vs-cubic.toml",
    "lanigan2020.vs-cubic.as-run": "lanigan2020/vs-cubic.as-run.toml",
    "song2021.single-buffer": "song2021/single-buffer.toml",
    "song2021.bandwidth-step": "song2021/bandwidth-step.toml",
    "song2021.random-loss": "song2021/random-loss.toml",
    "song2021.two-flows": "song2021/two-flows.toml",
    "song2021.five-flows": "song2021/five-flows.toml",
    "song2021.v1-vs-v2": "song2021/v1-vs-v2.toml",
    "song2021.rtt-sweep": "song2021/rtt-sweep.toml",
    "song2021.rtt-buffer": "song2021/rtt-buffer.toml",
    "song2021.vs-cubic": "song2021/vs-cubic.toml",
    "song2021.two-vs-two-cubic": "song2021/two-vs-two-cubic.toml",
    "mahmud2020.testbed": "mahmud2020/testbed.toml",
    "mahmud2020.testbed.as-described": "mahmud2020/testbed.as-described.toml",
    "mahmud2020.sim-congested": "mahmud2020/sim-congested.toml",
    "mahmud2020.sim-congested.as-described": "mahmud2020/sim-congested.as-described.toml",
    "mahmud2020.alpha-sweep": "mahmud2020/alpha-sweep.toml",
    "mahmud2020.alpha-sweep.as-described": "mahmud2020/alpha-sweep.as-described.toml",
    "kato2025.sixteen-340": "kato2025/sixteen-340.toml",
    "kato2025.sixteen-344": "kato2025/sixteen-344.toml",
    "kato2025.ported": "kato2025/ported.toml",
    "piotrowska2024.single-flow": "piotrowska2024/single-flow.toml",
    "piotrowska2024.bandwidth-step": "piotrowska2024/bandwidth-step.toml",
    "piotrowska2024.rtt-ratio": "piotrowska2024/rtt-ratio.toml",
    "piotrowska2024.access-link": "piotrowska2024/access-link.toml",
    "piotrowska2024.vs-cubic": "piotrowska2024/vs-cubic.toml",
    "c4.alone": "c4/alone.toml",
    "c4.alone-200": "c4/alone-200.toml",
    "c4.alone-1-5m": "c4/alone-1-5m.toml",
    "c4.alone-512k": "c4/alone-512k.toml",
    "c4.low-and-up": "c4/low-and-up.toml",
    "c4.drop-and-back": "c4/drop-and-back.toml",
    "c4.blackhole": "c4/blackhole.toml",
    "c4.short-long": "c4/short-long.toml",
    "c4.satellite": "c4/satellite.toml",
    "c4.vs-bbr": "c4/vs-bbr.toml",
    "c4.vs-cubic": "c4/vs-cubic.toml",
    "c4.vs-bbr-lg": "c4/vs-bbr-lg.toml",
    "c4.vs-bbr-lg2": "c4/vs-bbr-lg2.toml",
    "c4.vs-cubic-lg": "c4/vs-cubic-lg.toml",
    "c4.vs-cubic-lg2": "c4/vs-cubic-lg2.toml",
    "c4.wifi-suspension": "c4/wifi-suspension.toml",
    "c4.wifi-bad": "c4/wifi-bad.toml",
    "c4.wifi-bad-bbr": "c4/wifi-bad-bbr.toml",
    "c4.wifi-bad-cubic": "c4/wifi-bad-cubic.toml",
    "c4.ecn": "c4/ecn.toml",
    "c4.ecn-cubic": "c4/ecn-cubic.toml",
    "c4.ecn-bbr": "c4/ecn-bbr.toml",
    "contradictions.x01": "contradictions/x01.toml",
    "contradictions.x02": "contradictions/x02.toml",
    "contradictions.x03": "contradictions/x03.toml",
    "contradictions.x04": "contradictions/x04.toml",
    "contradictions.x05": "contradictions/x05.toml",
    "contradictions.x06": "contradictions/x06.toml",
    "contradictions.x07": "contradictions/x07.toml",
    "contradictions.x08": "contradictions/x08.toml",
    "contradictions.x09": "contradictions/x09.toml",
    "contradictions.x10": "contradictions/x10.toml",
    "contradictions.x11": "contradictions/x11.toml",
    "contradictions.x12": "contradictions/x12.toml",
    "contradictions.x12-vs-vegas": "contradictions/x12-vs-vegas.toml",
    "contradictions.x13": "contradictions/x13.toml",
    "contradictions.x16": "contradictions/x16.toml",
    "ecn.bbr2": "ecn/bbr2.toml",
    "ecn.bbr3": "ecn/bbr3.toml",
    "ecn.dctcp": "ecn/dctcp.toml",
    "ecn.cubic": "ecn/cubic.toml",
    "queues.vs-cubic": "queues/vs-cubic.toml",
    "queues.alone": "queues/alone.toml",
    "examples.dumbbell": "examples/dumbbell.toml",
    "examples.bbr3-vs-cubic": "examples/bbr3-vs-cubic.toml",
    "examples.completion-times": "examples/completion-times.toml",
    "examples.rtt-unfairness": "examples/rtt-unfairness.toml",
    "examples.bufferbloat": "examples/bufferbloat.toml",
    "examples.queue-disciplines": "examples/queue-disciplines.toml",
    "examples.l4s": "examples/l4s.toml",
    "examples.expedited": "examples/expedited.toml",
    "examples.web-traffic": "examples/web-traffic.toml",
    "examples.web-search": "examples/web-search.toml",
    "examples.rpc": "examples/rpc.toml",
    "examples.page-loads": "examples/page-loads.toml",
    "examples.video": "examples/video.toml",
    "examples.video-call": "examples/video-call.toml",
    "examples.udp": "examples/udp.toml",
    "examples.rate-drop": "examples/rate-drop.toml",
    "examples.two-bbr": "examples/two-bbr.toml",
    "examples.parking-lot": "examples/parking-lot.toml",
    "examples.two-way": "examples/two-way.toml",
    "networks.measured-path": "networks/measured-path.toml",
    "networks.wifi": "networks/wifi.toml",
    "networks.shared-airtime": "networks/shared-airtime.toml",
    "networks.cellular": "networks/cellular.toml",
    "networks.blockage": "networks/blockage.toml",
    "networks.leo": "networks/leo.toml",
    "networks.geo": "networks/geo.toml",
    "networks.cable": "networks/cable.toml",
    "networks.cable-grants": "networks/cable-grants.toml",
    "networks.dsl": "networks/dsl.toml",
    "networks.route-change": "networks/route-change.toml",
    "networks.carrier-policer": "networks/carrier-policer.toml",
    "networks.ack-filter": "networks/ack-filter.toml",
}

impl Builtin {
    /// Finds the built-in scenario with the id that a user typed.
    ///
    /// # Errors
    /// Fails if no scenario has this id. The error suggests the nearest id.
    pub fn named(id: &str) -> Result<&'static Self, ScenarioErrors> {
        BUILTINS.iter().find(|builtin| builtin.id == id).ok_or_else(|| {
            let title = "expected a built-in scenario";
            let mut error = ScenarioError::of_file(id, title, "found no such id");
            error.help.extend(Self::nearest_id(id).map(|id| format!("did you mean `{id}`?")));
            error.into()
        })
    }

    /// Returns the id that the user probably meant. The user may have omitted the id's first part,
    /// as in `dumbbell` for `examples.dumbbell`.
    #[must_use]
    pub fn nearest_id(typed: &str) -> Option<&'static str> {
        let ids: Vec<&str> = BUILTINS.iter().map(|builtin| builtin.id).collect();
        nearest_dotted(typed, &ids)
    }
}

#[cfg(test)]
mod tests {
    use super::Builtin;

    #[test]
    fn an_id_is_suggested_for_its_last_part() {
        for (typed, meant) in [
            ("dumbbell", Some("examples.dumbbell")),
            ("dumbel", Some("examples.dumbbell")),
            ("examples.dumbell", Some("examples.dumbbell")),
            ("wifi", Some("networks.wifi")),
            ("something else", None),
        ] {
            assert_eq!(Builtin::nearest_id(typed), meant, "{typed}");
        }
    }
}
