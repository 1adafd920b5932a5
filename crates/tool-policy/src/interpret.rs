//! A command of the shell as parts: every simple command in it, in whatever it is wrapped, with the
//! files, hosts and branches that it is given.

use std::collections::BTreeSet;

use brush_parser::ast;

use crate::dirs::{Dirs, Ends};
use crate::part::{Kind, Part, Reading, Resource, Type};
use crate::path::{self, Place};
use crate::shell::syntax;
use crate::shell::word::{Variables, Word};
use crate::simple::{self, Input, Simple};
use crate::wrap::{self, Runs};
use crate::{git, host, programs};

/// Texts in texts: `sh -c "sh -c ..."`, `$(...)` in `$(...)`.
const MAX_DEPTH: usize = 12;
/// Syntax in syntax.
const MAX_LEVELS: usize = 64;
/// Bytes of all texts that are parsed for a call.
const MAX_PARSED: usize = 1024 * 1024;
/// Parts of a call.
const MAX_PARTS: usize = 512;
/// Words of all commands of a call, each counted with every program that runs it.
const MAX_WORDS: usize = 20_000;
/// Files that commands of a call are given.
const MAX_FILES: usize = 4_096;

/// What a command is read with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) cwd: Option<&'a str>,
    pub(crate) root: Option<&'a str>,
    pub(crate) home: Option<&'a str>,
    pub(crate) branch: Option<&'a str>,
}

/// Reads a command into the parts that it is made of.
pub(crate) fn command(text: &str, setting: Setting<'_>, reading: &mut Reading) {
    let mut reader = Reader {
        setting,
        reading,
        parsed: 0,
        depth: 0,
        levels: 0,
        words: 0,
        files: 0,
    };
    reader.forget_variables(text);
    reader.script(text, &Dirs::of(setting.cwd), &Around::default());
}

/// Reads a command that is given as its words, without a shell.
pub(crate) fn words(words: &[String], setting: Setting<'_>, reading: &mut Reading) {
    let mut reader = Reader {
        setting,
        reading,
        parsed: 0,
        depth: 0,
        levels: 0,
        words: 0,
        files: 0,
    };
    let simple = Simple {
        words: words.iter().map(|word| Word::known(word)).collect(),
        ..Simple::default()
    };
    reader.simple(simple, &Dirs::of(setting.cwd), &Around::default());
}

/// What is around a command.
#[derive(Debug, Clone, Default)]
struct Around {
    /// The programs that run it.
    via: BTreeSet<String>,
    /// Whether its input is the output of another one.
    is_piped: bool,
}

impl Around {
    /// What is around a command that a program runs.
    fn within(&self, program: &str, is_piped: bool) -> Around {
        let mut via = self.via.clone();
        via.insert(program.to_owned());
        Around { via, is_piped }
    }
}

struct Reader<'a, 'r> {
    setting: Setting<'a>,
    reading: &'r mut Reading,
    parsed: usize,
    depth: usize,
    levels: usize,
    words: usize,
    files: usize,
}

