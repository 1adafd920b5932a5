//! Compares what two records say of one tool call.

use serde_json::{Number, Value};

use crate::tool_name::is_generic;

/// Returns `true` if a record names another tool, or has other arguments, than what was known of the call before. A call
/// is given by the tool's name and the arguments' JSON; `None` inside the arguments is a text that was removed. What only
/// one of the two says is no difference.
pub(crate) fn is_another_call(
    (name, args): (Option<&str>, Option<Option<&str>>),
    (other_name, other_args): (Option<&str>, Option<Option<&str>>),
) -> bool {
    let known = |name: &&str| !is_generic(name);
    let is_other_name = match (name.filter(known), other_name.filter(known)) {
        (Some(name), Some(other)) => name != other,
        _ => false,
    };
    let is_other_args = match (args, other_args) {
        (Some(args), Some(other)) => !are_same_args(args, other),
        _ => false,
    };
    is_other_name || is_other_args
}

/// Compares arguments. Of those that were removed nothing says that they were the same.
fn are_same_args(args: Option<&str>, other: Option<&str>) -> bool {
    match (args, other) {
        (Some(args), Some(other)) => args == other || are_same_json(args, other),
        (None, None) => true,
        _ => false,
    }
}

fn are_same_json(json: &str, other: &str) -> bool {
    let parsed = |text| serde_json::from_str::<Value>(text).ok();
    match (parsed(json), parsed(other)) {
        (Some(value), Some(other)) => are_same(&value, &other),
        _ => false,
    }
}

/// Compares values regardless of the order of keys and of the spelling of numbers.
fn are_same(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Number(number), Value::Number(other)) => are_same_numbers(number, other),
        (Value::Array(values), Value::Array(others)) => {
            let mut pairs = values.iter().zip(others);
            values.len() == others.len() && pairs.all(|(value, other)| are_same(value, other))
        }
        (Value::Object(fields), Value::Object(others)) => {
            let has_same = |(name, value)| {
                let other: Option<&Value> = others.get(name);
                other.is_some_and(|other| are_same(value, other))
            };
            fields.len() == others.len() && fields.iter().all(has_same)
        }
        _ => value == other,
    }
}

/// Whole numbers are compared as such: as floats, large ones that differ are equal.
fn are_same_numbers(number: &Number, other: &Number) -> bool {
    let is_whole = |it: &Number| it.is_i64() || it.is_u64();
    match is_whole(number) && is_whole(other) {
        true => number == other,
        false => number == other || number.as_f64() == other.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_arguments_may_be_written_otherwise() {
        for (args, other, expected) in [
            (r#"{"a":1,"b":[2]}"#, r#"{ "b": [2.0], "a": 1e0 }"#, false),
            (r#"{"a":"x"}"#, r#"{"a":"\u0078"}"#, false),
            (r#"{"a":"x"}"#, r#"{"a":"x","b":null}"#, true),
            (r#"{"a":"ls"}"#, r#"{"a":"rm"}"#, true),
            ("18446744073709551615", "18446744073709551614", true),
            ("[1,2]", "[2,1]", true),
            ("[1]", "[1,1]", true),
        ] {
            let args = (Some("Bash"), Some(Some(args)));
            let found = is_another_call(args, (Some("Bash"), Some(Some(other))));
            assert_eq!(found, expected, "{args:?} {other}");
        }
    }

    #[test]
    fn what_only_one_record_says_is_no_difference() {
        let args = |text| Some(Some(text));
        for (known, told, expected) in [
            ((Some("Bash"), None), (Some("Bash"), args("{}")), false),
            ((Some("Bash"), args("{}")), (Some("Bash"), None), false),
            ((Some("Bash"), args("{}")), (Some("Write"), None), true),
            ((None, args("{}")), (Some("Write"), args("{}")), false),
            ((Some("Bash"), args("{}")), (Some("Bash"), Some(None)), true),
            (
                (Some("Bash"), Some(None)),
                (Some("Bash"), Some(None)),
                false,
            ),
        ] {
            assert_eq!(is_another_call(known, told), expected, "{known:?} {told:?}");
        }
    }
}
