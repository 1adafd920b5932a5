//! What a call would do, as far as its arguments say it.

use serde_json::Value;

use crate::call::Call;
use crate::interpret::{self, Setting};
use crate::part::{Kind, Part, Reading, Resource, Type};
use crate::path::{self, Place};
use crate::tools::{self, Given, Typed};
use crate::{globs, host, simple, wrap};

/// Shells that get a command as one text: `["bash", "-lc", "..."]`.
const PATCHERS: [&str; 2] = ["apply_patch", "applypatch"];

/// Reads a call.
pub fn read(call: &Call) -> Reading {
    let mut reading = Reading::default();
    let (kind, action) = tools::kind(&call.tool);
    if let Some(text) = tools::typed(&call.tool, &call.args) {
        reading.add(Part::new(Kind::Other, tool(&call.tool, "", &call.tool)));
        typed(call, text, &mut reading);
        return reading;
    }
    match kind {
        Kind::Run => commands(call, action, &mut reading),
        Kind::Read | Kind::Edit => files(call, kind, action, &mut reading),
        Kind::Fetch => fetch(call, action, &mut reading),
        Kind::Mcp => server_tool(&call.tool, &mut reading),
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

/// `mcp__SERVER__TOOL`, or `mcp_SERVER_TOOL`, in which the server's name ends at the first line: `mcp_A_B_C` may be `B_C` of
/// `A` and `C` of `A_B`.
fn server_tool(name: &str, reading: &mut Reading) {
    let (rest, line) = match name.strip_prefix("mcp__") {
        Some(rest) => (rest, "__"),
        None => (name.strip_prefix("mcp_").unwrap_or(name), "_"),
    };
    let (server, called) = rest.split_once(line).unwrap_or((rest, ""));
    reading.add(Part::new(Kind::Mcp, tool(name, server, called)));
    if line == "_" && called.contains('_') {
        reading.doubt("the name does not say where the server's ends and the tool's begins");
    }
}

/// What is typed into a program that runs already. That may be a shell, or anything else: it is read as commands, and
/// a person is asked.
fn typed(call: &Call, text: Typed<'_>, reading: &mut Reading) {
    if matches!(text, Typed::Text(text) if tools::is_answer(text)) {
        return;
    }
    if let Typed::Text(text) = text {
        commanded(call, text, call.cwd.as_deref(), reading);
    }
    reading.doubt("the text is typed into a program that runs already, which may be a shell");
}

/// Adds the parts of a command that can only be forbidden.
fn commanded(call: &Call, text: &str, cwd: Option<&str>, reading: &mut Reading) {
    let mut inner = Reading::default();
    interpret::command(text, setting(call, cwd), &mut inner);
    for mut part in inner.parts {
        part.needs_permission = false;
        reading.add(part);
    }
    inner.unsure.into_iter().for_each(|it| reading.doubt(it));
}

/// What a tool is given of which it is not known what it does: its files, addresses and commands can only
/// be forbidden.
fn mentioned(call: &Call, reading: &mut Reading) {
    let dir = folder(call, &tools::FOLDERS);
    let place = place(call, dir.as_deref());
    let named = tools::named(&call.args);
    for path in named.paths {
        reading.add(Part::new(Kind::Mention, path::known(path, place)));
    }
    for url in named.addresses {
        match host::file_of(url) {
            Some(_) => reading.add(Part::new(Kind::Mention, path::known(url, place))),
            None => reading.add(Part::new(Kind::Mention, host::of_url(url))),
        }
    }
    let cwd = folder(call, &tools::COMMAND_FOLDERS);
    for text in &named.commands {
        commanded(call, text, cwd.as_deref(), reading);
    }
    let name = call.tool.to_ascii_lowercase();
    if !named.commands.is_empty() && (name == "powershell" || name == "pwsh") {
        reading.doubt("PowerShell has a grammar of its own");
    }
    let runs = ["code", "eval", "exec", "python", "repl", "run"];
    if !named.codes.is_empty() && runs.iter().any(|it| name.contains(it)) {
        reading.doubt(format!(
            "{} is given code, which can do anything",
            call.tool
        ));
    }
    if named.is_cut {
        reading.doubt(format!("{} is given more than is read", call.tool));
    }
}

/// Returns the argument that names the folder in which a call runs, if it has one.
fn named_folder<'a>(call: &'a Call, names: &[&str]) -> Option<&'a Value> {
    let mut named = names.iter().filter_map(|name| call.args.get(name));
    named.find(|value| !value.is_null())
}