impl<'a> Reader<'a, '_> {
    /// What a command sets itself is not known from before.
    fn forget_variables(&mut self, text: &str) {
        let is_set = |name: &str| {
            let named = text.matches(name).count();
            let used = text.matches(&format!("${name}")).count()
                + text.matches(&format!("${{{name}}}")).count();
            named > used
        };
        if is_set("HOME") {
            self.setting.home = None;
        }
    }

    fn script(&mut self, text: &str, dirs: &Dirs, around: &Around) -> Dirs {
        self.parsed += text.len();
        if self.depth >= MAX_DEPTH || self.parsed > MAX_PARSED {
            self.reading
                .doubt("the command has commands in commands, more than are read");
            return Dirs::unknown();
        }
        let program = match syntax::parse(text) {
            Ok(program) => program,
            Err(error) => {
                self.reading.doubt(error.to_string());
                return Dirs::unknown();
            }
        };
        self.depth += 1;
        let mut dirs = dirs.clone();
        for list in &program.complete_commands {
            dirs = self.list(list, &dirs, around).any();
        }
        self.depth -= 1;
        dirs
    }

    fn list(&mut self, list: &ast::CompoundList, dirs: &Dirs, around: &Around) -> Ends {
        let mut ends = Ends::same(dirs);
        if self.levels >= MAX_LEVELS {
            self.reading
                .doubt("the command is nested deeper than is read");
            return Ends::same(&Dirs::unknown());
        }
        self.levels += 1;
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            let before = ends.any();
            let after = self.and_or(and_or, &before, around);
            ends = match separator {
                // In a shell of its own.
                ast::SeparatorOperator::Async => Ends::same(&before),
                ast::SeparatorOperator::Sequence => after,
            };
        }
        self.levels -= 1;
        ends
    }

    fn and_or(&mut self, list: &ast::AndOrList, dirs: &Dirs, around: &Around) -> Ends {
        let mut ends = self.pipeline(&list.first, dirs, around);
        for next in &list.additional {
            ends = match next {
                ast::AndOr::And(pipeline) => {
                    let after = self.pipeline(pipeline, &ends.done, around);
                    Ends {
                        done: after.done,
                        failed: ends.failed.or(&after.failed),
                    }
                }
                ast::AndOr::Or(pipeline) => {
                    let after = self.pipeline(pipeline, &ends.failed, around);
                    Ends {
                        done: ends.done.or(&after.done),
                        failed: after.failed,
                    }
                }
            };
        }
        ends
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, dirs: &Dirs, around: &Around) -> Ends {
        let is_alone = pipeline.seq.len() == 1;
        let mut ends = Ends::same(dirs);
        for (index, command) in pipeline.seq.iter().enumerate() {
            let around = Around {
                via: around.via.clone(),
                is_piped: around.is_piped || index > 0,
            };
            let after = self.any_command(command, dirs, &around);
            if is_alone {
                ends = match pipeline.bang {
                    true => Ends {
                        done: after.failed,
                        failed: after.done,
                    },
                    false => after,
                };
            } else if after != Ends::same(dirs) {
                // zsh runs the last one in the shell itself.
                let any = after.any().or(dirs);
                ends = Ends::same(&any.or(&ends.any()));
            }
        }
        ends
    }

    fn any_command(&mut self, command: &ast::Command, dirs: &Dirs, around: &Around) -> Ends {
        match command {
            ast::Command::Simple(command) => {
                let simple = simple::of(command, self.variables(dirs).as_variables());
                for list in simple::substituted(command) {
                    self.list(list, dirs, &Around::default());
                }
                self.simple(simple, dirs, around)
            }
            ast::Command::Compound(command, redirects) => {
                let around = self.redirected(redirects.as_ref(), dirs, around);
                self.compound(command, dirs, &around)
            }
            ast::Command::Function(function) => {
                // Whenever it is called, and from wherever.
                let around = self.redirected(function.body.1.as_ref(), dirs, around);
                let ends = self.compound(&function.body.0, &Dirs::unknown(), &around);
                match ends == Ends::same(&Dirs::unknown()) && !has_cd(&self.reading.parts) {
                    true => Ends::same(dirs),
                    false => Ends::same(&Dirs::unknown()),
                }
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.redirected(redirects.as_ref(), dirs, around);
                let mut words = Vec::new();
                simple::tested(&test.expr, &mut words);
                for word in words {
                    let word = simple::word(word, self.variables(dirs).as_variables());
                    self.within(&word, dirs);
                }
                Ends::same(dirs)
            }
        }
    }

    fn compound(&mut self, command: &ast::CompoundCommand, dirs: &Dirs, around: &Around) -> Ends {
        use ast::CompoundCommand as Compound;
        match command {
            Compound::BraceGroup(group) => self.list(&group.list, dirs, around),
            Compound::Subshell(shell) => {
                self.list(&shell.list, dirs, around);
                Ends::same(dirs)
            }
            Compound::ForClause(clause) => {
                for word in clause.values.iter().flatten() {
                    let word = simple::word(word, self.variables(dirs).as_variables());
                    self.within(&word, dirs);
                }
                self.looped(&[&clause.body.list], dirs, around)
            }
            Compound::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                for expression in parts.into_iter().flatten() {
                    self.expression(&expression.value, dirs);
                }
                self.looped(&[&clause.body.list], dirs, around)
            }
            Compound::Arithmetic(command) => {
                self.expression(&command.expr.value, dirs);
                Ends::same(dirs)
            }
            Compound::WhileClause(clause) | Compound::UntilClause(clause) => {
                self.looped(&[&clause.0, &clause.1.list], dirs, around)
            }
            Compound::CaseClause(clause) => {
                let variables = self.variables(dirs);
                let patterns = clause.cases.iter().flat_map(|case| &case.patterns);
                let words: Vec<Word> = std::iter::once(&clause.value)
                    .chain(patterns)
                    .map(|word| simple::word(word, variables.as_variables()))
                    .collect();
                words.iter().for_each(|word| self.within(word, dirs));
                // One may go on into the next.
                let mut any = dirs.clone();
                for list in clause.cases.iter().filter_map(|case| case.cmd.as_ref()) {
                    any = any.or(&self.list(list, &any, around).any());
                }
                Ends::same(&any)
            }
            Compound::IfClause(clause) => {
                let condition = self.list(&clause.condition, dirs, around);
                let mut any = self.list(&clause.then, &condition.done, around).any();
                let mut failed = condition.failed;
                let mut has_else = false;
                for part in clause.elses.iter().flatten() {
                    has_else = part.condition.is_none();
                    let condition = match &part.condition {
                        Some(condition) => self.list(condition, &failed, around),
                        None => Ends::same(&failed),
                    };
                    any = any.or(&self.list(&part.body, &condition.done, around).any());
                    failed = condition.failed;
                }
                Ends::same(&if has_else { any } else { any.or(&failed) })
            }
            Compound::Coprocess(process) => {
                self.any_command(&process.body, dirs, &Around::default());
                Ends::same(dirs)
            }
        }
    }

    /// What may be done again: where it changes the directory, each round is elsewhere.
    fn looped(&mut self, lists: &[&ast::CompoundList], dirs: &Dirs, around: &Around) -> Ends {
        let mut any = dirs.clone();
        for list in lists {
            any = any.or(&self.list(list, &any, around).any());
        }
        if any == *dirs {
            return Ends::same(dirs);
        }
        let unknown = Dirs::unknown();
        for list in lists {
            self.list(list, &unknown, around);
        }
        Ends::same(&unknown)
    }

    /// Reads where a compound command reads from and writes to.
    fn redirected(
        &mut self,
        redirects: Option<&ast::RedirectList>,
        dirs: &Dirs,
        around: &Around,
    ) -> Around {
        let Some(redirects) = redirects else {
            return around.clone();
        };
        let simple = simple::of_redirects(redirects, self.variables(dirs).as_variables());
        for list in simple::substituted_by(redirects) {
            self.list(list, dirs, &Around::default());
        }
        let mut around = around.clone();
        around.is_piped |= !matches!(simple.input, Input::Inherited);
        self.files_of(&simple, dirs);
        around
    }

    fn expression(&mut self, expression: &str, dirs: &Dirs) {
        let quoted = format!("$(({expression}))");
        let word = crate::shell::word::read(&quoted, self.variables(dirs).as_variables());
        self.within(&word, dirs);
    }

    fn variables(&self, dirs: &Dirs) -> Known<'a> {
        Known {
            home: self.setting.home,
            pwd: dirs.only().map(str::to_owned),
        }
    }

    /// Reads the commands that are run for a word.
    fn within(&mut self, word: &Word, dirs: &Dirs) {
        if word.is_odd {
            self.reading
                .doubt(format!("`{}` could not be read", cut(&word.raw)));
        }
        for command in &word.commands {
            self.script(command, dirs, &Around::default());
        }
    }

    fn files_of(&mut self, simple: &Simple, dirs: &Dirs) {
        for (kind, word) in &simple.files {
            self.within(word, dirs);
            let device = word.text.as_deref().and_then(host::of_device);
            match device {
                Some(host) => self.add(Part::new(Kind::Fetch, host)),
                None if is_stream(word) => {}
                None => self.path(*kind, word, dirs),
            }
        }
        if let Input::Text(word) = &simple.input {
            self.within(word, dirs);
        }
    }

    /// A simple command: itself, and what it runs.
    fn simple(&mut self, simple: Simple, dirs: &Dirs, around: &Around) -> Ends {
        for word in &simple.words {
            self.within(word, dirs);
        }
        self.files_of(&simple, dirs);
        for (name, value) in &simple.sets {
            self.within(value, dirs);
            self.set(name, value);
        }
        match simple.words.is_empty() {
            true => Ends::same(dirs),
            false => self.run(&simple, dirs, around),
        }
    }

    /// A variable that decides what runs, or that is run.
    fn set(&mut self, name: &str, value: &Word) {
        if simple::decides(name) {
            self.reading
                .doubt(format!("the variable {name} can change what runs"));
        }
        if value
            .text
            .as_deref()
            .is_some_and(|text| text.contains("$(") || text.contains('`'))
        {
            self.reading
                .doubt(format!("the variable {name} is set to a command"));
        }
    }

    fn run(&mut self, simple: &Simple, dirs: &Dirs, around: &Around) -> Ends {
        let Some((first, args)) = simple.words.split_first() else {
            return Ends::same(dirs);
        };
        self.words += simple.words.len();
        if self.words > MAX_WORDS {
            self.reading
                .doubt("the command has more words than are read");
            return Ends::same(&Dirs::unknown());
        }
        let Some(program) = first
            .text
            .as_deref()
            .map(program_of)
            .filter(|it| !it.is_empty())
        else {
            self.unknown_program(first, args, simple, dirs, around);
            return Ends::same(&Dirs::unknown());
        };
        let is_piped = around.is_piped || !matches!(simple.input, Input::Inherited);
        let input = match &simple.input {
            Input::Text(word) => Some(word),
            Input::Inherited | Input::File => None,
        };
        let runs = wrap::runs(&program, args, input, is_piped);
        match runs {
            Runs::Itself => self.itself(&program, args, simple, dirs, around),
            Runs::Words {
                words,
                sets,
                with_itself,
                elsewhere,
            } => {
                if with_itself {
                    self.itself(&program, args, simple, dirs, around);
                }
                for name in sets {
                    self.set(&name, &Word::unknown(""));
                }
                let is_fed = program == "xargs";
                let around = around.within(&program, is_piped && !is_fed);
                let unknown = Dirs::unknown();
                let inner_dirs = if elsewhere { &unknown } else { dirs };
                let mut command = simple.clone();
                command.words = words;
                command.files.clear();
                if is_fed {
                    command.input = Input::Inherited;
                }
                self.run_inner(&command, inner_dirs, &around);
                Ends::same(dirs)
            }
            Runs::Script { text, with_itself } => {
                if with_itself {
                    self.itself(&program, args, simple, dirs, around);
                }
                let around = around.within(&program, around.is_piped);
                let after = self.script(text.shown(), dirs, &around);
                // `eval` is in the shell itself.
                Ends::same(if program == "eval" { &after } else { dirs })
            }
            Runs::Input => {
                let reason = "it runs what it reads";
                self.unknown_run(&program, args, simple, around, reason);
                Ends::same(dirs)
            }
            Runs::Unknown(reason) => {
                self.unknown_run(&program, args, simple, around, reason);
                self.mentions(args, dirs);
                Ends::same(dirs)
            }
        }
    }

    /// A command that another one runs.
    fn run_inner(&mut self, command: &Simple, dirs: &Dirs, around: &Around) {
        self.levels += 1;
        if self.levels > MAX_LEVELS || around.via.len() > MAX_DEPTH {
            self.reading
                .doubt("the command is nested deeper than is read");
        } else {
            self.run(command, dirs, around);
        }
        self.levels -= 1;
    }

    /// A command whose program is only known at run time.
    fn unknown_program(
        &mut self,
        first: &Word,
        args: &[Word],
        simple: &Simple,
        dirs: &Dirs,
        around: &Around,
    ) {
        let reason = format!(
            "which program `{}` is, is only known at run time",
            cut(&first.raw)
        );
        let resource = self.described(None, args, None, simple, around);
        self.add(Part::new(Kind::Run, resource).unsure(reason));
        self.mentions(&simple.words, dirs);
    }

    /// A command that runs what is not known before.
    fn unknown_run(
        &mut self,
        program: &str,
        args: &[Word],
        simple: &Simple,
        around: &Around,
        reason: &str,
    ) {
        let resource = self.described(Some(program), args, None, simple, around);
        let reason = format!("what {program} runs is not known: {reason}");
        self.add(Part::new(Kind::Run, resource).unsure(reason));
    }

    /// A command that is judged as itself.
    fn itself(
        &mut self,
        program: &str,
        args: &[Word],
        simple: &Simple,
        dirs: &Dirs,
        around: &Around,
    ) -> Ends {
        let git = (program == "git").then(|| git::read(args));
        let resource = self.described(Some(program), args, git.as_ref(), simple, around);
        let subcommand = resource.known_text("subcommand").map(str::to_owned);
        let mut part = Part::new(Kind::Run, resource);
        part.needs_permission = !programs::is_shell_only(program);
        if let Some(reason) = git.as_ref().and_then(|git| git.unsure.as_deref()) {
            part = part.unsure(reason);
        }
        self.add(part);
        if matches!(
            program,
            "export" | "declare" | "typeset" | "local" | "readonly"
        ) {
            for word in args {
                let text = word.shown();
                let name = text.split(['=', '+']).next().unwrap_or_default();
                self.set(
                    name,
                    &Word {
                        text: word.text.clone(),
                        ..Word::default()
                    },
                );
            }
        }
        let moved = match &git {
            Some(git) => git.dirs.iter().fold(dirs.clone(), |dirs, to| {
                dirs.then(to.text.as_deref(), self.setting.home)
            }),
            None => dirs.clone(),
        };
        let files: Vec<programs::FileUse> = match &git {
            Some(git) => git
                .rest
                .iter()
                .map(|word| (Kind::Mention, simple::revised(word)))
                .collect(),
            None => programs::files(program, args),
        };
        for (kind, word) in files {
            if host::in_word(program, &word).is_none() {
                self.path(kind, &word, &moved);
            }
        }
        self.hosts(program, args, subcommand.as_deref());
        let changed = git.as_ref().map(|git| git.branches(self.setting.branch));
        for part in changed.into_iter().flatten() {
            self.add(part);
        }
        if git
            .as_ref()
            .is_some_and(|git| matches!(git.subcommand.as_deref(), Some("checkout" | "switch")))
        {
            self.setting.branch = None;
        }
        self.changed(program, args, dirs)
    }

    /// Where the shell is after a command.
    fn changed(&self, program: &str, args: &[Word], dirs: &Dirs) -> Ends {
        let done = match program {
            "cd" | "chdir" => {
                let mut operands = args.iter().filter(|it| {
                    it.text
                        .as_deref()
                        .is_none_or(|it| !it.starts_with('-') || it == "-")
                });
                match (operands.next(), operands.next()) {
                    (None, _) => dirs.then(self.setting.home, self.setting.home),
                    (Some(to), None) if to.text.as_deref() != Some("-") => {
                        dirs.then(to.text.as_deref(), self.setting.home)
                    }
                    _ => Dirs::unknown(),
                }
            }
            "pushd" | "popd" | "source" | "." | "z" | "j" => Dirs::unknown(),
            _ => return Ends::same(dirs),
        };
        Ends {
            done,
            failed: dirs.clone(),
        }
    }

    fn hosts(&mut self, program: &str, args: &[Word], subcommand: Option<&str>) {
        let is_network = programs::is_network(program, subcommand);
        let hosts: Vec<Resource> = args
            .iter()
            .filter_map(|word| host::in_word(program, word))
            .collect();
        if is_network && hosts.is_empty() {
            // It connects to where its settings say.
            let mut part = Part::new(Kind::Fetch, host::unknown(&format!("({program})")));
            part.needs_permission = false;
            self.add(part);
        }
        for host in hosts {
            let kind = if is_network {
                Kind::Fetch
            } else {
                Kind::Mention
            };
            self.add(Part::new(kind, host));
        }
    }

    fn mentions(&mut self, words: &[Word], dirs: &Dirs) {
        for word in words {
            self.path(Kind::Mention, word, dirs);
        }
    }

    /// A file that a command is given.
    fn path(&mut self, kind: Kind, word: &Word, dirs: &Dirs) {
        self.files += 1;
        if self.files > MAX_FILES {
            self.reading
                .doubt("the command is given more files than are read");
            return;
        }
        let places: Vec<Option<&str>> = dirs.all();
        for dir in places {
            let place = Place {
                dir,
                root: self.setting.root,
                home: self.setting.home,
            };
            let resource = match (&word.text, &word.pattern) {
                // Texts that are no names of files.
                (Some(text), _) if kind == Kind::Mention && text.contains('\n') => continue,
                // What is quoted has no `~`.
                (Some(text), _) if text.starts_with('~') => {
                    path::known(&format!("./{text}"), place)
                }
                (Some(text), _) => path::known(text, place),
                (None, Some(pattern)) => path::pattern(pattern, place),
                (None, None) => path::unknown(&word.raw),
            };
            self.add(Part::new(kind, resource));
        }
    }

    fn add(&mut self, part: Part) {
        match self.reading.parts.len() < MAX_PARTS {
            true => self.reading.add(part),
            false => self.reading.doubt("the command does more than is read"),
        }
    }

    /// A command as policies see it. What is only known at run time is not there.
    fn described(
        &self,
        program: Option<&str>,
        args: &[Word],
        git: Option<&git::Git>,
        simple: &Simple,
        around: &Around,
    ) -> Resource {
        let shown: Vec<&str> = simple.words.iter().map(Word::shown).collect();
        let text = shown.join(" ");
        let known: Option<Vec<&str>> = args.iter().map(|word| word.text.as_deref()).collect();
        let is_known = program.is_some() && known.is_some();
        let mut command = Resource::new(Type::Command, cut(&text), is_known)
            .set("via", around.via.iter().cloned())
            .set("sets", simple.sets.iter().map(|(name, _)| name.clone()))
            .flag("piped", around.is_piped);
        let Some(program) = program else {
            return command;
        };
        let has_input = around.is_piped || !matches!(simple.input, Input::Inherited);
        command = command
            .text("program", program)
            .flag("code", programs::runs_code(program, args, has_input));
        let subcommand = match git {
            Some(git) => git.subcommand.clone(),
            None => {
                let first = args.iter().find(|it| {
                    it.text
                        .as_deref()
                        .is_none_or(|it| !it.starts_with(['-', '+']))
                });
                match first {
                    Some(word) => word.text.clone(),
                    None => Some(String::new()),
                }
            }
        };
        if let Some(subcommand) = subcommand {
            command = command.text("subcommand", subcommand);
        }
        if let Some(known) = known {
            command = command
                .text("text", text)
                .set("options", simple::options(&known))
                .set("args", known.into_iter().map(str::to_owned));
        }
        command
    }
}

