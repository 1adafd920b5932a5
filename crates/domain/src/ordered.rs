//! Maps that keep the order in which they were read.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A JSON object as a list of pairs in the order given. Where a key occurs
/// twice, the last value counts, at the first one's place.
///
/// ```
/// use annals_domain::Ordered;
/// let map: Ordered<u8> = serde_json::from_str(r#"{"b":1,"a":2,"b":3}"#)?;
/// assert_eq!(serde_json::to_string(&map)?, r#"{"b":3,"a":2}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordered<V>(pub Vec<(String, V)>);

impl<V> Ordered<V> {
    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.0
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, value)| value)
    }
}

impl<V> Default for Ordered<V> {
    fn default() -> Ordered<V> {
        Ordered(Vec::new())
    }
}

impl<V> FromIterator<(String, V)> for Ordered<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(pairs: I) -> Ordered<V> {
        Ordered(pairs.into_iter().collect())
    }
}

impl<V: Serialize> Serialize for Ordered<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ordered<V>, D::Error> {
        Pairs::deserialize(deserializer).map(Ordered::from)
    }
}

/// A JSON object as all its pairs, in the order given, also where a key occurs
/// twice.
///
/// ```
/// use annals_domain::Pairs;
/// let pairs: Pairs<u8> = serde_json::from_str(r#"{"b":1,"a":2,"b":3}"#)?;
/// assert_eq!(pairs.twice(), Some("b"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs<V>(pub Vec<(String, V)>);

impl<V> Pairs<V> {
    /// The first key that repeats an earlier one.
    pub fn twice(&self) -> Option<&str> {
        let mut keys = HashSet::new();
        let mut all = self.0.iter().map(|(key, _)| key.as_str());
        all.find(|key| !keys.insert(*key))
    }
}

impl<V> From<Pairs<V>> for Ordered<V> {
    fn from(all: Pairs<V>) -> Ordered<V> {
        let mut pairs: Vec<(String, V)> = Vec::with_capacity(all.0.len());
        let mut places: HashMap<String, usize> = HashMap::new();
        for (key, value) in all.0 {
            match places.get(&key).and_then(|place| pairs.get_mut(*place)) {
                Some(pair) => pair.1 = value,
                None => {
                    places.insert(key.clone(), pairs.len());
                    pairs.push((key, value));
                }
            }
        }
        Ordered(pairs)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs<V>, D::Error> {
        struct All<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for All<V> {
            type Value = Pairs<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<V>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(All(PhantomData))
    }
}

impl<V: JsonSchema> JsonSchema for Ordered<V> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("MapOf{}", V::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let values = generator.subschema_for::<V>();
        schemars::json_schema!({ "type": "object", "additionalProperties": values })
    }
}
