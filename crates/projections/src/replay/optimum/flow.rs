//! The flow of places through chains of links.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A way for places to go between two nodes of a network.
struct Edge {
    from: usize,
    to: usize,
    room: u64,
    cost: i128,
}

/// An edge as seen from the node it leaves, or the way back along it as seen from
/// the node it leads to, for places that went along it.
#[derive(Debug, Clone, Copy, Default)]
struct Arc {
    to: usize,
    /// The same edge as seen from the other node.
    back: usize,
    /// How many more places can go this way.
    room: u64,
    cost: i128,
}

/// The flow of places through one group of chains.
///
/// Nodes 0 to the number of stretches are the moments between these, and every
/// place goes from the first to the last; then comes a node for each link. As many
/// places go through as the roomiest stretch has. Where a stretch has fewer, some
/// have to be idle: that many can earn a bounty by it, greater than what any one
/// frame is worth. A bounty forgone would so buy less than it costs, since one
/// frame fewer in that stretch would earn it back.
///
/// Costs are sums of at most a bounty for each stretch and the worth of all links,
/// which an `i128` holds for up to 2^30 links however much each is worth.
pub(super) struct Network {
    /// All arcs, by the node they leave.
    arcs: Vec<Arc>,
    /// Where each node's arcs start, and the end of the last.
    starts: Vec<usize>,
    /// For each node what makes the cost of every arc with room, plus the
    /// potential where it leaves, minus that where it leads, no less than 0.
    potentials: Vec<i128>,
    /// The arc that keeps each link, and the link's worth.
    links: Vec<(usize, u64)>,
    /// The node where all places end.
    sink: usize,
}

/// The node where all places start.
const SOURCE: usize = 0;

impl Network {
    pub(super) fn new(group: &[Chain], places: &[u64]) -> Self {
        let worth = |chain: &Chain| chain.links.iter().map(|link| i128::from(link.worth)).sum();
        let bounty = 1 + group.iter().map(worth).max().unwrap_or(0_i128);
        let mut draft = Draft::default();
        draft.add_stretches(places, bounty);
        let first = group.iter().map(|chain| chain.start).min().unwrap_or(0);
        for chain in group {
            draft.add_chain(chain, first);
        }
        draft.network(places.len())
    }

    /// Sends places through, the most gainful ways first, until all are through or
    /// the rest would earn nothing and can as well be idle.
    pub(super) fn fill(&mut self, places: u64, report: &mut dyn FnMut(u64)) {
        let mut filled = 0;
        while filled < places {
            self.measure();
            if self.potentials[self.sink] >= 0 {
                report(places);
                break;
            }
            while let sent @ 1.. = self.send(places - filled) {
                filled += sent;
                report(filled);
            }
        }
    }

    /// The worth of the links that no place went through.
    pub(super) fn missed(&self) -> u64 {
        self.links
            .iter()
            .filter(|&&(arc, _)| self.arcs[arc].room > 0)
            .map(|&(_, worth)| worth)
            .fold(0, u64::saturating_add)
    }

    /// What an arc costs more than the potentials say; 0 along a cheapest way.
    fn excess(&self, from: usize, arc: usize) -> i128 {
        let Arc { to, cost, .. } = self.arcs[arc];
        cost + self.potentials[from] - self.potentials[to]
    }

    /// Raises the potentials until a cheapest way through has no excess: Dijkstra's
    /// search for it, with the excesses as lengths. The source's stays 0, so the
    /// sink's is then the cost of that way.
    fn measure(&mut self) {
        let mut distances = vec![i128::MAX; self.potentials.len()];
        distances[SOURCE] = 0;
        // Many lengths are 0, and what is as near as can be need not be sorted.
        let mut nearest = vec![SOURCE];
        let mut heap = BinaryHeap::new();
        let mut whole = 0;
        while distances[self.sink] > whole {
            if let Some(node) = nearest.pop() {
                for arc in self.starts[node]..self.starts[node + 1] {
                    let Arc { to, room, .. } = self.arcs[arc];
                    let distance = whole + self.excess(node, arc);
                    if room > 0 && distance < distances[to] {
                        distances[to] = distance;
                        if distance == whole {
                            nearest.push(to);
                        } else {
                            heap.push(Reverse((distance, to)));
                        }
                    }
                }
            } else if let Some(Reverse((distance, node))) = heap.pop() {
                if distance == distances[node] {
                    whole = distance;
                    nearest.push(node);
                }
            } else {
                break;
            }
        }
        for (potential, distance) in self.potentials.iter_mut().zip(distances) {
            *potential += distance.min(whole);
        }
    }

    /// Sends places along cheapest ways for as long as a search in depth finds one
    /// without another try of where it got stuck before, and returns how many went.
    /// That may overlook ways, but never all there are.
    ///
    /// It looks from the sink back, since every node the distances were measured to
    /// has a cheapest way to it, but not always one on to the sink.
    fn send(&mut self, places: u64) -> u64 {
        let mut untried = self.starts.clone();
        let mut seen = vec![false; self.potentials.len()];
        seen[self.sink] = true;
        let mut way: Vec<usize> = Vec::new();
        let mut node = self.sink;
        let mut sent = 0;
        while sent < places {
            if node == SOURCE {
                sent += self.push(&way, places - sent);
                for arc in way.drain(..) {
                    seen[self.arcs[arc].to] = false;
                }
                node = self.sink;
            } else if let Some(arc) = self.next_free(node, &mut untried[node], &seen) {
                node = self.arcs[arc].to;
                seen[node] = true;
                way.push(arc);
            } else if let Some(arc) = way.pop() {
                node = self.arcs[self.arcs[arc].back].to;
            } else {
                break;
            }
        }
        sent
    }

