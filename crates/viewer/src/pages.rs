//! The pages, a file each: what one reads, and how it is drawn.

pub(crate) mod compare;
pub(crate) mod costs;
pub(crate) mod decisions;
pub(crate) mod diff;
pub(crate) mod event;
pub(crate) mod history;
pub(crate) mod home;
pub(crate) mod inbox;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod object;
pub(crate) mod overview;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod timeline;
pub(crate) mod tree;
pub(crate) mod window;
