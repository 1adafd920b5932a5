//! Files of one crate that use each other's names in a circle: none of them can be understood without
//! the others. Each circle is listed with its reason in ARCHITECTURE.md.
//!
//! Sources are read as text. A file is tied to another one by a name that the other one defines and
//! that it reaches by `use`, or by a path such as `super::record::Record`; through modules that hand
//! names on, to where they are defined. Nothing is tied by a `mod` or a `pub use` alone, by methods,
//! or by what is compiled for tests only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::tokens::{end_of_group, tokens, without_tests};

/// A file, and the names that it takes from each other one.
pub(super) type Ties = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// A module, which is a file or a part of one.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// The names that it defines.
    defined: BTreeSet<String>,
    imports: Vec<Import>,
    /// The paths in its code.
    paths: Vec<Vec<String>>,
    /// The words in its code that are not within a path.
    words: BTreeSet<String>,
}

/// One name of a `use`.
#[derive(Debug)]
struct Import {
    path: Vec<String>,
    /// What it is called here; `*` for all names of a module.
    name: String,
    is_handed_on: bool,
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq)]
enum Found {
    Module(usize),
    /// A name, and the file that defines it.
    Name(PathBuf, String),
}

/// The modules of a crate; the first is its root.
#[derive(Debug)]
pub(super) struct Modules(Vec<Module>);

