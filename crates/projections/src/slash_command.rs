//! Slash commands of agents' programs, as a person types them, or as Claude Code records them.

/// The slash command that a text is, with its arguments: `/review 12`. `None` if the text is none.
pub(crate) fn slash_command(text: &str) -> Option<String> {
    if let Some((_, rest)) = text.split_once("<command-name>") {
        let (name, _) = rest.split_once("</command-name>")?;
        let name = name.trim().trim_start_matches('/');
        let args = text
            .split_once("<command-args>")
            .and_then(|(_, rest)| rest.split_once("</command-args>"));
        let args = args.map_or("", |(args, _)| args.trim());
        return (!name.is_empty()).then(|| format!("/{name} {args}").trim_end().to_owned());
    }
    let first = text.trim_start().lines().next()?.trim();
    let name = first
        .strip_prefix('/')?
        .split_whitespace()
        .next()
        .unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    (!name.is_empty() && name.bytes().all(is_name)).then(|| first.to_owned())
}

/// The name of that command alone: `/review`.
pub(crate) fn slash_command_name(text: &str) -> Option<String> {
    let command = slash_command(text)?;
    command.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slash_commands_are_recognized() {
        for (text, expected) in [
            ("/review the cart", Some("/review")),
            (
                "<command-message>x</command-message>\n<command-name>/init</command-name>",
                Some("/init"),
            ),
            ("/usr/bin/env is missing", None),
            ("and/or", None),
            ("/", None),
        ] {
            assert_eq!(slash_command_name(text).as_deref(), expected, "{text}");
        }
    }
}
