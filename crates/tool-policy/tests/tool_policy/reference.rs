//! Random policies on random calls get the verdicts of a plain reference, which knows no Cedar: rules
//! as data, evaluated by hand, with a third truth for what is not known.

use annals_tool_policy::{Attribute, Call, Kind, Part, Policies, Verdict, read};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::in_workspace;

/// A test of one attribute.
#[derive(Debug, Clone)]
enum Atom {
    Is(&'static str, String),
    Like(&'static str, String),
    Has(&'static str, String),
    Flag(&'static str),
}

#[derive(Debug, Clone)]
enum Test {
    One(Atom),
    Not(Box<Test>),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
}

#[derive(Debug, Clone)]
struct Spec {
    kind: Kind,
    /// Whether it is of tools too, or of this action alone.
    group: bool,
    agent: Option<&'static str>,
    permits: bool,
    asks: bool,
    default: bool,
    when: Option<Test>,
}

impl Test {
    fn cedar(&self) -> String {
        match self {
            Test::One(Atom::Is(name, value)) => format!("resource.{name} == {value:?}"),
            Test::One(Atom::Like(name, value)) => format!("resource.{name} like {value:?}"),
            Test::One(Atom::Has(name, value)) => format!("resource.{name}.contains({value:?})"),
            Test::One(Atom::Flag(name)) => format!("resource.{name}"),
            Test::Not(test) => format!("!({})", test.cedar()),
            Test::And(a, b) => format!("(({}) && ({}))", a.cedar(), b.cedar()),
            Test::Or(a, b) => format!("(({}) || ({}))", a.cedar(), b.cedar()),
        }
    }

    /// None: it is not known.
    fn holds(&self, part: &Part) -> Option<bool> {
        let found = |name: &str| part.resource.attributes.get(name);
        match self {
            Test::One(Atom::Is(name, value)) => match found(name)? {
                Attribute::Text(text) => Some(text == value),
                _ => panic!("{name} is no text"),
            },
            Test::One(Atom::Like(name, value)) => match found(name)? {
                Attribute::Text(text) => Some(like(text, value)),
                _ => panic!("{name} is no text"),
            },
            Test::One(Atom::Has(name, value)) => match found(name)? {
                Attribute::Set(texts) => Some(texts.contains(value)),
                _ => panic!("{name} is no set"),
            },
            Test::One(Atom::Flag(name)) => match found(name)? {
                Attribute::Flag(flag) => Some(*flag),
                _ => panic!("{name} is no flag"),
            },
            Test::Not(test) => test.holds(part).map(|it| !it),
            Test::And(a, b) => match a.holds(part)? {
                true => b.holds(part),
                false => Some(false),
            },
            Test::Or(a, b) => match a.holds(part)? {
                true => Some(true),
                false => b.holds(part),
            },
        }
    }
}

/// A star at the begin, the end, or both.
fn like(text: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => text.contains(pattern.trim_matches('*')),
        (Some(end), None) => text.ends_with(end),
        (None, Some(begin)) => text.starts_with(begin),
        (None, None) => text == pattern,
    }
}

impl Spec {
    fn cedar(&self, id: usize) -> String {
        let effect = if self.permits { "permit" } else { "forbid" };
        let ask = if self.asks { "@ask(\"?\") " } else { "" };
        let default = if self.default { "@default " } else { "" };
        let way = if self.group { "in" } else { "==" };
        let kind = self.kind.name();
        let principal = match self.agent {
            Some(agent) => format!("principal in Agent::{agent:?}"),
            None => "principal".to_owned(),
        };
        let when = self
            .when
            .as_ref()
            .map(|test| format!(" when {{ {} }}", test.cedar()))
            .unwrap_or_default();
        format!(
            "@id(\"r{id}\") {ask}{default}{effect} ({principal}, action {way} Action::{kind:?}, resource){when};\n"
        )
    }

    fn verdict(&self) -> Verdict {
        match (self.asks, self.permits) {
            (true, _) => Verdict::Ask,
            (false, true) => Verdict::Allow,
            (false, false) => Verdict::Deny,
        }
    }

    /// Whether it matches a part; none: that is not known.
    fn matches(&self, part: &Part, agent: &str) -> Option<bool> {
        let in_scope = self.kind == part.kind
            && (self.group || part.action == self.kind.name())
            && self.agent.is_none_or(|it| it == agent);
        match (in_scope, &self.when) {
            (false, _) => Some(false),
            (true, None) => Some(true),
            (true, Some(test)) => test.holds(part),
        }
    }
}

/// A rule, as far as it matters for a part: what it says, whether it is a default, and whether it
/// matches; none: that is not known.
pub(crate) type Said = (Verdict, bool, Option<bool>);

/// What becomes of a part, by what each rule says of it.
pub(crate) fn expected(said: &[Said], part: &Part, otherwise: Verdict) -> Verdict {
    for is_default in [false, true] {
        if is_default && !part.needs_permission {
            break;
        }
        let round: Vec<&Said> = said.iter().filter(|it| it.1 == is_default).collect();
        let sure = |verdict| round.iter().any(|it| it.0 == verdict && it.2 == Some(true));
        let unsure = |verdict| round.iter().any(|it| it.0 == verdict && it.2.is_none());
        let is_empty = round.iter().all(|it| it.2 == Some(false));
        if sure(Verdict::Deny) {
            return Verdict::Deny;
        }
        if sure(Verdict::Ask)
            || unsure(Verdict::Ask)
            || unsure(Verdict::Deny)
            || part.unsure.is_some() && !is_empty
        {
            return Verdict::Ask;
        }
        if sure(Verdict::Allow) {
            return Verdict::Allow;
        }
        if unsure(Verdict::Allow) && part.needs_permission {
            return Verdict::Ask;
        }
    }
    match (part.needs_permission, part.unsure.is_some()) {
        (_, true) => Verdict::Ask,
        (true, false) => otherwise,
        (false, false) => Verdict::Allow,
    }
}

fn atom(kind: Kind) -> BoxedStrategy<Test> {
    let text = |names: &'static [&'static str], values: &'static [&'static str]| {
        (prop::sample::select(names), prop::sample::select(values))
    };
    let is =
        |(name, value): (&'static str, &'static str)| Test::One(Atom::Is(name, value.to_owned()));
    let has =
        |(name, value): (&'static str, &'static str)| Test::One(Atom::Has(name, value.to_owned()));
    let like =
        |(name, value): (&'static str, &'static str)| Test::One(Atom::Like(name, value.to_owned()));
    let flag = |name| Test::One(Atom::Flag(name));
    match kind {
        Kind::Read | Kind::Edit => prop_oneof![
            text(
                &["name", "extension", "relative"],
                &["x.rs", "rs", "src/x.rs", ".env", ""]
            )
            .prop_map(is),
            text(
                &["path", "relative"],
                &["/work/*", "src/*", "*.rs", "*src*"]
            )
            .prop_map(like),
            text(&["segments"], &["src", "etc", "x.rs"]).prop_map(has),
            Just("inside").prop_map(flag),
        ]
        .boxed(),
        Kind::Run => prop_oneof![
            text(
                &["program", "subcommand"],
                &["git", "ls", "cat", "push", "rm", ""]
            )
            .prop_map(is),
            text(&["text"], &["git*", "*x.rs", "*-r*"]).prop_map(like),
            text(
                &["options", "args", "via"],
                &["-r", "-f", "x.rs", "sudo", "push"]
            )
            .prop_map(has),
            prop::sample::select(&["code", "piped"][..]).prop_map(flag),
        ]
        .boxed(),
        Kind::Fetch => prop_oneof![
            text(&["host", "scheme"], &["docs.rs", "https", "a.example"]).prop_map(is),
            text(&["host", "url"], &["*.example", "https*"]).prop_map(like),
        ]
        .boxed(),
        Kind::Push => prop_oneof![
            text(&["name", "remote"], &["main", "topic", "origin"]).prop_map(is),
            prop::sample::select(&["force", "deletes"][..]).prop_map(flag),
        ]
        .boxed(),
        _ => text(&["name", "server", "tool"], &["mcp__a__b", "a", "b"])
            .prop_map(is)
            .boxed(),
    }
}

fn test(kind: Kind) -> impl Strategy<Value = Test> {
    atom(kind).prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|it| Test::Not(Box::new(it))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Test::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Test::Or(Box::new(a), Box::new(b))),
        ]
    })
}

