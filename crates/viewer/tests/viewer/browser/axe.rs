//! axe-core, which finds what keeps people out of a page. `make setup` fetches it; it is no part of this repository.

use std::path::PathBuf;

/// Runs it over the page; says what is more than minor: the rule, what is wrong, and where.
pub const RUN: &str = "
    const done = arguments[arguments.length - 1];
    const is_serious = (one) => one.impact !== 'minor';
    const said = (one) => one.id + ': ' + one.help + ' (' + one.nodes.map((node) => node.html.slice(0, 160) + ' '
        + node.any.concat(node.all, node.none).map((it) => it.message).join(' ')).join(', ') + ')';
    axe.run(document, { resultTypes: ['violations'] }).then(
        (found) => done(found.violations.filter(is_serious).map(said)),
        (error) => done(['axe failed: ' + error]));
";

/// Its script; none where it was not fetched.
pub fn script() -> Option<String> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = cache.or_else(home).unwrap_or_default().join("annals/axe");
    let files = std::fs::read_dir(&folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "js"));
    files.sort();
    let Some(file) = files.last() else {
        let missing = format!(
            "axe-core is not in {}: the pages were not checked with it; `make setup` fetches it",
            folder.display()
        );
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        eprintln!("NOT RUN: {missing}");
        return None;
    };
    Some(std::fs::read_to_string(file).unwrap())
}
