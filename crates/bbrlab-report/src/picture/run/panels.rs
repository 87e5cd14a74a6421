//! Draws the panels of a run's picture, with one function per panel.

use bbrlab_run::FlowClass;

use super::{Curve, Sheet, value};
use crate::number::fixed;
use crate::picture::axis::Axis;
use crate::picture::canvas::Stroke;
use crate::picture::flow_quantity::FlowQuantity;
use crate::picture::grid::Spot;
use crate::picture::panel::{Key, Panel};
use crate::picture::{decimate, palette};

fn reference() -> Stroke {
    Stroke::new(palette::REFERENCE, 1.0).dashed(5.0, 3.0)
}

fn policer() -> Stroke {
    Stroke::new(palette::line(4), 1.2).dashed(2.0, 3.0)
}

fn highest<'p>(points: impl Iterator<Item = &'p (f64, f64)>) -> f64 {
    points.map(|&(_, y)| y).fold(0.0, f64::max)
}

fn key(text: impl Into<String>, stroke: Stroke) -> Key {
    Key { text: text.into(), stroke }
}

impl Sheet<'_> {
    pub(super) fn throughput<'c, 's>(&self, spot: Spot<'c, 's>) -> Panel<'c, 's> {
        let curves = self.curves(FlowQuantity::Throughput);
        let (rates, policed) = (self.forward_rates(), self.policed_rates());
        let top = greatest(&curves).max(highest(rates.iter().flatten()));
        let panel = self.panel(spot, Axis::from_zero(top, spot.ticks()));
        let mut keys = Vec::new();
        if self.flows.len() == 1 {
            keys.extend(curves.first().map(|of| key(of.name.clone(), Stroke::new(of.color, 2.0))));
        }
        if !rates.is_empty() {
            keys.push(key(if rates.len() > 1 { "link rates" } else { "link rate" }, reference()));
        }
        let (within, above): (Vec<f64>, Vec<f64>) =
            policed.into_iter().partition(|&rate| rate <= panel.y.high);
        if !within.is_empty() {
            keys.push(key("policed", policer()));
        }
        // The line of a policer whose rate is far above the traffic would flatten the other curves,
        // so such a policer has no line.
        for rate in &above {
            keys.push(key(format!("policed at {} (above)", trimmed(*rate)), policer()));
        }
        let what = if self.by_group() { "Throughput, sum of each group" } else { "Throughput" };
        let classes = &self.input.run.classes;
        let without = if classes.iter().any(|class| class.source.arrivals().is_some()) {
            ", without flows that come and go"
        } else {
            ""
        };
        self.titled(&panel, &format!("{what}, Mbit/s on the wire{without}"), keys);
        self.shade(&panel);
        for rate in &rates {
            panel.line(rate, reference());
        }
        for rate in within {
            panel.line(&[(self.from_s, rate), (self.to_s, rate)], policer());
        }
        draw_curves(&panel, &curves, 1.4);
        panel
    }

    pub(super) fn rtt<'c, 's>(&self, spot: Spot<'c, 's>) -> Panel<'c, 's> {
        let smoothed = self.curves(FlowQuantity::Srtt);
        let samples =
            if self.flows.len() == 1 { self.curves(FlowQuantity::Rtt) } else { Vec::new() };
        let mut bases: Vec<Vec<(f64, f64)>> = Vec::new();
        // In a run that was measured in a testbed, base RTTs are unknown and stored as zero.
        let is_drawn =
            |class: &&FlowClass| !class.is_udp && class.base_rtt.0 > 0 && self.shows(&class.group);
        for class in self.input.run.classes.iter().filter(is_drawn) {
            let base = self.base_rtt(class);
            if !bases.contains(&base) {
                bases.push(base);
            }
        }
        bases.truncate(4);
        let top = greatest(&smoothed).max(greatest(&samples)).max(highest(bases.iter().flatten()));
        let low = bases.iter().flatten().map(|corner| corner.1).fold(top, f64::min);
        let y = if bases.is_empty() {
            Axis::from_zero(top, spot.ticks())
        } else {
            Axis::around(low, top, spot.ticks())
        };
        let mut keys = Vec::new();
        if !samples.is_empty() {
            keys.push(key("sample", Stroke::new(palette::line(5), 2.0)));
            keys.push(key("smoothed", Stroke::new(palette::line(0), 2.0)));
        }
        let is_still =
            |base: &Vec<(f64, f64)>| base.iter().all(|corner| (corner.1 - base[0].1).abs() < 1e-9);
        let text = if bases.iter().all(is_still) {
            let each: Vec<String> = bases.iter().map(|base| trimmed(base[0].1)).collect();
            format!("base RTT {} ms", each.join(", "))
        } else {
            "base RTT".to_owned()
        };
        if !bases.is_empty() {
            keys.push(key(text, reference()));
        }
        let mut title = match (samples.is_empty(), self.by_group()) {
            (_, true) => "Smoothed RTT, median of each group, ms".to_owned(),
            (true, false) => "Smoothed RTT, ms".to_owned(),
            (false, false) => "RTT, ms".to_owned(),
        };
        if y.low > 0.0 {
            title.push_str(&format!(" (axis from {})", trimmed(y.low)));
        }
        let panel = self.panel(spot, y);
        self.titled(&panel, &title, keys);
        self.shade(&panel);
        for base in &bases {
            panel.line(base, reference());
        }
        for curve in &samples {
            for line in &curve.lines {
                panel.line(line, Stroke::new(palette::line(5), 0.8).alpha(0.75));
            }
        }
        draw_curves(&panel, &smoothed, 1.2);
        panel
    }

    pub(super) fn window<'c, 's>(&self, spot: Spot<'c, 's>) -> Panel<'c, 's> {
        let cwnd = self.curves(FlowQuantity::Cwnd);
        // With many flows, inflight is not drawn, because it would hide the groups' lines and
        // bands.
        let inflight =
            if self.by_group() { Vec::new() } else { self.curves(FlowQuantity::Inflight) };
        let bdp = self.bdp_packets();
        let bdp_most = bdp.iter().map(|&(_, packets)| packets).fold(0.0, f64::max);
        let top = greatest(&cwnd).max(greatest(&inflight)).max(bdp_most);
        let single = self.flows.len() == 1;
        let grey = |width| Stroke::new(palette::FAINT_INK, width);
        let mut keys = match (single, self.by_group()) {
            (_, true) => Vec::new(),
            (true, false) => vec![
                key("cwnd", Stroke::new(palette::line(0), 2.0)),
                key("inflight", Stroke::new(palette::line(1), 2.0)),
            ],
            (false, false) => {
                vec![key("cwnd", grey(2.0)), key("inflight", grey(0.8).alpha(0.7))]
            }
        };
        if let Some(&(_, first)) = bdp.first() {
            let is_constant = bdp.iter().all(|&(_, packets)| (packets - first).abs() < 1e-9);
            let text = if is_constant {
                format!("BDP {} packets", fixed(first, 0))
            } else {
                "BDP".to_owned()
            };
            keys.push(key(text, reference()));
        }
        let panel = self.panel(spot, Axis::from_zero(top, spot.ticks()));
        let title = if self.by_group() {
            "cwnd, median of each group, packets"
        } else {
            "cwnd and inflight, packets"
        };
        self.titled(&panel, title, keys);
        self.shade(&panel);
        for curve in &inflight {
            let stroke = if single {
                Stroke::new(palette::line(1), 0.9).alpha(0.8)
            } else {
                Stroke::new(curve.color, 0.7).alpha(0.4)
            };
            for line in &curve.lines {
                panel.line(line, stroke);
            }
        }
        panel.line(&bdp, reference());
        draw_curves(&panel, &cwnd, 1.3);
        panel
    }

    /// Draws the panel of a rate that a sender computes: its bandwidth estimate or its pacing rate.
    pub(super) fn rate_panel<'c, 's>(
        &self,
        spot: Spot<'c, 's>,
        title: &str,
        quantity: FlowQuantity,
    ) -> Panel<'c, 's> {
        let curves = self.curves(quantity);
        let rates = self.main_link().map_or_else(Vec::new, |link| self.rate_mbps(link));
        let link_top = rates.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
        // The axis is only as high as the greatest value requires. During start-up, the pacing rate
        // is several times the rate of the link, and a higher axis would flatten the rest of the
        // curve even more.
        let top = greatest(&curves).max(link_top);
        let panel = self.panel(spot, Axis::from_zero(top, spot.ticks()));
        let mut keys = Vec::new();
        if !rates.is_empty() {
            keys.push(key("link rate, on the wire", reference()));
        }
        self.titled(&panel, title, keys);
        self.shade(&panel);
        panel.line(&rates, reference());
        draw_curves(&panel, &curves, 1.2);
        panel
    }

    pub(super) fn queue<'c, 's>(&self, spot: Spot<'c, 's>, link: u32) -> Panel<'c, 's> {
        let queue = self.input.queue;
        let time = self.from_s..=self.to_s;
        let rows = || {
            let of_link = (0..queue.len()).filter(|&row| queue.link[row] == link);
            of_link.filter(|&row| time.contains(&queue.time_s[row]))
        };
        let buffer = self.link_of(link).and_then(|link| self.buffer_packets(link));
        let top = rows().map(|row| value(queue.packets[row])).fold(1.0, f64::max);
        let panel = self.panel(spot, Axis::from_zero(top, spot.ticks()));
        let points = rows().map(|row| (queue.time_s[row], Some(value(queue.packets[row]))));
        let lines = decimate::lines(points, |time_s| panel.column(time_s));
        // Returns the x positions at which a count rises, at most one per pixel column.
        let rises = |count: &dyn Fn(usize) -> u64| {
            let mut places: Vec<f64> = Vec::new();
            let (mut before, mut last_column) = (None, i64::MIN);
            for row in rows() {
                let (now, column) = (count(row), panel.column(queue.time_s[row]));
                if before.is_some_and(|before| now > before) && column != last_column {
                    last_column = column;
                    places.push(panel.at(queue.time_s[row], 0.0).0);
                }
                before = Some(now);
            }
            places
        };
        let random = |row: usize| queue.random_losses[row].0.unwrap_or(0);
        let marks = [
            ("drops", rises(&|row| queue.drops[row].0.unwrap_or(0)), palette::DROP),
            ("policed", rises(&|row| queue.policer_drops[row].unwrap_or(0)), palette::line(4)),
            ("lost at random", rises(&random), palette::line(3)),
        ];
        let marks: Vec<_> = marks.into_iter().filter(|(_, places, _)| !places.is_empty()).collect();
        let mut keys: Vec<Key> =
            marks.iter().map(|&(name, _, color)| key(name, Stroke::new(color, 2.0))).collect();
        if let Some(buffer) = buffer {
            let above = if buffer <= panel.y.high { "" } else { " (above)" };
            keys.push(key(format!("buffer {} packets{above}", fixed(buffer, 0)), reference()));
        }
        let name = self.input.summary.links.get(link as usize).map_or("", |link| &link.name);
        let is_only =
            self.panels.iter().filter(|drawn| matches!(drawn, super::Drawn::Queue(_))).count() < 2;
        let title = if is_only && name == "bottleneck" {
            "Queue, packets".to_owned()
        } else {
            format!("Queue of {name}, packets")
        };
        self.titled(&panel, &title, keys);
        self.shade(&panel);
        if let Some(buffer) = buffer.filter(|&buffer| buffer <= panel.y.high) {
            panel.line(&[(self.from_s, buffer), (self.to_s, buffer)], reference());
        }
        for line in &lines {
            panel.line(line, Stroke::new(palette::line(0), 1.1));
        }
        let mut top = panel.top;
        for (_, places, color) in marks {
            for x in places {
                panel.canvas.line(&[(x, top), (x, top + 5.0)], Stroke::new(color, 0.8));
            }
            top += 6.0;
        }
        panel
    }
}

fn draw_curves(panel: &Panel<'_, '_>, curves: &[Curve], width: f64) {
    for curve in curves {
        for (low, high) in &curve.bands {
            panel.band(low, high, curve.color, 0.18);
        }
    }
    for curve in curves {
        for line in &curve.lines {
            panel.line(line, Stroke::new(curve.color, width));
        }
    }
}

fn greatest(curves: &[Curve]) -> f64 {
    let bands =
        |curve: &Curve| curve.bands.iter().flat_map(|(_, high)| high).copied().collect::<Vec<_>>();
    curves
        .iter()
        .flat_map(|curve| curve.lines.iter().flatten().copied().chain(bands(curve)))
        .map(|(_, y)| y)
        .fold(0.0, f64::max)
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
