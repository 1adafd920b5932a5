//! Eviction policies as data: what a pipeline records, what a policy file says.
//!
//! git-internal has one policy, [`MaxFrames`], which is the default here; the
//! others answer what would have become of the same frames otherwise.

use std::fmt;

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::FrameKind;
use crate::codes::coded_enum;
use crate::folding::is_blank;

/// Kinds that no policy evicts unless it says otherwise (docs/spec/git-internal.md,
/// Eviction).
pub fn protected_by_default() -> Vec<FrameKind> {
    vec![FrameKind::IntentAnalysis, FrameKind::Checkpoint]
}

/// How a window is kept within a limit. It is looked at after each push, and at
/// no other time: while the window is over the limit, the frame goes that the
/// policy names, until the limit is met or no frame is left that may go.
///
/// Written as an object with one field, the policy's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvictionPolicy {
    /// git-internal's policy: at most so many frames, the oldest goes first.
    MaxFrames(MaxFrames),
    /// At most so many tokens, the oldest frame goes first.
    TokenBudget(TokenBudget),
    /// At most so many tokens, of which one rolling summary of the evicted
    /// frames takes a fixed part; the oldest frame goes first.
    RollingSummary(RollingSummary),
    /// At most so many frames or tokens; the frame goes first that was pushed
    /// or used by a plan's step longest ago.
    LeastRecentlyUsed(LeastRecentlyUsed),
    /// At most so many frames of each kind; the oldest of a kind goes first.
    KindQuotas(KindQuotas),
    /// Nothing is evicted.
    Unlimited(Unlimited),
}

/// git-internal's policy: at most so many frames, the oldest goes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MaxFrames {
    /// How many frames the window may hold; 0 is unlimited. Left out, it is the
    /// limit that the pipeline has: what `create_pipeline`, `set_max_frames` or a
    /// policy like this one set last.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_frames: Option<u32>,
    /// Kinds that are never evicted.
    #[new(value = "protected_by_default()")]
    #[serde(default = "protected_by_default")]
    pub protected: Vec<FrameKind>,
}

/// At most so many tokens, the oldest frame goes first. A frame without an
/// estimate counts for no token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TokenBudget {
    /// How many tokens the frames in the window may take, from 1.
    #[setters(skip)]
    #[serde(deserialize_with = "from_one")]
    #[schemars(range(min = 1))]
    pub max_tokens: u64,
    /// Kinds that are never evicted.
    #[new(value = "protected_by_default()")]
    #[serde(default = "protected_by_default")]
    pub protected: Vec<FrameKind>,
}

/// At most so many tokens, of which one rolling summary of the evicted frames
/// takes a fixed part; the oldest frame goes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RollingSummary {
    /// How many tokens the frames in the window and the summary may take, from
    /// 1.
    #[setters(skip)]
    #[serde(deserialize_with = "from_one")]
    #[schemars(range(min = 1))]
    pub max_tokens: u64,
    /// How many of them the summary takes once there is one, from 1; less than
    /// `max_tokens`.
    #[setters(skip)]
    #[serde(deserialize_with = "from_one")]
    #[schemars(range(min = 1))]
    pub summary_tokens: u64,
    /// Kinds that are never evicted.
    #[new(value = "protected_by_default()")]
    #[serde(default = "protected_by_default")]
    pub protected: Vec<FrameKind>,
}

/// At most so many frames, so many tokens, or both; the frame goes first that
/// was pushed or used by a plan's step longest ago.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LeastRecentlyUsed {
    /// How many frames the window may hold, from 1.
    #[new(default)]
    #[serde(
        default,
        deserialize_with = "from_one_if_any",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 1))]
    pub max_frames: Option<u32>,
    /// How many tokens the frames in the window may take, from 1.
    #[new(default)]
    #[serde(
        default,
        deserialize_with = "from_one_if_any",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u64>,
    /// Kinds that are never evicted.
    #[new(value = "protected_by_default()")]
    #[serde(default = "protected_by_default")]
    pub protected: Vec<FrameKind>,
}

/// At most so many frames of each kind; the oldest of a kind goes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KindQuotas {
    /// The quotas, one a kind.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<KindQuota>,
    /// How many frames are kept of each kind that has no quota of its own; left
    /// out, all of them.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<u32>,
    /// Kinds that are never evicted. They have no quota.
    #[new(value = "protected_by_default()")]
    #[serde(default = "protected_by_default")]
    pub protected: Vec<FrameKind>,
}

