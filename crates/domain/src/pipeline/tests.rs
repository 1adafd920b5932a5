//! Context pipelines: the window against git-internal, the other policies, the
//! decider.

mod decide;
mod policies;
mod window;

use super::Window;

/// The numbers of the frames in a window, in order.
fn ids<T>(window: &Window<T>) -> Vec<u64> {
    window.iter().map(|(id, _)| id.0).collect()
}