impl Modules {
    /// The modules of the crate whose root is a file; `read` gives the text of one, if it is there.
    pub(super) fn of(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Modules {
        let mut modules = Modules(Vec::new());
        modules.add_file(root.to_owned(), None, read);
        modules
    }

    fn add(&mut self, file: PathBuf, parent: Option<(usize, &str)>) -> usize {
        let module = self.0.len();
        if let Some((parent, name)) = parent {
            self.0[parent].children.insert(name.to_owned(), module);
        }
        self.0.push(Module {
            file,
            parent: parent.map(|(parent, _)| parent),
            ..Module::default()
        });
        module
    }

    fn add_file(
        &mut self,
        file: PathBuf,
        parent: Option<(usize, &str)>,
        read: &dyn Fn(&Path) -> Option<String>,
    ) {
        let text = read(&file).unwrap_or_else(|| panic!("{} is not there", file.display()));
        let stem = file.file_stem().unwrap_or_default().to_owned();
        let beside = file.with_file_name("");
        let folder = match stem.to_str() {
            Some("lib" | "main" | "mod") => beside,
            _ => beside.join(stem),
        };
        let tokens = without_tests(&tokens(&text));
        let module = self.add(file, parent);
        self.read_module(module, &tokens, &folder, read);
    }

    /// Takes in what a module says; the files of its children are in `folder`.
    fn read_module(
        &mut self,
        module: usize,
        tokens: &[String],
        folder: &Path,
        read: &dyn Fn(&Path) -> Option<String>,
    ) {
        let (mut at, mut depth, mut is_public) = (0, 0_usize, false);
        // The ends of macros' calls, whose items are the module's.
        let mut calls = Vec::new();
        let mut path_of_file = None;
        while let Some(token) = tokens.get(at) {
            let next = tokens.get(at + 1).map_or("", String::as_str);
            match token.as_str() {
                "#" if matches!(next, "[" | "!") => {
                    let end = end_of_group(tokens, at + if next == "!" { 2 } else { 1 });
                    if tokens.get(at + 2).is_some_and(|token| token == "path") {
                        path_of_file = tokens.get(at + 4).map(|text| text.trim_matches('"'));
                    }
                    at = end;
                    continue;
                }
                "pub" => {
                    is_public = true;
                    at = match next {
                        "(" => end_of_group(tokens, at + 1),
                        _ => at + 1,
                    };
                    continue;
                }
                "use" if next != "<" => {
                    at = self.read_use(module, tokens, at + 1, &[], is_public);
                    is_public = false;
                    continue;
                }
                "mod" if is_word(next) && depth == 0 => {
                    let behind = tokens.get(at + 2).map_or("", String::as_str);
                    if behind == "{" {
                        let end = end_of_group(tokens, at + 2);
                        let file = self.0[module].file.clone();
                        let child = self.add(file, Some((module, next)));
                        let inner = &tokens[at + 3..end - 1];
                        self.read_module(child, inner, &folder.join(next), read);
                        at = end;
                    } else {
                        let file = match path_of_file.take() {
                            Some(path) => self.0[module].file.with_file_name(path),
                            None => file_of(folder, next, read),
                        };
                        self.add_file(file, Some((module, next)), read);
                        at += 3;
                    }
                    is_public = false;
                    continue;
                }
                "macro_rules" => self.define_in_macro(module, tokens, at),
                "{" if depth == 0 && before(tokens, at) == "!" => {
                    calls.push(end_of_group(tokens, at) - 1);
                }
                "{" => depth += 1,
                "}" if calls.last() == Some(&at) => drop(calls.pop()),
                "}" => depth = depth.saturating_sub(1),
                keyword if depth == 0 && defines(keyword) && is_name(next) => {
                    self.0[module].defined.insert(next.to_owned());
                }
                _ => {}
            }
            if matches!(token.as_str(), ";" | "{" | "}") {
                is_public = false;
            }
            at = self.read_path(module, tokens, at);
        }
    }

    /// Macros define what is a word in them; it counts to the file of the macro.
    fn define_in_macro(&mut self, module: usize, tokens: &[String], at: usize) {
        let end = end_of_group(tokens, at + 3);
        let types = tokens[at..end].windows(2).filter(|pair| {
            matches!(pair[0].as_str(), "struct" | "enum" | "union" | "trait") && is_word(&pair[1])
        });
        let defined = &mut self.0[module].defined;
        defined.extend(types.map(|pair| pair[1].clone()));
        defined.extend(tokens.get(at + 2).cloned());
    }

    /// Takes in a path, or goes over a token that is none; the place behind it.
    fn read_path(&mut self, module: usize, tokens: &[String], at: usize) -> usize {
        let Some(first) = tokens.get(at).filter(|token| is_word(token)) else {
            return at + 1;
        };
        let (mut path, mut end) = (vec![first.clone()], at + 1);
        while tokens.get(end).is_some_and(|token| token == "::") {
            match tokens.get(end + 1).filter(|token| is_word(token)) {
                Some(part) => path.push(part.clone()),
                None => break,
            }
            end += 2;
        }
        let is_own = !matches!(before(tokens, at), "." | "fn" | "mod");
        if is_own && path.len() > 1 {
            self.0[module].paths.push(path);
        } else if is_own {
            self.0[module].words.extend(path);
        }
        end
    }

    /// Takes in what a `use` names behind `path`; the place behind it.
    fn read_use(
        &mut self,
        module: usize,
        tokens: &[String],
        mut at: usize,
        path: &[String],
        is_handed_on: bool,
    ) -> usize {
        let mut path = path.to_vec();
        let mut name = String::new();
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token.as_str() {
                "::" => {}
                "{" => {
                    while tokens.get(at).is_some_and(|token| token != "}") {
                        at = self.read_use(module, tokens, at, &path, is_handed_on);
                        at += usize::from(tokens.get(at).is_some_and(|token| token == ","));
                    }
                    return at + 1;
                }
                "as" => {
                    name = tokens.get(at).cloned().unwrap_or_default();
                    at += 1;
                    break;
                }
                "*" => {
                    name = "*".to_owned();
                    break;
                }
                "self" if !path.is_empty() => {}
                word if is_word(word) => path.push(word.to_owned()),
                // What ends it is not a part of it.
                _ => {
                    at -= 1;
                    break;
                }
            }
        }
        if name.is_empty() {
            name = path.last().cloned().unwrap_or_default();
        }
        self.0[module].imports.push(Import {
            path,
            name,
            is_handed_on,
        });
        at
    }

    /// What a name in a module is. `seen` are the names that are being looked for.
    fn look_up(&self, module: usize, name: &str, seen: &[(usize, String)]) -> Option<Found> {
        let own = (module, name.to_owned());
        if seen.contains(&own) {
            return None;
        }
        let seen = [seen, &[own]].concat();
        let at = &self.0[module];
        if let Some(child) = at.children.get(name) {
            return Some(Found::Module(*child));
        }
        if at.defined.contains(name) {
            return Some(Found::Name(at.file.clone(), name.to_owned()));
        }
        let named = at.imports.iter().filter(|import| import.name == name);
        let found = named.filter_map(|import| self.resolve(module, &import.path, &seen));
        let all = at.imports.iter().filter(|import| import.name == "*");
        let all = all.filter_map(|import| match self.resolve(module, &import.path, &seen)? {
            Found::Module(of) => self.look_up(of, name, &seen),
            Found::Name(..) => None,
        });
        found.chain(all).next()
    }