/// How many frames of a kind are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KindQuota {
    /// The kind.
    pub kind: FrameKind,
    /// How many of its frames are kept; 0 keeps none.
    pub keep: u32,
}

/// Nothing is evicted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Unlimited {}

/// A number that must not be 0.
trait Counted: Default + PartialEq {}
impl Counted for u32 {}
impl Counted for u64 {}

fn from_one<'de, D, N>(deserializer: D) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: Counted + Deserialize<'de>,
{
    let number = N::deserialize(deserializer)?;
    if number == N::default() {
        return Err(serde::de::Error::custom(
            "a number from 1 is expected, not 0",
        ));
    }
    Ok(number)
}

fn from_one_if_any<'de, D, N>(deserializer: D) -> Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: Counted + Deserialize<'de>,
{
    let number = Option::<N>::deserialize(deserializer)?;
    if number == Some(N::default()) {
        return Err(serde::de::Error::custom(
            "a number from 1 is expected, not 0",
        ));
    }
    Ok(number)
}

/// What is wrong with a policy. Repeating it never helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct InvalidPolicy {
    /// The policy's field, or the policy's own name.
    pub field: &'static str,
    /// Which item of the field's list, from 0.
    pub item: Option<usize>,
    /// What is wrong with it, and what is expected.
    pub reason: String,
}

impl InvalidPolicy {
    fn new(field: &'static str, reason: impl Into<String>) -> InvalidPolicy {
        InvalidPolicy {
            field,
            item: None,
            reason: reason.into(),
        }
    }

    fn at(self, item: usize) -> InvalidPolicy {
        InvalidPolicy {
            item: Some(item),
            ..self
        }
    }
}

impl Default for EvictionPolicy {
    /// git-internal's, with the limit that the pipeline has.
    fn default() -> EvictionPolicy {
        EvictionPolicy::MaxFrames(MaxFrames::new())
    }
}

