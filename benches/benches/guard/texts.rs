//! Texts that cases read: source code as agents print it, and a line of a recording.

use serde_json::json;

/// Source code, of so many bytes and a few more. No two lines are the same, some look a
/// little like secrets, and none is one.
pub(crate) fn source(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 256);
    let mut number = 0_u64;
    while text.len() < bytes {
        number += 1;
        let word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        text.push_str(&match number % 8 {
            0 => format!("    let token_count_{number} = count(&tokens[..{number}])?;\n"),
            1 => format!("// See https://example.org/issues/{number}#comment-{word}\n"),
            2 => format!("    assert_eq!(digest, \"{word:016x}{word:016x}\");\n"),
            3 => format!("password = prompt(\"Password for user {number}: \")\n"),
            4 => format!("{{\"id\": {number}, \"name\": \"case {number}\", \"ok\": true}}\n"),
            5 => format!("warning: unused variable: `key_{number}` --> src/lib.rs:{number}:9\n"),
            6 => "    }\n\n".to_owned(),
            _ => format!("pub fn read_{number}(input: &str) -> Result<Vec<Key>, Error> {{\n"),
        });
    }
    text
}

/// Lines of a recording of Claude Code: a prompt, and then so many texts of the model, with
/// another one each.
pub(crate) fn recording(lines: usize) -> String {
    let said = source(2_000);
    let line = |number: usize, kind: &str, message: serde_json::Value| {
        json!({
            "type": kind,
            "uuid": format!("5f1d2c3b-0a4e-4c6d-8b7a-{number:012}"),
            "parentUuid": null,
            "sessionId": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
            "cwd": "/src/app",
            "version": "1.0.0",
            "gitBranch": "main",
            "isSidechain": false,
            "timestamp": format!("2026-01-02T03:{:02}:{:02}.678Z", number / 60, number % 60),
            "message": message,
        })
        .to_string()
    };
    let prompt = json!({ "role": "user", "content": "Make the parser faster" });
    let mut text = line(0, "user", prompt) + "\n";
    for number in 1..=lines {
        let message = json!({
            "id": format!("msg_{number:06}"),
            "role": "assistant",
            "model": "model-1",
            "content": [{ "type": "text", "text": format!("{number}: {said}") }],
            "usage": { "input_tokens": 100, "output_tokens": 300 },
        });
        text.push_str(&line(number, "assistant", message));
        text.push('\n');
    }
    text
}
