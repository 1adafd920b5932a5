//! A command of the shell as parts: every simple command in it, in whatever it is wrapped, with the
//! files, hosts and branches that it is given.

use std::collections::BTreeSet;

use brush_parser::ast;

use crate::dirs::{Dirs, Ends};
use crate::part::{Kind, Part, Reading, Resource, Type};
use crate::path::{self, Place};
use crate::shell::word::{Variables, Word};
use crate::shell::{arithmetic, syntax};
use crate::simple::{self, Input, Simple};
use crate::wrap::{self, Runs};
use crate::{git, host, programs, tools};

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
    let mut reader = Reader::new(setting, reading);
    reader.forget_variables(text);
    reader.script(text, &Dirs::of(setting.cwd), &Around::default());
    reader.end();
}

/// Reads a command that is given as its words, without a shell.
pub(crate) fn words(words: &[String], setting: Setting<'_>, reading: &mut Reading) {
    let mut reader = Reader::new(setting, reading);
    let simple = Simple {
        words: words.iter().map(|word| Word::known(word)).collect(),
        ..Simple::default()
    };
    reader.simple(simple, &Dirs::of(setting.cwd), &Around::default());
    reader.end();
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
    /// Files that are run as programs and scripts.
    scripts: Vec<Resource>,
    /// Variables that are set to numbers.
    numbers: BTreeSet<String>,
    /// Variables that are set to other values, or to what is only known at run time.
    texts: BTreeSet<String>,
    /// Variables whose values are evaluated as expressions.
    evaluated: BTreeSet<String>,
    /// How often the command changes the folder.
    moves: usize,
    /// Whether a function or a trap changes the folder, whenever it runs.
    roams: bool,
}

impl<'a, 'r> Reader<'a, 'r> {
    fn new(setting: Setting<'a>, reading: &'r mut Reading) -> Reader<'a, 'r> {
        Reader {
            setting,
            reading,
            parsed: 0,
            depth: 0,
            levels: 0,
            words: 0,
            files: 0,
            scripts: Vec::new(),
            numbers: BTreeSet::new(),
            texts: BTreeSet::new(),
            evaluated: BTreeSet::new(),
            moves: 0,
            roams: false,
        }
    }

