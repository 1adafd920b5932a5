//! What is counted of a message.

/// How many counts there are of a message: see [`Counts`].
pub(crate) const COUNTS: usize = 8;

/// What a message took so far: uncached input, cache reads, cache writes and output; of the output, what the model
/// thought with; of the cache writes, what stays for an hour; the cost in billionths of a USD; and searches of the web.
pub(crate) type Counts = [u64; COUNTS];
