//! The kinds of commands that agents give.

use crate::codes::coded_enum;

coded_enum! {
    /// What an agent's command is: Contracts v1.1's thirteen, and the two that it
    /// reserves.
    pub enum CommandKind {
        /// Creates a branch.
        CreateBranch = 1 => "CreateBranch",
        /// Applies a patch to the workspace.
        ApplyPatch = 2 => "ApplyPatch",
        /// Runs tests.
        RunTests = 3 => "RunTests",
        /// Commits.
        Commit = 4 => "Commit",
        /// Pushes a branch.
        Push = 5 => "Push",
        /// Asks for a difference.
        GetDiff = 6 => "GetDiff",
        /// Puts a ticket into another state.
        TransitionTicket = 7 => "TransitionTicket",
        /// Comments on a ticket.
        Comment = 8 => "Comment",
        /// Assigns a ticket.
        SetAssignee = 9 => "SetAssignee",
        /// Stores a file.
        UploadArtifact = 10 => "UploadArtifact",
        /// Asks for an approval.
        RequestApproval = 11 => "RequestApproval",
        /// Asks for tickets.
        QueryBacklog = 12 => "QueryBacklog",
        /// Asks for one ticket.
        QueryWorkItem = 13 => "QueryWorkItem",
        /// Reserved: begins another session.
        SpawnSession = 14 => "SpawnSession",
        /// Reserved: binds a session to a node of a plan.
        LinkPlanNode = 15 => "LinkPlanNode",
    }
}
