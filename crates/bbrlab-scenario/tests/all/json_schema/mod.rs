//! A validator for the keywords of JSON Schema that the schema of scenarios uses.

use serde_json::Value;

/// Returns the violations of `schema` in `value`; empty if `value` is valid.
pub(crate) fn mistakes(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (word, rule) in schema.as_object().expect("a schema is an object") {
        check(word, rule, schema, value, &mut found);
    }
    found
}

fn check(word: &str, rule: &Value, schema: &Value, value: &Value, found: &mut Vec<String>) {
    let number = |value: &Value| value.as_f64().expect("a number");
    let members = value.as_object();
    let items = value.as_array();
    let length =
        || rule.as_u64().and_then(|length| usize::try_from(length).ok()).expect("a length");
    let right = match word {
        "type" => rule.as_array().map_or_else(
            || is_of_type(rule, value),
            |types| types.iter().any(|rule| is_of_type(rule, value)),
        ),
        "enum" => rule.as_array().expect("a list").contains(value),
        "minimum" => !value.is_number() || number(value) >= number(rule),
        "maximum" => !value.is_number() || number(value) <= number(rule),
        "minItems" => items.is_none_or(|items| items.len() >= length()),
        "maxItems" => items.is_none_or(|items| items.len() <= length()),
        "anyOf" => {
            rule.as_array().expect("a list").iter().any(|rule| mistakes(rule, value).is_empty())
        }
        "required" => members.is_none_or(|members| {
            let mut names = rule.as_array().expect("a list").iter().filter_map(Value::as_str);
            names.all(|name| members.contains_key(name))
        }),
        "properties" => {
            for (name, rule) in rule.as_object().expect("an object") {
                found.extend(value.get(name).into_iter().flat_map(|value| mistakes(rule, value)));
            }
            true
        }
        "additionalProperties" => {
            let known = schema.get("properties").and_then(Value::as_object);
            let others = members.into_iter().flatten();
            let mut others =
                others.filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)));
            if rule == &Value::Bool(false) {
                others.next().is_none()
            } else {
                found.extend(others.flat_map(|(_, value)| mistakes(rule, value)));
                true
            }
        }
        "items" => {
            found.extend(items.into_iter().flatten().flat_map(|value| mistakes(rule, value)));
            true
        }
        "prefixItems" => {
            let rules = rule.as_array().expect("a list");
            let pairs = rules.iter().zip(items.into_iter().flatten());
            found.extend(pairs.flat_map(|(rule, value)| mistakes(rule, value)));
            true
        }
        "$schema" | "description" | "examples" => true,
        other => panic!("the schema has a keyword that this validator does not support: {other}"),
    };
    if !right {
        found.push(format!("{word} {rule}: {value}"));
    }
}

fn is_of_type(rule: &Value, value: &Value) -> bool {
    match rule.as_str().expect("a name") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("{other}"),
    }
}
