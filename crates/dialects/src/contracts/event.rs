//! Events: the results of commands, and what is reported of a session (docs/spec/contracts.md,
//! Events).

use annals_domain::session::{
    Artifact, CommandResult, RepoRef, SessionStatus, TaskPlan, WorkItemDetails, WorkItemSummary,
};
use annals_domain::{CommandId, Timestamp};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::core_type::{Correlation, Shape, Whole};
use super::fields::{Fields, Read};
use super::time;

/// An event of a session's stream. It carries no time of its own, but for what it
/// says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractEvent {
    /// Its id.
    pub id: Uuid,
    /// What it belongs to.
    pub correlation: Correlation,
    /// What happened.
    pub body: EventBody,
}

impl ContractEvent {
    /// Reads an event of a kind that there is.
    pub(super) fn read(kind: &str, fields: &mut Fields<'_>) -> Read<Option<ContractEvent>> {
        let Some(body) = read_body(kind, fields) else {
            return Ok(None);
        };
        let body = body?;
        Ok(Some(ContractEvent {
            id: fields.guid("id")?,
            correlation: fields.object("correlation", Correlation::read)?,
            body,
        }))
    }
}

macro_rules! bodies {
    ($($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty,)* })+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
            #[serde(rename_all = "camelCase")]
            pub struct $name { $($(#[$fmeta])* pub $field: $type,)* }

            impl From<$name> for EventBody {
                fn from(body: $name) -> EventBody {
                    EventBody::$name(body)
                }
            }
        )+

        /// What an event says.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum EventBody { $($(#[$meta])* $name($name),)+ }

        impl EventBody {
            /// The names of all kinds of events.
            pub const KINDS: &'static [&'static str] = &[$(stringify!($name),)+];

            /// The event's kind.
            pub fn kind(&self) -> &'static str {
                match self { $(EventBody::$name(_) => stringify!($name),)+ }
            }
        }

        fn read_body(kind: &str, fields: &mut Fields<'_>) -> Option<Read<EventBody>> {
            match kind {
                $(stringify!($name) => Some($name::read(fields).map(EventBody::from)),)+
                _ => None,
            }
        }

        impl Serialize for ContractEvent {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let (id, correlation, kind) = (self.id, &self.correlation, self.body.kind());
                match &self.body {
                    $(EventBody::$name(body) => {
                        Whole { body, id, correlation, kind }.serialize(serializer)
                    })+
                }
            }
        }
    };
}

bodies! {
    /// A command was accepted.
    CommandAccepted {
        /// The command.
        command_id: CommandId,
    }
    /// A command was rejected.
    CommandRejected {
        /// The command.
        command_id: CommandId,
        /// Why.
        reason: String,
        /// By which rule of the policy.
        #[serde(skip_serializing_if = "Option::is_none")]
        policy_rule: Option<String>,
    }
    /// An accepted command ended.
    CommandCompleted {
        /// The command.
        command_id: CommandId,
        /// How it ended.
        outcome: CommandResult,
        /// What is to be said of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The number or word of what went wrong.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_code: Option<String>,
    }
    /// A command made something.
    ArtifactAvailable {
        /// What it made.
        artifact: Artifact,
    }
    /// A command came too early.
    Throttled {
        /// What is limited.
        scope: String,
        /// From when on it may be given.
        #[serde(serialize_with = "time::serialize")]
        retry_after: Timestamp,
    }
    /// A command met a conflict.
    ConflictDetected {
        /// The repository.
        repo: RepoRef,
        /// What is in conflict.
        details: String,
        /// The patch.
        #[serde(skip_serializing_if = "Option::is_none")]
        patch_content: Option<String>,
    }
    /// The session is in another status.
    SessionStatusChanged {
        /// The status.
        status: SessionStatus,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// The plan was replaced as a whole.
    PlanUpdated {
        /// The plan.
        plan: TaskPlan,
    }
    /// A backlog was read.
    BacklogQueried {
        /// The tickets.
        items: Vec<WorkItemSummary>,
    }
    /// A ticket was read.
    WorkItemQueried {
        /// The ticket.
        details: WorkItemDetails,
    }
}

impl CommandAccepted {
    fn read(fields: &mut Fields<'_>) -> Read<CommandAccepted> {
        Ok(CommandAccepted {
            command_id: fields.guid("commandId")?,
        })
    }
}

impl CommandRejected {
    fn read(fields: &mut Fields<'_>) -> Read<CommandRejected> {
        Ok(CommandRejected {
            command_id: fields.guid("commandId")?,
            reason: fields.text("reason")?,
            policy_rule: fields.optional_text("policyRule")?,
        })
    }
}

impl CommandCompleted {
    fn read(fields: &mut Fields<'_>) -> Read<CommandCompleted> {
        Ok(CommandCompleted {
            command_id: fields.guid("commandId")?,
            outcome: fields.word("outcome")?,
            message: fields.optional_text("message")?,
            error_code: fields.optional_text("errorCode")?,
        })
    }
}

impl ArtifactAvailable {
    fn read(fields: &mut Fields<'_>) -> Read<ArtifactAvailable> {
        Ok(ArtifactAvailable {
            artifact: fields.object("artifact", Artifact::read)?,
        })
    }
}

impl Throttled {
    fn read(fields: &mut Fields<'_>) -> Read<Throttled> {
        Ok(Throttled {
            scope: fields.text("scope")?,
            retry_after: fields.time("retryAfter")?,
        })
    }
}

impl ConflictDetected {
    fn read(fields: &mut Fields<'_>) -> Read<ConflictDetected> {
        Ok(ConflictDetected {
            repo: fields.object("repo", RepoRef::read)?,
            details: fields.text("details")?,
            patch_content: fields.optional_text("patchContent")?,
        })
    }
}

impl SessionStatusChanged {
    fn read(fields: &mut Fields<'_>) -> Read<SessionStatusChanged> {
        Ok(SessionStatusChanged {
            status: fields.word("status")?,
            reason: fields.optional_text("reason")?,
        })
    }
}

impl PlanUpdated {
    fn read(fields: &mut Fields<'_>) -> Read<PlanUpdated> {
        Ok(PlanUpdated {
            plan: fields.object("plan", TaskPlan::read)?,
        })
    }
}

impl BacklogQueried {
    fn read(fields: &mut Fields<'_>) -> Read<BacklogQueried> {
        Ok(BacklogQueried {
            items: fields.list("items", WorkItemSummary::read)?,
        })
    }
}

impl WorkItemQueried {
    fn read(fields: &mut Fields<'_>) -> Read<WorkItemQueried> {
        Ok(WorkItemQueried {
            details: fields.object("details", WorkItemDetails::read)?,
        })
    }
}
