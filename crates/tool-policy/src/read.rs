//! What a call would do, as far as its arguments say it.

use serde_json::Value;

use crate::call::Call;
use crate::host;
use crate::interpret::{self, Setting};
use crate::part::{Kind, Part, Reading, Resource, Type};
use crate::path::{self, Place};
use crate::tools::{self, Given};

/// Shells that get a command as one text: `["bash", "-lc", "..."]`.
const PATCHERS: [&str; 2] = ["apply_patch", "applypatch"];

/// Reads a call.
pub fn read(call: &Call) -> Reading {
    let mut reading = Reading::default();
    let (kind, action) = tools::kind(&call.tool);
    match kind {
        Kind::Run => command(call, action, &mut reading),
        Kind::Read | Kind::Edit => files(call, kind, action, &mut reading),
        Kind::Fetch => fetch(call, action, &mut reading),
        Kind::Mcp => reading.add(Part::new(Kind::Mcp, server_tool(&call.tool))),
        _ => reading.add(Part::new(Kind::Other, tool(&call.tool, "", &call.tool))),
    }
    if matches!(kind, Kind::Mcp | Kind::Other) {
        mentioned(call, &mut reading);
    }
    if reading.parts.is_empty() && reading.unsure.is_empty() {
        reading.doubt("the call does nothing that could be read");
    }
    reading
}

fn tool(name: &str, server: &str, tool: &str) -> Resource {
    Resource::new(Type::Tool, name, true)
        .text("name", name)
        .text("server", server)
        .text("tool", tool)
}

/// `mcp__SERVER__TOOL`
fn server_tool(name: &str) -> Resource {
    let rest = name.strip_prefix("mcp__").unwrap_or(name);
    let (server, called) = rest.split_once("__").unwrap_or((rest, ""));
    tool(name, server, called)
}

/// What a tool is given of which it is not known what it does: its files, addresses and commands can only
/// be forbidden.
fn mentioned(call: &Call, reading: &mut Reading) {
    let place = place(call);
    for path in tools::paths(&call.args).unwrap_or_default() {
        reading.add(Part::new(Kind::Mention, path::known(path, place)));
    }
    let address = ["url", "uri"]
        .iter()
        .find_map(|name| call.args.get(name)?.as_str());
    if let Some(url) = address.filter(|it| it.contains("://")) {
        match host::file_of(url) {
            Some(file) => reading.add(Part::new(Kind::Mention, path::known(file, place))),
            None => reading.add(Part::new(Kind::Mention, host::of_url(url))),
        }
    }
    let text = ["command", "cmd"]
        .iter()
        .find_map(|name| call.args.get(name)?.as_str());
    if let Some(text) = text {
        let mut inner = Reading::default();
        interpret::command(text, setting(call, call.cwd.as_deref()), &mut inner);
        for mut part in inner.parts {
            part.needs_permission = false;
            reading.add(part);
        }
        inner.unsure.into_iter().for_each(|it| reading.doubt(it));
    }
}

fn setting<'a>(call: &'a Call, cwd: Option<&'a str>) -> Setting<'a> {
    Setting {
        cwd,
        root: call.root(),
        home: call.home.as_deref(),
        branch: call.branch.as_deref(),
    }
}

fn command(call: &Call, action: &str, reading: &mut Reading) {
    let folder = tools::folder(&call.args);
    let place = place(call);
    let cwd = match folder {
        Some(folder) => path::absolute(folder, place),
        None => call.cwd.clone(),
    };
    let mut setting = setting(call, cwd.as_deref());
    setting.branch = setting.branch.filter(|_| folder.is_none());
    match tools::command(&call.args) {
        Some(Given::Words(words)) if is_patch(&words) => {
            patch(call, words.last().map_or("", String::as_str), reading);
        }
        Some(Given::Words(words)) => interpret::words(&words, setting, reading),
        Some(Given::Text(text)) => interpret::command(&text, setting, reading),
        None => reading.doubt(format!(
            "{} is given no command that could be read",
            call.tool
        )),
    }
    for part in reading
        .parts
        .iter_mut()
        .filter(|part| part.kind == Kind::Run)
    {
        action.clone_into(&mut part.action);
    }
}

fn is_patch(words: &[String]) -> bool {
    matches!(words, [program, _] if PATCHERS.contains(&program.as_str()))
}

fn place(call: &Call) -> Place<'_> {
    Place {
        dir: call.cwd.as_deref(),
        root: call.root(),
        home: call.home.as_deref(),
    }
}

