//! Tests of calls' lines, on arguments as agents gave them.

#![allow(clippy::unwrap_used)]

use annals_domain::run::ToolStatus;
use serde_json::{Value, json};

use super::{CallEnd, CallLine};

#[track_caller]
fn check(tool: &str, args: Value, expected: &str) {
    let line = CallLine::new(tool, Some(&args.to_string()));
    assert_eq!(line.to_string(), expected);
}

#[track_caller]
fn check_in(folder: &str, tool: &str, args: Value, expected: &str) {
    let text = args.to_string();
    let path = ["file_path", "path", "filePath"].iter();
    let path = path.into_iter().find_map(|name| args.get(name)?.as_str());
    let short = path.and_then(|path| path.strip_prefix(folder)).unwrap();
    let line = CallLine::new(tool, Some(&text)).touching([short]);
    assert_eq!(line.to_string(), expected);
}

#[test]
fn tools_of_claude_code() {
    check(
        "Bash",
        json!({"command": "mise run lint 2>&1 | head -100", "description": "Check lint errors"}),
        "Bash mise run lint 2>&1 | head -100",
    );
    let go = json!({"command": "go test ./cmd/entire/cli/... -count=1 -v -run \"Concurrent|EmptyBaseCommit\" 2>&1 | head -100", "description": "Run tests"});
    check(
        "Bash",
        go,
        "Bash go test ./cmd/entire/cli/... -count=1 -v -run \"Concurrent|EmptyBaseCommit\" 2>&1 | head -100",
    );
    let folder = "/Users/soph/Work/entire/devenv/cli/";
    let read = json!({"file_path": "/Users/soph/Work/entire/devenv/cli/cmd/entire/cli/hooks_claudecode_handlers.go", "offset": 124, "limit": 25});
    check_in(
        folder,
        "Read",
        read,
        "Read cmd/entire/cli/hooks_claudecode_handlers.go:124-148",
    );
    let edit = json!({
        "file_path": "/Users/aidancunniffe/Desktop/ghq/src/app/globals.css",
        "old_string": ":root {\n  --blue: #7cb7ff;\n  --red: #ff7c7c;\n}",
        "new_string": ":root {\n  --blue: #7cb7ff;\n  --red: #ff7c7c;\n  --green: #7cff7c;\n  --yellow: #ffff7c;\n}",
    });
    check_in(
        "/Users/aidancunniffe/Desktop/ghq/",
        "Edit",
        edit,
        "Edit src/app/globals.css +2 -0",
    );
    let edits = json!({"file_path": "/src/a.css", "edits": [
        {"old_string": "a\nb", "new_string": "a\nc"}, {"old_string": "d", "new_string": "", "replace_all": true}]});
    check("MultiEdit", edits, "MultiEdit /src/a.css +1 -2");
    let all = json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true});
    check("Edit", all, "Edit a (all) +1 -1");
    let owners = json!({"file_path": "/Users/alex/workspace/cli/.github/CODEOWNERS", "content": "# Default code owners for all files\n* @entireio/cli-maintainers\n"});
    check_in(
        "/Users/alex/workspace/cli/",
        "Write",
        owners,
        "Write .github/CODEOWNERS (2 lines)",
    );
    check(
        "Glob",
        json!({"pattern": "**/*.{tsx,jsx,ts,js}"}),
        "Glob **/*.{tsx,jsx,ts,js}",
    );
    check(
        "Glob",
        json!({"pattern": "**/docs/requirements/**/*.md", "path": "/Users/alex/workspace"}),
        "Glob **/docs/requirements/**/*.md in /Users/alex/workspace",
    );
    check(
        "Grep",
        json!({"pattern": "--red|--blue", "output_mode": "content"}),
        "Grep \"--red|--blue\"",
    );
    check(
        "Grep",
        json!({"pattern": "x", "path": "src", "glob": "*.rs"}),
        "Grep \"x\" in src (*.rs)",
    );
    check(
        "Task",
        json!({"subagent_type": "general-purpose", "description": "Reviewer checking PR #102", "prompt": "\nRead and follow the instructions"}),
        "Task general-purpose: Reviewer checking PR #102",
    );
    check(
        "Skill",
        json!({"skill": "reviewer", "args": "https://github.com/entireio/cli/pull/102"}),
        "Skill reviewer: https://github.com/entireio/cli/pull/102",
    );
    check(
        "WebFetch",
        json!({"url": "https://example.org/a", "prompt": "What is it?"}),
        "WebFetch https://example.org/a",
    );
    check(
        "WebSearch",
        json!({"query": "rust pager"}),
        "WebSearch \"rust pager\"",
    );
    check(
        "NotebookEdit",
        json!({"notebook_path": "/n.ipynb", "cell_id": "c1", "new_source": "x = 1"}),
        "NotebookEdit /n.ipynb cell c1 +1 -0",
    );
    check(
        "AskUserQuestion",
        json!({"questions": [{"question": "Which one?", "options": []}]}),
        "AskUserQuestion Which one?",
    );
    check(
        "ExitPlanMode",
        json!({"plan": "# Plan\n\n1. Do it"}),
        "ExitPlanMode # Plan 1. Do it",
    );
    check("BashOutput", json!({"bash_id": "b1"}), "BashOutput b1");
    check("KillShell", json!({"shell_id": "b1"}), "KillShell b1");
    check(
        "mcp__github__create_issue",
        json!({"owner": "o", "repo": "r", "title": "A bug", "labels": ["x"]}),
        "mcp__github__create_issue owner: o, repo: r, title: A bug",
    );
}

