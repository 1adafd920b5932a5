//! The tokens of a response as chat completions report them.

use super::item::Usage;
use crate::import::members::Members;

/// The tokens of one response; none where it has none. Those read from a cache or written into it are a part
/// of the prompt's tokens, and the model's reasoning is a part of the completion's.
pub(crate) fn of(tokens: &Members<'_>) -> Option<Usage> {
    if tokens.is_empty() {
        return None;
    }
    let of = |name: &str| tokens.get::<u64>(name);
    let details = tokens.within("prompt_tokens_details");
    let details = match details.is_empty() {
        true => tokens.within("input_tokens_details"),
        false => details,
    };
    let read = of("cache_read_input_tokens").or_else(|| details.get("cached_tokens"));
    let write = of("cache_creation_input_tokens");
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    let prompt = of("prompt_tokens").or_else(|| of("input_tokens"));
    let uncached = prompt.map(|prompt| prompt.saturating_sub(cached));
    let output = of("completion_tokens").or_else(|| of("output_tokens"));
    let completion = tokens.within("completion_tokens_details");
    let completion = match completion.is_empty() {
        true => tokens.within("output_tokens_details"),
        false => completion,
    };
    let reasoning = completion.get("reasoning_tokens");
    Some(Usage::of([uncached, read, write, output]).with_reasoning(reasoning))
}