fn spec() -> impl Strategy<Value = Spec> {
    let kinds = [
        Kind::Read,
        Kind::Edit,
        Kind::Run,
        Kind::Run,
        Kind::Fetch,
        Kind::Push,
        Kind::Mcp,
    ];
    prop::sample::select(kinds.to_vec()).prop_flat_map(|kind| {
        let when = prop::option::weighted(0.8, test(kind));
        let agent =
            prop::option::weighted(0.2, prop::sample::select(&["claude-code", "codex"][..]));
        (
            when,
            agent,
            prop::bool::weighted(0.8),
            any::<bool>(),
            prop::bool::weighted(0.3),
            prop::bool::weighted(0.3),
        )
            .prop_map(move |(when, agent, group, permits, asks, default)| Spec {
                kind,
                group,
                agent,
                permits,
                asks,
                default,
                when,
            })
    })
}

fn simple_command() -> impl Strategy<Value = String> {
    let program = prop::sample::select(
        &[
            "ls",
            "cat",
            "rm",
            "git push",
            "git status",
            "git",
            "curl",
            "touch",
            "python3 -c",
            "$X",
            "sudo rm",
            "xargs cat",
            "foo",
        ][..],
    );
    let arg = prop::sample::select(
        &[
            "x.rs",
            "src/x.rs",
            ".env",
            "/etc/x",
            "-r",
            "-f",
            "-rf",
            "origin",
            "main",
            "topic",
            "$Y",
            "*.rs",
            "../z",
            "https://docs.rs",
            "+main",
            "> out",
            "< in",
        ][..],
    );
    (program, vec(arg, 0..4)).prop_map(|(program, args)| format!("{program} {}", args.join(" ")))
}

