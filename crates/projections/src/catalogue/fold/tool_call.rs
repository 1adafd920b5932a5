//! What happens to a tool call: any event on it may be the first that is known.

use annals_domain::Kind;
use annals_domain::run::{CallStatus, Event, ToolDecided, call_of};
use uuid::Uuid;

use super::Fold;
use super::create::Beginning;
use crate::Text;
use crate::catalogue::keys;
use crate::catalogue::row::ObjectRow;
use crate::catalogue::status::Status;
use crate::tool_name::is_generic;

impl Fold<'_> {
    pub(super) fn tool_call(&mut self, event: &Event) {
        let Some(call) = call_of(event) else {
            return;
        };
        let id = call.0;
        let known = self.row(Kind::ToolInvocation, id);
        let is_known = known.as_ref().is_some_and(|row| row.exists());
        let status = |row: &mut ObjectRow| row.status.and_then(Status::of_call);
        let before = known.and_then(status);
        let Some(after) = CallStatus::after(before, event) else {
            return;
        };
        let failed = |status| i64::from(status == Some(CallStatus::Error));
        if is_known {
            self.set_status(Kind::ToolInvocation, id, after.into());
            let key = keys::later_of_call(id, self.step.position());
            self.rows.put(&key, &[]);
            self.name_tool(id);
            self.count_call(0, failed(Some(after)) - failed(before));
        } else {
            let beginning = Beginning {
                status: Some(after.into()),
                ..Beginning::default()
            };
            if !self.create(Kind::ToolInvocation, id, beginning) {
                return;
            }
            self.count_call(1, failed(Some(after)));
        }
        if let Event::ToolDecided(event) = event {
            self.tool_decided(event);
        }
    }

    /// Names a call by its tool, where no source before said one.
    fn name_tool(&mut self, call: Uuid) {
        let says_none = |name: &Text| name.as_str().is_some_and(is_generic);
        let Some(name) = self.title.take().filter(|name| !says_none(name)) else {
            return;
        };
        if let Some(row) = self.row(Kind::ToolInvocation, call)
            && row.title.as_ref().is_some_and(says_none)
        {
            row.title = Some(name);
        }
    }

    /// Enters a decision on a tool call into the lists that it belongs to.
    fn tool_decided(&mut self, event: &ToolDecided) {
        let position = self.step.position();
        let (run, call) = (self.own(), event.tool_invocation.0);
        let mut put = |prefix| {
            self.rows
                .put(&keys::listed(&prefix, position), call.as_bytes())
        };
        put(keys::decided(event.verdict, event.by));
        put(keys::decided_in(run));
        if event.scope.is_kept() {
            put(keys::granted());
        }
        if let Some(grant) = event.grant {
            put(keys::using(grant.0));
        }
    }
}
