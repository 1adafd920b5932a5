//! A comparison of a field with a literal, as a condition on an object.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use annals_event_log::{Classification, Classified, ErrorClass};
use chrono::{DateTime, FixedOffset};
use serde_json::Value;

use super::field_name::FieldName;

/// Characters of a text that is quoted in an error.
const QUOTED: usize = 120;

/// A condition on an object: a field, an operator, a JSON literal.
///
/// | Form | Holds where |
/// | --- | --- |
/// | `FIELD == JSON` | the field is there and has this value |
/// | `FIELD != JSON` | it has another one, or is not there |
/// | `FIELD < JSON`, `<=`, `>`, `>=` | both are numbers, both times or both texts, and compare so |
/// | `FIELD exists`, or `FIELD` alone | the field is there |
/// | `FIELD absent` | it is not |
///
/// ```
/// use annals_projections::past::Condition;
/// use serde_json::json;
///
/// let failed: Condition = r#"/status == "failed""#.parse()?;
/// assert!(failed.holds(&json!({ "status": "failed" })));
/// assert!(!failed.holds(&json!({})));
/// # Ok::<(), annals_projections::past::InvalidCondition>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    field: FieldName,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Exists,
    Absent,
    Compare(Operator, Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The operators, those first that begin like another one.
const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// A text that is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid condition {text:?}: {reason}. Expected FIELD OP JSON, where OP is ==, !=, <, <=, > or >=, FIELD exists or \
     FIELD absent; for example '/status==\"failed\"'"
)]
pub struct InvalidCondition {
    text: String,
    reason: String,
}

impl Classified for InvalidCondition {
    fn classify(&self) -> Classification {
        ErrorClass::Invalid.code("invalid_condition")
    }
}

impl Condition {
    /// Whether it holds for a document.
    pub fn holds(&self, document: &Value) -> bool {
        let found = self.field.find(document);
        match &self.test {
            Test::Exists => found.is_some(),
            Test::Absent => found.is_none(),
            Test::Compare(operator, literal) => operator.compare(found, literal),
        }
    }

    /// The field that it looks at.
    pub fn field(&self) -> &FieldName {
        &self.field
    }
}

impl Operator {
    fn compare(self, found: Option<&Value>, literal: &Value) -> bool {
        let equal = found.is_some_and(|found| is_equal(found, literal));
        let order = || found.and_then(|found| order(found, literal));
        match self {
            Operator::Equal => equal,
            Operator::Unequal => !equal,
            Operator::Less => order() == Some(Ordering::Less),
            Operator::LessOrEqual => order().is_some_and(Ordering::is_le),
            Operator::Greater => order() == Some(Ordering::Greater),
            Operator::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
        }
    }
}

/// Numbers are equal by what they are, not by how they are written: 1 and 1.0.
fn is_equal(a: &Value, b: &Value) -> bool {
    a == b || (a.is_number() && order(a, b) == Some(Ordering::Equal))
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let whole =
                |n: &serde_json::Number| n.as_i64().map(i128::from).or(n.as_u64().map(i128::from));
            match (whole(a), whole(b)) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
            }
        }
        (Value::String(a), Value::String(b)) => match (time(a), time(b)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => Some(a.cmp(b)),
        },
        _ => None,
    }
}

fn time(text: &str) -> Option<DateTime<FixedOffset>> {
    DateTime::parse_from_rfc3339(text).ok()
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Condition {
    type Err = InvalidCondition;

    fn from_str(text: &str) -> Result<Condition, InvalidCondition> {
        let invalid = |reason: String| InvalidCondition {
            text: text.chars().take(QUOTED).collect(),
            reason,
        };
        let trimmed = text.trim();
        let (field, test) = match split(trimmed).map_err(&invalid)? {
            Some((field, operator, literal)) => {
                let literal = literal.trim();
                let value = serde_json::from_str(literal);
                let value = value.map_err(|_| invalid(no_literal(literal)))?;
                (field, Test::Compare(operator, value))
            }
            None => match trimmed.rsplit_once(char::is_whitespace) {
                Some((field, "exists")) => (field, Test::Exists),
                Some((field, "absent")) => (field, Test::Absent),
                Some((_, word)) => {
                    return Err(invalid(format!("unknown operator {word:?}")));
                }
                None => (trimmed, Test::Exists),
            },
        };
        let field = field.trim().parse::<FieldName>();
        let field = field.map_err(|error| invalid(error.to_string()))?;
        Ok(Condition {
            text: trimmed.to_owned(),
            field,
            test,
        })
    }
}

/// The field, the operator and the literal. What is in brackets is of the field, and in quotes there:
/// `frames[frame_id=7]`, `tags["a]=b"]`. In a JSON Pointer a bracket is a letter like others.
fn split(text: &str) -> Result<Option<(&str, Operator, &str)>, String> {
    let is_pointer = text.starts_with('/');
    let (mut depth, mut is_quoted, mut is_escaped) = (0_u32, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' if depth > 0 => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '[' if !is_pointer => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '=' | '!' | '<' | '>' if depth == 0 => return operation(text, at).map(Some),
            _ => {}
        }
    }
    Ok(None)
}

/// The field before an operator, the operator, and the literal behind it.
fn operation(text: &str, at: usize) -> Result<(&str, Operator, &str), String> {
    let (field, rest) = text.split_at(at);
    let mut operators = OPERATORS.iter();
    let found = operators.find_map(|(word, operator)| Some((*operator, rest.strip_prefix(word)?)));
    match found {
        Some((operator, literal)) => Ok((field, operator, literal)),
        None => Err(format!(
            "unknown operator {:?}",
            rest.chars().next().unwrap_or_default()
        )),
    }
}

fn no_literal(literal: &str) -> String {
    if literal.is_empty() {
        return "the literal is missing".to_owned();
    }
    let is_word = literal
        .chars()
        .all(|c| c.is_alphanumeric() || "_-.:".contains(c));
    match is_word {
        true => format!("{literal} is not JSON; a text has quotes: \"{literal}\""),
        false => format!("{literal} is not JSON"),
    }
}
