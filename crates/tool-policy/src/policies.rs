//! Policies, and what they say of a call.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::call::Call;
use crate::part::{Attribute, Part, Reading, Type};
use crate::read::read;
use crate::request::{Around, Found, Requests};
use crate::rules::{self, Parsed, Round};
use crate::source::PolicyError;
use crate::verdict::{JudgedPart, Judgement, Rule, Verdict};

/// What is wrong with policies: all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PolicyErrors(Vec<PolicyError>);

impl PolicyErrors {
    /// Each thing that is wrong, in the order of the files.
    pub fn errors(&self) -> &[PolicyError] {
        &self.0
    }
}

impl fmt::Display for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Returns `true` for the branches of a list.
type IsListed = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Policies that are valid, and can be asked.
pub struct Policies {
    rules: Vec<Arc<Rule>>,
    first: Round,
    /// Those that are asked where none of the first ones matches.
    default: Round,
    otherwise: Verdict,
    /// Lists of protected branches, by name.
    lists: Vec<(String, IsListed)>,
    requests: Requests,
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

impl Policies {
    /// Parses policy files, each a name and its text, and checks all of their policies.
    ///
    /// # Errors
    /// [`PolicyErrors`], with everything that is wrong and where.
    pub fn parse(files: &[(&str, &str)]) -> Result<Policies, PolicyErrors> {
        let mut errors = Vec::new();
        let parsed: Vec<Parsed> = rules::parse(files, &mut errors);
        let mut by_id: HashMap<String, Arc<Rule>> = HashMap::new();
        for Parsed { rule, .. } in &parsed {
            if let Some(first) = by_id.insert(rule.id.clone(), Arc::clone(rule)) {
                errors.push(PolicyError {
                    file: rule.file.clone(),
                    line: rule.line,
                    rule: Some(rule.id.clone()),
                    reason: format!(
                        "another rule has this @id: {}, line {}",
                        first.file, first.line
                    ),
                });
            }
        }
        if !errors.is_empty() {
            return Err(PolicyErrors(errors));
        }
        let rules = parsed.iter().map(|it| Arc::clone(&it.rule)).collect();
        let (default, first): (Vec<Parsed>, Vec<Parsed>) =
            parsed.into_iter().partition(|it| it.rule.is_default);
        let requests = Requests::new()
            .ok_or_else(|| unreadable(files, "the schema of policies cannot be read".to_owned()))?;
        Ok(Policies {
            rules,
            first: Round::of(first.into_iter()),
            default: Round::of(default.into_iter()),
            otherwise: Verdict::Ask,
            lists: Vec::new(),
            requests,
        })
    }

    /// With another verdict for what no rule matches; left out, a person is asked.
    #[must_use]
    pub fn otherwise(mut self, verdict: Verdict) -> Policies {
        self.otherwise = verdict;
        self
    }