impl EvictionPolicy {
    /// git-internal's policy: at most so many frames; 0 is unlimited.
    ///
    /// ```
    /// use annals_domain::pipeline::EvictionPolicy;
    /// let policy: EvictionPolicy = serde_json::from_str(r#"{"max_frames": {"max_frames": 8}}"#)?;
    /// assert_eq!(policy, EvictionPolicy::max_frames(8));
    /// assert_eq!(policy.to_string(), "max_frames (8 frames)");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn max_frames(max_frames: u32) -> EvictionPolicy {
        EvictionPolicy::MaxFrames(MaxFrames::new().with_max_frames(max_frames))
    }

    /// At most so many tokens.
    pub fn token_budget(max_tokens: u64) -> EvictionPolicy {
        EvictionPolicy::TokenBudget(TokenBudget::new(max_tokens))
    }

    /// At most so many tokens, of which a rolling summary takes a part.
    pub fn rolling_summary(max_tokens: u64, summary_tokens: u64) -> EvictionPolicy {
        EvictionPolicy::RollingSummary(RollingSummary::new(max_tokens, summary_tokens))
    }

    /// At most so many frames, those that were used last.
    pub fn least_recently_used(max_frames: u32) -> EvictionPolicy {
        let policy = LeastRecentlyUsed::new().with_max_frames(max_frames);
        EvictionPolicy::LeastRecentlyUsed(policy)
    }

    /// At most so many frames of each of these kinds, and of each other one.
    pub fn kind_quotas(
        quotas: impl IntoIterator<Item = (FrameKind, u32)>,
        others: Option<u32>,
    ) -> EvictionPolicy {
        let quotas = quotas.into_iter();
        let quotas: Vec<_> = quotas
            .map(|(kind, keep)| KindQuota::new(kind, keep))
            .collect();
        let policy = KindQuotas::new().with_quotas(quotas).with_others(others);
        EvictionPolicy::KindQuotas(policy)
    }

    /// Nothing is evicted.
    pub fn unlimited() -> EvictionPolicy {
        EvictionPolicy::Unlimited(Unlimited {})
    }

    /// The policy's name.
    pub fn name(&self) -> &'static str {
        self.rule().as_str()
    }

    /// Which policy it is, as it is stored.
    pub fn rule(&self) -> PolicyRule {
        match self {
            EvictionPolicy::MaxFrames(_) => PolicyRule::MaxFrames,
            EvictionPolicy::TokenBudget(_) => PolicyRule::TokenBudget,
            EvictionPolicy::RollingSummary(_) => PolicyRule::RollingSummary,
            EvictionPolicy::LeastRecentlyUsed(_) => PolicyRule::LeastRecentlyUsed,
            EvictionPolicy::KindQuotas(_) => PolicyRule::KindQuotas,
            EvictionPolicy::Unlimited(_) => PolicyRule::Unlimited,
        }
    }

    /// Kinds that it never evicts.
    pub fn protected(&self) -> &[FrameKind] {
        match self {
            EvictionPolicy::MaxFrames(policy) => &policy.protected,
            EvictionPolicy::TokenBudget(policy) => &policy.protected,
            EvictionPolicy::RollingSummary(policy) => &policy.protected,
            EvictionPolicy::LeastRecentlyUsed(policy) => &policy.protected,
            EvictionPolicy::KindQuotas(policy) => &policy.protected,
            EvictionPolicy::Unlimited(_) => &[],
        }
    }

    /// The limit that git-internal's policy brings with it, if it does.
    pub fn own_max_frames(&self) -> Option<u32> {
        match self {
            EvictionPolicy::MaxFrames(policy) => policy.max_frames,
            EvictionPolicy::TokenBudget(_)
            | EvictionPolicy::RollingSummary(_)
            | EvictionPolicy::LeastRecentlyUsed(_)
            | EvictionPolicy::KindQuotas(_)
            | EvictionPolicy::Unlimited(_) => None,
        }
    }

    /// What it protects, where that is not the usual kinds.
    fn other_protection(&self) -> String {
        let usual = self.protected() == protected_by_default();
        match self {
            EvictionPolicy::Unlimited(_) => String::new(),
            _ if usual => String::new(),
            _ if self.protected().is_empty() => "protects no kind".to_owned(),
            _ => {
                let kinds: Vec<String> = self.protected().iter().map(FrameKind::label).collect();
                format!("protects {}", kinds.join(", "))
            }
        }
    }

    /// The policy as it is in force: a limit that git-internal's brings with it
    /// is the pipeline's from then on.
    pub fn in_force(&self) -> EvictionPolicy {
        match self {
            EvictionPolicy::MaxFrames(policy) => EvictionPolicy::MaxFrames(MaxFrames {
                max_frames: None,
                protected: policy.protected.clone(),
            }),
            other => other.clone(),
        }
    }

    /// Whether the policy makes sense; reading it from text has checked each
    /// field, but not how they go together.
    ///
    /// # Errors
    /// [`InvalidPolicy`] names the field.
    pub fn check(&self) -> Result<(), InvalidPolicy> {
        let counted = |field, number: u64| match number {
            0 => Err(InvalidPolicy::new(field, "a number from 1 is expected")),
            _ => Ok(()),
        };
        for (item, kind) in self.protected().iter().enumerate() {
            not_blank("protected", item, kind)?;
        }
        match self {
            EvictionPolicy::MaxFrames(_) | EvictionPolicy::Unlimited(_) => Ok(()),
            EvictionPolicy::TokenBudget(policy) => counted("max_tokens", policy.max_tokens),
            EvictionPolicy::RollingSummary(policy) => {
                counted("max_tokens", policy.max_tokens)?;
                counted("summary_tokens", policy.summary_tokens)?;
                policy.check()
            }
            EvictionPolicy::LeastRecentlyUsed(policy) => {
                counted("max_frames", policy.max_frames.map_or(1, u64::from))?;
                counted("max_tokens", policy.max_tokens.unwrap_or(1))?;
                policy.check()
            }
            EvictionPolicy::KindQuotas(policy) => policy.check(),
        }
    }
}

fn not_blank(field: &'static str, item: usize, kind: &FrameKind) -> Result<(), InvalidPolicy> {
    if is_blank(kind.as_str()) {
        return Err(InvalidPolicy::new(field, "a kind must not be blank").at(item));
    }
    Ok(())
}

impl RollingSummary {
    fn check(&self) -> Result<(), InvalidPolicy> {
        if self.summary_tokens >= self.max_tokens {
            let reason = format!(
                "{} leaves no token of max_tokens, {}, for frames; less is expected",
                self.summary_tokens, self.max_tokens
            );
            return Err(InvalidPolicy::new("summary_tokens", reason));
        }
        Ok(())
    }
}

