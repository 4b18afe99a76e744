//! Who a function is, beyond its line: what of it is remembered, and how alike two bodies are.

use crate::function::{Function, FunctionKind, Shape, Symbol};

/// How many buckets a [`Sketch`] has. The standard error of an estimated resemblance is at
/// most 0.5/√64 = 0.06.
const BUCKETS: usize = 64;

/// A one-permutation MinHash of a body's pairs of neighbouring symbols, eight bits a bucket
/// (P. Li, A. Owen, C.-H. Zhang 2012; P. Li, A. C. König 2010): enough to tell how alike two
/// bodies are when only one of them is left. Names bound in the function are one symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sketch(pub [u8; BUCKETS]);

impl Sketch {
    /// The sketch of a body.
    pub fn of(shape: &Shape) -> Self {
        let mut least = [u64::MAX; BUCKETS];
        let mut seen: rustc_hash::FxHashMap<u64, u64> = rustc_hash::FxHashMap::default();
        let mut before = 0u64;
        for symbol in &shape.symbols {
            let now = blind(*symbol);
            let pair = mix(before.rotate_left(23) ^ now);
            before = now;
            let occurrence = seen.entry(pair).or_insert(0);
            // The third `x = y` of a body is another feature than the first.
            let feature = mix(pair ^ mix(*occurrence));
            *occurrence += 1;
            let bucket = (feature % BUCKETS as u64) as usize;
            least[bucket] = least[bucket].min(feature / BUCKETS as u64);
        }
        let mut sketch = [0u8; BUCKETS];
        for bucket in 0..BUCKETS {
            // An empty bucket borrows from the next full one, with its distance mixed in.
            let near = (0..BUCKETS).find(|step| least[(bucket + step) % BUCKETS] != u64::MAX);
            if let Some(step) = near {
                let value = mix(least[(bucket + step) % BUCKETS] ^ ((step as u64) << 56));
                sketch[bucket] = (value >> 32) as u8;
            }
        }
        Self(sketch)
    }

    /// How alike two bodies are, in thousandths: twice what they share by what they have.
    pub fn alike(&self, other: &Self) -> u32 {
        let equal = self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count() as u32;
        // Unequal values collide once in 256.
        let jaccard = (equal * 256).saturating_sub(BUCKETS as u32) * 1000 / (255 * BUCKETS as u32);
        (2000 * jaccard) / (1000 + jaccard)
    }
}

fn blind(symbol: Symbol) -> u64 {
    match symbol {
        Symbol::Fixed(hash) => mix(hash),
        Symbol::Callee(hash) => mix(hash ^ 1),
        Symbol::Local(_) => 0x9e37_79b9_7f4a_7c15,
        Symbol::Literal(kind) => 0xd1b5_4a32_d192_ed03 ^ u64::from(kind),
        Symbol::End => 0x8bb8_4b93_962e_acc9,
    }
}

/// The finaliser of SplitMix64 (S. Vigna).
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What is remembered of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its language.
    pub language: String,
    /// Project-relative path.
    pub path: String,
    /// Qualified name.
    pub name: String,
    /// How it is written.
    pub kind: FunctionKind,
    /// Which one, of those with equal path, name and kind, from 1.
    pub ordinal: u32,
    /// Own tokens.
    pub tokens: u32,
    /// Half of the digest that formatting does not change.
    pub body: u64,
    /// Half of the digest of what is done: the body without types, with renumbered local names,
    /// and with its literals; neither the function's own name nor its layout are in it.
    pub content: u64,
    /// How alike it is to another.
    pub sketch: Sketch,
    /// Whether it only hands on to one call.
    pub delegate: bool,
}

impl Identity {
    /// The identity of `function`, the `ordinal`th of its name in `path`.
    pub fn of(language: &str, path: &str, function: &Function, ordinal: u32) -> Self {
        Self {
            language: language.to_owned(),
            path: path.to_owned(),
            name: function.name.clone(),
            kind: function.kind,
            ordinal,
            tokens: function.own_tokens,
            body: half(&function.format_digest),
            content: half(&crate::check::repeated::content_digest(&function.shape).to_le_bytes()),
            sketch: Sketch::of(&function.shape),
            delegate: function.delegate,
        }
    }

    /// The name without what it is qualified by.
    pub(crate) fn simple(&self) -> &str {
        simple(&self.name)
    }

    /// Whether the name, or what it is qualified by, is made up from the place (`<anonymous>#2
    /// in load`): then it says little about who it is.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.name.contains('<')
    }
}

/// `Cart.total` and `total in load` are `total`; a made-up name is itself.
pub(crate) fn simple(name: &str) -> &str {
    let bare = name.split(" in ").next().unwrap_or(name);
    if name.starts_with('<') { name } else { bare.rsplit('.').next().unwrap_or(bare) }
}

pub(crate) fn half(digest: &[u8; 16]) -> u64 {
    u64::from_le_bytes(digest[..8].try_into().expect("half of 16 bytes are 8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(words: impl IntoIterator<Item = u64>) -> Sketch {
        let symbols = words.into_iter().map(Symbol::Fixed).collect();
        Sketch::of(&Shape { symbols, ..Shape::default() })
    }

    #[test]
    fn alike_follows_the_share_of_equal_parts() {
        let old = body(0..600);
        assert_eq!(old.alike(&old), 1000);
        let grown = body((0..600).chain(1000..1100));
        assert!(old.alike(&grown) > 850, "{}", old.alike(&grown));
        let half_new = body((0..300).chain(2000..2300));
        assert!((350..650).contains(&old.alike(&half_new)), "{}", old.alike(&half_new));
        let other = body(5000..5600);
        assert!(old.alike(&other) < 100, "{}", old.alike(&other));
    }
}
