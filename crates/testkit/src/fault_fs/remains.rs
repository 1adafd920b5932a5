//! What a cut makes of one file: its durable content and some of the unsynced changes.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng, RngCore};

use super::content::{Content, PAGE, Part, parts};
use super::cut::{Knobs, Survival, Unwritten};
use super::file::{Change, File};

const SECTOR: u64 = 512;

/// Which bytes of each pending change reached the disk.
struct Plan {
    /// How many bytes of each page's part of each write did.
    kept: Vec<Vec<usize>>,
    /// Up to which change the file's size did: sizes are committed in order.
    sizes: usize,
    /// The next write counts for the size up to this many of its bytes.
    torn: u64,
}

/// A file's content after a random cut, and what happened to it, in words.
pub(super) fn drawn(file: &mut File, knobs: &Knobs, draw: &mut StdRng) -> (Content, String) {
    let survival = match knobs.writes {
        Survival::Mixed => match draw.random_range(0..6) {
            0 => Survival::None,
            1 => Survival::All,
            2 | 3 => Survival::Prefix,
            _ => Survival::Subset,
        },
        chosen => chosen,
    };
    let plan = match survival {
        Survival::None => return (file.durable().clone(), "all lost".into()),
        Survival::All => {
            file.sync();
            return (file.durable().clone(), "all kept".into());
        }
        Survival::Prefix => prefix(file.pending(), knobs, draw),
        _ => subset(file.pending(), knobs, draw),
    };
    let content = replay(file, &plan, knobs, draw);
    (content, plan.describe(survival))
}

impl Plan {
    fn describe(&self, survival: Survival) -> String {
        match survival {
            Survival::Prefix => {
                format!("first {} kept, {} bytes of the next", self.sizes, self.torn)
            }
            _ => {
                let kept: usize = self.kept.iter().flatten().sum();
                format!(
                    "{kept} bytes kept in some pages, sizes of the first {}",
                    self.sizes
                )
            }
        }
    }
}

/// The first changes, and perhaps a part of the next one.
fn prefix(pending: &[Change], knobs: &Knobs, draw: &mut StdRng) -> Plan {
    let whole = draw.random_range(0..=pending.len());
    let mut torn = 0;
    let mut kept = Vec::with_capacity(pending.len());
    for (number, change) in pending.iter().enumerate() {
        let Change::Write { at, bytes } = change else {
            kept.push(Vec::new());
            continue;
        };
        if number == whole && knobs.tear {
            torn = tear(*at, bytes.len(), draw);
        }
        let mut left = match number {
            _ if number < whole => bytes.len(),
            _ if number == whole => torn,
            _ => 0,
        };
        kept.push(
            parts(*at, bytes)
                .map(|part| {
                    let kept = part.bytes.len().min(left);
                    left -= kept;
                    kept
                })
                .collect(),
        );
    }
    Plan {
        kept,
        sizes: whole,
        torn: torn as u64,
    }
}

/// Each page as any of the writes left it.
fn subset(pending: &[Change], knobs: &Knobs, draw: &mut StdRng) -> Plan {
    let mut pages = BTreeMap::<u64, usize>::new();
    for change in pending {
        if let Change::Write { at, bytes } = change {
            for part in parts(*at, bytes) {
                *pages.entry(part.page).or_default() += 1;
            }
        }
    }
    // Some disks had written nearly all back, some nearly nothing.
    let written = [0.1, 0.5, 0.9]
        .get(draw.random_range(0..3))
        .copied()
        .unwrap_or(0.5);
    for writes in pages.values_mut() {
        *writes = match () {
            () if draw.random_bool(written) => *writes,
            () if draw.random_bool(0.3) => draw.random_range(0..=*writes),
            () => 0,
        };
    }
    let mut kept = Vec::with_capacity(pending.len());
    for change in pending {
        let Change::Write { at, bytes } = change else {
            kept.push(Vec::new());
            continue;
        };
        kept.push(
            parts(*at, bytes)
                .map(|part| keep(&part, &mut pages, knobs, draw))
                .collect(),
        );
    }
    let sizes = if knobs.size_without_data {
        if draw.random() {
            pending.len()
        } else {
            draw.random_range(0..=pending.len())
        }
    } else {
        first_loss(pending, &kept)
    };
    Plan {
        kept,
        sizes,
        torn: 0,
    }
}

