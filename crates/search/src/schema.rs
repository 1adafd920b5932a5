//! The form of the index: a document for each event that has texts, with the words of each facet, and what filters and
//! orders. No text is stored: the log has them.

use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{Index, TantivyDocument, TantivyError};

use crate::document::Document;
use crate::facet::Facet;
use crate::words::WordStream;

/// The number of this form, and of what words are. An index of another one is made again.
///
/// In the second, words have their places.
pub(crate) const FORMAT: u32 = 2;

/// What the index knows our words by.
const WORDS: &str = "annals";
/// A text as one word.
const RAW: &str = "raw";

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    facets: [Field; 4],
    pub(crate) kind: Field,
    pub(crate) actor: Field,
    position: Field,
    occurred: Field,
}

/// The column with positions.
pub(crate) const POSITION: &str = "position";
/// The column with the seconds since 1970 at which events happened.
pub(crate) const OCCURRED: &str = "occurred";

impl Fields {
    /// The form with its fields.
    pub(crate) fn schema() -> (Schema, Fields) {
        let mut builder = Schema::builder();
        let indexing = |tokenizer: &str, option, norms| {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer(tokenizer)
                .set_index_option(option)
                .set_fieldnorms(norms);
            TextOptions::default().set_indexing_options(indexing)
        };
        let words = indexing(WORDS, IndexRecordOption::WithFreqsAndPositions, true);
        let raw = indexing(RAW, IndexRecordOption::Basic, false);
        let facets = Facet::ALL.map(|facet| builder.add_text_field(facet.as_str(), words.clone()));
        let fields = Fields {
            facets,
            kind: builder.add_text_field("kind", raw.clone()),
            actor: builder.add_text_field("actor", raw),
            position: builder.add_u64_field(POSITION, NumericOptions::default().set_fast()),
            occurred: builder.add_i64_field(OCCURRED, NumericOptions::default().set_fast()),
        };
        (builder.build(), fields)
    }

    /// The field with the words of a facet.
    pub(crate) fn of(&self, facet: Facet) -> Field {
        let [prompts, tools, results, rationale] = self.facets;
        match facet {
            Facet::Prompts => prompts,
            Facet::Tools => tools,
            Facet::Results => results,
            Facet::Rationale => rationale,
        }
    }

    /// An event as a document of the index.
    pub(crate) fn document(&self, document: &Document) -> TantivyDocument {
        let mut of_index = TantivyDocument::new();
        of_index.add_u64(self.position, document.position.0);
        of_index.add_i64(self.occurred, document.occurred_at.to_utc().timestamp());
        of_index.add_text(self.kind, document.kind());
        of_index.add_text(self.actor, &document.actor.id);
        of_index.add_text(
            self.actor,
            kind_and_id(document.actor.kind.as_str(), &document.actor.id),
        );
        for (facet, text) in &document.texts {
            of_index.add_text(self.of(*facet), text);
        }
        of_index
    }
}

/// An actor with its kind, as it is filtered by.
fn kind_and_id(kind: &str, id: &str) -> String {
    format!("{kind}:{id}")
}

/// Tells an index what words are, and refuses one of another form.
pub(crate) fn prepare(index: &Index) -> Result<Fields, TantivyError> {
    let (schema, fields) = Fields::schema();
    if index.schema() != schema {
        return Err(TantivyError::SchemaError("it has other fields".to_owned()));
    }
    index
        .tokenizers()
        .register(WORDS, TextAnalyzer::from(WordTokenizer));
    Ok(fields)
}

/// Gives the index the words of a text, each at the place where it ends. A run of several parts is also at the place of its
/// first one, so that whatever stands before it and behind it is next to it.
#[derive(Debug, Clone, Copy)]
struct WordTokenizer;

/// The words of one text for the index.
struct WordTokens<'t> {
    words: WordStream<'t>,
    token: Token,
    /// Whether the run whose first part came last comes next, as a whole.
    is_whole_next: bool,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'t> = WordTokens<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> WordTokens<'t> {
        WordTokens {
            words: WordStream::of(text),
            token: Token::default(),
            is_whole_next: false,
        }
    }
}

impl TokenStream for WordTokens<'_> {
    fn advance(&mut self) -> bool {
        if std::mem::take(&mut self.is_whole_next) {
            self.words.fold_run_into(&mut self.token.text);
            return true;
        }
        let is_there = self.words.advance();
        self.is_whole_next = is_there && self.words.is_first_of_several();
        let word = &mut self.words.word;
        std::mem::swap(&mut self.token.text, &mut word.text);
        self.token.position = usize::try_from(word.end).unwrap_or(usize::MAX);
        is_there
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
