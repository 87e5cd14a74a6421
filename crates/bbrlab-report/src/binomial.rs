//! The exact 95 % interval of a share, after Clopper and Pearson.
//!
//! The lower end is the share at which the observed number of hits, or more hits, has a probability
//! of 2.5 %. The upper end is the share at which the observed number, or fewer hits, has this
//! probability. Bisection on sums of binomial probabilities finds both ends. The sums are taken
//! relative to their largest term, so no power underflows. The sums use no functions of C
//! libraries, because the last bits of what such functions return differ between machines.

/// The probability beyond each end of the interval.
const TAIL: f64 = 0.025;

/// The number of times that bisection halves the range from 0 to 1. Fewer than 60 halvings would be
/// enough for the precision of a double.
const HALVINGS: u32 = 60;

/// Returns the 95 % interval of the share of hits, if `hits` of `n` trials are hits; `None` without
/// trials.
///
/// # Panics
/// Panics if there are more hits than trials.
#[must_use]
pub fn binomial_interval(hits: u64, n: u64) -> Option<[f64; 2]> {
    assert!(hits <= n, "{hits} hits of {n}");
    if n == 0 {
        return None;
    }
    let low = if hits == 0 { 0.0 } else { share_with_tail(hits, n) };
    // The upper end of the share of hits is 1 minus the lower end of the share of misses.
    let high = if hits == n { 1.0 } else { 1.0 - share_with_tail(n - hits, n) };
    Some([low, high])
}

/// Returns the share at which `hits` or more hits in `n` trials have the probability `TAIL`.
fn share_with_tail(hits: u64, n: u64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if at_least(hits, n, middle) < TAIL { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Returns the probability of `hits` or more hits in `n` trials, if each trial is a hit with
/// probability `share`, which is strictly between 0 and 1.
#[expect(clippy::cast_precision_loss, reason = "there are at most thousands of seeds")]
fn at_least(hits: u64, n: u64, share: f64) -> f64 {
    let odds = share / (1.0 - share);
    // The most probable number of hits. The probabilities of the other numbers of hits are computed
    // below, relative to the probability of this number.
    let mut mode = hits;
    while mode < n && (n - mode) as f64 / (mode + 1) as f64 * odds > 1.0 {
        mode += 1;
    }
    while mode > 0 && mode as f64 / (n - mode + 1) as f64 / odds > 1.0 {
        mode -= 1;
    }
    let (mut within, mut all) = (0.0, 0.0);
    let mut count = |number: u64, term: f64| {
        all += term;
        if number >= hits {
            within += term;
        }
    };
    count(mode, 1.0);
    let mut term = 1.0;
    for number in mode..n {
        term *= (n - number) as f64 / (number + 1) as f64 * odds;
        count(number + 1, term);
    }
    term = 1.0;
    for number in (1..=mode).rev() {
        term *= number as f64 / (n - number + 1) as f64 / odds;
        count(number - 1, term);
    }
    within / all
}

#[cfg(test)]
mod tests {
    use super::binomial_interval;

    fn check(hits: u64, n: u64, low: f64, high: f64) {
        let found = binomial_interval(hits, n).unwrap();
        assert!((found[0] - low).abs() < 1e-6 && (found[1] - high).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn ends_are_those_of_closed_forms() {
        // Without a miss, the lower end of the interval is 0.025^(1/n).
        check(1, 1, 0.025, 1.0);
        check(5, 5, 0.025_f64.powf(0.2), 1.0);
        check(0, 20, 0.0, 1.0 - 0.025_f64.powf(0.05));
        check(100_000, 100_000, 0.025_f64.powf(1e-5), 1.0);
    }

    #[test]
    fn ends_are_those_of_published_tables() {
        // The first tested case, 8 hits in 10 trials, is in many textbooks.
        check(8, 10, 0.443_904_5, 0.974_789_3);
        check(4, 20, 0.057_334_0, 0.436_614_0);
        check(1, 5, 0.005_050_8, 0.716_417_9);
        check(50, 100, 0.398_321_1, 0.601_678_9);
    }

    #[test]
    fn nothing_tried_has_no_interval() {
        assert_eq!(binomial_interval(0, 0), None);
    }
}
