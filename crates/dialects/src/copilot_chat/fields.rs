//! What becomes of each field of a span of Copilot Chat's databases.

use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::transcript::item::COUNTS;

/// The columns of a span.
pub(super) const COLUMNS: [&str; 24] = [
    "span_id",
    "trace_id",
    "parent_span_id",
    "name",
    "start_time_ms",
    "end_time_ms",
    "status_code",
    "status_message",
    "operation_name",
    "provider_name",
    "agent_name",
    "conversation_id",
    "request_model",
    "response_model",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "tool_name",
    "tool_call_id",
    "tool_type",
    "chat_session_id",
    "turn_index",
    "ttft_ms",
];

/// Attributes whose values are read.
pub(super) const PROMPT: &str = "copilot_chat.user_request";
pub(super) const SESSION: &str = "copilot_chat.chat_session_id";
pub(super) const PARENT_SESSION: &str = "copilot_chat.parent_chat_session_id";
pub(super) const BRANCH: &str = "copilot_chat.repo.head_branch_name";
pub(super) const COMMIT: &str = "copilot_chat.repo.head_commit_hash";
pub(super) const REMOTE: &str = "copilot_chat.repo.remote_url";
pub(super) const HOOK: &str = "copilot_chat.hook_type";
pub(super) const HOOK_COMMAND: &str = "copilot_chat.hook_command";
pub(super) const HOOK_INPUT: &str = "copilot_chat.hook_input";
pub(super) const HOOK_OUTPUT: &str = "copilot_chat.hook_output";
pub(super) const HOOK_RESULT: &str = "copilot_chat.hook_result_kind";
pub(super) const INPUT: &str = "gen_ai.input.messages";
pub(super) const OUTPUT: &str = "gen_ai.output.messages";
pub(super) const INSTRUCTIONS: &str = "gen_ai.system_instructions";
pub(super) const FINISHED: &str = "gen_ai.response.finish_reasons";
pub(super) const RESPONSE: &str = "gen_ai.response.id";
pub(super) const CACHE_WRITES: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(super) const CALL: &str = "gen_ai.tool.call.id";
pub(super) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const RESULT: &str = "gen_ai.tool.call.result";
pub(super) const ERROR: &str = "error.type";

/// All of them. Of the others it is counted that they are there.
pub(super) const READ: [&str; 21] = [
    PROMPT,
    SESSION,
    PARENT_SESSION,
    BRANCH,
    COMMIT,
    REMOTE,
    HOOK,
    HOOK_COMMAND,
    HOOK_INPUT,
    HOOK_OUTPUT,
    HOOK_RESULT,
    INPUT,
    OUTPUT,
    INSTRUCTIONS,
    FINISHED,
    RESPONSE,
    CACHE_WRITES,
    CALL,
    ARGUMENTS,
    RESULT,
    ERROR,
];

/// The tokens of a request: the input has the cache's, and the output the reasoning.
pub(super) const TOKENS: [&str; COUNTS] = [
    "input_tokens",
    "cached_tokens",
    "attributes.gen_ai.usage.cache_creation.input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "(kept for an hour)",
    "(cost)",
    "(searches)",
];

/// What spans of all kinds have.
macro_rules! span_and {
    ($($path:literal => $fate:expr),* $(,)?) => {
        &[
            ("span_id", Kept),
            ("trace_id", Kept),
            ("parent_span_id", Inferred),
            ("name", Inferred),
            ("start_time_ms", Kept),
            ("end_time_ms", Kept),
            ("status_code", Inferred),
            ("status_message", Kept),
            ("operation_name", Inferred),
            ("conversation_id", Inferred),
            ("tool_call_id", Inferred),
            ("chat_session_id", Kept),
            ("attributes.gen_ai.operation.name", Inferred),
            ("attributes.copilot_chat.chat_session_id", Inferred),
            ("attributes.copilot_chat.session_id", Inferred),
            ("attributes.copilot_chat.parent_chat_session_id", Inferred),
            ("attributes.gen_ai.conversation.id", Inferred),
            ("attributes.error.type", Kept),
            $(($path, $fate),)*
        ]
    };
}