    /// What a path in a module leads to, if that is in this crate.
    fn resolve(&self, module: usize, path: &[String], seen: &[(usize, String)]) -> Option<Found> {
        let (mut at, mut rest) = (module, path);
        match path.first()?.as_str() {
            "crate" => (at, rest) = (0, &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    (at, rest) = (self.0[at].parent?, &rest[1..]);
                }
            }
            _ => {}
        }
        for part in rest {
            match self.look_up(at, part, seen)? {
                Found::Module(inner) => at = inner,
                // An enum's variant, or what a type has.
                name @ Found::Name(..) => return Some(name),
            }
        }
        Some(Found::Module(at))
    }

    /// Which files take names from which.
    pub(super) fn ties(&self) -> Ties {
        let mut ties = Ties::new();
        for (number, module) in self.0.iter().enumerate() {
            let taken = module.imports.iter().flat_map(|import| {
                let is_used = !import.is_handed_on || module.words.contains(&import.name);
                match import.name.as_str() {
                    "*" if !import.is_handed_on => self.taken_of_all(number, import),
                    _ if is_used => self
                        .resolve(number, &import.path, &[])
                        .into_iter()
                        .collect(),
                    _ => Vec::new(),
                }
            });
            let paths = module.paths.iter();
            let named = paths.filter_map(|path| self.resolve(number, path, &[]));
            for found in taken.chain(named) {
                if let Found::Name(file, name) = found
                    && file != module.file
                {
                    let from = ties.entry(module.file.clone()).or_default();
                    from.entry(file).or_default().insert(name);
                }
            }
        }
        ties
    }

    /// The names that a module takes of one whose names it imports all.
    fn taken_of_all(&self, module: usize, import: &Import) -> Vec<Found> {
        let Some(Found::Module(of)) = self.resolve(module, &import.path, &[]) else {
            return Vec::new();
        };
        let words = self.0[module].words.iter();
        let foreign = words.filter(|word| !self.0[module].defined.contains(*word));
        foreign
            .filter_map(|word| self.look_up(of, word, &[]))
            .collect()
    }
}

/// The files that each of these ties leads to, directly or through others.
fn reached(ties: &Ties, from: &Path) -> BTreeSet<PathBuf> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(file) = open.pop() {
        for next in ties.get(&file).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    reached
}

/// The circles: files that lead to each other, in order.
pub(super) fn circles(ties: &Ties) -> BTreeSet<Vec<PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<PathBuf>> = ties
        .keys()
        .map(|file| (file, reached(ties, file)))
        .collect();
    let back = |file: &PathBuf, to: &PathBuf| reached.get(to).is_some_and(|it| it.contains(file));
    let circle = |(file, to): (&&PathBuf, &BTreeSet<PathBuf>)| -> Vec<PathBuf> {
        to.iter().filter(|to| back(file, to)).cloned().collect()
    };
    let circles = reached.iter().map(circle);
    circles.filter(|circle| circle.len() > 1).collect()
}

/// What ties the files of a circle, one line each.
pub(super) fn explained(ties: &Ties, circle: &[PathBuf]) -> String {
    let mut lines = String::new();
    for (file, to) in ties.iter().filter(|(file, _)| circle.contains(file)) {
        for (other, names) in to.iter().filter(|(other, _)| circle.contains(other)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let (file, other) = (file.display(), other.display());
            lines.push_str(&format!("  {file} takes {} of {other}\n", names.join(", ")));
        }
    }
    lines
}

fn file_of(folder: &Path, name: &str, read: &dyn Fn(&Path) -> Option<String>) -> PathBuf {
    let file = folder.join(name).with_extension("rs");
    match read(&file) {
        Some(_) => file,
        None => folder.join(name).join("mod.rs"),
    }
}

fn before(tokens: &[String], at: usize) -> &str {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    before.map_or("", String::as_str)
}