/// Returns the folder in which a call runs: the one that it names, or else the session's. None if it is not known.
fn folder(call: &Call, names: &[&str]) -> Option<String> {
    let cwd = call.cwd.as_deref();
    match named_folder(call, names) {
        Some(named) => path::absolute(named.as_str()?, place(call, cwd)),
        None => cwd.map(str::to_owned),
    }
}

fn setting<'a>(call: &'a Call, cwd: Option<&'a str>) -> Setting<'a> {
    let is_elsewhere = named_folder(call, &tools::COMMAND_FOLDERS).is_some();
    Setting {
        cwd,
        root: call.root(),
        home: call.home.as_deref(),
        branch: call.branch.as_deref().filter(|_| !is_elsewhere),
    }
}

fn command(call: &Call, action: &str, reading: &mut Reading) {
    let cwd = folder(call, &tools::COMMAND_FOLDERS);
    let setting = setting(call, cwd.as_deref());
    match tools::command(&call.args) {
        Some(Given::Words(words)) if is_patch(&words) => {
            let text = words.last().map_or("", String::as_str);
            patch(text, place(call, cwd.as_deref()), reading);
        }
        Some(Given::Words(words)) => interpret::words(&words, setting, reading),
        Some(Given::Text(text)) => interpret::command(&text, setting, reading),
        None => reading.doubt(format!(
            "{} is given no command that could be read",
            call.tool
        )),
    }
    surroundings(call, reading);
    for part in reading
        .parts
        .iter_mut()
        .filter(|part| part.kind == Kind::Run)
    {
        action.clone_into(&mut part.action);
    }
}

/// Reads the command of a call. If its arguments have several, each is judged, and a person is asked.
fn commands(call: &Call, action: &str, reading: &mut Reading) {
    let Some(several) = tools::several_commands(&call.args) else {
        return command(call, action, reading);
    };
    for args in several {
        let one = Call {
            args,
            ..call.clone()
        };
        command(&one, action, reading);
    }
    reading.doubt(format!("{} is given several commands", call.tool));
}

/// The shell and the variables that a tool is to run a command with.
fn surroundings(call: &Call, reading: &mut Reading) {
    let shell = call.args.get("shell").and_then(Value::as_str);
    let is_read = |shell: &str| wrap::is_shell(&interpret::program_of(shell));
    if shell.is_some_and(|shell| !is_read(shell)) {
        reading.doubt("the command is for a shell that is not known");
    }
    let variables = ["env", "environment"]
        .iter()
        .filter_map(|name| call.args.get(name)?.as_object());
    let mut names = variables.flat_map(serde_json::Map::keys);
    if let Some(name) = names.find(|name| simple::decides(name)) {
        reading.doubt(format!("the variable {name} can change what runs"));
    }
}

fn is_patch(words: &[String]) -> bool {
    matches!(words, [program, _] if PATCHERS.contains(&program.as_str()))
}

fn place<'a>(call: &'a Call, dir: Option<&'a str>) -> Place<'a> {
    Place {
        dir,
        root: call.root(),
        home: call.home.as_deref(),
    }
}

fn patch(text: &str, mut place: Place<'_>, reading: &mut Reading) {
    let Some(files) = tools::patched(text) else {
        reading.doubt("the patch names no file");
        return;
    };
    // A command before the patch may change the folder.
    let before = text.split("*** Begin Patch").next().unwrap_or_default();
    let before = before.trim_start();
    if !before.is_empty() && !before.starts_with("<<") {
        place.dir = None;
    }
    for file in files {
        let part = Part::new(Kind::Edit, path::known(file, place));
        reading.add(part.by_tool("apply_patch"));
    }
}

