//! Draws random scenarios that both the simulator and a kernel can run, to find where their results
//! differ.
//!
//! A scenario is a list of parts. A scenario without one of its optional parts is valid, too. By
//! omitting parts, a scenario whose results differ can be made smaller step by step.

use bbrlab_units::split_mix;

/// A random scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomScenario {
    name: String,
    stack: Vec<String>,
    /// Keys of the bottleneck. The first key is the bottleneck's rate, the second its buffer or
    /// queue.
    bottleneck: Vec<String>,
    /// The keys of a second link, which the flows 0, 2 and so on cross after the bottleneck; `None`
    /// without a second link.
    second: Option<Vec<String>>,
    /// The flows. The first four keys of a flow are the congestion control, the RTT, the start and
    /// its jitter.
    flows: Vec<Vec<String>>,
    duration_s: u64,
}

/// Number of keys at the beginning of `bottleneck` that no scenario can omit.
const NEEDED_BOTTLENECK: usize = 2;
/// Number of keys at the beginning of each flow that no flow can omit.
const NEEDED_FLOW: usize = 4;

/// A generator of random numbers, which gives the same numbers on every machine.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        split_mix(&mut self.0);
        ((u128::from(bbrlab_units::split_mix_bits(self.0)) * u128::from(bound)) >> 64) as u64
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        let place = self.below(all.len() as u64);
        all[usize::try_from(place).expect("the number is an index of `all`")]
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Draws a whole number from `least` to `most` whose logarithm is uniform.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "the random number is below 2^20, and the result is between `least` and `most`"
    )]
    fn log(&mut self, least: f64, most: f64) -> u64 {
        let share = self.below(1 << 20) as f64 / f64::from(1 << 20);
        (least.ln() + share * (most / least).ln()).exp().round() as u64
    }
}

impl RandomScenario {
    /// Draws the scenario that `seed` and `number` together determine, with a duration of
    /// `duration_s` seconds.
    #[must_use]
    pub fn draw(seed: u64, number: u64, duration_s: u64) -> Self {
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number << 20);
        let draw = &mut draw;
        let kbps = draw.log(100.0, 1_000_000.0);
        // A run on a fast link has more packets. With fewer flows, such a run costs about as much
        // as a run on a slow link.
        let most = if kbps > 200_000 { 2 } else { 4 };
        let flows = 1 + draw.below(most);
        let rtts: Vec<u64> = (0..flows).map(|_| draw.log(2.0, 200.0)).collect();
        let full_pkts = (kbps * rtts[0] / (8 * 1514)).max(1);
        let limit = (full_pkts * (10 + draw.below(390)) / 100).clamp(4, 20_000);
        let mut bottleneck = vec![format!("rate = \"{}bit/s\"", kbps * 1000)];
        let queue = draw.below(10);
        bottleneck.push(match queue {
            0 => format!("queue = {{ discipline = \"codel\" }}\nbuffer = \"{limit}pkt\""),
            1 => format!("queue = {{ discipline = \"fq_codel\" }}\nbuffer = \"{limit}pkt\""),
            2 => format!("queue = {{ discipline = \"pie\" }}\nbuffer = \"{limit}pkt\""),
            3 => format!("buffer = \"{}B\"", limit * 1514),
            _ => format!("buffer = \"{limit}pkt\""),
        });
        if draw.happens(20) {
            bottleneck.push(format!("loss = {}", draw.one_of(&["0.0001", "0.001", "0.01"])));
        }
        if draw.happens(10) {
            let loss = draw.one_of(&["0.001", "0.01"]);
            bottleneck.push(format!("reverse_loss = {loss}"));
        }
        let is_reordered = draw.happens(10);
        if is_reordered {
            let ratio = draw.one_of(&["0.001", "0.01", "0.05"]);
            let by = 1 + draw.below(8);
            bottleneck.push(format!("reorder = {{ ratio = {ratio}, by = \"{by}ms\" }}"));
        } else if draw.happens(10) {
            let up_to = 1 + draw.below(5);
            bottleneck.push(format!("jitter = {{ up_to = \"{up_to}ms\", keep_order = false }}"));
        }
        if draw.happens(10) {
            let burst = 3_000 + draw.below(60_000);
            let rate = kbps * (50 + draw.below(45)) * 10;
            bottleneck.push(format!("police = {{ rate = \"{rate}bit/s\", burst = \"{burst}B\" }}"));
        }
        let mut stack = Vec::new();
        if draw.happens(15) {
            stack.push("sender_qdisc = \"fq\"".to_owned());
        }
        if draw.happens(15) {
            stack.push(format!("rcvbuf = \"{}B\"", 20_000 + draw.below(2_000_000)));
        }
        if draw.happens(15) {
            stack.push(format!("sndbuf = \"{}B\"", 20_000 + draw.below(2_000_000)));
        }
        let has_ecn = draw.happens(20);
        let flows = rtts.into_iter().map(|rtt| draw_flow(draw, rtt, has_ecn, kbps)).collect();
        if draw.happens(10) {
            stack.push("tso = \"whole\"".to_owned());
        }
        if draw.happens(10) {
            stack.push("rcvlowat = \"65536B\"".to_owned());
        }
        let is_drop_tail = queue >= 4;
        if is_drop_tail && draw.happens(15) {
            let (from, to) = (kbps * 1000, kbps * (20 + draw.below(380)) * 10);
            let at = 3 + draw.below(4);
            bottleneck[0] =
                format!("rate = [[\"0s\", \"{from}bit/s\"], [\"{at}s\", \"{to}bit/s\"]]");
        }
        let second = draw.happens(10).then(|| {
            let rate = kbps * (30 + draw.below(120)) * 10;
            let limit = (full_pkts * (10 + draw.below(190)) / 100).clamp(4, 20_000);
            vec![format!("rate = \"{rate}bit/s\""), format!("buffer = \"{limit}pkt\"")]
        });
        let name = format!("random-{seed}-{number}");
        Self { name, stack, bottleneck, second, flows, duration_s }
    }

    /// Returns the scenario's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the scenario as the text of a file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "title = \"{}\"\nduration = \"{}s\"\n\n[stack]\nclock_step = \"256ns\"\n",
            self.name, self.duration_s
        );
        for line in &self.stack {
            text += &format!("{line}\n");
        }
        text += "\n[bottleneck]\n";
        for line in &self.bottleneck {
            text += &format!("{line}\n");
        }
        for line in self.second.iter().flatten() {
            if !text.contains("name = \"second\"") {
                text += "\n[[links]]\nname = \"second\"\n";
            }
            text += &format!("{line}\n");
        }
        for (number, flow) in self.flows.iter().enumerate() {
            text += "\n[[flows]]\n";
            for line in flow {
                text += &format!("{line}\n");
            }
            if self.second.is_some() && number % 2 == 0 {
                text += "path = [\"bottleneck\", \"second\"]\n";
            }
        }
        text
    }

    /// Returns all scenarios that lack exactly one optional part of this scenario.
    #[must_use]
    pub fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for flow in (0..self.flows.len()).filter(|_| self.flows.len() > 1) {
            let mut smaller = self.clone();
            smaller.flows.remove(flow);
            all.push(smaller);
        }
        for line in NEEDED_BOTTLENECK..self.bottleneck.len() {
            let mut smaller = self.clone();
            smaller.bottleneck.remove(line);
            all.push(smaller);
        }
        if self.second.is_some() {
            all.push(Self { second: None, ..self.clone() });
        }
        for line in 0..self.stack.len() {
            let mut smaller = self.clone();
            smaller.stack.remove(line);
            all.push(smaller);
        }
        for (flow, lines) in self.flows.iter().enumerate() {
            for line in NEEDED_FLOW..lines.len() {
                let mut smaller = self.clone();
                smaller.flows[flow].remove(line);
                all.push(smaller);
            }
        }
        all
    }
}

