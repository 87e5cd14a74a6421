//! Swept keys and values in texts: the key that a user names, in full or by its last part, and a
//! value as the scenario file has it.

use serde_json::Value;

/// Returns the swept key with the full name `wanted`. If there is no such key, returns the only
/// swept key with the last part `wanted`.
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

/// Returns the last part of a key, such as `buffer` of `bottleneck.buffer`. Texts show this part
/// next to the key's value.
pub(crate) fn stem(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Returns a swept value as the scenario file has it. An inline table becomes the value of its
/// `discipline` or `model`, followed by its other keys: `red ecn=true`.
#[must_use]
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let choice = |key: &str| ["discipline", "model"].contains(&key);
            let (chosen, rest): (Vec<_>, Vec<_>) = fields.iter().partition(|(key, _)| choice(key));
            let chosen = chosen.iter().map(|(_, value)| value_text(value));
            let rest = rest.iter().map(|(key, value)| format!("{key}={}", value_text(value)));
            chosen.chain(rest).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}