#[test]
fn lists_of_things_to_do() {
    let todos = json!({"todos": [
        {"content": "Update CSS variables", "status": "completed", "activeForm": "Updating CSS variables"},
        {"content": "Update HistoryLog.tsx", "status": "in_progress", "activeForm": "Updating HistoryLog.tsx"},
        {"content": "Update EvalBar.tsx", "status": "pending", "activeForm": "Updating EvalBar.tsx"},
    ]});
    check(
        "TodoWrite",
        todos,
        "TodoWrite 1 of 3 done, now: Update HistoryLog.tsx",
    );
    let plan = json!({"explanation": "begin", "plan": [
        {"step": "Look", "status": "pending"}, {"step": "Write", "status": "pending"}]});
    check("update_plan", plan, "update_plan 0 of 2 done, first: Look");
    let tasks =
        json!({"command": "plan", "task_list": [{"title": "Look", "status": "done", "notes": ""}]});
    check("task_tracker", tasks, "task_tracker 1 of 1 done");
}

#[test]
fn tools_of_codex() {
    let patch = "*** Begin Patch\n*** Update File: src/main.rs\n@@\n-fn main() {}\n+fn greet() { println!(\"hello\"); }\n+fn main() { greet(); }\n*** End Patch";
    let expected = "apply_patch src/main.rs +2 -1";
    check("apply_patch", json!({ "patch": patch }), expected);
    check("apply_patch", json!({ "input": patch }), expected);
    check("apply_patch", json!(patch), expected);
    check(
        "shell_command",
        json!({"command": "cargo test", "workdir": "/Users/test/projects/git-ai"}),
        "shell_command cargo test",
    );
    check(
        "shell",
        json!({"command": ["bash", "-lc", "rg -n x\nls"]}),
        "shell rg -n x ⏎ ls",
    );
    check(
        "shell",
        json!({"command": ["apply_patch", patch]}),
        "shell src/main.rs +2 -1",
    );
    check(
        "exec_command",
        json!({"cmd": "git status", "yield_time_ms": 1000}),
        "exec_command git status",
    );
    let of_two = "*** Begin Patch\n*** Add File: a\n+1\n+2\n*** Delete File: b\n*** End Patch\n";
    check(
        "apply_patch",
        json!({ "input": of_two }),
        "apply_patch a +2 -0, b +0 -0",
    );
    // Arguments as the text that the model wrote.
    check(
        "shell",
        json!("{\"command\":[\"ls\",\"-l\"]}"),
        "shell ls -l",
    );
    check(
        "web_search",
        json!({"type": "search", "query": "rust"}),
        "web_search \"rust\"",
    );
    check(
        "write_stdin",
        json!({"session_id": 7, "chars": "y\n"}),
        "write_stdin y",
    );
    check("view_image", json!({"path": "a.png"}), "view_image a.png");
}

