//! Asking the index: which events may be answers, the best first. The log decides which are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::query::{
    BooleanQuery, BoostQuery, Occur, PhraseQuery, Query as IndexQuery, RegexQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader, Term as IndexTerm};

use crate::facet::Facet;
use crate::kept::{Fault, Kept, guarded};
use crate::query::{Query, Term, Wanted};
use crate::request::Filter;
use crate::schema::{Fields, OCCURRED, POSITION};

/// An event that may be an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) score: Score,
    pub(crate) position: u64,
}

/// The best candidates, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) best: Vec<Candidate>,
    pub(crate) count: u64,
}

/// The best `limit` candidates.
pub(crate) fn candidates(
    kept: &Kept,
    query: &Query,
    filter: &Filter,
    limit: usize,
) -> Result<Candidates, Fault> {
    guarded(|| {
        let asked = of_index(&kept.fields, query, filter)?;
        let best = Best {
            limit,
            filter: filter.clone(),
        };
        Ok(kept.searcher().search(&asked, &best)?)
    })
}

/// The question as the index takes it: every answer is among what it finds.
fn of_index(fields: &Fields, query: &Query, filter: &Filter) -> Result<BooleanQuery, Fault> {
    let mut clauses: Vec<(Occur, Box<dyn IndexQuery>)> = Vec::new();
    for term in &query.wanted {
        clauses.push((Occur::Must, any_facet(fields, term, &filter.facets)?));
    }
    for term in &query.excluded {
        // Words that must be next to each other can be apart, and then exclude nothing.
        if let [run] = term.runs.as_slice()
            && run.parts.is_empty()
        {
            clauses.push((Occur::MustNot, any_facet(fields, term, &filter.facets)?));
        }
    }
    let filters = [
        (fields.kind, filter.kind.as_deref()),
        (fields.actor, filter.actor.as_deref()),
    ];
    for (field, value) in filters {
        if let Some(value) = value {
            let is_one = TermQuery::new(
                IndexTerm::from_field_text(field, value),
                IndexRecordOption::Basic,
            );
            clauses.push(unscored(Box::new(is_one)));
        }
    }
    Ok(BooleanQuery::new(clauses))
}

fn any_facet(fields: &Fields, term: &Term, facets: &[Facet]) -> Result<Box<dyn IndexQuery>, Fault> {
    let mut any = Vec::new();
    for facet in facets {
        any.push((Occur::Should, in_field(fields.of(*facet), term)?));
    }
    Ok(Box::new(BooleanQuery::new(any)))
}

fn in_field(field: Field, term: &Term) -> Result<Box<dyn IndexQuery>, Fault> {
    let mut all = Vec::new();
    for (number, run) in (1..).zip(&term.runs) {
        let is_open = term.is_prefix && number == term.runs.len();
        all.push((Occur::Must, of_run(field, run, is_open)?));
    }
    for (number, pair) in (2..).zip(term.runs.windows(2)) {
        let is_open = term.is_prefix && number == term.runs.len();
        if let [run, next] = pair
            && !is_open
        {
            let pairs = run.ends().flat_map(|end| {
                let begins = next.begins();
                begins.map(move |begin| (Occur::Should, next_to_each_other(field, end, begin)))
            });
            all.push(unscored(Box::new(BooleanQuery::new(pairs.collect()))));
        }
    }
    Ok(Box::new(BooleanQuery::new(all)))
}

/// What must be there, and makes no answer better.
fn unscored(query: Box<dyn IndexQuery>) -> (Occur, Box<dyn IndexQuery>) {
    (Occur::Must, Box::new(BoostQuery::new(query, 0.0)))
}

/// Two words of which one may follow the other. All words of a phrase at once would miss some: a run of the text of several
/// parts has its words at the places of the first and the last one alone.
fn next_to_each_other(field: Field, word: &str, next: &str) -> Box<dyn IndexQuery> {
    let words = [word, next].map(|word| IndexTerm::from_field_text(field, word));
    Box::new(PhraseQuery::new(words.into()))
}

