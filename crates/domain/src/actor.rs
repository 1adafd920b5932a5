//! Who acts.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::auth_context::{IMPORTED_BY, REMOVED};
use crate::codes::open_enum;
use crate::folding::{folded, is_blank, is_unseen};
use crate::pieces::{Pieces, Slot};

open_enum! {
    /// What an actor is (docs/spec/git-internal.md, ActorRef).
    pub enum ActorKind as bare {
        /// A person.
        Human = 1 => "human",
        /// An AI agent.
        Agent = 2 => "agent",
        /// Infrastructure.
        System = 3 => "system",
        /// A client of the Model Context Protocol.
        McpClient = 4 => "mcp_client",
    }
}

/// The most bytes of an `auth_context`: with an importer before it, it stays within its record, where folds read it.
const CONTEXT_BYTES: usize = 2_048;

/// Returns `true` if an `auth_context` reads as one that names an importer.
fn names_an_importer(context: &str) -> bool {
    folded(context).starts_with(IMPORTED_BY.trim_end())
}

/// Who created or triggered something (docs/spec/git-internal.md, ActorRef).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ActorRef {
    /// What the actor is.
    #[setters(skip)]
    pub kind: ActorKind,
    /// The actor's id within its kind; not blank, at most 1,024 bytes.
    #[new(into)]
    #[setters(skip)]
    pub id: String,
    /// A name to show to people.
    #[new(default)]
    #[serde(default)]
    pub display_name: Option<String>,
    /// How the actor was authenticated.
    #[new(default)]
    #[serde(default)]
    pub auth_context: Option<String>,
}

impl ActorRef {
    /// A person.
    pub fn human(id: impl Into<String>) -> ActorRef {
        ActorRef::new(ActorKind::Human, id)
    }

    /// An AI agent.
    pub fn agent(id: impl Into<String>) -> ActorRef {
        ActorRef::new(ActorKind::Agent, id)
    }

    /// Infrastructure.
    pub fn system(id: impl Into<String>) -> ActorRef {
        ActorRef::new(ActorKind::System, id)
    }

    /// A client of the Model Context Protocol.
    pub fn mcp_client(id: impl Into<String>) -> ActorRef {
        ActorRef::new(ActorKind::McpClient, id)
    }

    /// Reads an actor from a text: `KIND:ID` with one of the listed kinds, or the id of a person without a colon.
    ///
    /// ```
    /// use annals_domain::ActorRef;
    /// assert_eq!(ActorRef::parse("ada"), Ok(ActorRef::human("ada")));
    /// assert_eq!(ActorRef::parse("agent:coder"), Ok(ActorRef::agent("coder")));
    /// assert_eq!(ActorRef::parse("human:bot:ci"), Ok(ActorRef::human("bot:ci")));
    /// assert!(ActorRef::parse("bot:ci").is_err());
    /// ```
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the form to write instead: of another kind, of a kind without an id, and of a text with
    /// invisible characters.
    pub fn parse(text: &str) -> Result<ActorRef, Refusal> {
        // These join what is seen, in names of people, too.
        let is_joiner = |c: char| matches!(c, '\u{200c}' | '\u{200d}');
        if text.chars().any(|c| is_hidden(c) && !is_joiner(c)) {
            let reason =
                format!("{text:?} has an invisible character: expected KIND:ID, or a person's id");
            return Err(Refusal::invalid("actor", reason));
        }
        let actor = match text.split_once(':') {
            Some((word, id)) => ActorRef::new(listed_kind(word, text)?, id),
            None => match kind_like(text) {
                None => ActorRef::human(text),
                Some(kind) => {
                    let kind = kind.as_str();
                    let reason = format!(
                        "{text:?} is a kind of actor: write {kind}:ID, or human:{text} for a person of that name"
                    );
                    return Err(Refusal::invalid("actor", reason));
                }
            },
        };
        actor.check()?;
        Ok(actor)
    }