#[test]
fn tools_of_openhands() {
    check(
        "terminal",
        json!({"security_risk": "LOW", "summary": "Build session URL from environment", "command": "SESSION_URL=\"${AUTOMATION_SESSION_URL:-}\"\necho \"SESSION_URL=${SESSION_URL}\""}),
        "terminal SESSION_URL=\"${AUTOMATION_SESSION_URL:-}\" ⏎ echo \"SESSION_URL=${SESSION_URL}\"",
    );
    check(
        "str_replace_editor",
        json!({"command": "create", "path": "/workspace/game_2048.py", "file_text": "import random\nimport keyboard\n"}),
        "str_replace_editor create /workspace/game_2048.py (2 lines)",
    );
    let editor = "file_editor";
    check(
        editor,
        json!({"command": "view", "path": "/w/a.py", "view_range": [10, -1]}),
        "file_editor view /w/a.py:10-",
    );
    check(
        editor,
        json!({"command": "str_replace", "path": "/w/a.py", "old_str": "a", "new_str": "b\nc"}),
        "file_editor str_replace /w/a.py +2 -1",
    );
    check(
        editor,
        json!({"command": "insert", "path": "/w/a.py", "insert_line": 3, "new_str": "b"}),
        "file_editor insert /w/a.py +1 -0",
    );
    check(
        editor,
        json!({"command": "undo_edit", "path": "a"}),
        "file_editor undo_edit a",
    );
    check(
        "execute_bash",
        json!({"command": "ls", "is_input": "false"}),
        "execute_bash ls",
    );
    check(
        "execute_ipython_cell",
        json!({"code": "1 + 1"}),
        "execute_ipython_cell 1 + 1",
    );
    check(
        "browse",
        json!({"url": "https://example.org"}),
        "browse https://example.org",
    );
    check("think", json!({"thought": "Is it?"}), "think Is it?");
    check(
        "finish",
        json!({"message": "Done.\nAll of it."}),
        "finish Done. All of it.",
    );
    check(
        "finish",
        json!({"outputs": {}, "final_thought": ""}),
        "finish",
    );
    check(
        "delegate",
        json!({"agent": "BrowsingAgent", "inputs": {"task": "look"}, "thought": "t"}),
        "delegate BrowsingAgent: look",
    );
}

#[test]
fn tools_of_swe_agent() {
    // The model writes commands, and the tool is the first word.
    check(
        "bash",
        json!({"command": "pip install -e .[dev]"}),
        "bash pip install -e .[dev]",
    );
    check(
        "open",
        json!({"command": "open \"setup.py\""}),
        "open \"setup.py\"",
    );
    check(
        "find_file",
        json!({"command": "find_file fields.py src"}),
        "find_file fields.py src",
    );
    check(
        "edit",
        json!({
            "command": "edit 'return int(value)' '# round\n        return int(round(value))'",
            "open_file": "src/marshmallow/fields.py",
        }),
        "edit src/marshmallow/fields.py: 'return int(value)' '# round ⏎ return int(round(value))'",
    );
    check("submit", json!({"command": "submit"}), "submit");
    // The model calls functions.
    check(
        "open",
        json!({"path": "a.py", "line_number": 30}),
        "open a.py:30-",
    );
    check(
        "edit",
        json!({"search": "x\ny", "replace": "x\nz", "replace-all": false, "open_file": "a.py"}),
        "edit a.py +1 -1",
    );
    check(
        "search_dir",
        json!({"search_term": "x", "dir": "src"}),
        "search_dir \"x\" in src",
    );
    check(
        "find_file",
        json!({"file_name": "a*", "dir": "src"}),
        "find_file a* in src",
    );
    check("create", json!({"filename": "a.py"}), "create a.py");
}

