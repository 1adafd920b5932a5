//! JSON whose members are in the order of their names, whichever order `serde_json` keeps in this build.

use serde_json::Value;

/// The value with the members of each object in the order of their names.
///
/// `serde_json` keeps them so, or in the order in which they were put in, by its feature `preserve_order`, which any
/// dependency of a program can turn on. What is stored, hashed or compared as text must not depend on that.
///
/// ```
/// let one = serde_json::json!({ "b": [{ "d": 1, "c": 2 }], "a": null });
/// assert_eq!(annals_wire::sorted(one).to_string(), r#"{"a":null,"b":[{"c":2,"d":1}]}"#);
/// ```
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            let members = members.into_iter();
            Value::Object(members.map(|(name, value)| (name, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        value => value,
    }
}