impl LeastRecentlyUsed {
    fn check(&self) -> Result<(), InvalidPolicy> {
        if self.max_frames.is_none() && self.max_tokens.is_none() {
            let reason = "no limit: expected max_frames, max_tokens or both";
            return Err(InvalidPolicy::new("least_recently_used", reason));
        }
        Ok(())
    }
}

impl KindQuotas {
    /// How many frames of a kind are kept; `None` for all of them.
    pub fn quota_of(&self, kind: &FrameKind) -> Option<u32> {
        if self.protected.contains(kind) {
            return None;
        }
        let own = self.quotas.iter().find(|quota| quota.kind == *kind);
        own.map(|quota| quota.keep).or(self.others)
    }

    fn described(&self) -> String {
        let quotas = self.quotas.iter();
        let quotas = quotas.map(|quota| format!("{} {}", quota.keep, quota.kind.label()));
        let others = self.others.map(|keep| format!("{keep} of each other kind"));
        quotas.chain(others).collect::<Vec<String>>().join(", ")
    }

    fn check(&self) -> Result<(), InvalidPolicy> {
        if self.quotas.is_empty() && self.others.is_none() {
            let reason = "no quota: expected quotas, others or both";
            return Err(InvalidPolicy::new("kind_quotas", reason));
        }
        for (index, quota) in self.quotas.iter().enumerate() {
            not_blank("quotas", index, &quota.kind)?;
            let (kind, name) = (&quota.kind, quota.kind.label());
            if self.quotas.iter().take(index).any(|it| it.kind == *kind) {
                let reason = format!("{name} has two quotas; one is expected");
                return Err(InvalidPolicy::new("quotas", reason).at(index));
            }
            if self.protected.contains(kind) {
                let reason = format!(
                    "{name} has a quota and is protected; take it out of one of the two \
                     (`protected` is intent_analysis and checkpoint where it is left out)"
                );
                return Err(InvalidPolicy::new("quotas", reason).at(index));
            }
        }
        Ok(())
    }
}

/// The policy's name and limits, for people.
impl fmt::Display for EvictionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frames = |n: u32| match n {
            0 => "no limit".to_owned(),
            1 => "1 frame".to_owned(),
            n => format!("{n} frames"),
        };
        let limits = match self {
            EvictionPolicy::MaxFrames(policy) => policy.max_frames.map(frames).unwrap_or_default(),
            EvictionPolicy::TokenBudget(policy) => format!("{} tokens", policy.max_tokens),
            EvictionPolicy::RollingSummary(policy) => format!(
                "{} tokens, {} of them for a summary",
                policy.max_tokens, policy.summary_tokens
            ),
            EvictionPolicy::LeastRecentlyUsed(policy) => {
                let tokens = policy.max_tokens.map(|max| format!("{max} tokens"));
                let limits = policy.max_frames.map(frames).into_iter().chain(tokens);
                limits.collect::<Vec<String>>().join(", ")
            }
            EvictionPolicy::KindQuotas(policy) => policy.described(),
            EvictionPolicy::Unlimited(_) => String::new(),
        };
        let said = [limits, self.other_protection()];
        let said: Vec<String> = said.into_iter().filter(|it| !it.is_empty()).collect();
        match said.is_empty() {
            true => f.write_str(self.name()),
            false => write!(f, "{} ({})", self.name(), said.join("; ")),
        }
    }
}

coded_enum! {
    /// Which policy it is, as events store it.
    pub enum PolicyRule {
        /// At most so many frames, the oldest goes first: git-internal's policy.
        MaxFrames = 1 => "max_frames",
        /// At most so many tokens, the oldest frame goes first.
        TokenBudget = 2 => "token_budget",
        /// At most so many tokens, of which one rolling summary of the evicted frames takes a
        /// fixed part; the oldest frame goes first.
        RollingSummary = 3 => "rolling_summary",
        /// At most so many frames, so many tokens, or both; the frame goes first that was pushed or
        /// used longest ago.
        LeastRecentlyUsed = 4 => "least_recently_used",
        /// At most so many frames of each kind; the oldest of a kind goes first.
        KindQuotas = 5 => "kind_quotas",
        /// Nothing is evicted.
        Unlimited = 6 => "unlimited",
    }
}