    /// Adds a list of protected branches. Rules find its name in `resource.protected_by` of each branch for which
    /// `protects` returns `true`, given the branch's name without `refs/heads/`.
    ///
    /// ```
    /// use annals_tool_policy::{Call, Policies, Verdict};
    /// use serde_json::json;
    ///
    /// let policies = Policies::parse(&[("policy.cedar", r#"
    ///     forbid (principal, action == Action::"push", resource)
    ///     when { resource.protected_by.contains("releases") };
    ///     permit (principal, action, resource);
    /// "#)])?;
    /// let policies = policies.with_protected("releases", |branch| branch.starts_with("release/"));
    /// let call = Call::new("Bash", json!({"command": "git push origin release/1"}));
    /// assert_eq!(policies.judge(&call).verdict, Verdict::Deny);
    /// # Ok::<(), annals_tool_policy::PolicyErrors>(())
    /// ```
    #[must_use]
    pub fn with_protected(
        mut self,
        name: impl Into<String>,
        protects: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Policies {
        self.lists.push((name.into(), Box::new(protects)));
        self
    }

    /// The rules, in the order of the files.
    pub fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    /// Judges a call.
    pub fn judge(&self, call: &Call) -> Judgement {
        self.judge_reading(call, read(call))
    }

    /// Judges a call that was read ([`read`]).
    pub fn judge_reading(&self, call: &Call, reading: Reading) -> Judgement {
        let around = Around::of(call);
        let judged = |part: Part| self.judge_part(part, &around);
        let parts: Vec<JudgedPart> = reading.parts.into_iter().map(judged).collect();
        let unsure = match reading.unsure.is_empty() {
            true => Verdict::Allow,
            false => Verdict::Ask,
        };
        let strongest = parts
            .iter()
            .map(|part| part.verdict)
            .fold(unsure, Verdict::max);
        let mut rules: Vec<Arc<Rule>> = Vec::new();
        for part in parts.iter().filter(|part| part.verdict == strongest) {
            let more = part.rules.iter().filter(|it| it.verdict == strongest);
            let more: Vec<Arc<Rule>> = more.filter(|it| !rules.contains(it)).cloned().collect();
            rules.extend(more);
        }
        Judgement {
            verdict: strongest,
            reason: reason(strongest, &parts, &reading.unsure),
            rules,
            parts,
            unsure: reading.unsure,
        }
    }

    /// Adds the lists that a branch is in. Of a branch that is not known, they are not known.
    fn add_lists(&self, part: &mut Part) {
        let name = part.resource.known_text("name");
        let Some(name) = name.filter(|_| part.resource.of == Type::Branch) else {
            return;
        };
        let lists = self.lists.iter().filter(|(_, protects)| protects(name));
        let lists = lists.map(|(list, _)| list.clone()).collect();
        let attributes = &mut part.resource.attributes;
        attributes.insert("protected_by", Attribute::Set(lists));
    }

    fn judge_part(&self, mut part: Part, around: &Around<'_>) -> JudgedPart {
        self.add_lists(&mut part);
        let allowed = |part, rules| JudgedPart {
            part,
            verdict: Verdict::Allow,
            rules,
            because: None,
        };
        if !part.needs_permission && !self.first.objects.contains(&part.kind) {
            return match part.unsure.clone() {
                Some(reason) => asked(part, Vec::new(), reason),
                None => allowed(part, Vec::new()),
            };
        }
        let ask = |round: &Round| self.requests.ask(round, &part, around);
        let mut found = ask(&self.first);
        let finds_nothing = found.as_ref().is_some_and(Found::is_empty);
        if finds_nothing && part.needs_permission && !self.default.is_empty() {
            found = ask(&self.default);
        }
        let Some(found) = found else {
            return asked(part, Vec::new(), "it cannot be put to Cedar".to_owned());
        };
        let Found {
            denied,
            asking,
            allowing,
            maybe,
        } = found;
        if !denied.is_empty() {
            return JudgedPart {
                part,
                verdict: Verdict::Deny,
                rules: denied,
                because: None,
            };
        }
        if !asking.is_empty() {
            return JudgedPart {
                part,
                verdict: Verdict::Ask,
                rules: asking,
                because: None,
            };
        }
        // Rules that may restrict count, and those that may allow where no other one does.
        let restricts = maybe.iter().any(|rule| rule.verdict != Verdict::Allow);
        if restricts || (!maybe.is_empty() && allowing.is_empty() && part.needs_permission) {
            let names: Vec<&str> = maybe.iter().map(|rule| rule.id.as_str()).collect();
            let because = format!(
                "whether it matches is only known at run time: {}",
                names.join(", ")
            );
            return asked(part, maybe, because);
        }
        if let Some(reason) = part.unsure.clone() {
            return asked(part, Vec::new(), reason);
        }
        if !allowing.is_empty() || !part.needs_permission {
            return allowed(part, allowing);
        }
        JudgedPart {
            part,
            verdict: self.otherwise,
            rules: Vec::new(),
            because: Some("no rule matches".to_owned()),
        }
    }
}

fn asked(part: Part, rules: Vec<Arc<Rule>>, because: String) -> JudgedPart {
    JudgedPart {
        part,
        verdict: Verdict::Ask,
        rules,
        because: Some(because),
    }
}

fn unreadable(files: &[(&str, &str)], reason: String) -> PolicyErrors {
    let file = files.first().map_or("", |(file, _)| file);
    PolicyErrors(vec![PolicyError {
        file: file.to_owned(),
        line: 1,
        rule: None,
        reason,
    }])
}

/// Why a call gets its verdict: what the first part says that has it.
fn reason(verdict: Verdict, parts: &[JudgedPart], unsure: &[String]) -> String {
    let word = match verdict {
        Verdict::Allow => "allowed",
        Verdict::Ask => "asked",
        Verdict::Deny => "denied",
    };
    let mut with_it = parts.iter().filter(|part| part.verdict == verdict);
    let of_rule = with_it
        .clone()
        .find(|part| part.because.is_none() && !part.rules.is_empty());
    if let Some((part, rule)) = of_rule.and_then(|part| Some((part, part.rules.first()?))) {
        let what = shown(&part.part);
        return match &rule.reason {
            Some(text) => format!("{word} by rule {}: {text} ({what})", rule.id),
            None => format!("{word} by rule {} ({what})", rule.id),
        };
    }
    match (
        verdict,
        unsure.first(),
        with_it.find_map(|part| Some((part, part.because.as_ref()?))),
    ) {
        (Verdict::Ask, Some(unsure), _) => format!("{word}: {unsure}"),
        (_, _, Some((part, because))) => format!("{word}: {because} ({})", shown(&part.part)),
        _ => word.to_owned(),
    }
}

/// A part in a few words: `edit /work/app/.env`.
fn shown(part: &Part) -> String {
    format!("{} {}", part.kind.name(), part.resource.id)
}
