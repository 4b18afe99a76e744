//! A body without what may differ between two copies: names bound inside it become numbers in
//! order of their first use, literals become holes of their kind.

use rustc_hash::FxHashMap;

use crate::check::ratchet::mix;
use crate::function::{Function, Shape, Symbol};

/// The symbols of a body with its local names renumbered. Two functions are the same
/// implementation exactly when these are equal.
pub(super) fn renumbered(shape: &Shape) -> Vec<u64> {
    renumbered_part(&shape.symbols)
}

/// The same for a part of a body, as if it stood alone.
pub(super) fn renumbered_part(symbols: &[Symbol]) -> Vec<u64> {
    let mut numbers: FxHashMap<u32, u64> = FxHashMap::default();
    symbols
        .iter()
        .map(|symbol| match symbol {
            Symbol::Local(binding) => {
                let next = numbers.len() as u64;
                local(*numbers.entry(*binding).or_insert(next))
            }
            other => open(*other),
        })
        .collect()
}

/// The symbols with every local name alike: what near misses are compared by, since an
/// inserted name would shift all numbers after it.
pub(super) fn blinded(symbols: &[Symbol]) -> impl Iterator<Item = u64> {
    symbols.iter().map(|symbol| match symbol {
        Symbol::Local(_) => local(0),
        other => open(*other),
    })
}

fn local(number: u64) -> u64 {
    mix(number ^ 0x10ca_10ca_10ca_10ca)
}

fn open(symbol: Symbol) -> u64 {
    match symbol {
        Symbol::Fixed(hash) => hash,
        // Told apart from the same word as a plain name.
        Symbol::Callee(hash) => mix(hash ^ 0xca11_ee00_ca11_ee00),
        Symbol::Local(number) => local(u64::from(number)),
        Symbol::Literal(kind) => mix(u64::from(kind) ^ 0x0117_e4a1_0000_0000),
        Symbol::End => 0x0e0d_0e0d_0e0d_0e0d,
    }
}

/// What two members of a claim have in common.
pub(super) fn claimed(function: &Function) -> Vec<u64> {
    renumbered(&function.shape)
}

/// The digest of a form with the values in it.
pub(super) fn with_values(digest: u128, values: &[String]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&digest.to_le_bytes());
    for value in values {
        hasher.update(&(value.len() as u64).to_le_bytes());
        hasher.update(value.as_bytes());
    }
    u128::from_le_bytes(hasher.finalize().as_bytes()[..16].try_into().expect("16 of 32 bytes"))
}

/// The first 16 bytes of the BLAKE3 hash of [`renumbered`] with the literals: what the function
/// does, whatever it is called.
pub(crate) fn content_digest(shape: &Shape) -> u128 {
    let mut symbols = renumbered(shape);
    symbols.extend(literals(shape));
    digest(&symbols)
}

fn literals(shape: &Shape) -> impl Iterator<Item = u64> {
    shape.literals.iter().map(|literal| {
        let hash = blake3::hash(literal.as_bytes());
        u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("8 of 32 bytes"))
    })
}

pub(super) fn digest(symbols: &[u64]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = [0u8; 512];
    for chunk in symbols.chunks(64) {
        for (bytes, symbol) in buffer.chunks_exact_mut(8).zip(chunk) {
            bytes.copy_from_slice(&symbol.to_le_bytes());
        }
        hasher.update(&buffer[..chunk.len() * 8]);
    }
    u128::from_le_bytes(hasher.finalize().as_bytes()[..16].try_into().expect("16 of 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_digest(shape: &Shape) -> u128 {
        digest(&renumbered(shape))
    }

    fn shape(symbols: &[Symbol]) -> Shape {
        Shape { symbols: symbols.to_vec(), ..Shape::default() }
    }

    #[test]
    fn names_may_differ_but_not_who_is_who() {
        use Symbol::{Callee, Fixed, Literal, Local};
        let one = shape(&[Local(7), Local(9), Local(7), Fixed(1), Literal(0)]);
        let renamed = shape(&[Local(0), Local(1), Local(0), Fixed(1), Literal(0)]);
        let swapped = shape(&[Local(0), Local(1), Local(1), Fixed(1), Literal(0)]);
        let other_kind = shape(&[Local(0), Local(1), Local(0), Fixed(1), Literal(1)]);
        let called = shape(&[Local(0), Local(1), Local(0), Callee(1), Literal(0)]);
        assert_eq!(shape_digest(&one), shape_digest(&renamed));
        for different in [swapped, other_kind, called] {
            assert_ne!(shape_digest(&one), shape_digest(&different), "{different:?}");
        }
    }
}
