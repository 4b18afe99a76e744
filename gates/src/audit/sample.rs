//! Which receipts are put to the test: a share of them, chosen by the hash of the identity.
//!
//! No clock and no chance: the same state of a project asks for the same tests, whoever asks,
//! so that a contradiction can be shown again. Another state is another choice.

use std::fmt;
use std::str::FromStr;

/// A share in hundredths of a percent: 0 to 10,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(u16);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write a number from 0 to 100 with at most two decimals: 5, 0.5, 100".to_owned();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        if !digits(whole) || !digits(part) || whole.len() > 3 || part.len() > 2 {
            return Err(wrong());
        }
        let whole: u16 = whole.parse().map_err(|_| wrong())?;
        let tenths: u16 = part.parse().map_err(|_| wrong())?;
        let hundredths = if part.len() == 1 { tenths * 10 } else { tenths };
        match whole * 100 + hundredths {
            share @ 0..=10_000 => Ok(Self(share)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 100, self.0 % 100) {
            (whole, 0) => write!(f, "{whole}"),
            (whole, part) if part % 10 == 0 => write!(f, "{whole}.{}", part / 10),
            (whole, part) => write!(f, "{whole}.{part:02}"),
        }
    }
}

/// Whether the receipt with this identity (in hexadecimal) is of the sample.
pub fn sampled(identity: &str, percent: Percent) -> bool {
    let mut hasher = blake3::Hasher::new_derive_key("owed audit sample 1");
    hasher.update(identity.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    // The bias of the remainder is less than one in 10^15.
    u64::from_le_bytes(first) % 10_000 < u64::from(percent.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_and_written() {
        for (text, written) in [("0", "0"), ("5", "5"), ("0.5", "0.5"), ("12.25", "12.25"), ("100", "100")] {
            assert_eq!(text.parse::<Percent>().unwrap().to_string(), written);
        }
        for text in ["", "-1", "101", "100.01", "1.234", "1.", ".5", "five", "1e1", "5%"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_sample_is_about_as_large_as_asked_for_and_always_the_same() {
        let of = |percent: &str| -> Vec<usize> {
            let percent = percent.parse().unwrap();
            (0..10_000).filter(|n| sampled(&format!("{n:064x}"), percent)).collect()
        };
        assert_eq!(of("0").len(), 0);
        assert_eq!(of("100").len(), 10_000);
        let tenth = of("10");
        assert!((800..1_200).contains(&tenth.len()), "{}", tenth.len());
        assert_eq!(tenth, of("10.00"));
        // A larger share holds the smaller one.
        let fifth = of("20");
        assert!(tenth.iter().all(|n| fifth.contains(n)));
    }
}
