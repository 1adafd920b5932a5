//! Recording agents as they work.
