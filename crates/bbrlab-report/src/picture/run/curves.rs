//! The curves of a panel: one for each flow or, with many flows, one for each group of flows, with
//! a band that covers most of the group's flows.

use bbrlab_run::{MaybeKnown, Sample, Source, wire_bytes};
use plotters::style::RGBColor;

use super::{Sheet, value};
use crate::picture::flow_quantity::FlowQuantity;
use crate::picture::{decimate, palette};

/// Data points with rising first coordinates.
type Points = Vec<(f64, f64)>;

/// The middle of each time window, and the value in the window; `None` for a window without a
/// value.
type Windows = Vec<(f64, Option<f64>)>;

/// One line of a plot, or several lines if the values have gaps.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) color: RGBColor,
    pub(super) lines: Vec<Points>,
    /// The lower and the upper line of the band that covers most of the flows. Each uninterrupted
    /// part of the curve has one such pair; a curve of a single flow or a sum has none.
    pub(super) bands: Vec<(Points, Points)>,
}

/// The largest number of time windows in which rates and medians are computed.
const WINDOWS: u32 = 250;

/// The band of a group's curve covers most of the group's flows. In each time window, a share of 1
/// / `OUTSIDE` of the flows has values below the band, and an equal share has values above the
/// band.
const OUTSIDE: usize = 10;

/// Makes the curves of a picture.
pub(super) struct Curves<'s, 'a> {
    sheet: &'s Sheet<'a>,
    windows: u32,
    /// Data points are not joined if they are more than this number of seconds apart.
    gap_s: f64,
}

impl<'s, 'a> Curves<'s, 'a> {
    pub(super) fn new(sheet: &'s Sheet<'a>) -> Self {
        let length_s = sheet.to_s - sheet.from_s;
        let (windows, gap_s) = match sheet.input.run.sample {
            // No time window is shorter than the sampling period. A window without a sample
            // therefore means that the flow was not active.
            Sample::Every(period) => {
                let mut windows = WINDOWS;
                while windows > 1 && length_s / f64::from(windows) < period.as_secs_f64() {
                    windows -= 1;
                }
                (windows, 1.5 * length_s / f64::from(windows))
            }
            Sample::Ack | Sample::Off => (WINDOWS, f64::INFINITY),
        };
        Self { sheet, windows, gap_s }
    }

    /// Returns the name and the colour of each curve.
    pub(super) fn names(&self) -> Vec<(String, RGBColor)> {
        if self.sheet.by_group() {
            return self
                .groups()
                .into_iter()
                .map(|(place, name, flows)| {
                    let name = match flows.len() {
                        1 => format!("{name} (1 flow)"),
                        several => format!("{name} ({several} flows)"),
                    };
                    (name, palette::line(place))
                })
                .collect();
        }
        // If only one flow is drawn, colours distinguish the flow's quantities instead of flows.
        // The flow's curves get the first colour, whatever the flow's number. `panels.rs` draws
        // inflight and RTT samples in other colours.
        let is_alone = self.sheet.flows.len() == 1;
        let color = |flow: u32| palette::line(if is_alone { 0 } else { flow as usize });
        let flows = self.sheet.flows.iter();
        flows.map(|&flow| (self.sheet.flow_title(flow), color(flow))).collect()
    }

    /// Returns the names and colours for a legend, without flows of `arrivals`, which have no time
    /// series and therefore no curve.
    pub(super) fn drawn(&self) -> Vec<(String, RGBColor)> {
        let lasts = |&flow: &u32| self.sheet.input.run.class(flow).source.arrivals().is_none();
        let is_drawn: Vec<bool> = if self.sheet.by_group() {
            self.groups().into_iter().map(|(.., flows)| flows.iter().any(lasts)).collect()
        } else {
            self.sheet.flows.iter().map(lasts).collect()
        };
        let names = self.names().into_iter().zip(is_drawn);
        names.filter(|(_, is_drawn)| *is_drawn).map(|(name, _)| name).collect()
    }

    pub(super) fn of(&self, quantity: FlowQuantity) -> Vec<Curve> {
        if self.sheet.by_group() { self.by_group(quantity) } else { self.by_flow(quantity) }
    }

    fn by_flow(&self, quantity: FlowQuantity) -> Vec<Curve> {
        let sheet = self.sheet;
        let curve = |(&flow, (name, color)): (&u32, (String, RGBColor))| {
            let rows = &sheet.rows[flow as usize];
            let lines = if quantity == FlowQuantity::Throughput {
                self.split(&self.windowed(flow, rows, quantity))
            } else {
                let points = rows
                    .iter()
                    .map(|&row| (sheet.input.series.time_s[row], self.sample(row, quantity)));
                decimate::lines(points, |time_s| 2 * sheet.column(time_s))
            };
            Curve { name, color, lines, bands: Vec::new() }
        };
        sheet.flows.iter().zip(self.names()).map(curve).collect()
    }

    /// Returns the drawn groups of flows with their indices, in the order of their first flows. A
    /// group keeps its index, and so its colour, if other groups are not drawn.
    fn groups(&self) -> Vec<(usize, &str, Vec<u32>)> {
        let mut groups: Vec<(&str, Vec<u32>)> = Vec::new();
        for flow in (0u32..).take(self.sheet.rows.len()) {
            let name = self.sheet.input.run.class(flow).group.as_str();
            match groups.iter_mut().find(|(known, _)| *known == name) {
                Some((_, flows)) => flows.push(flow),
                None => groups.push((name, vec![flow])),
            }
        }
        let places = groups.into_iter().enumerate();
        let drawn = places.filter(|(_, (name, _))| self.sheet.shows(name));
        drawn.map(|(place, (name, flows))| (place, name, flows)).collect()
    }

