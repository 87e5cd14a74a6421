//! The input of a plate, which is a redrawn figure of a paper: data without drawing code.

/// A figure of a paper: panels with one legend.
#[derive(Clone, Debug)]
pub struct Plate {
    /// The picture's name.
    pub name: String,
    /// The figure's number and heading.
    pub title: String,
    /// The note below the heading.
    pub note: String,
    /// The number of panels side by side.
    pub columns: usize,
    /// The panels, row by row, each row from the left.
    pub panels: Vec<PlatePanel>,
}

/// A panel.
#[derive(Clone, Debug)]
pub struct PlatePanel {
    /// The panel's heading.
    pub title: String,
    /// The quantity on the x axis, with its unit.
    pub x_title: String,
    /// The quantity on the y axis, with its unit.
    pub y_title: String,
    /// Name of a y axis. Panels with the same name share one y axis.
    pub shared: String,
    /// The scale of the y axis.
    pub scale: Scale,
    /// The content; `Err` with the reason if there is none.
    pub drawing: Result<Drawing, String>,
}

/// The scale of a y axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear, from zero.
    FromZero,
    /// Linear, from zero, or from below the least value if all values are far from zero.
    Around,
    /// Logarithmic. Values that are not above zero are placed at the lower end.
    Logarithmic,
}

/// The content of a panel.
#[derive(Clone, Debug)]
pub enum Drawing {
    /// Data points along a swept key, joined by lines.
    Curves(PlateCurves),
    /// Stacked bars along a swept key: the parts of a whole.
    Stacked(PlateCurves),
    /// Distributions side by side.
    Boxes(Vec<PlateBox>),
    /// Lines over time.
    OverTime(PlateTimes),
}

/// Data points of several curves along one axis.
#[derive(Clone, Debug, Default)]
pub struct PlateCurves {
    /// The values along the axis, in order.
    pub along: Vec<String>,
    /// The curves.
    pub curves: Vec<PlateCurve>,
}

/// A curve.
#[derive(Clone, Debug, Default)]
pub struct PlateCurve {
    /// The name in the legend. Curves of one name have one colour.
    pub name: String,
    /// The curve's points.
    pub points: Vec<PlatePoint>,
}

/// A data point of a curve, as measured and as printed in the paper.
#[derive(Clone, Debug, Default)]
pub struct PlatePoint {
    /// The index of its x value in [`PlateCurves::along`].
    pub at: usize,
    /// The median over the seeds.
    pub measured: Option<f64>,
    /// The 95 % confidence interval of the median (see [`Median`](crate::Median)).
    pub interval: Option<[f64; 2]>,
    /// The printed value.
    pub published: Option<f64>,
}

/// A distribution, drawn as a box.
#[derive(Clone, Debug, Default)]
pub struct PlateBox {
    /// The name of the distribution, shown on the x axis.
    pub name: String,
    /// The values, in any order.
    pub values: Vec<f64>,
    /// The mean and the standard deviation that the paper prints.
    pub published: Option<[f64; 2]>,
}

/// Lines over time.
#[derive(Clone, Debug, Default)]
pub struct PlateTimes {
    /// The start of the axis, in seconds.
    pub from_s: f64,
    /// The end of the axis, in seconds.
    pub to_s: f64,
    /// The lines.
    pub lines: Vec<PlateLine>,
    /// Values that the paper names, drawn as horizontal lines with labels.
    pub levels: Vec<(f64, String)>,
    /// Times, in seconds, that the paper names, drawn as vertical lines with labels.
    pub moments: Vec<(f64, String)>,
}

/// A line over time.
#[derive(Clone, Debug, Default)]
pub struct PlateLine {
    /// The name in the legend. Lines of one name have one colour.
    pub name: String,
    /// The data points of the line; `None` interrupts the line.
    pub points: Vec<(f64, Option<f64>)>,
    /// Data points printed in the paper.
    pub published: Vec<(f64, f64)>,
}
