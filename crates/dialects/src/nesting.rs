//! How deep a JSON text is nested, measured before it is parsed.

/// How deep a text's brackets are nested, those inside strings left out.
pub(crate) fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            b'"' if !escaped => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = in_string && !escaped && byte == b'\\';
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_are_not_deep() {
        assert_eq!(depth(r#"{"a":["[[[\"[["]}"#), 2);
        assert_eq!(depth(&"[".repeat(1_000)), 1_000);
        assert_eq!(depth("1"), 0);
    }
}
