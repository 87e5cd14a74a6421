//! Colours on white: six of the colours of Okabe and Ito, which colour-blind readers can
//! distinguish, and four others: a brown, two greys and a violet.

use plotters::style::RGBColor;

/// The colours of lines, in the order of their use.
const LINES: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(110, 80, 40),
    RGBColor(60, 60, 60),
    RGBColor(106, 61, 154),
    RGBColor(165, 165, 165),
];

pub(crate) const INK: RGBColor = RGBColor(34, 34, 34);
pub(crate) const FAINT_INK: RGBColor = RGBColor(110, 110, 110);
pub(crate) const FRAME: RGBColor = RGBColor(150, 150, 150);
pub(crate) const GRID: RGBColor = RGBColor(232, 232, 232);
pub(crate) const REFERENCE: RGBColor = RGBColor(90, 90, 90);
pub(crate) const DROP: RGBColor = RGBColor(190, 20, 40);

/// The number of distinguishable colours.
pub(crate) const COLORS: usize = LINES.len();

/// Returns the colour of the line with this index.
pub(crate) fn line(at: usize) -> RGBColor {
    LINES[at % LINES.len()]
}

/// Returns the colour of line `at` of `lines`. If there are more lines than colours, their colours
/// go from blue over green to orange.
pub(crate) fn of_many(at: usize, lines: usize) -> RGBColor {
    if lines <= LINES.len() {
        return line(at);
    }
    let stops = [LINES[0], LINES[2], LINES[4], LINES[1]];
    let spans = stops.len() - 1;
    let along = at * spans;
    let last = lines - 1;
    let (span, rest) =
        ((along / last).min(spans - 1), along - (along / last).min(spans - 1) * last);
    let mix = |from: u8, to: u8| {
        let sum = usize::from(from) * (last - rest) + usize::from(to) * rest;
        u8::try_from(sum / last).unwrap_or(u8::MAX)
    };
    let (from, to) = (stops[span], stops[span + 1]);
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Returns the colour at a position from 0 to 1 on the colour scale viridis. The brightness of this
/// scale rises evenly, so that a picture can be read in grey and by colour-blind readers.
pub(crate) fn heat(share: f64) -> RGBColor {
    const STOPS: [(u8, u8, u8); 10] = [
        (68, 1, 84),
        (72, 40, 120),
        (62, 74, 137),
        (49, 104, 142),
        (38, 130, 142),
        (31, 158, 137),
        (53, 183, 121),
        (110, 206, 88),
        (181, 222, 43),
        (253, 231, 37),
    ];
    let along = share.clamp(0.0, 1.0) * 9.0;
    let pair = STOPS.windows(2).zip(0_u32..).find(|(_, at)| along <= f64::from(at + 1));
    let Some(([from, to], at)) = pair.map(|(pair, at)| ([pair[0], pair[1]], at)) else {
        return RGBColor(253, 231, 37);
    };
    let rest = along - f64::from(at);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    let mix = |from: u8, to: u8| {
        (f64::from(from) + (f64::from(to) - f64::from(from)) * rest).round() as u8
    };
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Returns the colour of text on a coloured area: white or black, whichever has the higher
/// contrast.
pub(crate) fn ink_on(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let brightness = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
    if brightness < 105_000 { RGBColor(255, 255, 255) } else { RGBColor(0, 0, 0) }
}

/// Returns the colour of the bands that show the congestion control's state `name`.
pub(crate) fn state(name: &str) -> RGBColor {
    match name {
        "STARTUP" => RGBColor(255, 205, 130),
        "DRAIN" => RGBColor(178, 150, 205),
        "PROBE_RTT" => RGBColor(240, 130, 140),
        "PROBE_BW" | "PROBE_BW_CRUISE" => RGBColor(226, 232, 238),
        "PROBE_BW_UP" => RGBColor(120, 190, 160),
        "PROBE_BW_DOWN" => RGBColor(150, 185, 225),
        "PROBE_BW_REFILL" => RGBColor(225, 215, 120),
        _ => RGBColor(215, 215, 215),
    }
}