pub(crate) fn call() -> impl Strategy<Value = Call> {
    let paths = prop::sample::select(&["x.rs", "src/x.rs", ".env", "/etc/x", "../x", "~/x"][..]);
    let commands = (
        vec(simple_command(), 1..4),
        prop::sample::select(&[" && ", "; ", " | ", " || "][..]),
    );
    let call = prop_oneof![
        1 => paths.clone().prop_map(|path| Call::new("Read", json!({ "file_path": path }))),
        1 => paths.prop_map(|path| Call::new("Edit", json!({ "file_path": path }))),
        1 => prop::sample::select(&["https://docs.rs/x", "http://b.a.example", "nothing"][..])
            .prop_map(|url| Call::new("WebFetch", json!({ "url": url }))),
        1 => prop::sample::select(&["mcp__a__b", "mcp__c__d"][..]).prop_map(|tool| Call::new(tool, json!({}))),
        4 => commands.prop_map(|(commands, between)| Call::new("Bash", json!({ "command": commands.join(between) }))),
    ];
    (
        call,
        prop::sample::select(&["claude-code", "codex"][..]),
        any::<bool>(),
    )
        .prop_map(|(call, agent, session)| {
            let call = in_workspace(call).with_agent(agent);
            if session {
                call
            } else {
                call.with_session(None)
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cedar_says_what_the_reference_says(
        specs in vec(spec(), 0..8),
        calls in vec(call(), 1..12),
        otherwise in prop::sample::select(Verdict::ALL.to_vec()),
    ) {
        let text: String = specs.iter().enumerate().map(|(id, spec)| spec.cedar(id)).collect();
        let policies = Policies::parse(&[("p.cedar", &text)]).expect(&text).otherwise(otherwise);
        for call in calls {
            let reading = read(&call);
            let judged = policies.judge(&call);
            let mut strongest = if reading.unsure.is_empty() { Verdict::Allow } else { Verdict::Ask };
            for (part, found) in reading.parts.iter().zip(&judged.parts) {
                let said = specs.iter().map(|it| (it.verdict(), it.default, it.matches(part, &call.agent)));
                let expected = expected(&said.collect::<Vec<_>>(), part, otherwise);
                prop_assert_eq!(found.verdict, expected, "{}\n{:?}\n{:#?}", text, call.args, found);
                strongest = strongest.max(expected);
                // The rules that are named are those that say so, all of them.
                if found.because.is_none() && found.verdict != Verdict::Allow {
                    let is_deciding = |it: &(usize, &Spec)| {
                        it.1.verdict() == found.verdict
                            && it.1.matches(part, &call.agent) == Some(true)
                    };
                    let rounds = [false, true].map(|default| {
                        let of_round = specs.iter().enumerate().filter(|it| it.1.default == default);
                        let deciding = of_round.filter(is_deciding);
                        deciding.map(|(id, _)| format!("r{id}")).collect::<Vec<String>>()
                    });
                    let deciding = rounds.into_iter().find(|round| !round.is_empty());
                    let named: Vec<String> = found.rules.iter().map(|it| it.id.clone()).collect();
                    prop_assert_eq!(named, deciding.unwrap_or_default(), "{}\n{:#?}", text, found);
                }
                for rule in found.rules.iter().filter(|_| found.because.is_none()) {
                    let at: usize = rule.id[1..].parse().unwrap();
                    prop_assert_eq!(specs[at].matches(part, &call.agent), Some(true), "{}", text);
                    prop_assert_eq!(rule.verdict, found.verdict);
                }
            }
            prop_assert_eq!(judged.verdict, strongest);
            prop_assert_eq!(judged.parts.len(), reading.parts.len());
            // The same call gets the same verdict.
            prop_assert_eq!(policies.judge(&call), judged);
        }
    }
}