    /// A script that the command writes itself may have anything in it, and so may a variable that is not a number of the
    /// command's own. The shell runs commands in the value of one that an expression reads.
    fn end(&mut self) {
        let is_number = |name: &&String| {
            let is_own = self.numbers.contains(*name) || COUNTERS.contains(&name.as_str());
            is_own && !self.texts.contains(*name) && !is_set_by_shell(name)
        };
        if let Some(name) = self.evaluated.iter().find(|name| !is_number(name)) {
            let name = cut(name);
            self.reading.doubt(format!(
                "the value of {name} is evaluated, and only known at run time"
            ));
        }
        let is_written = |script: &&Resource| {
            let mut parts = self.reading.parts.iter();
            parts.any(|part| part.kind == Kind::Edit && part.resource.id == script.id)
        };
        if let Some(script) = self.scripts.iter().find(is_written) {
            let name = cut(&script.id);
            self.reading
                .doubt(format!("the command runs {name}, which it writes itself"));
        }
    }

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
        let joined = text.replace("\\\n", "");
        if ["BASH_ALIASES", "BASH_CMDS"]
            .iter()
            .any(|it| joined.contains(it))
        {
            self.reading
                .doubt("the command mentions a variable that says which program a name is");
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
                if moves(&function.fname.value) {
                    let name = cut(&function.fname.value);
                    self.reading
                        .doubt(format!("the command defines {name} anew"));
                }
                // Whenever it is called, and from wherever.
                let around = self.redirected(function.body.1.as_ref(), dirs, around);
                let before = self.moves;
                self.compound(&function.body.0, &Dirs::unknown(), &around);
                self.behind_later_moves(before, dirs)
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.redirected(redirects.as_ref(), dirs, around);
                for (word, is_evaluated) in simple::tested(&test.expr) {
                    if is_evaluated {
                        self.evaluate(word.value.trim_matches('"'));
                    }
                    let word = simple::word(word, self.variables(dirs).as_variables());
                    let text = word.text.as_deref().unwrap_or_default();
                    // The index of an array is evaluated, even where it is quoted.
                    if text.contains("[$(") || text.contains("[`") {
                        let shown = cut(&word.raw);
                        self.reading
                            .doubt(format!("a test may run what is in `{shown}`"));
                    }
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
                if clause.values.is_none() {
                    self.set(&clause.variable_name, &Word::unknown(""));
                }
                for word in clause.values.iter().flatten() {
                    let word = simple::word(word, self.variables(dirs).as_variables());
                    self.within(&word, dirs);
                    self.set(&clause.variable_name, &word);
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

    /// What may be done again: where it changes the directory, or the branch, each round is elsewhere.
    fn looped(&mut self, lists: &[&ast::CompoundList], dirs: &Dirs, around: &Around) -> Ends {
        let branch = self.setting.branch;
        let mut any = dirs.clone();
        for list in lists {
            any = any.or(&self.list(list, &any, around).any());
        }
        if any != *dirs {
            any = Dirs::unknown();
        } else if self.setting.branch == branch {
            return Ends::same(dirs);
        }
        for list in lists {
            self.list(list, &any, around);
        }
        Ends::same(&any)
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
        self.assigned_in(expression);
        let quoted = format!("$(({expression}))");
        let word = crate::shell::word::read(&quoted, self.variables(dirs).as_variables());
        self.within(&word, dirs);
    }

    /// Variables that are set within other text: of an expression, by `read`, by `${NAME:=...}`.
    fn assigned_in(&mut self, text: &str) {
        let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let names = text
            .split(|c: char| !is_name(c))
            .filter(|it| simple::decides(it));
        for name in names.map(str::to_owned).collect::<Vec<_>>() {
            self.set(&name, &Word::unknown(""));
        }
    }

    /// Reads which variables an expression evaluates.
    fn evaluate(&mut self, expression: &str) {
        let Some(names) = arithmetic::names(expression) else {
            let shown = cut(expression);
            return self
                .reading
                .doubt(format!("the expression `{shown}` could not be read"));
        };
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        self.evaluated.extend(owned(names.read));
        self.numbers.extend(owned(names.set));
    }

    fn variables(&self, dirs: &Dirs) -> Known<'a> {
        Known {
            home: self.setting.home,
            pwd: dirs.only().map(str::to_owned),
        }
    }

    /// Reads the commands that are run for a word.
    fn within(&mut self, word: &Word, dirs: &Dirs) {
        if word.text.is_none() && word.raw.contains('=') {
            self.set_by_default(&word.raw);
        }
        if word.is_odd {
            self.reading
                .doubt(format!("`{}` could not be read", cut(&word.raw)));
        }
        word.expressions.iter().for_each(|it| self.evaluate(it));
        for command in &word.commands {
            self.script(command, dirs, &Around::default());
        }
    }

    /// `${NAME=...}` and `${NAME:=...}`.
    fn set_by_default(&mut self, raw: &str) {
        for rest in raw.split("${").skip(1) {
            let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let (name, rest) = rest.split_at_checked(end).unwrap_or_default();
            if rest.starts_with('=') || rest.starts_with(":=") {
                self.set(name, &Word::unknown(""));
            }
        }
    }

    fn files_of(&mut self, simple: &Simple, dirs: &Dirs) {
        for (kind, word) in &simple.files {
            self.within(word, dirs);
            if word.shown().starts_with('!') {
                self.reading.doubt(
                    "what is redirected to depends on the shell: bash writes to !, zsh does not",
                );
            }
            if may_be_device(word) {
                self.add(Part::new(Kind::Mention, host::unknown(&word.raw)));
            }
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
        let of = name.split('[').next().unwrap_or_default().to_owned();
        match is_number(value) {
            true => self.numbers.insert(of),
            false => self.texts.insert(of),
        };
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
            .map(|it| program_in(it, dirs).0)
            .filter(|it| is_program(it))
        else {
            self.unknown_program(first, args, simple, dirs, around);
            return Ends::same(&Dirs::unknown());
        };
        self.script_of(&program, args, dirs);
        let is_piped = around.is_piped || !matches!(simple.input, Input::Inherited);
        let input = match &simple.input {
            Input::Text(word) => Some(word),
            Input::Inherited | Input::File => None,
        };
        let runs = wrap::runs(name_of(&program), args, input, is_piped);
        let with_itself = match &runs {
            // One that is not the system's does what it likes.
            Runs::Words { with_itself, .. } | Runs::Script { with_itself, .. } => {
                *with_itself || program.contains('/')
            }
            Runs::Itself | Runs::Input | Runs::Unknown(_) => true,
        };
        let reason = match &runs {
            Runs::Input => Some("it runs what it reads"),
            Runs::Unknown(reason) => Some(*reason),
            _ => None,
        };
        let mut ends = Ends::same(dirs);
        if with_itself {
            ends = self.itself(&program, args, simple, dirs, around, reason);
        }
        match runs {
            Runs::Itself => ends,
            Runs::Words {
                words,
                sets,
                elsewhere,
                ..
            } => {
                sets.iter()
                    .for_each(|name| self.set(name, &Word::unknown("")));
                let unknown = Dirs::unknown();
                let inner_dirs = if elsewhere { &unknown } else { dirs };
                let after = self.run_words(&program, words, simple, inner_dirs, around);
                // `command cd x`
                match after == Ends::same(inner_dirs) {
                    true => Ends::same(dirs),
                    false => Ends::same(&Dirs::unknown()),
                }
            }
            Runs::Script { text, .. } => self.run_script(&program, &text, dirs, around),
            Runs::Input => Ends::same(&Dirs::unknown()),
            Runs::Unknown(_) => {
                self.mentions(args, dirs);
                Ends::same(dirs)
            }
        }
    }

    /// Reads a script that a program is given as text.
    fn run_script(&mut self, program: &str, text: &Word, dirs: &Dirs, around: &Around) -> Ends {
        if program == "alias" {
            self.reading.doubt("an alias changes what runs");
        }
        let around = around.within(program, around.is_piped);
        if program == "trap" {
            let before = self.moves;
            self.script(text.shown(), &Dirs::unknown(), &around);
            return self.behind_later_moves(before, dirs);
        }
        let after = self.script(text.shown(), dirs, &around);
        // These are in the shell itself.
        let is_here = matches!(program, "eval" | "source" | ".");
        Ends::same(if is_here { &after } else { dirs })
    }

    /// Where the shell is behind what runs later, and may have changed the folder since there were so many changes.
    fn behind_later_moves(&mut self, before: usize, dirs: &Dirs) -> Ends {
        let changes = self.moves > before;
        self.roams |= changes;
        match changes {
            true => Ends::same(&Dirs::unknown()),
            false => Ends::same(dirs),
        }
    }

    /// The command in the words that another one is given.
    fn run_words(
        &mut self,
        program: &str,
        words: Vec<Word>,
        simple: &Simple,
        dirs: &Dirs,
        around: &Around,
    ) -> Ends {
        let is_piped = around.is_piped || !matches!(simple.input, Input::Inherited);
        let is_fed = name_of(program) == "xargs";
        let around = around.within(program, is_piped && !is_fed);
        let mut command = simple.clone();
        command.words = words;
        command.files.clear();
        if is_fed {
            command.input = Input::Inherited;
        }
        if self.levels >= MAX_LEVELS || around.via.len() > MAX_DEPTH {
            self.reading
                .doubt("the command is nested deeper than is read");
            return Ends::same(dirs);
        }
        self.levels += 1;
        let ends = self.run(&command, dirs, &around);
        self.levels -= 1;
        ends
    }

    /// The file that is run, if it is one: a program, or the script of a shell or an interpreter.
    fn script_of(&mut self, program: &str, args: &[Word], dirs: &Dirs) {
        let word = match program.contains('/') {
            true => Some(Word::known(program)),
            false if programs::runs_scripts(program) => {
                let operand = args.iter().find(|it| !it.shown().starts_with('-'));
                operand.cloned()
            }
            false => None,
        };
        let Some(text) = word.and_then(|word| word.text) else {
            return;
        };
        for dir in dirs.all() {
            let place = Place {
                dir,
                root: self.setting.root,
                home: self.setting.home,
            };
            self.scripts.push(path::known(&text, place));
        }
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

    /// A command that is judged as itself; and why it is not known what it runs, if that is so.
    fn itself(
        &mut self,
        program: &str,
        args: &[Word],
        simple: &Simple,
        dirs: &Dirs,
        around: &Around,
        runs: Option<&str>,
    ) -> Ends {
        let name = name_of(program);
        let git = git_of(name, args).map(|args| git::read(&args));
        let mut resource = self.described(Some(program), args, git.as_ref(), simple, around);
        if !program_in(program, dirs).1 {
            resource.attributes.remove("program");
        }
        let subcommand = resource.known_text("subcommand").map(str::to_owned);
        let mut part = Part::new(Kind::Run, resource);
        part.needs_permission = !programs::is_shell_only(program) || runs.is_some();
        if let Some(reason) = runs {
            part = part.unsure(format!("what {program} runs is not known: {reason}"));
        }
        if let Some(reason) = self.changed_by_builtin(program, args) {
            part = part.unsure(reason);
        }
        if let Some(reason) = git.as_ref().and_then(|git| git.unsure.as_deref()) {
            part = part.unsure(reason);
        }
        self.add(part);
        let moved = match &git {
            Some(git) => git.dirs.iter().fold(dirs.clone(), |dirs, to| {
                dirs.then(to.text.as_deref(), self.setting.home)
            }),
            None => dirs.clone(),
        };
        let files: Vec<programs::FileUse> = match &git {
            Some(git) => git.files(),
            None => programs::files(name, args),
        };
        for (kind, word) in files {
            // What has no scheme may be a file as well.
            let is_host = word.shown().contains("://") || word.shown().contains(':');
            if !is_host || host::in_word(name, &word).is_none() {
                self.path(kind, &word, &moved);
            }
        }
        if matches!(name, "apply_patch" | "applypatch") {
            self.patched(args, simple, dirs);
        }
        let network = if git.is_some() { "git" } else { name };
        self.hosts(network, args, subcommand.as_deref());
        // Elsewhere, another one may be checked out.
        let branch = self
            .setting
            .branch
            .filter(|_| dirs.only() == self.setting.cwd);
        let changed = git.as_ref().map(|git| git.branches(branch));
        for part in changed.into_iter().flatten() {
            self.add(part);
        }
        let is_checkout = |word: &Word| word.shown() == "checkout";
        if git.as_ref().is_some_and(git::Git::may_switch)
            || (matches!(name, "gh" | "glab") && args.iter().any(is_checkout))
        {
            self.setting.branch = None;
        }
        self.changed(program, args, dirs)
    }

    /// What builtins set that decides what runs; why what they run is not known, if that is so.
    fn changed_by_builtin(&mut self, program: &str, args: &[Word]) -> Option<String> {
        let mut names: Vec<&Word> = match program {
            "export" | "declare" | "typeset" | "local" | "readonly" | "read" | "mapfile"
            | "readarray" | "unset" | "getopts" | "printf" | "let" | "wait" | "float"
            | "integer" => args.iter().collect(),
            "test" | "[" | "break" | "continue" | "shift" | "exit" | "return" => Vec::new(),
            _ => return None,
        };
        if program == "printf" {
            if !args.first().is_some_and(|it| it.shown().starts_with("-v")) {
                return None;
            }
            // The others are what is printed.
            names.truncate(2);
        }
        let is_map = args.iter().any(|word| {
            let text = word.shown();
            text.starts_with('-') && text.contains('A')
        });
        for word in names {
            match program {
                "let" => {
                    let expression = word.text.as_deref().unwrap_or(word.raw.trim_matches('"'));
                    self.assigned_in(expression);
                    self.evaluate(expression);
                }
                _ => self.set_by_argument(word, is_map),
            }
        }
        let changes_kind = |word: &Word| {
            let text = word.shown();
            text.starts_with('-') && text.contains(['i', 'n'])
        };
        if matches!(program, "float" | "integer")
            || (matches!(program, "declare" | "local" | "readonly" | "typeset")
                && args.iter().any(changes_kind))
        {
            return Some(format!(
                "{program} has values evaluated, or one variable stand for another"
            ));
        }
        if matches!(program, "test" | "[") && tests_element(args) {
            return Some(format!("{program} evaluates the index of an array"));
        }
        if let Some(word) = set_at_run_time(program, args) {
            let shown = cut(&word.raw);
            return Some(format!(
                "which variable {program} sets by `{shown}` is only known at run time"
            ));
        }
        // The index of an array is evaluated, commands in it too, quoted or not.
        let has_command = |word: &&Word| {
            let text = word.text.as_deref().unwrap_or_default();
            text.contains("$(") || text.contains('`')
        };
        let found = args.iter().find(has_command)?;
        Some(format!(
            "{program} may run what is in `{}`",
            cut(&found.raw)
        ))
    }

    /// The variable that an argument of a builtin sets: `NAME`, `NAME=VALUE`, `NAME[INDEX]`, or that an option names in the
    /// same word: `-vPATH`, `-raPATH`. The keys of a map are not evaluated.
    fn set_by_argument(&mut self, word: &Word, is_map: bool) {
        let text = word.shown();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim_end_matches('+'), programs::part_of(word, value)),
            None => (text, Word::unknown("")),
        };
        let index = name.split_once('[').map(|(_, index)| index);
        if let Some(index) = index.and_then(|it| it.strip_suffix(']')) {
            self.evaluate(index);
        }
        let list = value.shown().strip_prefix('(');
        let list = list.filter(|it| !is_map && it.contains("]="));
        for item in list.into_iter().flat_map(|it| it.split('[').skip(1)) {
            self.evaluate(item.split(']').next().unwrap_or_default());
        }
        let Some(group) = name.strip_prefix('-') else {
            return self.set(name, &value);
        };
        // `read -a`, `wait -p` and `printf -v` take a name.
        for (at, _) in group.match_indices(['a', 'p', 'v']) {
            self.set(group.get(at + 1..).unwrap_or_default(), &Word::unknown(""));
        }
    }

    /// The files of a patch that a command is given.
    fn patched(&mut self, args: &[Word], simple: &Simple, dirs: &Dirs) {
        let given = match &simple.input {
            Input::Text(word) => Some(word),
            Input::Inherited | Input::File => args.last(),
        };
        let text = given.and_then(|word| word.text.clone());
        let Some(files) = text.as_deref().and_then(tools::patched) else {
            return self.path(Kind::Edit, &Word::unknown("(what a patch changes)"), dirs);
        };
        for file in files {
            self.path(Kind::Edit, &Word::known(file), dirs);
        }
    }

    /// Where the shell is after a command.
    fn changed(&mut self, program: &str, args: &[Word], dirs: &Dirs) -> Ends {
        if !moves(program) {
            return Ends::same(dirs);
        }
        self.moves += 1;
        let done = match program {
            "cd" | "chdir" if !self.roams => {
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
            _ => Dirs::unknown(),
        };
        Ends {
            done,
            failed: dirs.clone(),
        }
    }

    fn hosts(&mut self, program: &str, args: &[Word], subcommand: Option<&str>) {
        let is_network = programs::is_network(program, subcommand, args);
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
        command = command.text("program", program).flag(
            "code",
            programs::runs_code(name_of(program), args, has_input),
        );
        let subcommand = match git {
            Some(git) => git.subcommand.clone(),
            None => programs::subcommand(program, args),
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

/// The word by which a builtin sets a variable whose name is only known at run time.
fn set_at_run_time<'a>(program: &str, args: &'a [Word]) -> Option<&'a Word> {
    let is_open = |word: &&Word| {
        let name = word.raw.split('=').next().unwrap_or_default();
        word.text.is_none()
            && !word.raw.starts_with('-')
            && name.contains(['$', '`', '{', '*', '?'])
    };
    // Behind these letters the next word is no name.
    let with_value = match program {
        "read" => "dinNptu",
        "mapfile" | "readarray" => "dnOsuCc",
        _ => "",
    };
    let takes_next = |word: &Word| {
        let text = word.shown();
        text.starts_with('-') && text.ends_with(|c: char| with_value.contains(c))
    };
    match program {
        "export" | "declare" | "typeset" | "local" | "readonly" | "unset" => {
            args.iter().find(is_open)
        }
        "printf" | "getopts" => args.get(1).filter(is_open),
        "read" | "mapfile" | "readarray" => {
            let before = std::iter::once(None).chain(args.iter().map(Some));
            let names = args.iter().zip(before);
            let names = names.filter(|(_, before)| !before.is_some_and(takes_next));
            names.map(|(word, _)| word).find(is_open)
        }
        _ => None,
    }
}

/// Whether a program changes the folder that the shell is in.
fn moves(program: &str) -> bool {
    matches!(
        program,
        "cd" | "chdir" | "pushd" | "popd" | "source" | "." | "z" | "j"
    )
}

/// Variables that are numbers unless they are set.
const COUNTERS: [&str; 10] = [
    "BASHPID",
    "EPOCHSECONDS",
    "EUID",
    "LINENO",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
    "UID",
];

/// Whether the shell sets a variable to a text, too.
fn is_set_by_shell(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "DIRSTACK", "FUNCNAME", "MAPFILE", "MATCH", "OLDPWD", "OPTARG", "PWD", "REPLY", "_",
        "argv", "match", "reply",
    ];
    NAMES.contains(&name) || name.starts_with("BASH_")
}

/// Whether a word is a number.
fn is_number(word: &Word) -> bool {
    let Some(text) = &word.text else {
        let first = word.expressions.first();
        let is_expression =
            first.is_some_and(|it| word.raw.trim_matches('"') == format!("$(({it}))"));
        return is_expression || arithmetic::is_number(&word.raw);
    };
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

/// Whether `test -v` looks for an element of an array.
fn tests_element(args: &[Word]) -> bool {
    args.windows(2).any(|pair| match pair {
        [option, word] => matches!(option.shown(), "-v" | "-R") && !simple::is_name(word.shown()),
        _ => false,
    })
}

/// The program that a word names: its name alone, where it is where programs of the system are.
pub(crate) fn program_of(word: &str) -> String {
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

/// The program that a word names in one of these directories, and whether it is the same in all of them: `./rm` is the
/// system's in `/bin`, and another one elsewhere.
fn program_in(word: &str, dirs: &Dirs) -> (String, bool) {
    let program = program_of(word);
    if !program.contains('/') || program.starts_with('/') {
        return (program, true);
    }
    let named = |dir: Option<&str>| dir.map(|dir| program_of(&path::normal(&[dir, word])));
    let of_system = |named: &String| !named.contains('/');
    let all: Option<BTreeSet<String>> = dirs.all().into_iter().map(named).collect();
    match all {
        Some(all) if !all.iter().any(of_system) => (program, true),
        Some(all) if all.len() == 1 => (all.into_iter().next().unwrap_or(program), true),
        _ => (program, false),
    }
}

/// Whether a word is the program that it names. zsh looks for the program behind `=`, what is behind
/// `time` may be an option of a program of that name, and `{NAME}` may belong to a redirection.
fn is_program(word: &str) -> bool {
    let is_option = word.starts_with('-') && word != "-";
    let is_in_braces = word.starts_with('{') && word.ends_with('}');
    !word.is_empty() && !word.starts_with('=') && !is_option && !is_in_braces
}

/// The name by which it is known what a program does, wherever it lies.
fn name_of(program: &str) -> &str {
    match program.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => program,
    }
}

/// The words behind `git`, if a program is it: as `git-push`, and as what stands for it.
fn git_of(name: &str, args: &[Word]) -> Option<Vec<Word>> {
    let subcommand = match name {
        "git" | "hub" => None,
        name => Some(
            name.strip_prefix("git-")
                .filter(|it| git::is_subcommand(it))?,
        ),
    };
    let words = subcommand.map(Word::known).into_iter();
    Some(words.chain(args.iter().cloned()).collect())
}

/// Whether a file may turn out to be a connection: all of its name is expanded, or a part of a device's.
fn may_be_device(word: &Word) -> bool {
    let raw = word.raw.trim_start_matches(['"', '\'']);
    let ends_open = raw
        .trim_end_matches(['"', '}', ')', '`'])
        .ends_with(|c: char| c == '_' || c.is_ascii_alphanumeric());
    let is_expanded = raw.starts_with(['$', '`']) && ends_open && !raw.contains('.');
    word.text.is_none() && (is_expanded || raw.contains("/dev/"))
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
