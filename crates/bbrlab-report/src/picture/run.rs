//! A run over time: throughput, RTT, cwnd and inflight, queues, one below the other on one time
//! axis.

mod choice;
mod curves;
mod panels;
mod references;

use std::cell::Cell;

use bbrlab_run::{QueueSeries, Run, RunSummary, Series};
use plotters::style::text_anchor::{HPos, VPos};

pub use self::choice::{RunChoice, RunPanel};
use self::curves::{Curve, Curves};
use super::Picture;
use super::axis::Axis;
use super::canvas::{Canvas, Stroke, TextLook, draw};
use super::flow_quantity::FlowQuantity;
use super::font::{cut, width_of};
use super::grid::{Grid, Spot};
use super::head::Head;
use super::labels::{Words, one_panel};
use super::legend::Entry;
use super::palette;
use super::panel::{Key, LABEL_GAP, LINE, Names, Panel, SMALL, widest_label};
use super::shape::Shape;
use super::states::{self, Band};
use crate::table::point_words;

/// Input of the picture of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunPicture<'a> {
    /// The resolved run.
    pub run: &'a Run,
    /// The run's summary.
    pub summary: &'a RunSummary,
    /// The time series of the flows.
    pub series: &'a Series,
    /// The time series of the queues.
    pub queue: &'a QueueSeries,
    /// Version and commit of bbrlab.
    pub made_by: &'a str,
}

const PANEL_HEIGHT: f64 = 150.0;
const BAND_HEIGHT: f64 = 11.0;
/// With more flows than this, a panel has one curve for each group of flows. The curve is the sum
/// of the flows' throughputs, or the median of another quantity. A band around the median covers
/// the middle 80 % of the flows.
const SINGLE_CURVES: usize = 8;
/// The largest number of links whose queues are drawn.
const QUEUES_SHOWN: usize = 4;

/// Draws the picture of a run.
///
/// # Panics
/// Drawing never panics: a picture of the default size is as high as its panels need, and the
/// duration of a run is above zero.
#[must_use]
pub fn run_picture(input: &RunPicture<'_>) -> Picture {
    chosen_run_picture(input, &RunChoice::default()).expect("the usual panels fit the usual size")
}

/// Draws the picture of a run with the chosen panels, time and size.
///
/// # Errors
/// Fails if the panels do not fit the size, or if the chosen span of time is empty. Also fails if a
/// choice has no effect: a panel of connections without connections, groups of flows without a
/// panel of flows, or a label of an axis without a panel with axes. Also fails if the user set a
/// label of the y axis for several panels, because such a label is ambiguous.
pub fn chosen_run_picture(input: &RunPicture<'_>, choice: &RunChoice) -> Result<Picture, String> {
    let sheet = Sheet::new(input, choice)?;
    let svg = sheet.draw()?;
    Ok(Picture { name: "run".to_owned(), svg, entries: sheet.words.names() })
}

/// A panel with a time axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drawn {
    Throughput,
    Rtt,
    Window,
    Bandwidth,
    Pacing,
    /// The queue of the link with this index in the summary.
    Queue(u32),
}

impl Drawn {
    /// Returns the kind of this panel; users choose panels by kind.
    fn panel(self) -> RunPanel {
        match self {
            Self::Throughput => RunPanel::Throughput,
            Self::Rtt => RunPanel::Rtt,
            Self::Window => RunPanel::Cwnd,
            Self::Bandwidth => RunPanel::Bandwidth,
            Self::Pacing => RunPanel::Pacing,
            Self::Queue(_) => RunPanel::Queue,
        }
    }
}

struct Sheet<'a> {
    input: &'a RunPicture<'a>,
    shape: Shape,
    words: Words,
    /// The chosen groups of flows; all if empty.
    groups: &'a [String],
    /// For each flow: the indices of its rows in the series.
    rows: Vec<Vec<usize>>,
    /// The numbers of the flows that are drawn.
    flows: Vec<u32>,
    from_s: f64,
    to_s: f64,
    /// State bands of the flows whose congestion control has states, with the flows' numbers.
    states: Vec<(u32, Vec<Band<'a>>)>,
    panels: Vec<Drawn>,
    /// Number of links at which packets waited, but which have no panel.
    left_out: usize,
    space: Space,
}

