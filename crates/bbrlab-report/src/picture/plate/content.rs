//! What a plate is drawn from: plain data.

/// A figure of a paper: panels, with one legend for all.
#[derive(Clone, Debug)]
pub struct Plate {
    /// The picture's name.
    pub name: String,
    /// Its number and heading.
    pub title: String,
    /// The line below it.
    pub note: String,
    /// Panels side by side.
    pub columns: usize,
    /// From left to right, then from top to bottom.
    pub panels: Vec<PlatePanel>,
}

/// A panel.
#[derive(Clone, Debug)]
pub struct PlatePanel {
    /// Its heading.
    pub title: String,
    /// What is along the x axis, with its unit.
    pub x_title: String,
    /// What is along the y axis, with its unit.
    pub y_title: String,
    /// Panels of one name have the same y axis.
    pub shared: String,
    /// The y axis.
    pub scale: Scale,
    /// Its content; `Err` says why there is none.
    pub drawing: Result<Drawing, String>,
}

/// A y axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// From zero.
    FromZero,
    /// From below the least value if all are far from zero.
    Around,
    /// Logarithmic; what is not above zero stands at its lower end.
    Logarithmic,
}

/// What a panel shows.
#[derive(Clone, Debug)]
pub enum Drawing {
    /// Points along a swept key, joined.
    Curves(PlateCurves),
    /// Bars along a swept key, on top of each other: the parts of a whole.
    Stacked(PlateCurves),
    /// Distributions side by side.
    Boxes(Vec<PlateBox>),
    /// Lines over time.
    OverTime(PlateTimes),
}

/// Points of several curves along one axis.
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
    /// Its name in the legend. Curves of one name have one colour.
    pub name: String,
    /// Its points.
    pub points: Vec<PlatePoint>,
}

/// A point, as measured and as printed.
#[derive(Clone, Debug, Default)]
pub struct PlatePoint {
    /// Its place in [`PlateCurves::along`].
    pub at: usize,
    /// The median over the seeds.
    pub measured: Option<f64>,
    /// Its interval.
    pub interval: Option<[f64; 2]>,
    /// As printed.
    pub published: Option<f64>,
}

/// A distribution.
#[derive(Clone, Debug, Default)]
pub struct PlateBox {
    /// What it is of: its place along the x axis.
    pub name: String,
    /// The values, in any order.
    pub values: Vec<f64>,
    /// Mean and standard deviation as printed.
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
    /// Heights that the paper names, with words.
    pub levels: Vec<(f64, String)>,
    /// Moments that the paper names, with words.
    pub moments: Vec<(f64, String)>,
}

/// A line over time.
#[derive(Clone, Debug, Default)]
pub struct PlateLine {
    /// Its name in the legend. Lines of one name have one colour.
    pub name: String,
    /// Its points; `None` interrupts it.
    pub points: Vec<(f64, Option<f64>)>,
    /// Points that the paper prints.
    pub published: Vec<(f64, f64)>,
}