fn of_run(field: Field, run: &Wanted, is_open: bool) -> Result<Box<dyn IndexQuery>, Fault> {
    let whole = of_word(field, &run.whole, is_open)?;
    if run.parts.is_empty() {
        return Ok(whole);
    }
    let mut parts = Vec::new();
    for (number, part) in (1..).zip(&run.parts) {
        let is_open = is_open && number == run.parts.len();
        parts.push((Occur::Must, of_word(field, part, is_open)?));
    }
    for (number, pair) in (2..).zip(run.parts.windows(2)) {
        if let [part, next] = pair
            && !(is_open && number == run.parts.len())
        {
            parts.push(unscored(next_to_each_other(field, part, next)));
        }
    }
    let parts: Box<dyn IndexQuery> = Box::new(BooleanQuery::new(parts));
    Ok(Box::new(BooleanQuery::new(vec![
        (Occur::Should, whole),
        (Occur::Should, parts),
    ])))
}

fn of_word(field: Field, word: &str, is_open: bool) -> Result<Box<dyn IndexQuery>, Fault> {
    let term = IndexTerm::from_field_text(field, word);
    let whole: Box<dyn IndexQuery> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
    if !is_open {
        return Ok(whole);
    }
    let mut pattern = String::with_capacity(word.len() + 2);
    for letter in word.chars() {
        // What folding makes of a sign may be more than letters and digits: of ⑴ it is (1).
        if letter.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push_str(".*");
    let longer: Box<dyn IndexQuery> = Box::new(RegexQuery::from_pattern(&pattern, field)?);
    // All words that begin so count alike, and the word itself counts more.
    Ok(Box::new(BooleanQuery::new(vec![
        (Occur::Should, longer),
        (Occur::Should, whole),
    ])))
}

/// Collects the best candidates.
struct Best {
    limit: usize,
    filter: Filter,
}

/// What orders candidates: the score's bits, which ascend as it does, and the position.
type Rank = (u32, u64);

/// The best of one segment.
struct BestOfSegment {
    limit: usize,
    filter: Filter,
    positions: Column<u64>,
    occurred: Column<i64>,
    heap: BinaryHeap<Reverse<Rank>>,
    count: u64,
}

impl Collector for Best {
    type Fruit = Candidates;
    type Child = BestOfSegment;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<BestOfSegment> {
        let columns = segment.fast_fields();
        Ok(BestOfSegment {
            limit: self.limit,
            filter: self.filter.clone(),
            positions: columns.u64(POSITION)?,
            occurred: columns.i64(OCCURRED)?,
            heap: BinaryHeap::new(),
            count: 0,
        })
    }

    fn requires_scoring(&self) -> bool {
        !self.filter.is_newest_first
    }

    fn merge_fruits(&self, fruits: Vec<(u64, Vec<Rank>)>) -> tantivy::Result<Candidates> {
        let count = fruits.iter().map(|(count, _)| count).sum();
        let mut ranks: Vec<Rank> = fruits.into_iter().flat_map(|(_, ranks)| ranks).collect();
        ranks.sort_unstable_by(|one, other| other.cmp(one));
        ranks.truncate(self.limit);
        let candidate = |(score, position): Rank| Candidate {
            score: Score::from_bits(score),
            position,
        };
        Ok(Candidates {
            best: ranks.into_iter().map(candidate).collect(),
            count,
        })
    }
}

impl SegmentCollector for BestOfSegment {
    type Fruit = (u64, Vec<Rank>);

    fn collect(&mut self, doc: DocId, score: Score) {
        let position = self.positions.first(doc).unwrap_or_default();
        let occurred = self.occurred.first(doc).unwrap_or_default();
        if !self.filter.takes(position, occurred) {
            return;
        }
        self.count += 1;
        let score = if self.filter.is_newest_first {
            0.0
        } else {
            score.max(0.0)
        };
        let rank = (score.to_bits(), position);
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(rank));
        } else if self.heap.peek().is_some_and(|Reverse(least)| *least < rank) {
            self.heap.pop();
            self.heap.push(Reverse(rank));
        }
    }

    fn harvest(self) -> (u64, Vec<Rank>) {
        (
            self.count,
            self.heap.into_iter().map(|Reverse(rank)| rank).collect(),
        )
    }
}
