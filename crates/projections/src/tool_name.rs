//! Names that say nothing of a tool.

/// Whether a source says no tool's name: none is known to it, or it tells no more than that the tool is of an MCP
/// server. The first source that says one names the tool.
pub(crate) fn is_generic(name: &str) -> bool {
    matches!(name.trim(), "" | "(unnamed)" | "mcp_tool")
}

#[cfg(test)]
mod tests {
    use super::is_generic;

    #[test]
    fn names_of_tools_are_not_generic() {
        for (name, generic) in [
            ("Bash", false),
            ("mcp__github__create_issue", false),
            ("mcp_tool_x", false),
            ("mcp_tool", true),
            (" (unnamed) ", true),
            ("", true),
        ] {
            assert_eq!(is_generic(name), generic, "{name}");
        }
    }
}
