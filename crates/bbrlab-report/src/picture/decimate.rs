//! Reduces the samples of a line to at most four points per pixel column of a picture. Each column
//! keeps its extremes; no value is averaged.

/// Reduces data points with rising first coordinates to the first, least, greatest and last point
/// of each column. A value of `None` breaks the line.
pub(crate) fn lines(
    points: impl Iterator<Item = (f64, Option<f64>)>,
    column_of: impl Fn(f64) -> i64,
) -> Vec<Vec<(f64, f64)>> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut column: Option<(i64, Column)> = None;
    for (x, y) in points {
        let Some(y) = y else {
            if let Some((_, column)) = column.take() {
                column.put(&mut line);
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            continue;
        };
        let here = column_of(x);
        match &mut column {
            Some((at, column)) if *at == here => column.add(x, y),
            _ => {
                if let Some((_, column)) = column.replace((here, Column::new(x, y))) {
                    column.put(&mut line);
                }
            }
        }
    }
    if let Some((_, column)) = column {
        column.put(&mut line);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

struct Column {
    first: (f64, f64),
    least: (f64, f64),
    greatest: (f64, f64),
    last: (f64, f64),
}

impl Column {
    fn new(x: f64, y: f64) -> Self {
        Self { first: (x, y), least: (x, y), greatest: (x, y), last: (x, y) }
    }

    fn add(&mut self, x: f64, y: f64) {
        if y < self.least.1 {
            self.least = (x, y);
        }
        if y > self.greatest.1 {
            self.greatest = (x, y);
        }
        self.last = (x, y);
    }

    fn put(self, line: &mut Vec<(f64, f64)>) {
        let (one, other) = if self.least.0 <= self.greatest.0 {
            (self.least, self.greatest)
        } else {
            (self.greatest, self.least)
        };
        for point in [self.first, one, other, self.last] {
            if line.last() != Some(&point) {
                line.push(point);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
    fn a_spike_of_one_sample_survives() {
        let samples = (0..1000).map(|at| (f64::from(at), Some(if at == 437 { 9.0 } else { 1.0 })));
        let reduced = lines(samples, |x| (x / 100.0) as i64);
        assert_eq!(reduced.len(), 1);
        assert!(reduced[0].len() <= 40);
        assert!(reduced[0].contains(&(437.0, 9.0)));
    }

    #[test]
    fn a_gap_breaks_the_line() {
        let samples = [(0.0, Some(1.0)), (1.0, None), (2.0, Some(2.0)), (3.0, Some(3.0))];
        #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
        let reduced = lines(samples.into_iter(), |x| x as i64);
        assert_eq!(reduced, [vec![(0.0, 1.0)], vec![(2.0, 2.0), (3.0, 3.0)]]);
    }
}
