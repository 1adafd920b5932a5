//! Policies over tool calls of agents, in Cedar.