#[test]
fn tools_of_gemini_cli_copilot_cli_opencode_and_cursor() {
    check(
        "read_file",
        json!({"file_path": ".planning/ONE-PAGER.md"}),
        "read_file .planning/ONE-PAGER.md",
    );
    check(
        "run_command",
        json!({"command": "ls -la"}),
        "run_command ls -la",
    );
    check(
        "write_file",
        json!({"file_path": "test-gemini.txt", "content": "hello from gemini,how are you"}),
        "write_file test-gemini.txt (1 line)",
    );
    check_in(
        "/Users/svarlamov/projects/testing-git/",
        "replace",
        json!({"old_string": "console.log('hello world');", "new_string": "console.log('hello world');\nconsole.log('hello bob');", "file_path": "/Users/svarlamov/projects/testing-git/index.ts"}),
        "replace index.ts +1 -0",
    );
    check(
        "read_many_files",
        json!({"paths": ["a", "b", "c", "d"]}),
        "read_many_files a, b, c and 1 more",
    );
    check(
        "google_web_search",
        json!({"query": "q"}),
        "google_web_search \"q\"",
    );
    check("save_memory", json!({"fact": "tabs"}), "save_memory tabs");
    check_in(
        "/Users/test/project/",
        "create",
        json!({"path": "/Users/test/project/hello.py", "file_text": "print('hello world')\n"}),
        "create hello.py (1 line)",
    );
    check(
        "view",
        json!({"path": "a", "view_range": [1, 20]}),
        "view a:1-20",
    );
    check_in(
        "/Users/test/project/",
        "edit",
        json!({"filePath": "/Users/test/project/index.ts", "content": "// sqlite path\\nconsole.log(\"sqlite\");"}),
        "edit index.ts (1 line)",
    );
    check(
        "Read",
        json!({"path": "/Users/a/shows.txt", "limit": 40}),
        "Read /Users/a/shows.txt:1-40",
    );
    check(
        "WebSearch",
        json!({"search_term": "HBO original series 1990s list complete", "explanation": "Find a list"}),
        "WebSearch \"HBO original series 1990s list complete\"",
    );
    check(
        "Write",
        json!({"path": "a.txt", "contents": "x\ny"}),
        "Write a.txt (2 lines)",
    );
    check(
        "edit_file",
        json!({"target_file": "a.rs", "instructions": "i", "code_edit": "x"}),
        "edit_file a.rs",
    );
}

#[test]
fn unknown_tools_say_their_most_telling_argument() {
    check("deploy", json!({}), "deploy");
    check("deploy", json!({"to": "production"}), "deploy production");
    check(
        "deploy",
        json!({"to": "production", "replicas": 3}),
        "deploy to: production, replicas: 3",
    );
    check(
        "note",
        json!({"level": 3, "title": "Look at this", "body": "..."}),
        "note Look at this",
    );
    check("odd", json!([1, [2]]), "odd [1,[2]]");
    check("odd", json!(null), "odd");
    check("odd", json!({"nested": {"path": "x"}}), "odd");
    check(
        "odd",
        json!({"path": 5, "command": {}, "todos": [1]}),
        "odd 5",
    );
    assert_eq!(CallLine::new("odd", None).to_string(), "odd");
    assert_eq!(
        CallLine::new("odd", Some("no { json")).to_string(),
        "odd no { json"
    );
    assert_eq!(CallLine::removed("Bash").to_string(), "Bash [removed]");
}

#[test]
fn a_line_is_one_line_and_short() {
    let hostile = "a\u{1b}[2J\r\n\tb\u{7f}c\u{9b}d";
    for tool in ["Bash", hostile] {
        for name in ["command", "path", "query", "url", "title", hostile] {
            let line = CallLine::new(tool, Some(&json!({ name: hostile }).to_string()));
            let end = CallEnd::new(ToolStatus::Error)
                .with_result(hostile)
                .with_failure(hostile);
            let text = line.ended(&end).to_string();
            assert!(!text.chars().any(char::is_control), "{text:?}");
        }
    }
    let long = CallLine::new(
        "Bash",
        Some(&json!({"command": "é".repeat(100_000)}).to_string()),
    );
    assert_eq!(long.to_string().chars().count(), "Bash ".len() + 301);
    let lines = "line\n".repeat(30_000);
    let edit = json!({"path": "a", "old_str": lines, "new_str": ""});
    check("edit", edit, "edit a");
}

