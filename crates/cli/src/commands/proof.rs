//! Checkpoints, keys and proofs.

pub(super) mod checkpoint;
mod files;
pub(super) mod key;
pub(super) mod prove;
mod signed;
pub(super) mod verify;
