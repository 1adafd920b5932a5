//! JSON text as the same nodes as YAML's, without lines: what an agent answers is
//! not a file in which a person would look for one.

use annals_domain::Pairs;
use serde_json::value::RawValue;

use super::data::{Entries, Node, Scalar, Value};
use super::error::{ForgeError, Read};
use super::text::check_size;
use super::yaml::MOST_NESTING;
use crate::nesting::depth;

/// Reads a JSON text. Numbers keep their spelling.
pub(super) fn read(text: &str) -> Read<Node> {
    check_size(text.len())?;
    if depth(text) > MOST_NESTING {
        return Err(ForgeError::TooDeep {
            line: None,
            limit: MOST_NESTING,
        });
    }
    node(text)
}

fn invalid(error: &serde_json::Error) -> ForgeError {
    ForgeError::Json {
        line: (error.line() > 0).then_some(error.line() as u64),
        reason: error.to_string(),
    }
}

/// One value. It calls itself for what is inside, which [`read`] has bounded.
fn node(text: &str) -> Read<Node> {
    let text = text.trim();
    let value = match text.as_bytes().first() {
        Some(b'{') => {
            let Pairs(pairs) =
                serde_json::from_str::<Pairs<&RawValue>>(text).map_err(|error| invalid(&error))?;
            let mut entries = Entries::default();
            for (key, value) in pairs {
                entries.push(Scalar::Text(key), None, node(value.get())?);
            }
            entries.finish()
        }
        Some(b'[') => {
            let items = serde_json::from_str::<Vec<&RawValue>>(text);
            let items = items.map_err(|error| invalid(&error))?;
            let nodes: Read<Vec<Node>> = items.into_iter().map(|it| node(it.get())).collect();
            Value::List(nodes?)
        }
        Some(b'"') => {
            let text = serde_json::from_str(text).map_err(|error| invalid(&error))?;
            Value::Scalar(Scalar::Text(text))
        }
        _ => {
            let raw = serde_json::from_str::<&RawValue>(text).map_err(|error| invalid(&error))?;
            Value::Scalar(Scalar::bare(raw.get().to_owned()))
        }
    };
    Ok(Node { line: None, value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::data::Data;

    fn data(text: &str) -> Read<Data> {
        read(text)?.into_data()
    }

    #[test]
    fn numbers_keep_their_spelling_and_keys_their_order() {
        let big = "123456789012345678901234567890";
        let read = data(&format!(r#"{{"b": {big}, "a": [1e3, null, "1"]}}"#));
        let bare = |text: &str| Data::Scalar(Scalar::Bare(text.to_owned()));
        let list = Data::List(vec![bare("1e3"), bare("null"), Data::text("1")]);
        let key = |text: &str| Scalar::Text(text.to_owned());
        let expected = Data::Map(vec![(key("b"), bare(big)), (key("a"), list)]);
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", "{", "{a: 1}", "nul", "[1,]", r#""\ud800""#, "1 2"] {
            assert!(matches!(data(text), Err(ForgeError::Json { .. })), "{text}");
        }
        let twice = data(r#"{"a": 1, "a": 2}"#);
        assert!(matches!(
            twice,
            Err(ForgeError::DuplicateKey { line: None, .. })
        ));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = |levels: usize| data(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
        assert!(deep(MOST_NESTING).is_ok());
        let refused = |read| matches!(read, Err(ForgeError::TooDeep { .. }));
        assert!(refused(deep(MOST_NESTING + 1)));
        assert!(refused(deep(10_000)));
    }
}
