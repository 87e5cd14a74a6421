//! State bands: the state of a BBR flow in each pixel column.

use super::canvas::{Canvas, TextLook};
use super::font::width_of;
use super::palette;
use super::panel::SMALL;
use plotters::style::text_anchor::{HPos, VPos};

/// A state band: its start and end as x values, and the name of the state.
pub(crate) type Band<'a> = (f64, f64, &'a str);

/// Returns the priority of a state within its pixel column of the plot. Short but important states
/// are shown even if samples of other states follow in the same column.
fn weight(state: &str) -> u32 {
    match state {
        "PROBE_RTT" | "STARTUP" | "DRAIN" => 2,
        "" => 0,
        _ => 1,
    }
}

/// Returns the sampled states as coloured bands over time. Each pixel column shows one state: the
/// state with the highest priority among the samples in the column. If several states have this
/// priority, the last of them is shown.
pub(crate) fn bands<'a>(
    samples: impl Iterator<Item = (f64, &'a str)>,
    end: f64,
    column_of: impl Fn(f64) -> i64,
) -> Vec<Band<'a>> {
    let mut columns: Vec<(i64, f64, &'a str)> = Vec::new();
    for (x, state) in samples {
        let here = column_of(x);
        match columns.last_mut() {
            Some((at, _, shown)) if *at == here => {
                if weight(state) >= weight(shown) {
                    *shown = state;
                }
            }
            _ => columns.push((here, x, state)),
        }
    }
    let mut bands: Vec<Band<'a>> = Vec::new();
    for (at, &(_, from, state)) in columns.iter().enumerate() {
        let to = columns.get(at + 1).map_or(end, |next| next.1);
        match bands.last_mut() {
            Some(last) if last.2 == state => last.1 = to,
            _ => bands.push((from, to, state)),
        }
    }
    bands
}

/// The height of a row of the legend.
pub(crate) const ROW: f64 = 18.0;

/// The width of a coloured square, including the space between the square and the state's name.
const SQUARE: f64 = 16.0;
/// The width of the space between a state's name and the next coloured square.
const BEHIND: f64 = 12.0;

fn width(state: &str) -> f64 {
    SQUARE + width_of(state, SMALL - 1.0)
}

/// Returns the states that occur, in the order in which a connection passes through them. The names
/// are in rows of at most the width `space`.
pub(crate) fn legend_rows<'a>(bands: &[Vec<Band<'a>>], space: f64) -> Vec<Vec<&'a str>> {
    let mut seen: Vec<&str> = Vec::new();
    for (_, _, state) in bands.iter().flatten() {
        if !state.is_empty() && !seen.contains(state) {
            seen.push(state);
        }
    }
    let order = |state: &str| match state {
        "STARTUP" => 0,
        "DRAIN" => 1,
        "PROBE_BW" => 2,
        "PROBE_BW_DOWN" => 3,
        "PROBE_BW_CRUISE" => 4,
        "PROBE_BW_REFILL" => 5,
        "PROBE_BW_UP" => 6,
        "PROBE_RTT" => 7,
        _ => 8,
    };
    seen.sort_by_key(|state| order(state));
    let mut rows: Vec<Vec<&str>> = Vec::new();
    let mut left = 0.0;
    for state in seen {
        match rows.last_mut() {
            Some(row) if width(state) <= left => row.push(state),
            _ => {
                rows.push(vec![state]);
                left = space;
            }
        }
        left -= width(state) + BEHIND;
    }
    rows
}

/// Draws the rows with their right ends at `right`. `y` is the vertical position of the middle of
/// the first row.
pub(crate) fn legend(canvas: &Canvas<'_>, rows: &[Vec<&str>], right: f64, mut y: f64) {
    for row in rows {
        let mut right = right;
        for state in row.iter().rev() {
            let words = TextLook::new(SMALL - 1.0, palette::INK).anchor(HPos::Right, VPos::Center);
            canvas.text(state, (right, y), words);
            right -= width(state);
            canvas.fill((right, y - 4.5), (right + 12.0, y + 4.5), palette::state(state), 1.0);
            right -= BEHIND;
        }
        y += ROW;
    }
}

#[cfg(test)]
mod tests {
    use super::{bands, legend_rows};

    #[test]
    fn a_narrow_legend_has_more_rows_and_names_every_state() {
        let states = ["PROBE_RTT", "STARTUP", "DRAIN", "PROBE_BW_UP", "STARTUP", ""];
        let bands = [states.map(|state| (0.0, 1.0, state)).to_vec()];
        let all = ["STARTUP", "DRAIN", "PROBE_BW_UP", "PROBE_RTT"];
        assert_eq!(legend_rows(&bands, 900.0), [all.to_vec()]);
        let narrow = legend_rows(&bands, 200.0);
        assert!(narrow.len() > 1);
        assert_eq!(narrow.concat(), all);
        assert_eq!(legend_rows(&bands, 1.0).concat(), all);
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
    fn a_short_probe_rtt_is_not_lost_among_many_samples() {
        let samples = (0..100).map(|at| {
            let state = match at {
                0..10 => "STARTUP",
                57 => "PROBE_RTT",
                _ => "PROBE_BW",
            };
            (f64::from(at), state)
        });
        let found = bands(samples, 100.0, |x| (x / 10.0) as i64);
        assert_eq!(
            found,
            [
                (0.0, 10.0, "STARTUP"),
                (10.0, 50.0, "PROBE_BW"),
                (50.0, 60.0, "PROBE_RTT"),
                (60.0, 100.0, "PROBE_BW"),
            ]
        );
    }
}