    /// Returns one curve for each group of flows: the sum of the flows' throughputs, or the median
    /// of another quantity with its band.
    fn by_group(&self, quantity: FlowQuantity) -> Vec<Curve> {
        let curve =
            |((.., flows), (name, color)): ((usize, &str, Vec<u32>), (String, RGBColor))| {
                let windows: Vec<Windows> = flows
                    .iter()
                    .map(|&flow| self.windowed(flow, &self.sheet.rows[flow as usize], quantity))
                    .collect();
                let mut middle: Windows = Vec::new();
                let (mut low, mut high): (Windows, Windows) = (Vec::new(), Vec::new());
                for at in 0..self.windows as usize {
                    let mut values: Vec<f64> =
                        windows.iter().filter_map(|of_flow| of_flow[at].1).collect();
                    values.sort_by(f64::total_cmp);
                    let x = windows[0][at].0;
                    let (Some(last), outside) =
                        (values.len().checked_sub(1), values.len() / OUTSIDE)
                    else {
                        middle.push((x, None));
                        continue;
                    };
                    if quantity == FlowQuantity::Throughput {
                        middle.push((x, Some(values.iter().sum())));
                    } else {
                        middle.push((
                            x,
                            Some(f64::midpoint(values[last / 2], values[values.len() / 2])),
                        ));
                        low.push((x, Some(values[outside])));
                        high.push((x, Some(values[last - outside])));
                    }
                }
                let bands = self.split(&low).into_iter().zip(self.split(&high)).collect();
                Curve { name, color, lines: self.split(&middle), bands }
            };
        self.groups().into_iter().zip(self.names()).map(curve).collect()
    }

    /// Returns the lines through the time windows that have a value. A time without an active flow
    /// interrupts the line.
    fn split(&self, windows: &[(f64, Option<f64>)]) -> Vec<Points> {
        let mut lines: Vec<Points> = Vec::new();
        for (x, y) in windows.iter().filter_map(|&(x, y)| y.map(|y| (x, y))) {
            match lines.last_mut() {
                Some(line) if line.last().is_some_and(|last| x - last.0 <= self.gap_s) => {
                    line.push((x, y));
                }
                _ => lines.push(vec![(x, y)]),
            }
        }
        lines
    }

    /// Returns the mean of a flow's quantity in each time window. If the series has no throughput,
    /// the throughput in a window is computed from the bytes delivered between the last row
    /// before this window and the last row of this window.
    fn windowed(&self, flow: u32, rows: &[usize], quantity: FlowQuantity) -> Windows {
        let series = self.sheet.input.series;
        let length = (self.sheet.to_s - self.sheet.from_s) / f64::from(self.windows);
        let is_told = rows.iter().any(|&row| series.throughput_bps[row].is_some());
        let from_counts = quantity == FlowQuantity::Throughput && !is_told;
        let mut next = 0;
        let mut before: Option<usize> = None;
        let mut points = Vec::new();
        for window in 0..self.windows {
            let until = self.sheet.from_s + length * f64::from(window + 1);
            let (mut sum, mut n) = (0.0, 0u64);
            let mut last = None;
            while next < rows.len() && series.time_s[rows[next]] <= until + length * 1e-9 {
                last = Some(rows[next]);
                if let Some(y) = self.sample(rows[next], quantity) {
                    sum += y;
                    n += 1;
                }
                next += 1;
            }
            let y = if from_counts {
                let rate = last.zip(before).and_then(|(last, before)| {
                    let time = series.time_s[last] - series.time_s[before];
                    let bytes = self.wire_bytes(flow, before, last).filter(|_| time > 0.0);
                    bytes.map(|bytes| bytes * 8.0 / time / 1e6)
                });
                before = last.or(before);
                rate
            } else {
                (n > 0).then(|| sum / value(n))
            };
            points.push((until - length / 2.0, y));
        }
        points
    }

    /// Returns the wire bytes delivered between two rows of a series that has no throughput; `None`
    /// if the bytes are unknown.
    ///
    /// For bulk flows, the delivered bytes are computed from the delivered packets, which SACK
    /// reports as they arrive. The count of bytes that the application reads would stop during a
    /// loss recovery and jump after it. For other sources, whose segments may not be full, the
    /// delivered bytes are computed from the bytes that the application reads.
    fn wire_bytes(&self, flow: u32, before: usize, last: usize) -> Option<f64> {
        let (series, run) = (self.sheet.input.series, self.sheet.input.run);
        let class = run.class(flow);
        let packet = value(wire_bytes(run.bottleneck_link(), class.mss));
        let between = |column: &[MaybeKnown<u64>]| {
            Some(value(column[last].0?.saturating_sub(column[before].0?)))
        };
        if class.source == Source::Unlimited {
            Some(between(&series.delivered_packets)? * packet)
        } else {
            Some(between(&series.received_bytes)? * packet / f64::from(class.mss))
        }
    }

    fn sample(&self, row: usize, quantity: FlowQuantity) -> Option<f64> {
        let (series, run) = (self.sheet.input.series, self.sheet.input.run);
        if quantity.is_of_window() && run.class(series.flow[row]).is_udp {
            return None;
        }
        quantity.of(series, row)
    }
}