#[test]
fn how_a_call_ended() {
    let bash = || CallLine::new("Bash", Some(r#"{"command":"make"}"#));
    let line = |call: CallLine, status, took: Option<u64>, result: &str| {
        let end = CallEnd::new(status)
            .with_duration_ms(took)
            .with_result(result);
        call.ended(&end).to_string()
    };
    let (ok, error) = (ToolStatus::Ok, ToolStatus::Error);
    assert_eq!(line(bash(), ok, None, "done"), "Bash make");
    assert_eq!(line(bash(), ok, Some(999), "Exit code 1"), "Bash make");
    assert_eq!(line(bash(), ok, Some(7_234), ""), "Bash make (7.2 s)");
    for (result, expected) in [
        // Claude Code, Codex by two of its versions, Gemini CLI, OpenHands, mini-swe-agent.
        ("Exit code 2\nmake: *** no rule", " -> exit 2 (7.2 s)"),
        (
            "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno",
            " -> exit 1 (7.2 s)",
        ),
        (
            "Chunk ID: a\nWall time: 1\nProcess exited with code 101\nOutput:",
            " -> exit 101 (7.2 s)",
        ),
        (
            "Command: make\nDirectory: .\nOutput: x\nError: y\nExit Code: 3",
            " -> exit 3 (7.2 s)",
        ),
        (
            "no\n[The command completed with exit code 127.]",
            " -> exit 127 (7.2 s)",
        ),
        ("<returncode>1</returncode>\n<output>", " -> exit 1 (7.2 s)"),
        // A program may print anything.
        (
            "it says: exit code 3\nFAIL a.js",
            " -> failed (7.2 s): it says: exit code 3",
        ),
        ("Exit code 0", " -> failed (7.2 s): Exit code 0"),
        ("", " -> failed (7.2 s)"),
    ] {
        assert_eq!(
            line(bash(), error, Some(7_234), result),
            format!("Bash make{expected}")
        );
    }
    let edit = || {
        CallLine::new(
            "Edit",
            Some(r#"{"file_path":"a","old_string":"x","new_string":""}"#),
        )
    };
    assert_eq!(
        line(
            edit(),
            error,
            Some(40),
            "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>"
        ),
        "Edit a +0 -1 -> failed (0.0 s): String to replace not found in file."
    );
    assert_eq!(
        line(edit(), error, None, "Exit code 1"),
        "Edit a +0 -1 -> failed: Exit code 1"
    );
    let end = CallEnd::new(error)
        .with_result("half")
        .with_failure("it hung");
    assert_eq!(
        bash().ended(&end).to_string(),
        "Bash make -> failed: it hung"
    );
}

#[test]
fn a_path_is_short_where_it_is_that_of_a_touched_file() {
    let args = r#"{"file_path":"/a/b/c.rs","offset":3}"#;
    let line = |files: &[&str]| {
        let line = CallLine::new("Read", Some(args));
        line.touching(files.iter().copied()).to_string()
    };
    assert_eq!(line(&["b/c.rs"]), "Read b/c.rs:3-");
    assert_eq!(line(&["x", "c.rs"]), "Read c.rs:3-");
    assert_eq!(line(&[".rs", "", "/a/b/c.rs"]), "Read /a/b/c.rs:3-");
}

#[test]
fn its_parts_make_the_line() {
    let line = CallLine::new("Edit", Some(r#"{"path":"a","old_str":"","new_str":"x"}"#));
    let line = line.after("requested: ").followed_by(" (call 1)");
    assert_eq!(
        (line.head().as_str(), line.what(), line.tail().as_str()),
        ("requested: Edit ", "a", " +1 -0 (call 1)")
    );
    assert_eq!(line.to_string(), "requested: Edit a +1 -0 (call 1)");
}