/// The space for legends and for labels of y axes, and whether the last drawing needed more.
#[derive(Default)]
struct Space {
    /// Whether the legend of each panel has a line of its own.
    row_of_keys: Cell<bool>,
    /// The least distance of the panels from the picture's left edge, in layout points.
    left: Cell<f64>,
    /// Whether a panel's legend did not fit next to the panel's title.
    is_short_of_keys: Cell<bool>,
    /// The width of the widest label of a y axis.
    widest: Cell<f64>,
    /// The left edge of the panels in the last drawing.
    drawn_left: Cell<f64>,
}

impl Space {
    /// Enlarges the space if the last drawing needed more. Returns whether it did.
    fn grow(&self) -> bool {
        let left = self.widest.get() + LABEL_GAP;
        let is_narrow = left > self.drawn_left.get();
        if is_narrow {
            self.left.set(left);
        }
        self.row_of_keys.set(self.is_short_of_keys.get());
        is_narrow || self.is_short_of_keys.get()
    }
}

impl<'a> Sheet<'a> {
    fn new(input: &'a RunPicture<'a>, choice: &'a RunChoice) -> Result<Self, String> {
        let end_s = input.run.duration.as_secs_f64().max(1e-9);
        let from_s = choice.from_s.unwrap_or(0.0);
        let to_s = choice.to_s.unwrap_or(end_s).min(end_s);
        if let Some(until_s) = choice.to_s.filter(|&until_s| from_s >= until_s) {
            return Err(format!("--from {from_s} s is not before --to {until_s} s"));
        }
        if from_s >= to_s {
            return Err(format!(
                "the run ends at {end_s} s: there is nothing to draw from {from_s} s on"
            ));
        }
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); input.run.flows.len()];
        for (row, &flow) in input.series.flow.iter().enumerate() {
            let time_s = input.series.time_s[row];
            if let Some(of_flow) = rows.get_mut(flow as usize)
                && (from_s..=to_s).contains(&time_s)
            {
                of_flow.push(row);
            }
        }
        let mut sheet = Self {
            input,
            shape: choice.shape,
            words: Words::new(&choice.labels),
            groups: &choice.groups,
            flows: Vec::new(),
            rows,
            from_s,
            to_s,
            states: Vec::new(),
            panels: Vec::new(),
            left_out: 0,
            space: Space::default(),
        };
        let flows = (0u32..).take(sheet.rows.len());
        sheet.flows = flows.filter(|&flow| sheet.shows(&input.run.class(flow).group)).collect();
        sheet.find_states(choice);
        sheet.find_panels(choice)?;
        sheet.check_use(choice)?;
        Ok(sheet)
    }

    /// Whether a group of flows is drawn.
    fn shows(&self, group: &str) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|wanted| wanted == group)
    }

    /// Checks that some drawn panel can show the user's labels of axes and the chosen groups of
    /// flows. A label of the y axis is allowed only for a single panel.
    fn check_use(&self, choice: &RunChoice) -> Result<(), String> {
        let of_flows = |drawn: &Drawn| !matches!(drawn, Drawn::Queue(_));
        if !self.groups.is_empty() && self.states.is_empty() && !self.panels.iter().any(of_flows) {
            return Err("--group: expected a panel of flows, found a queue, where the packets of all flows wait".to_owned());
        }
        match (self.panels.as_slice(), &choice.labels.x, &choice.labels.y) {
            ([], Some(_), _) | ([], _, Some(_)) => Err(
                "--xlabel and --ylabel: expected a panel with axes, found none; add a panel with axes to --panels"
                    .to_owned(),
            ),
            ([_, _, ..], _, Some(_)) => {
                Err(one_panel(self.panels.iter().map(|drawn| drawn.panel().name()), "--panels"))
            }
            _ => Ok(()),
        }
    }

    fn find_states(&mut self, choice: &RunChoice) {
        if !choice.panels.contains(&RunPanel::State) || self.by_group() {
            return;
        }
        let series = self.input.series;
        for &flow in &self.flows {
            let of_flow = &self.rows[flow as usize];
            let samples = of_flow.iter().map(|&row| (series.time_s[row], &*series.state[row]));
            let of_flow = self.input.summary.flows.get(flow as usize);
            let stop_s = of_flow.and_then(|of| of.stop_s).unwrap_or(self.to_s);
            let bands = states::bands(samples, stop_s.min(self.to_s), |time_s| self.column(time_s));
            if bands.iter().any(|(_, _, state)| !state.is_empty()) {
                self.states.push((flow, bands));
            }
        }
    }

    /// Makes the list of drawn panels. The panels of a connection's quantities, such as RTT and
    /// cwnd, need a drawn flow that is a connection with a time series. Without such a flow, the
    /// default choice omits these panels, and any other choice that contains one of them is an
    /// error.
    fn find_panels(&mut self, choice: &RunChoice) -> Result<(), String> {
        let has_connections = self.input.run.classes.iter().any(|class| {
            !class.is_udp && class.source.arrivals().is_none() && self.shows(&class.group)
        });
        for panel in &choice.panels {
            if panel.is_of_connections() && !has_connections {
                if choice.panels == RunPanel::USUAL {
                    continue;
                }
                let name = panel.name();
                return Err(format!(
                    "`{name}`: needs flows with a time series of their connection; datagrams and flows that come and go have none; \
                     the panels throughput and queue can be drawn"
                ));
            }
            match panel {
                RunPanel::State => {}
                RunPanel::Throughput => self.panels.push(Drawn::Throughput),
                RunPanel::Rtt => self.panels.push(Drawn::Rtt),
                RunPanel::Cwnd => self.panels.push(Drawn::Window),
                RunPanel::Bandwidth => self.panels.push(Drawn::Bandwidth),
                RunPanel::Pacing => self.panels.push(Drawn::Pacing),
                RunPanel::Queue => {
                    let (shown, left_out) = self.shown_links();
                    self.left_out = left_out;
                    self.panels.extend(shown.into_iter().map(Drawn::Queue));
                }
            }
        }
        Ok(())
    }

    fn left(&self) -> f64 {
        // The names of flows, which are to the left of the state bands, need more space than the
        // numbers at the y axes.
        let named =
            self.states.iter().map(|&(flow, _)| width_of(&self.strip_name(flow), SMALL - 1.0));
        named
            .fold(self.shape.left(), |left, name| left.max(name + 14.0))
            .max(self.space.left.get())
            .min(0.25 * self.shape.width)
    }

    fn right(&self) -> f64 {
        self.shape.right(12.0, 22.0)
    }

    /// Returns the column of the picture at a time. Columns are one layout point wide.
    #[expect(clippy::cast_possible_truncation, reason = "coordinates on a sheet")]
    fn column(&self, time_s: f64) -> i64 {
        ((time_s - self.from_s) / (self.to_s - self.from_s) * self.shape.width) as i64
    }

    fn grid(&self) -> Grid {
        let (labels, room) = (&self.words.labels, self.right() - self.left());
        let row_of_keys = if self.space.row_of_keys.get() { LINE } else { 0.0 };
        Grid {
            edges: (self.left(), self.right()),
            head: self.first_top() + labels.more_y(room) + row_of_keys,
            titles: 0.0,
            rows: u32::try_from(self.panels.len()).expect("a handful"),
            columns: 1,
            // The gap above a panel also contains the line of its legend, if legends have lines of
            // their own.
            gaps: (0.0, row_of_keys + if self.shape.is_narrow() { 40.0 } else { 38.0 }),
            // Below the last panel, there is no other panel whose legend needs a line.
            foot: 12.0 + labels.more_x(room) - row_of_keys,
            panel_height: PANEL_HEIGHT,
        }
    }

    /// Returns the title, and the facts about the run. A picture on paper omits the facts, because
    /// the caption of the figure contains them.
    fn head(&self) -> Head {
        let run = self.input.run;
        let title = if run.title.is_empty() { &run.scenario } else { &run.title };
        let facts = if self.shape.is_narrow() { String::new() } else { self.facts() };
        let edges = (self.left(), self.right());
        Head::new(&self.words.labels, &self.shape, title, &facts, self.legend(), edges)
    }

    /// Returns the vertical position of the middle of the legend's first row.
    fn legend_at(head: &Head) -> f64 {
        head.legend_at().max(16.0)
    }

    fn strip_top(&self) -> f64 {
        let head = self.head();
        let states = u32::try_from(self.state_rows().len()).expect("at most eight");
        let states = f64::from(states) * states::ROW;
        Self::legend_at(&head) - 10.0
            + head.legend_height()
            + states
            + if self.states.is_empty() { 0.0 } else { 4.0 }
    }

    /// Returns the legend of the congestion control's states, in rows to the right of their title.
    fn state_rows(&self) -> Vec<Vec<&'a str>> {
        let all: Vec<Vec<Band<'_>>> = self.states.iter().map(|(_, bands)| bands.clone()).collect();
        states::legend_rows(&all, self.right() - self.left() - width_of(self.state_title(), 14.0))
    }

    fn state_title(&self) -> &'static str {
        if self.shape.is_narrow() { "" } else { "State" }
    }

    fn first_top(&self) -> f64 {
        let rows = u32::try_from(self.states.len()).expect("at most eight");
        self.strip_top() + f64::from(rows) * (BAND_HEIGHT + 2.0) + 26.0
    }

    /// Draws the picture. If a legend or a label of an axis does not fit, draws the picture again
    /// with more space for legends and labels, provided that the panels still fit.
    fn draw(&self) -> Result<String, String> {
        let svg = self.drawn()?;
        if self.space.grow() { self.drawn().or(Ok(svg)) } else { Ok(svg) }
    }

    fn drawn(&self) -> Result<String, String> {
        let grid = self.grid().fitted(&self.shape, "panels")?;
        Ok(draw(&self.shape, grid.height(&self.shape), |canvas| self.paint(canvas, &grid)))
    }

    fn panel<'c, 's>(&self, spot: Spot<'c, 's>, y: Axis) -> Panel<'c, 's> {
        self.space.widest.set(self.space.widest.get().max(widest_label(&y)));
        spot.panel(Axis::exactly(self.from_s, self.to_s, self.shape.time_ticks()), y)
    }

    fn paint(&self, canvas: &Canvas<'_>, grid: &Grid) {
        self.space.drawn_left.set(self.left());
        let head = self.head();
        head.paint_with_legend_at(canvas, Self::legend_at(&head));
        self.strip(canvas);
        for (spot, &drawn) in grid.spots(canvas).zip(&self.panels) {
            let panel = match drawn {
                Drawn::Throughput => self.throughput(spot),
                Drawn::Rtt => self.rtt(spot),
                Drawn::Window => self.window(spot),
                Drawn::Bandwidth => self.rate_panel(
                    spot,
                    "Bandwidth estimate, Mbit/s of payload",
                    FlowQuantity::Bandwidth,
                ),
                Drawn::Pacing => {
                    self.rate_panel(spot, "Pacing rate, Mbit/s of payload", FlowQuantity::Pacing)
                }
                Drawn::Queue(link) => self.queue(spot, link),
            };
            panel.border();
            if spot.is_lowest() {
                let room = panel.right - panel.left;
                panel.x_labels_as(&self.words.labels.x_lines("time, s", room), Names::Row);
            }
        }
    }

    fn facts(&self) -> String {
        let RunPicture { run, summary, .. } = self.input;
        let mut facts = vec![run.scenario.clone()];
        if !run.point.is_empty() {
            facts.push(point_words(&run.point));
        }
        let backend = summary.other_backend();
        facts.push(backend.unwrap_or_else(|| format!("{} profile", summary.profile)));
        if !summary.is_measured() {
            facts.push(format!("seed {}", run.seed));
        }
        facts.push(format!("hash {}", run.scenario_hash.get(..12).unwrap_or(&run.scenario_hash)));
        facts.push(self.input.made_by.to_owned());
        if self.left_out > 0 {
            facts.push(format!("{} more links had a queue", self.left_out));
        }
        // Version and commit must not be cut off, so omit the profile, which the scenario contains
        // too.
        if width_of(&facts.join("  ·  "), SMALL) > self.right() - self.left() {
            facts.retain(|fact| !fact.ends_with(" profile"));
        }
        facts.join("  ·  ")
    }

    /// Draws title and legend of a panel, with the texts that the user set. Callers must draw
    /// nothing in the panel before this call.
    fn titled(&self, panel: &Panel<'_, '_>, title: &str, keys: Vec<Key>) {
        let room = panel.right - panel.left;
        let text = |key: Key| Key { text: self.words.entry(&key.text), ..key };
        let keys: Vec<Key> = keys.into_iter().map(text).collect();
        let lines = self.words.labels.y_lines(title, room);
        let (has_row, is_whole) = (self.space.row_of_keys.get(), panel.fits(&lines, &keys));
        self.space.is_short_of_keys.set(self.space.is_short_of_keys.get() || !is_whole);
        panel.titled(&lines, &keys, has_row);
    }

    /// Makes the entries of the legend: one for each flow, or one for each group if curves show
    /// groups. A flow or group without curves has no entry. A picture with the curves of a single
    /// flow has no legend. A flow or group has the same colour in all panels.
    fn legend(&self) -> Vec<Entry> {
        let curves = Curves::new(self);
        let names = curves.drawn();
        if names.len() < 2 && !self.by_group() {
            return Vec::new();
        }
        let entry = |(name, color): (String, _)| Entry {
            text: self.words.entry(&name),
            stroke: Some(Stroke::new(color, 2.0)),
            mark: None,
        };
        names.into_iter().map(entry).collect()
    }

    /// Draws a strip of state bands for each flow whose congestion control has states, and the
    /// legend of the states above the strips.
    fn strip(&self, canvas: &Canvas<'_>) {
        if self.states.is_empty() {
            return;
        }
        let (left_end, right_end) = (self.left(), self.right());
        let rows = self.state_rows();
        let below = f64::from(u32::try_from(rows.len()).expect("at most eight")) * states::ROW;
        let title_y = self.strip_top() - below + 7.0;
        states::legend(canvas, &rows, right_end, title_y);
        canvas.text(
            self.state_title(),
            (left_end, title_y),
            TextLook::new(12.0, palette::INK).bold(),
        );
        let mut top = self.strip_top();
        for (flow, bands) in &self.states {
            for &(from, to, state) in bands {
                if state.is_empty() {
                    continue;
                }
                let place = |time_s: f64| {
                    let share = (time_s - self.from_s) / (self.to_s - self.from_s);
                    left_end + share.clamp(0.0, 1.0) * (right_end - left_end)
                };
                // A state band is drawn at least one column wide, so that short states are visible.
                let (left, right) = (place(from), place(to).max(place(from) + 1.0));
                canvas.fill((left, top), (right, top + BAND_HEIGHT), palette::state(state), 1.0);
            }
            let words = TextLook::new(SMALL - 1.0, palette::INK).anchor(HPos::Right, VPos::Center);
            let name = cut(&self.strip_name(*flow), left_end - 12.0, SMALL - 1.0, false);
            canvas.text(&name, (left_end - 6.0, top + BAND_HEIGHT / 2.0), words);
            top += BAND_HEIGHT + 2.0;
        }
    }

    /// Shades every panel during start-up, drain and ProbeRTT, if exactly one flow's congestion
    /// control has states.
    fn shade(&self, panel: &Panel<'_, '_>) {
        let [(_, bands)] = self.states.as_slice() else { return };
        for &(from, to, state) in bands {
            if matches!(state, "STARTUP" | "DRAIN" | "PROBE_RTT") {
                let (left, _) = panel.at(from, 0.0);
                let (right, _) = panel.at(to, 0.0);
                let color = palette::state(state);
                let to = (right.max(left + 1.0), panel.bottom);
                panel.canvas.fill((left, panel.top), to, color, 0.22);
            }
        }
    }

    /// Returns the name that the scenario gives to a flow. A flow without a name is called by its
    /// number and congestion control or, if it is the run's only flow, by its congestion control.
    fn flow_name(&self, flow: u32) -> String {
        let name = self.input.summary.flows.get(flow as usize).and_then(|flow| flow.name.clone());
        name.unwrap_or_else(|| {
            let cc = self.input.run.class(flow).cc_name();
            if self.rows.len() == 1 { cc.to_owned() } else { format!("{flow} {cc}") }
        })
    }

    /// Returns the flow's name next to its state bands: the user's text for its entry of the legend
    /// or, without one, the result of [`Self::flow_name`].
    fn strip_name(&self, flow: u32) -> String {
        let own = self.words.own(&self.flow_title(flow));
        own.map_or_else(|| self.flow_name(flow), str::to_owned)
    }

    /// Returns the flow's name for a legend: the result of [`Self::flow_name`], followed by the
    /// congestion control in brackets unless the name contains it.
    fn flow_title(&self, flow: u32) -> String {
        let (name, cc) = (self.flow_name(flow), self.input.run.class(flow).cc_name());
        if name.contains(cc) { name } else { format!("{name} ({cc})") }
    }

    fn curves(&self, quantity: FlowQuantity) -> Vec<Curve> {
        Curves::new(self).of(quantity)
    }

    /// Whether each curve is the sum or the median of a group of flows, instead of a single flow.
    fn by_group(&self) -> bool {
        self.flows.len() > SINGLE_CURVES
    }
}

#[expect(clippy::cast_precision_loss, reason = "for a picture")]
fn value(count: u64) -> f64 {
    count as f64
}

/// Gives the tests of other modules access to values of a picture.
#[cfg(test)]
pub(super) mod tests {
    use super::{RunChoice, RunPicture, Sheet};

    /// Returns the corners of the line that shows the bandwidth-delay product in packets over time.
    pub(crate) fn bdp(input: &RunPicture<'_>) -> Vec<(f64, f64)> {
        Sheet::new(input, &RunChoice::default()).expect("there is room").bdp_packets()
    }
}
