//! Commands on tool calls, mostly on one of the few that are there, so that they say the same things twice.

use annals_domain::run::{
    BeginToolCall, DecideToolCall, EndToolCall, FileInForce, GrantScope, RequestToolCall,
    TELEMETRY, ToolDecider, ToolStatus, ToolVerdict,
};
use annals_domain::{Command, IntegrityHash, Kind, Payload, RunId, ToolInvocationId};
use uuid::Uuid;

use super::Draw;

impl Draw<'_> {
    /// A command on a call of its run, or on a new one of this run.
    pub(super) fn call_command(&mut self, run: RunId) -> Command {
        let call: Uuid = match self.dice.once_in(4) {
            true => self.new_id(),
            false => self.of(Kind::ToolInvocation),
        };
        let of = self.model.calls.get(&call).map(|call| RunId(call.run));
        let run = match self.dice.once_in(8) {
            true => run,
            false => of.unwrap_or(run),
        };
        let call = ToolInvocationId(call);
        match self.dice.roll(7) {
            0 => self.tool_request(run, call).into(),
            1..4 => self.decision(run, call).into(),
            4 => BeginToolCall::new(run, call)
                .with_tool_name(self.tool_name())
                .into(),
            5 => self.tool_invocation(run).with_id(call).into(),
            _ => self.end(run, call).into(),
        }
    }

    /// A tool's name, which only the first command on a call needs.
    fn tool_name(&mut self) -> Option<String> {
        (!self.dice.once_in(6)).then(|| self.text())
    }

    fn tool_request(&mut self, run: RunId, call: ToolInvocationId) -> RequestToolCall {
        let args = self.dice.once_in(2).then(|| self.json());
        RequestToolCall::new(run, self.text())
            .with_id((!self.dice.once_in(8)).then_some(call))
            .with_args(args)
    }

    fn decision(&mut self, run: RunId, call: ToolInvocationId) -> DecideToolCall {
        let verdict = self.dice.pick(ToolVerdict::ALL);
        let by = self.dice.pick(&[ToolDecider::Rule, ToolDecider::Person]);
        let names = [None, Some("Bash(ls:*)".to_owned()), Some("ada".to_owned())];
        let named = |source: &str| Some(source.to_owned());
        let sources = [None, None, named("settings.json"), named(TELEMETRY)];
        let scopes = [
            None,
            Some(GrantScope::Once),
            Some(GrantScope::Session),
            Some(GrantScope::Settings),
        ];
        let grant = self.dice.once_in(4).then_some(call);
        let is_stated = self.dice.once_in(4);
        let verdict = verdict.unwrap_or(ToolVerdict::Ask);
        DecideToolCall::new(run, call, verdict, by.unwrap_or(ToolDecider::Mode))
            .with_tool_name(self.tool_name())
            .with_by_name(self.dice.pick(&names).flatten())
            .with_source(self.dice.pick(&sources).flatten())
            .with_scope(self.dice.pick(&scopes).flatten())
            .with_grant(grant)
            .with_inferred(self.dice.once_in(3))
            .with_reason(self.reason())
            .with_permission_mode(is_stated.then(|| self.words()))
            .with_in_force(is_stated.then(|| self.files_in_force()))
    }

    fn files_in_force(&mut self) -> Vec<FileInForce> {
        let content = Payload(self.words().into_bytes());
        let hash = IntegrityHash::of(b"a policy");
        vec![
            FileInForce::new(self.text()).with_content(content),
            FileInForce::new("policy.cedar").with_hash(hash),
        ]
    }

    fn end(&mut self, run: RunId, call: ToolInvocationId) -> EndToolCall {
        let status = self.dice.pick(ToolStatus::ALL).unwrap_or(ToolStatus::Ok);
        let duration = self.dice.once_in(2).then_some(7);
        let output = match self.dice.once_in(4) {
            true => self.parts(),
            false => Vec::new(),
        };
        EndToolCall::new(run, call, status)
            .with_tool_name(self.tool_name())
            .with_duration_ms(duration)
            .with_result_summary(self.reason())
            .with_failure(self.reason())
            .with_output(output)
    }
}
