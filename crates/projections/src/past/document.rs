//! An object as JSON, as far as its events say it.

use serde_json::Value;

use crate::ObjectView;

/// An object as `annals show --json` has it, without what does not follow from its own events: the check of its seal,
/// redactions, artifacts that have expired. Null before it exists.
///
/// Numbers that no 64-bit number is equal to are the nearest one.
///
/// # Errors
/// serde_json's; for a view that came out of a fold there are none.
pub fn document(view: Option<&ObjectView>) -> Result<Value, serde_json::Error> {
    let Some(view) = view else {
        return Ok(Value::Null);
    };
    // Not by way of the text: JSON in it may be as deep as a parser goes by itself.
    let mut document = serde_json::to_value(view)?;
    if let Value::Object(fields) = &mut document {
        for (name, json) in more(view)? {
            fields.insert(name.to_owned(), serde_json::from_str(&json)?);
        }
    }
    Ok(document)
}

/// The same as text, in the order of its fields.
///
/// # Errors
/// serde_json's; for a view that came out of a fold there are none.
pub fn document_text(view: &ObjectView) -> Result<String, serde_json::Error> {
    let mut text = view.to_json()?;
    let more = more(view)?;
    if text.ends_with('}') && !more.is_empty() {
        text.pop();
        for (name, json) in more {
            text.push_str(&format!(",\"{name}\":{json}"));
        }
        text.push('}');
    }
    Ok(text)
}

/// Fields, as JSON, that git-internal has no word for.
fn more(view: &ObjectView) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
    let mut more = Vec::new();
    if let Some(skew) = &view.header().skew {
        more.push(("clock_skew", serde_json::to_string(skew)?));
    }
    if let ObjectView::ToolInvocation(call) = view
        && call.life.is_told()
    {
        more.push(("life", serde_json::to_string(&call.life)?));
    }
    Ok(more)
}
