//! What a session may do (docs/spec/contracts.md, Policy Profiles and Sessions).

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use super::refspec::{pattern_fault, protects};
use super::{CommandKind, RepoRef, WorkItemRef, WorkspaceRef};
use crate::bucket::Limit;
use crate::folding::is_blank;
use crate::{Ordered, Pairs, Refusal, SessionId, is_removed_name};

/// How often commands may be given.
#[derive(
    Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, new, Setters,
)]
#[setters(prefix = "with_", into)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RateLimits {
    /// How many a minute, for all sessions of the agent whose profiles have the same name and limits; left out, any
    /// number. 0 is none but for the burst.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_per_minute: Option<u32>,
    /// How many at once; left out, as many as a minute may have. It says nothing
    /// without `callsPerMinute`.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// How many a minute of one kind, instead of the numbers above, for all
    /// sessions together whose profiles have the same name and limits.
    #[new(default)]
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "each_once"
    )]
    pub per_command_caps: Option<Ordered<u32>>,
}

/// What a session may do. What is left out is not limited.
///
/// ```
/// use annals_domain::session::PolicyProfile;
/// let profile: PolicyProfile = serde_json::from_str(r#"{
///     "name": "careful",
///     "commandWhitelist": ["CreateBranch", "Commit", "Push"],
///     "protectedBranches": ["main", "release/*"],
///     "maxFilesPerCommit": 20,
///     "requireTestsBeforePush": true,
///     "requireApprovalForPush": true,
///     "limits": {"callsPerMinute": 30, "perCommandCaps": {"Push": 2}}
/// }"#)?;
/// assert!(profile.require_tests_before_push);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(
    Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, new, Setters,
)]
#[setters(prefix = "with_", into)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct PolicyProfile {
    /// Its name.
    #[new(into)]
    #[setters(skip)]
    pub name: String,
    /// The kinds of commands that may be given. An empty list allows none.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_whitelist: Option<Vec<String>>,
    /// The kinds of commands that may not be given.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_blacklist: Option<Vec<String>>,
    /// Branches that are not to be created, committed to or pushed: names, in which `*` stands for any characters, `/`
    /// included, and `?` for one.
    #[new(default)]
    #[serde(default)]
    pub protected_branches: Vec<String>,
    /// How many files a commit may change. The caller of the gate lists them.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_files_per_commit: Option<u32>,
    /// Whether tests must have passed in the repository since the last change before a push.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default)]
    pub require_tests_before_push: bool,
    /// Whether tests that a filter chose count, too. Left out, only a run of all of them does.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub filtered_tests_count: bool,
    /// Whether pushes need an approval.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default)]
    pub require_approval_for_push: bool,
    /// The steps that tickets may take, each as `From->To`.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_work_item_transitions: Option<Vec<String>>,
    /// How often commands may be given.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<RateLimits>,
}

/// How a session is set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionConfig {
    /// Its id.
    #[setters(skip)]
    pub session_id: SessionId,
    /// The session that it was begun by.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<Uuid>,
    /// The node of that session's plan that it works on.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_node_id: Option<String>,
    /// What it may do.
    #[setters(skip)]
    pub policy: PolicyProfile,
    /// The repository that it works on.
    #[setters(skip)]
    pub repo: RepoRef,
    /// Its workspace.
    #[setters(skip)]
    pub workspace: WorkspaceRef,
    /// The ticket that it works on.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_item: Option<WorkItemRef>,
    /// Which agent works in it.
    #[new(into)]
    #[setters(skip)]
    pub agent_profile: String,
}

/// Caps, each of another kind: of two, one would not count.
fn each_once<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ordered<u32>>, D::Error> {
    let Some(pairs) = Option::<Pairs<u32>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    match pairs.twice() {
        None => Ok(Some(pairs.into())),
        Some(kind) => Err(D::Error::custom(format!(
            "{kind:?} occurs twice: expected each kind once"
        ))),
    }
}

fn known_kinds(field: &'static str, words: &[impl AsRef<str>]) -> Result<(), Refusal> {
    for word in words {
        word.as_ref()
            .parse::<CommandKind>()
            .map_err(|error| Refusal::invalid(field, error.to_string()))?;
    }
    Ok(())
}

impl PolicyProfile {
    /// The texts of it that rules compare.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let steps = self.allowed_work_item_transitions.iter().flatten();
        let names = self.protected_branches.iter().chain(steps);
        names.chain([&self.name]).map(String::as_str)
    }

    /// Returns `true` if one of its patterns protects a branch, by any of the branch's names.
    ///
    /// ```
    /// use annals_domain::session::PolicyProfile;
    /// let profile = PolicyProfile::new("p").with_protected_branches(vec!["release/*".to_owned()]);
    /// assert!(profile.protects("release/1") && profile.protects("refs/heads/release/1"));
    /// assert!(!profile.protects("topic"));
    /// ```
    pub fn protects(&self, branch: &str) -> bool {
        let mut patterns = self.protected_branches.iter();
        patterns.any(|pattern| protects(pattern, branch))
    }

    /// Checks that it can do what it says. A misspelt kind would allow or forbid
    /// nothing, without a visible error.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], naming the field.
    pub fn check(&self) -> Result<(), Refusal> {
        if is_blank(&self.name) {
            return Err(Refusal::invalid("policy.name", "it must not be blank"));
        }
        if self.names().any(is_removed_name) {
            let reason = "\"[removed ...]\" stands for a name that a redaction removed";
            return Err(Refusal::invalid("policy", reason));
        }
        known_kinds(
            "policy.commandWhitelist",
            self.command_whitelist.as_deref().unwrap_or_default(),
        )?;
        known_kinds(
            "policy.commandBlacklist",
            self.command_blacklist.as_deref().unwrap_or_default(),
        )?;
        let mut patterns = self.protected_branches.iter();
        if let Some(fault) = patterns.find_map(|pattern| pattern_fault(pattern)) {
            return Err(Refusal::invalid("policy.protectedBranches", fault));
        }
        let caps = self
            .limits
            .iter()
            .filter_map(|limits| limits.per_command_caps.as_ref());
        for cap in caps {
            let kinds: Vec<&str> = cap.0.iter().map(|(kind, _)| kind.as_str()).collect();
            known_kinds("policy.limits.perCommandCaps", &kinds)?;
            let twice =
                |(place, kind): &(usize, &&str)| kinds.iter().take(*place).any(|it| it == *kind);
            if let Some((_, kind)) = kinds.iter().enumerate().find(twice) {
                let reason = format!("{kind} occurs twice: expected each kind once");
                return Err(Refusal::invalid("policy.limits.perCommandCaps", reason));
            }
        }
        let is_step = |step: &String| {
            step.split_once("->")
                .is_some_and(|(from, to)| !from.is_empty() && !to.is_empty())
        };
        match self
            .allowed_work_item_transitions
            .iter()
            .flatten()
            .find(|step| !is_step(step))
        {
            None => Ok(()),
            Some(step) => {
                let reason = format!("invalid step {step:?} of a ticket: expected From->To");
                Err(Refusal::invalid(
                    "policy.allowedWorkItemTransitions",
                    reason,
                ))
            }
        }
    }
}

/// The cap on a kind of commands, if the policy has one.
pub fn cap(policy: &PolicyProfile, kind: CommandKind) -> Option<Limit> {
    let caps = policy.limits.as_ref()?.per_command_caps.as_ref()?;
    let cap = *caps.get(kind.as_str())?;
    Some(Limit {
        capacity: cap,
        per_minute: cap,
    })
}