/// Arguments that are patches.
const PATCHES: [&str; 4] = ["input", "patch", "patchText", "command"];

/// Returns the patches that a tool is given.
fn patches(args: &Value) -> Vec<&str> {
    let texts: Vec<&Value> = match args {
        Value::Object(fields) => PATCHES
            .iter()
            .filter_map(|name| fields.get(*name))
            .collect(),
        other => vec![other],
    };
    let lists = texts.into_iter().flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    });
    let texts = lists.filter_map(Value::as_str);
    texts
        .filter(|text| text.contains("*** Begin Patch"))
        .collect()
}

fn files(call: &Call, kind: Kind, action: &str, reading: &mut Reading) {
    let dir = folder(call, &tools::FOLDERS);
    let place = place(call, dir.as_deref());
    let patches = patches(&call.args);
    for text in &patches {
        patch(text, place, reading);
    }
    let Some(paths) = tools::paths(&call.args) else {
        return reading.doubt(format!("{} is given a path that is no text", call.tool));
    };
    let mut add = |resource| reading.add(Part::new(kind, resource).by_tool(action));
    let (paths, mut filters) = match call.tool.as_str() {
        // Its paths are patterns.
        "read_many_files" => {
            let is_pattern = |it: &&str| it.contains(['*', '?', '[', '{']);
            paths.into_iter().partition(|it| !is_pattern(it))
        }
        _ => (paths, Vec::new()),
    };
    if kind == Kind::Read {
        filters.extend(tools::filters(&call.args));
        let chosen = chosen(&filters, paths.first().copied(), place);
        chosen.into_iter().for_each(&mut add);
    }
    match (paths.as_slice(), kind) {
        ([], Kind::Edit) if !patches.is_empty() && call.tool.contains("patch") => {}
        ([], Kind::Read) => add(path::known(".", place)),
        ([], _) => {
            return reading.doubt(format!("{} is given no path that could be read", call.tool));
        }
        (paths, _) => paths.iter().for_each(|it| add(path::known(it, place))),
    }
    // A pattern of Glob leads elsewhere; that of Grep is a text, and then it is no path.
    let pattern = call.args.get("pattern").and_then(Value::as_str);
    let leads = |it: &&str| it.starts_with(['/', '~']) || it.contains("..");
    if let Some(pattern) = pattern
        .filter(leads)
        .filter(|_| names_files(&call.tool) && kind == Kind::Read)
    {
        add(match pattern.contains(['*', '?', '[', '{']) {
            true => path::pattern(pattern, place),
            false => path::known(pattern, place),
        });
    }
}

/// The files that a search is about, by the patterns that choose them in a folder.
fn chosen(patterns: &[&str], folder: Option<&str>, place: Place<'_>) -> Vec<Resource> {
    let within = |text: &str| match (folder, text.starts_with(['/', '~'])) {
        (Some(folder), false) => format!("{folder}/{text}"),
        _ => text.to_owned(),
    };
    let words = patterns.iter().flat_map(|it| globs::chosen(it));
    let resource = |word: crate::shell::word::Word| match &word.text {
        Some(text) => path::known(&within(text), place),
        None => path::pattern(&within(&word.raw), place),
    };
    words.map(resource).collect()
}

/// Whether the pattern of a tool is one of file names.
fn names_files(tool: &str) -> bool {
    matches!(tool, "Glob" | "glob" | "file_search")
}

fn fetch(call: &Call, action: &str, reading: &mut Reading) {
    let text = |names: &[&str]| names.iter().find_map(|name| call.args.get(name)?.as_str());
    let urls: Vec<&str> = match text(&["url", "uri"]) {
        Some(_) => {
            let named = ["url", "uri"].iter();
            named
                .filter_map(|name| call.args.get(name)?.as_str())
                .collect()
        }
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
            reading.add(Part::new(
                Kind::Read,
                path::known(file, place(call, call.cwd.as_deref())),
            ));
        }
        reading.add(Part::new(Kind::Fetch, host::of_url(url)).by_tool(action));
    }
    if urls.iter().any(|url| host::is_odd_file(url)) {
        reading.doubt("the file of the address is only known at run time");
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