fn patch(call: &Call, text: &str, reading: &mut Reading) {
    let Some(files) = tools::patched(text) else {
        reading.doubt("the patch names no file");
        return;
    };
    for file in files {
        let part = Part::new(Kind::Edit, path::known(file, place(call)));
        reading.add(part.by_tool("apply_patch"));
    }
}

fn files(call: &Call, kind: Kind, action: &str, reading: &mut Reading) {
    let text = match &call.args {
        Value::String(text) => Some(text.as_str()),
        args => ["input", "patch"]
            .iter()
            .find_map(|name| args.get(name)?.as_str()),
    };
    if let Some(text) = text.filter(|text| text.contains("*** Begin Patch")) {
        return patch(call, text, reading);
    }
    let Some(paths) = tools::paths(&call.args) else {
        return reading.doubt(format!("{} is given a path that is no text", call.tool));
    };
    let patterns = match kind {
        Kind::Read => tools::patterns(&call.args),
        _ => Vec::new(),
    };
    let place = place(call);
    if !names_files(&call.tool) {
        for file in filtered(call, paths.first().copied(), place) {
            reading.add(Part::new(kind, file).by_tool(action));
        }
    }
    let mut add = |resource| reading.add(Part::new(kind, resource).by_tool(action));
    match (paths.as_slice(), kind) {
        ([], Kind::Read) => add(path::known(".", place)),
        ([], _) => {
            return reading.doubt(format!("{} is given no path that could be read", call.tool));
        }
        (paths, _) => paths.iter().for_each(|it| add(path::known(it, place))),
    }
    // A pattern of Glob leads elsewhere; that of Grep is a text, and then it is no path.
    let leads = |it: &&str| it.starts_with(['/', '~']) || it.contains("..");
    for pattern in patterns
        .into_iter()
        .filter(leads)
        .filter(|_| names_files(&call.tool))
    {
        add(match pattern.contains(['*', '?', '[', '{']) {
            true => path::pattern(pattern, place),
            false => path::known(pattern, place),
        });
    }
}

/// The files that a search is about, where a pattern names one, or hidden ones.
fn filtered(call: &Call, folder: Option<&str>, place: Place<'_>) -> Vec<Resource> {
    let patterns = ["glob", "include", "glob_pattern"];
    let patterns = patterns
        .iter()
        .filter_map(|name| call.args.get(name)?.as_str());
    let file = |pattern: &str| {
        let name = pattern.rsplit('/').next().unwrap_or_default();
        let is_pattern = name.contains(['*', '?', '[', '{']);
        match (is_pattern, name.starts_with(['.', '[', '{', '?'])) {
            (true, true) => Some(path::unknown(pattern)),
            (true, false) => None,
            (false, _) => Some(path::known(
                &format!("{}/{name}", folder.unwrap_or(".")),
                place,
            )),
        }
    };
    patterns
        .filter(|it| !it.starts_with('!'))
        .filter_map(file)
        .collect()
}

/// Whether the pattern of a tool is one of file names.
fn names_files(tool: &str) -> bool {
    matches!(tool, "Glob" | "glob" | "file_search" | "read_many_files")
}

fn fetch(call: &Call, action: &str, reading: &mut Reading) {
    let text = |names: &[&str]| names.iter().find_map(|name| call.args.get(name)?.as_str());
    let urls: Vec<&str> = match text(&["url", "uri"]) {
        Some(url) => vec![url],
        None => {
            let listed = call.args.get("urls").and_then(Value::as_array);
            listed
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect()
        }
    };
    for url in &urls {
        if let Some(file) = host::file_of(url) {
            reading.add(Part::new(Kind::Read, path::known(file, place(call))));
        }
        reading.add(Part::new(Kind::Fetch, host::of_url(url)).by_tool(action));
    }
    if !urls.is_empty() {
        return;
    }
    let asked = text(&["query", "search_term", "q"]);
    // Gemini's tool takes a text that has URLs in it.
    let prompt = text(&["prompt"]);
    let in_prompt = prompt
        .into_iter()
        .flat_map(str::split_whitespace)
        .filter(|it| it.contains("://"));
    for url in in_prompt {
        let url = url.trim_matches(|c: char| "<>()[]\"'`,;".contains(c));
        reading.add(Part::new(Kind::Fetch, host::of_url(url)).by_tool(action));
    }
    if let (true, Some(query)) = (reading.parts.is_empty(), asked) {
        reading.add(Part::new(Kind::Fetch, host::search(query)).by_tool(action));
    }
    if reading.parts.is_empty() {
        reading.add(Part::new(Kind::Fetch, host::unknown(&call.tool)).by_tool(action));
    }
}