fn draw_flow(draw: &mut Draw, rtt: u64, has_ecn: bool, kbps: u64) -> Vec<String> {
    const CONTROLS: [&str; 13] = [
        "cubic",
        "reno",
        "bbr1",
        "vegas",
        "bic",
        "westwood",
        "htcp",
        "illinois",
        "veno",
        "yeah",
        "hybla",
        "scalable",
        "highspeed",
    ];
    let mut lines =
        vec![format!("cc = \"{}\"", draw.one_of(&CONTROLS)), format!("rtt = \"{rtt}ms\"")];
    lines.push(format!("start = \"{}ms\"", 100 + draw.below(2000)));
    // Because of the jitter, each seed has different start times. With equal start times, all seeds
    // of a scenario without random numbers would give equal results. Equal results would not show
    // that a start one microsecond later can change which of two flows loses a packet.
    lines.push("start_jitter = \"50ms\"".to_owned());
    if has_ecn {
        lines.push("ecn = true".to_owned());
    }
    match draw.below(9) {
        0 => lines.push(format!("bytes = \"{}B\"", 10_000 + draw.below(kbps * 200))),
        1 => {
            lines.push(format!("rate = \"{}bit/s\"", (kbps * (5 + draw.below(60)) * 10).max(8000)));
        }
        2 => {
            let bytes = 10_000 + draw.below(kbps * 20);
            let gap = 10 + draw.below(300);
            lines
                .push(format!("train = {{ bytes = \"{bytes}B\", count = 20, gap = \"{gap}ms\" }}"));
        }
        3 => {
            let every = 5 + draw.below(100);
            let bytes = 1_000 + draw.below(kbps * every / 8);
            lines.push(format!("write = {{ bytes = \"{bytes}B\", every = \"{every}ms\" }}"));
        }
        _ => {}
    }
    lines
}

#[cfg(test)]
mod tests {
    use bbrlab_lab::{BACKENDS, check_backend};
    use bbrlab_scenario::Scenario;

    use super::RandomScenario;

    /// Every drawn scenario is valid, and so is every smaller scenario made from it. The kernel's
    /// back end accepts all these scenarios.
    #[test]
    fn random_scenarios_are_valid_and_can_be_done() {
        let linux = BACKENDS.iter().copied().find(|on| on.name() == "linux").unwrap();
        for number in 0..200 {
            let random = RandomScenario::draw(7, number, 10);
            for it in random.smaller().iter().chain([&random]) {
                let text = it.text();
                let read = Scenario::parse("random", "random", &text, None, &[]);
                let read = read.unwrap_or_else(|errors| panic!("{errors}\n{text}"));
                check_backend(&read, linux).unwrap_or_else(|error| panic!("{error}\n{text}"));
            }
        }
        assert_eq!(RandomScenario::draw(7, 3, 10), RandomScenario::draw(7, 3, 10));
        assert_ne!(RandomScenario::draw(7, 3, 10), RandomScenario::draw(8, 3, 10));
    }
}
