//! The fold of sessions.