fn defines(keyword: &str) -> bool {
    matches!(
        keyword,
        "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"
    )
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether a word behind a keyword is what that defines: not of `const fn` or `static mut`.
fn is_name(token: &str) -> bool {
    is_word(token) && !matches!(token, "fn" | "mut" | "unsafe")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles of a crate of these files, with their names without `.rs`.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: BTreeMap<PathBuf, &str> = files
            .iter()
            .map(|(name, text)| (Path::new("src").join(name).with_extension("rs"), *text))
            .collect();
        let read = |path: &Path| files.get(path).map(|text| (*text).to_owned());
        let ties = Modules::of(Path::new("src/lib.rs"), &read).ties();
        let circles = circles(&ties).into_iter().map(|circle| {
            let names = circle.iter().map(|file| file.with_extension(""));
            let names: Vec<String> = names
                .map(|name| name.strip_prefix("src").unwrap().display().to_string())
                .collect();
            names.join(" ")
        });
        circles.collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        let lib = ("lib", "mod a; mod b; mod c;");
        let a = ("a", "use crate::b::B; pub struct A(B);");
        let b = ("b", "pub struct B; impl B { fn c(_: super::c::C) {} }");
        let c = ("c", "pub struct C(pub Box<crate::a::A>);");
        assert_eq!(found(&[lib, a, b, c]), ["a b c"]);
        let c = ("c", "pub struct C;");
        assert_eq!(found(&[lib, a, b, c]), [] as [&str; 0]);
    }

    #[test]
    fn a_parent_is_tied_by_the_names_that_it_uses_and_not_by_those_that_it_hands_on() {
        let child = ("a/child", "use super::A; pub struct Child(A);");
        let declares = ("a", "mod child; pub struct A;");
        let hands_on = ("a", "mod child; pub use child::Child; pub struct A;");
        let uses = (
            "a",
            "mod child; pub use child::Child; pub struct A(Option<Box<Child>>);",
        );
        let by_path = (
            "a",
            "mod child; pub struct A; fn f() -> child::Child { loop {} }",
        );
        let lib = ("lib", "mod a;");
        assert_eq!(found(&[lib, child, declares]), [] as [&str; 0]);
        assert_eq!(found(&[lib, child, hands_on]), [] as [&str; 0]);
        assert_eq!(found(&[lib, child, uses]), ["a/child a"]);
        assert_eq!(found(&[lib, child, by_path]), ["a/child a"]);
    }

    #[test]
    fn a_name_is_where_it_is_defined() {
        let a = ("a", "use crate::{B, c::*}; pub struct A(B, C);");
        let b = ("b", "pub struct B; pub fn f(_: crate::a::A) {}");
        let c = (
            "c",
            "pub use crate::b::f; macro_rules! made { () => { pub enum C {} } } made!();",
        );
        assert_eq!(
            found(&[("lib", "mod a; mod b; mod c; pub use b::B;"), a, b, c]),
            ["a b"]
        );
        let by_macro = (
            "c",
            "codes! { pub enum C { X = 1 } } fn f(_: crate::a::A) {}",
        );
        assert_eq!(
            found(&[("lib", "mod a; mod c;"), ("a", a.1), by_macro]),
            ["a c"]
        );
    }

    #[test]
    fn neither_tests_nor_comments_nor_texts_tie() {
        let lib = ("lib", "mod a; mod b;");
        let a = ("a", "use crate::b::B; pub struct A(B);");
        for text in [
            "#[cfg(test)] mod tests { use crate::a::A; }",
            "#[cfg(test)] use crate::a::{A, A as C};",
            "#[cfg(test)] fn f<'a, T>(_: &'a crate::a::A) {}",
            "// use crate::a::A;\n/* use crate::a::A; /* */ */",
            "const C: (char, &str) = ('\"', r#\"\" crate::a::A\"#);",
        ] {
            let b = format!("pub struct B; {text}");
            assert_eq!(found(&[lib, a, ("b", &b)]), [] as [&str; 0], "{text}");
        }
        let b = "pub struct B; #[cfg(test)] use std::fs; use crate::a::A;";
        assert_eq!(found(&[lib, a, ("b", b)]), ["a b"]);
    }
}
