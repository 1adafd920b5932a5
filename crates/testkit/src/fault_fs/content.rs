//! The bytes of a file in pages that copies share until one of them is written to.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The unit in which a kernel writes a file back, in bytes.
pub(super) const PAGE: u64 = 4096;

type Page = [u8; PAGE as usize];

/// A file's size and its pages. A page that is absent reads as zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    pages: BTreeMap<u64, Arc<Page>>,
    size: u64,
}

/// What of a write falls into one page.
pub(super) struct Part<'a> {
    /// The number of the page.
    pub(super) page: u64,
    /// Where in the page it begins, in bytes.
    pub(super) within: usize,
    pub(super) bytes: &'a [u8],
}

impl Part<'_> {
    /// Where in the file it begins, in bytes.
    pub(super) fn start(&self) -> u64 {
        self.page * PAGE + self.within as u64
    }
}

/// Splits a write at the bounds of pages.
pub(super) fn parts(at: u64, bytes: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let (mut at, mut rest) = (at, bytes);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let within = (at % PAGE) as usize;
        let (bytes, later) = rest.split_at(rest.len().min(PAGE as usize - within));
        let part = Part {
            page: at / PAGE,
            within,
            bytes,
        };
        at += bytes.len() as u64;
        rest = later;
        Some(part)
    })
}

impl Content {
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The pages that take space.
    pub(super) fn pages(&self) -> u64 {
        self.pages.len() as u64
    }

    pub(super) fn has_page(&self, page: u64) -> bool {
        self.pages.contains_key(&page)
    }

    /// At most `len` bytes from `at`, fewer at the end of the file.
    pub(super) fn read(&self, at: u64, len: u64) -> Vec<u8> {
        let end = at.saturating_add(len).min(self.size);
        if at >= end {
            return Vec::new();
        }
        let mut out = vec![0; (end - at) as usize];
        for (page, bytes) in self.pages.range(at / PAGE..=(end - 1) / PAGE) {
            let start = page * PAGE;
            let (from, to) = (at.max(start), end.min(start + PAGE));
            let source = bytes.get((from - start) as usize..(to - start) as usize);
            let target = out.get_mut((from - at) as usize..(to - at) as usize);
            if let (Some(target), Some(source)) = (target, source) {
                target.copy_from_slice(source);
            }
        }
        out
    }

    /// Writes, and grows the file where the write ends behind its end.
    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) {
        for part in parts(at, bytes) {
            self.put(&part, part.bytes.len());
        }
        self.size = self.size.max(at + bytes.len() as u64);
    }

    /// Writes the first `len` bytes of `part` and leaves the size as it is: the
    /// file's end is metadata, and a disk may have either without the other.
    pub(super) fn put(&mut self, part: &Part<'_>, len: usize) {
        let Some(bytes) = part.bytes.get(..len).filter(|bytes| !bytes.is_empty()) else {
            return;
        };
        let page = self
            .pages
            .entry(part.page)
            .or_insert_with(|| Arc::new([0; PAGE as usize]));
        if let Some(target) = Arc::make_mut(page).get_mut(part.within..part.within + bytes.len()) {
            target.copy_from_slice(bytes);
        }
    }

    /// Makes the size `to`. What lies behind is gone for good: a file that grows
    /// again has zeros there.
    pub(super) fn crop(&mut self, to: u64) {
        drop(self.pages.split_off(&to.div_ceil(PAGE)));
        let within = (to % PAGE) as usize;
        if within != 0
            && let Some(page) = self.pages.get_mut(&(to / PAGE))
            && page.iter().skip(within).any(|byte| *byte != 0)
            && let Some(tail) = Arc::make_mut(page).get_mut(within..)
        {
            tail.fill(0);
        }
        self.size = to;
    }

    /// Takes over one page of another content, or that it has none.
    pub(super) fn take_page(&mut self, page: u64, from: &Content) {
        match from.pages.get(&page) {
            Some(bytes) => self.pages.insert(page, Arc::clone(bytes)),
            None => self.pages.remove(&page),
        };
    }

    pub(super) fn take_size(&mut self, from: &Content) {
        self.size = from.size;
    }
}