    /// Checks what git-internal demands: neither kind nor id is blank. A kind that reads like a listed one is refused, too,
    /// and so is an `auth_context` that names an importer.
    ///
    /// # Errors
    /// [`Refusal::Invalid`].
    pub fn check(&self) -> Result<(), Refusal> {
        if is_blank(&self.id) || self.id.len() > 1_024 {
            return Err(Refusal::invalid(
                "actor.id",
                "it must not be blank and has at most 1,024 bytes",
            ));
        }
        if is_blank(self.kind.as_str()) || self.kind.as_str().len() > 100 {
            return Err(Refusal::invalid(
                "actor.kind",
                "it must not be blank and has at most 100 bytes",
            ));
        }
        if self.auth_context.as_deref().is_some_and(names_an_importer) {
            return Err(Refusal::invalid(
                "actor.auth_context",
                "\"imported by\" names an importer, and stands in what an import records alone; leave it out",
            ));
        }
        let is_taken = |context: &str| context == REMOVED || context.len() > CONTEXT_BYTES;
        if self.auth_context.as_deref().is_some_and(is_taken) {
            return Err(Refusal::invalid(
                "actor.auth_context",
                "it has at most 2,048 bytes, and is not \"[removed]\", which stands for one that was removed",
            ));
        }
        self.check_kind()
    }

    /// A kind that reads like another one would be taken for it.
    fn check_kind(&self) -> Result<(), Refusal> {
        let kind = self.kind.as_str();
        if let Some(listed) = kind_like(kind).filter(|_| self.kind.code() == 0) {
            let reason = format!("unknown kind {kind:?}: write {:?}", listed.as_str());
            return Err(Refusal::invalid("actor.kind", reason));
        }
        let plain = kind.trim();
        if plain != kind || kind.contains(is_hidden) {
            let plain: String = plain.chars().filter(|c| !is_hidden(*c)).collect();
            let reason = format!(
                "{kind:?} has white space at an end, or invisible characters: expected a word such as {plain:?}"
            );
            return Err(Refusal::invalid("actor.kind", reason));
        }
        if kind.contains(':') {
            let reason =
                format!("{kind:?} has a colon, which separates a kind from an id: expected a word");
            return Err(Refusal::invalid("actor.kind", reason));
        }
        Ok(())
    }
}

/// Whether a character cannot be seen in a name.
fn is_hidden(c: char) -> bool {
    c.is_control() || is_unseen(c)
}

/// The listed kind that a word reads like.
fn kind_like(word: &str) -> Option<ActorKind> {
    let kind = ActorKind::from_word(&folded(word).replace(['-', ' '], "_"));
    (kind.code() != 0).then_some(kind)
}

/// The kind that stands before the colon of a text.
fn listed_kind(word: &str, text: &str) -> Result<ActorKind, Refusal> {
    let kind = ActorKind::from_word(word);
    if kind.code() != 0 {
        return Ok(kind);
    }
    let reason = match kind_like(word) {
        Some(listed) => format!("unknown kind {word:?}: write {:?}", listed.as_str()),
        None => format!(
            "unknown kind {word:?}: expected human, agent, system or mcp_client before the colon; for a person whose id \
             has a colon, write human:{text}"
        ),
    };
    Err(Refusal::invalid("actor.kind", reason))
}

/// An actor inside an event's structure; the texts are content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "actor")]
pub struct StoredActor {
    /// What the actor is.
    pub kind: ActorKind,
    /// The actor's id within its kind.
    #[schemars(extend("x-part" = "structure"))]
    pub id: String,
    /// A name to show to people.
    pub display_name: Option<Slot>,
    /// How the actor was authenticated.
    pub auth_context: Option<Slot>,
}