    /// The first arc from a node, from the `untried` on, against which places can
    /// come on a cheapest way from where the search has not been.
    fn next_free(&self, node: usize, untried: &mut usize, seen: &[bool]) -> Option<usize> {
        let end = self.starts[node + 1];
        while *untried < end {
            let Arc { to, back, .. } = self.arcs[*untried];
            if !seen[to] && self.excess(node, *untried) == 0 && self.arcs[back].room > 0 {
                return Some(*untried);
            }
            *untried += 1;
        }
        None
    }

    /// Sends as many places against the arcs of a way as can go, `limit` at most.
    fn push(&mut self, way: &[usize], limit: u64) -> u64 {
        let rooms = way.iter().map(|&arc| self.arcs[self.arcs[arc].back].room);
        let places = rooms.fold(limit, u64::min);
        for &arc in way {
            let Arc { back, .. } = self.arcs[arc];
            self.arcs[back].room -= places;
            self.arcs[arc].room += places;
        }
        places
    }
}

/// A network in the making.
#[derive(Default)]
struct Draft {
    edges: Vec<Edge>,
    potentials: Vec<i128>,
    /// The edge that keeps each link, and the link's worth.
    links: Vec<(usize, u64)>,
}

impl Draft {
    /// Adds the moments between stretches, and the idle ways from one to the next.
    fn add_stretches(&mut self, places: &[u64], bounty: i128) {
        let all = most(places);
        let mut potential = 0;
        self.potentials.push(potential);
        for (stretch, &open) in places.iter().enumerate() {
            self.add_edge(stretch, stretch + 1, all, 0);
            if open < all {
                self.add_edge(stretch, stretch + 1, all - open, -bounty);
            }
            // Nothing earns more by a stretch than the bounty.
            potential -= bounty;
            self.potentials.push(potential);
        }
    }

    /// Adds the links of a frame, each with a way in and a way out.
    fn add_chain(&mut self, chain: &Chain, first: usize) {
        let mut from = chain.start - first;
        for link in &chain.links {
            let node = self.potentials.len();
            let cost = -i128::from(link.worth);
            self.potentials.push(self.potentials[from] + cost);
            self.links.push((self.edges.len(), link.worth));
            self.add_edge(from, node, 1, cost);
            self.add_edge(node, link.end - first, 1, 0);
            from = node;
        }
    }

    fn add_edge(&mut self, from: usize, to: usize, room: u64, cost: i128) {
        self.edges.push(Edge {
            from,
            to,
            room,
            cost,
        });
    }

    /// Orders the arcs by the node that they leave.
    fn network(self, sink: usize) -> Network {
        let mut starts = self.arcs_up_to_each_node();
        let mut take = |node: usize| {
            starts[node] -= 1;
            starts[node]
        };
        // The arcs back come first among a node's: it is these that `send` wants.
        let forth: Vec<usize> = self.edges.iter().map(|edge| take(edge.from)).collect();
        let back: Vec<usize> = self.edges.iter().map(|edge| take(edge.to)).collect();
        let mut arcs = vec![Arc::default(); forth.len() + back.len()];
        for (edge, (&forth, &back)) in self.edges.iter().zip(forth.iter().zip(&back)) {
            arcs[forth] = Arc {
                to: edge.to,
                back,
                room: edge.room,
                cost: edge.cost,
            };
            arcs[back] = Arc {
                to: edge.from,
                back: forth,
                room: 0,
                cost: -edge.cost,
            };
        }
        let arc = |(edge, worth): (usize, u64)| (forth[edge], worth);
        Network {
            arcs,
            starts,
            potentials: self.potentials,
            links: self.links.into_iter().map(arc).collect(),
            sink,
        }
    }

    /// For each node the number of arcs that leave it or one before it, and the
    /// number of all arcs at the end.
    fn arcs_up_to_each_node(&self) -> Vec<usize> {
        let mut counts = vec![0; self.potentials.len() + 1];
        for edge in &self.edges {
            counts[edge.from] += 1;
            counts[edge.to] += 1;
        }
        let mut sum = 0;
        for count in &mut counts {
            sum += *count;
            *count = sum;
        }
        counts
    }
}

/// The places at the roomiest of some stretches.
pub(super) fn most(places: &[u64]) -> u64 {
    places.iter().copied().max().unwrap_or(0)
}

/// A frame that lives through tight stretches, which are numbered from 0.
pub(super) struct Chain {
    /// The first stretch it needs a place in.
    pub(super) start: usize,
    /// The stretch after the last one.
    pub(super) end: usize,
    /// What it needs the places for, each link starting where the one before ends.
    pub(super) links: Vec<Link>,
}

/// The part of a frame's life between two times it is used.
pub(super) struct Link {
    /// The stretch after its last one.
    pub(super) end: usize,
    /// The uses that miss if the link is not kept.
    pub(super) worth: u64,
}