/// The agent, whose numbers are sums of those of its requests, and whose output is that of the last one.
pub(super) const AGENT: Table = span_and! {
    "agent_name" => Inferred,
    "attributes.gen_ai.agent.name" => Inferred,
    "provider_name" => Inferred,
    "attributes.gen_ai.provider.name" => Inferred,
    "request_model" => Inferred,
    "attributes.gen_ai.request.model" => Inferred,
    "response_model" => Inferred,
    "attributes.gen_ai.response.model" => Inferred,
    "input_tokens" => Inferred,
    "output_tokens" => Inferred,
    "cached_tokens" => Inferred,
    "reasoning_tokens" => Inferred,
    "attributes.gen_ai.usage.input_tokens" => Inferred,
    "attributes.gen_ai.usage.output_tokens" => Inferred,
    "attributes.gen_ai.usage.cache_read.input_tokens" => Inferred,
    "attributes.copilot_chat.user_request" => Inferred,
    "attributes.copilot_chat.turn_count" => Inferred,
    "attributes.gen_ai.input.messages" => Inferred,
    "attributes.gen_ai.output.messages" => Inferred,
    "attributes.copilot_chat.repo.head_branch_name" => Kept,
    "attributes.copilot_chat.repo.head_commit_hash" => Kept,
    "attributes.copilot_chat.repo.remote_url" => Kept,
};

/// A request to a model.
pub(super) const REQUEST: Table = span_and! {
    "agent_name" => Kept,
    "attributes.gen_ai.agent.name" => Inferred,
    "provider_name" => Inferred,
    "attributes.gen_ai.provider.name" => Inferred,
    "request_model" => Inferred,
    "attributes.gen_ai.request.model" => Inferred,
    "response_model" => Kept,
    "attributes.gen_ai.response.model" => Inferred,
    "input_tokens" => Apart,
    "output_tokens" => Apart,
    "cached_tokens" => Apart,
    "reasoning_tokens" => Apart,
    "attributes.gen_ai.usage.cache_creation.input_tokens" => Apart,
    "attributes.gen_ai.usage.input_tokens" => Inferred,
    "attributes.gen_ai.usage.output_tokens" => Inferred,
    "attributes.gen_ai.usage.cache_read.input_tokens" => Inferred,
    "attributes.gen_ai.usage.reasoning.output_tokens" => Inferred,
    // Its last message.
    "attributes.copilot_chat.user_request" => Inferred,
    "attributes.gen_ai.input.messages" => Apart,
    "attributes.gen_ai.output.messages" => Apart,
    "attributes.gen_ai.system_instructions" => Apart,
    "attributes.gen_ai.response.finish_reasons" => Kept,
    "attributes.gen_ai.response.id" => Kept,
    "attributes.copilot_chat.server_request_id" => Inferred,
};

/// A tool that ran.
pub(super) const TOOL: Table = span_and! {
    "tool_name" => Kept,
    "attributes.gen_ai.tool.name" => Inferred,
    "attributes.gen_ai.tool.call.id" => Kept,
    "attributes.gen_ai.tool.call.arguments" => Kept,
    "attributes.gen_ai.tool.call.result" => Kept,
};

/// A hook that ran.
pub(super) const HOOKED: Table = span_and! {
    "attributes.copilot_chat.hook_type" => Kept,
    "attributes.copilot_chat.hook_command" => Kept,
    "attributes.copilot_chat.hook_input" => Kept,
    "attributes.copilot_chat.hook_output" => Kept,
    "attributes.copilot_chat.hook_result_kind" => Kept,
};

/// The path of a span that is kept as it is.
pub(super) const WHOLE_PATH: &str = "(the whole span)";

/// A span that is kept as it is.
pub(super) const WHOLE: Table = &[(WHOLE_PATH, Kept)];

/// What is counted with another entry of the same span.
pub(super) const ELSEWHERE: Table = &[("", Apart)];

/// A message of what a request sent.
pub(super) const INPUT_PATH: &str = "attributes.gen_ai.input.messages[]";
pub(super) const INPUT_MESSAGE: Table = &[(INPUT_PATH, Kept)];

/// The instructions, where no message has them.
pub(super) const INSTRUCTIONS_PATH: &str = "attributes.gen_ai.system_instructions";
pub(super) const INSTRUCTED: Table = &[(INSTRUCTIONS_PATH, Kept)];

/// A part of what the model answered.
pub(super) const OUTPUT_PATH: &str = "attributes.gen_ai.output.messages[].parts[]";
pub(super) const OUTPUT_PART: Table = &[(OUTPUT_PATH, Kept)];

/// An event of a span.
pub(super) const EVENT_PATH: &str = "events[]";
pub(super) const EVENT: Table = &[(EVENT_PATH, Kept)];