/// How much of a page's part of a write survives, where `pages` says how many of
/// the page's next writes do.
fn keep(
    part: &Part<'_>,
    pages: &mut BTreeMap<u64, usize>,
    knobs: &Knobs,
    draw: &mut StdRng,
) -> usize {
    match pages.get_mut(&part.page) {
        Some(left) if *left > 0 => {
            *left -= 1;
            part.bytes.len()
        }
        // The page was being written when the power went. Nothing later of it is.
        Some(_) if knobs.tear && draw.random_bool(0.125) => {
            pages.remove(&part.page);
            tear(part.start(), part.bytes.len(), draw)
        }
        _ => {
            pages.remove(&part.page);
            0
        }
    }
}

/// The number of changes before the first of which anything was lost.
fn first_loss(pending: &[Change], kept: &[Vec<usize>]) -> usize {
    let whole = |(change, kept): &(&Change, &Vec<usize>)| match change {
        Change::Write { bytes, .. } => kept.iter().sum::<usize>() == bytes.len(),
        Change::Resize { .. } | Change::Grown { .. } => true,
    };
    pending.iter().zip(kept).take_while(whole).count()
}

/// Some of `len` bytes from `at`: up to any byte, or to the end of a sector.
fn tear(at: u64, len: usize, draw: &mut StdRng) -> usize {
    let bytes = draw.random_range(0..len.max(1));
    if draw.random() {
        return bytes;
    }
    let end = (at + bytes as u64) / SECTOR * SECTOR;
    end.saturating_sub(at) as usize
}

/// Does again what the plan says of the changes, on what the disk had.
fn replay(file: &File, plan: &Plan, knobs: &Knobs, draw: &mut StdRng) -> Content {
    let mut content = file.durable().clone();
    let mut size = content.size();
    // Behind the end that a lost truncation would have made, later writes are in
    // blocks that no file had yet.
    let mut limit = u64::MAX;
    let mut lost = Vec::new();
    for (number, (change, kept)) in file.pending().iter().zip(&plan.kept).enumerate() {
        let counts = number < plan.sizes;
        match change {
            Change::Write { at, bytes } => {
                for (part, kept) in parts(*at, bytes).zip(kept) {
                    let kept = (*kept).min(limit.saturating_sub(part.start()) as usize);
                    content.put(&part, kept);
                    // Without its metadata the page is a hole, which reads as zeros.
                    if counts && kept < part.bytes.len() {
                        lost.push(part.page);
                    }
                }
                if counts {
                    size = size.max(at + bytes.len() as u64);
                } else if number == plan.sizes && plan.torn > 0 {
                    size = size.max(at + plan.torn);
                }
            }
            Change::Grown { to } if counts => size = size.max(*to),
            Change::Grown { .. } => {}
            Change::Resize { to } if counts => {
                content.crop(*to);
                size = *to;
            }
            Change::Resize { to } => limit = limit.min(*to),
        }
    }
    fill(&mut content, &lost, size, knobs, draw);
    content.crop(size);
    content
}

/// Fills pages within the size that no write reached.
fn fill(content: &mut Content, lost: &[u64], size: u64, knobs: &Knobs, draw: &mut StdRng) {
    let garbage = match knobs.unwritten {
        Unwritten::Zeros => false,
        Unwritten::Garbage => true,
        Unwritten::Either => draw.random(),
    };
    if !garbage {
        return; // a page that is absent reads as zeros
    }
    // Up to the old end there are the old bytes, which zeros are too.
    let end = content.size();
    for page in lost {
        if (end..size).contains(&(page * PAGE)) && !content.has_page(*page) {
            let mut bytes = [0; PAGE as usize];
            draw.fill_bytes(&mut bytes);
            content.put(
                &Part {
                    page: *page,
                    within: 0,
                    bytes: &bytes,
                },
                bytes.len(),
            );
        }
    }
}
