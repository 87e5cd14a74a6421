//! The swept key that a user names: in full, or by its last part.

/// The swept key with this name or last part.
pub(crate) fn swept_key<'a>(wanted: &str, swept: &'a [String]) -> Result<&'a str, String> {
    let found = swept.iter().find(|key| *key == wanted).or_else(|| {
        let mut ending = swept.iter().filter(|key| stem(key) == wanted);
        ending.next().filter(|_| ending.next().is_none())
    });
    found.map(String::as_str).ok_or_else(|| match swept {
        [] => format!("`{wanted}` is not swept: this sweep has no swept key"),
        _ => format!("`{wanted}` is not swept; swept keys are {}", swept.join(", ")),
    })
}

/// Returns the last part of a key, such as `buffer` of `bottleneck.buffer`. It is sufficient next
/// to the key's value.
pub(crate) fn stem(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}