impl StoredActor {
    /// Splits an actor into structure and content.
    pub fn store(actor: &ActorRef, pieces: &mut Pieces) -> StoredActor {
        StoredActor {
            kind: actor.kind.clone(),
            id: actor.id.clone(),
            display_name: pieces.optional_text(actor.display_name.as_deref()),
            auth_context: pieces.optional_text(actor.auth_context.as_deref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::CreateIntent;
    use crate::testing::Given;

    #[test]
    fn a_command_of_an_actor_with_a_blank_or_too_long_kind_or_id_is_refused() {
        let refused = |kind: &str, id: &str| {
            let actor = ActorRef::new(ActorKind::from_word(kind), id);
            let create = CreateIntent {
                id: None,
                prompt: "do".into(),
                parent: None,
            };
            match Given::new().by(actor).decide(create) {
                Err(Refusal::Invalid { field, .. }) => Some(field),
                _ => None,
            }
        };
        let (kind, id) = ("k".repeat(100), "i".repeat(1_024));
        assert_eq!(refused(&kind, &id), None);
        for bad in ["", " \t", &format!("{kind}k")] {
            assert_eq!(refused(bad, &id), Some("actor.kind"), "{bad:?}");
        }
        for bad in ["", " \t", "\u{200b}", "\u{3164}", &format!("{id}i")] {
            assert_eq!(refused(&kind, bad), Some("actor.id"), "{bad:?}");
        }
        for alike in [
            "human ",
            "\thuman",
            "Human",
            "AGENT",
            "mcp-client",
            " bot",
            "a\u{1}b",
            "agen\u{200b}t",
            "ａｇｅｎｔ",
            "ａgent",
            "hum\u{200b}an",
            "human\u{3164}",
            "mcp client",
            "bo\u{ad}t",
            "human:x",
        ] {
            assert_eq!(refused(alike, &id), Some("actor.kind"), "{alike:?}");
        }
        for own in ["bot", "ci runner"] {
            assert_eq!(refused(own, &id), None, "{own:?}");
        }
    }

    #[test]
    fn no_command_names_an_importer() {
        let refused = |context: &str| {
            let actor = ActorRef::agent("coder").with_auth_context(context.to_owned());
            let refusal = actor.check().err();
            refusal.map(|it| it.code())
        };
        for named in [
            "imported by human:ada",
            "imported by human:ada; oidc",
            "Imported By human:ada",
            " imported  by human:ada",
            "impor\u{200b}ted by human:ada",
        ] {
            assert_eq!(refused(named), Some("invalid"), "{named:?}");
        }
        for other in ["oidc", "was imported by hand", "important"] {
            assert_eq!(refused(other), None, "{other:?}");
        }
    }

    #[test]
    fn an_actor_in_a_text_is_a_listed_kind_with_an_id_or_a_person() {
        for (text, expected) in [
            ("ada", ActorRef::human("ada")),
            ("Ada Lovelace", ActorRef::human("Ada Lovelace")),
            ("ada@example.com", ActorRef::human("ada@example.com")),
            ("human:bot:ci", ActorRef::human("bot:ci")),
            ("human:agent", ActorRef::human("agent")),
            ("agent:coder", ActorRef::agent("coder")),
            ("system:ci", ActorRef::system("ci")),
            ("mcp_client:x", ActorRef::mcp_client("x")),
        ] {
            assert_eq!(ActorRef::parse(text), Ok(expected), "{text}");
        }
        for text in [
            "bot:ci",
            "claude-code:x",
            "service_account:x",
            "ci/agent:x",
            "https://ci/x",
            ":bob",
            "-agent:x",
            "\u{430}gent:x",
        ] {
            let refused = ActorRef::parse(text).unwrap_err().to_string();
            assert!(
                refused.contains(&format!("write human:{text}")),
                "{refused}"
            );
        }
        for text in [
            "",
            " ",
            "agent:",
            "human: ",
            "agent",
            "Agent",
            "SYSTEM",
            "mcp-client",
            " human ",
            "Agent:x",
            "mcp-client:x",
            "\u{ff41}gent:x",
            "agent\u{200b}:x",
            "agent:\u{200b}",
            "ad\u{200b}a",
            "\u{2060}agent",
            "agent\t:x",
        ] {
            assert!(ActorRef::parse(text).is_err(), "{text:?}");
        }
    }
}
