//! The view of a provenance (docs/spec/git-internal.md, Provenance and TokenUsage).

use annals_domain::run::{AdoptedTokens, Event, ProvenanceAdopted, StoredTokens, UsageRecorded};
use annals_domain::{AnyEvent, RunId};
use serde::Serialize;

use crate::views::Project;
use crate::{Entry, HeaderView, JsonText, Text};

/// Tokens and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TokenUsageView {
    /// Tokens in the prompts: uncached, read from and written to caches.
    pub input_tokens: u64,
    /// Tokens in the completions.
    pub output_tokens: u64,
    /// Their sum, at most 2^64 - 1.
    pub total_tokens: u64,
    /// The sum of the costs that are known, in USD; null if none is.
    pub cost_usd: Option<f64>,
}

impl TokenUsageView {
    fn new(input_tokens: u64, output_tokens: u64, cost_usd: Option<f64>) -> TokenUsageView {
        let total_tokens = input_tokens.saturating_add(output_tokens);
        TokenUsageView {
            input_tokens,
            output_tokens,
            total_tokens,
            cost_usd,
        }
    }

    fn stored(tokens: &StoredTokens) -> TokenUsageView {
        TokenUsageView::new(tokens.input_tokens, tokens.output_tokens, tokens.cost_usd)
    }

    /// The total is the other system's, even if it differs from the sum.
    fn adopted(tokens: &AdoptedTokens) -> TokenUsageView {
        TokenUsageView {
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            total_tokens: tokens.total_tokens,
            cost_usd: tokens.cost_usd,
        }
    }

    /// What an event says was used.
    pub(crate) fn of(usage: &UsageRecorded) -> TokenUsageView {
        let input_tokens = usage
            .uncached_input_tokens
            .saturating_add(usage.cache_read_tokens)
            .saturating_add(usage.cache_write_tokens);
        TokenUsageView::new(input_tokens, usage.output_tokens, usage.cost_usd)
    }

    /// Adds more to what is known.
    pub(crate) fn add(known: &mut Option<TokenUsageView>, more: TokenUsageView) {
        *known = Some(match known {
            None => more,
            Some(known) => TokenUsageView::new(
                known.input_tokens.saturating_add(more.input_tokens),
                known.output_tokens.saturating_add(more.output_tokens),
                match (known.cost_usd, more.cost_usd) {
                    (Some(known), Some(more)) => Some(known + more),
                    (known, more) => known.or(more),
                },
            ),
        });
    }
}

/// How a run was executed: provider, model, tokens.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProvenanceView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// The run that it describes.
    pub run_id: RunId,
    /// The provider.
    pub provider: Text,
    /// The model.
    pub model: Text,
    /// The provider's own parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<JsonText>,
    /// The sampling temperature that was recorded outside of the parameters;
    /// [`ProvenanceView::effective_temperature`] looks into them too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The maximum generation length that was recorded outside of the parameters;
    /// [`ProvenanceView::effective_max_tokens`] looks into them too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// What was recorded, and all usage of the run on top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsageView>,
}

impl ProvenanceView {
    /// The sampling temperature, or else the one among the parameters.
    pub fn effective_temperature(&self) -> Option<f64> {
        self.temperature
            .filter(|temperature| temperature.is_finite())
            .or_else(|| self.parameter("temperature")?.as_f64())
    }

    /// The maximum generation length in tokens, or else the one among the
    /// parameters.
    pub fn effective_max_tokens(&self) -> Option<u64> {
        self.max_tokens
            .or_else(|| self.parameter("max_tokens")?.as_u64())
    }

    fn parameter(&self, name: &str) -> Option<serde_json::Value> {
        self.parameters.as_ref()?.field(name)
    }
}

impl ProvenanceView {
    fn adopt(header: HeaderView, event: &ProvenanceAdopted, entry: &Entry) -> ProvenanceView {
        let used = event.token_usage.as_ref();
        ProvenanceView {
            header,
            run_id: RunId(entry.stream.id),
            provider: entry.text(event.provider),
            model: entry.text(event.model),
            parameters: entry.optional_json(event.parameters),
            temperature: event.temperature,
            max_tokens: event.max_tokens,
            token_usage: used.map(TokenUsageView::adopted),
        }
    }
}

impl Project for ProvenanceView {
    fn create(header: HeaderView, entry: &Entry) -> Option<ProvenanceView> {
        let event = match &entry.event {
            AnyEvent::Run(Event::ProvenanceRecorded(event)) => event,
            AnyEvent::Run(Event::ProvenanceAdopted(event)) => {
                return Some(ProvenanceView::adopt(header, event, entry));
            }
            _ => return None,
        };
        Some(ProvenanceView {
            header,
            run_id: RunId(entry.stream.id),
            provider: entry.text(event.provider),
            model: entry.text(event.model),
            parameters: entry.optional_json(event.parameters),
            temperature: event.temperature,
            max_tokens: event.max_tokens,
            token_usage: event.token_usage.as_ref().map(TokenUsageView::stored),
        })
    }

    fn evolve(&mut self, entry: &Entry) {
        if let AnyEvent::Run(Event::UsageRecorded(usage)) = &entry.event {
            TokenUsageView::add(&mut self.token_usage, TokenUsageView::of(usage));
        }
    }
}