/// The variables of the shell.
struct Known<'a> {
    home: Option<&'a str>,
    pwd: Option<String>,
}

impl Known<'_> {
    fn as_variables(&self) -> Variables<'_> {
        Variables {
            home: self.home,
            pwd: self.pwd.as_deref(),
        }
    }
}

/// Whether a command changes the directory.
fn has_cd(parts: &[Part]) -> bool {
    parts.iter().any(|part| {
        matches!(
            part.resource.known_text("program"),
            Some("cd" | "chdir" | "pushd" | "popd" | "source" | "." | "z" | "j")
        )
    })
}

/// The program that a word names: its name alone, where it is where programs of the system are.
fn program_of(word: &str) -> String {
    const FOLDERS: [&str; 9] = [
        "/bin",
        "/usr/bin",
        "/usr/local/bin",
        "/sbin",
        "/usr/sbin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
        "/run/current-system/sw/bin",
        "/snap/bin",
    ];
    if !word.contains('/') {
        return path::folded(word);
    }
    if !word.starts_with('/') {
        return word.to_owned();
    }
    let normal = path::normal(&[word]);
    match normal.rsplit_once('/') {
        Some((folder, name)) if FOLDERS.contains(&folder) => path::folded(name),
        _ => normal,
    }
}

/// Whether a file is none: a stream, or nothing.
fn is_stream(word: &Word) -> bool {
    matches!(
        word.text.as_deref(),
        Some("/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty")
    )
}

/// As much of a text as a message shows.
fn cut(text: &str) -> String {
    const MOST: usize = 200;
    let mut cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}
