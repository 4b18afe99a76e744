//! Which groups were accepted before. A group is its digest; one that was edited in all its
//! members is still the same by who they are. A further copy makes it new.

use std::collections::BTreeSet;

use super::group::Group;
use crate::check::ratchet::AcceptedGroup;

/// Marks the claims that `accepted` holds. Each accepted group stands for one group at most.
pub(super) fn mark(groups: &mut [Group], accepted: &[AcceptedGroup]) {
    let members: Vec<BTreeSet<(&str, &str)>> = accepted
        .iter()
        .map(|old| old.members.iter().map(|(path, name)| (path.as_str(), name.as_str())).collect())
        .collect();
    let mut used = vec![false; accepted.len()];
    for by_digest in [true, false] {
        for group in groups.iter_mut().filter(|group| group.is_claim() && group.accepted.is_none()) {
            let mine: BTreeSet<(&str, &str)> =
                group.members.iter().map(|member| (member.path.as_str(), member.name.as_str())).collect();
            let fits = |old: &usize| {
                let at = *old;
                !used[at]
                    && if by_digest { accepted[at].shape == group.id } else { mine.is_subset(&members[at]) }
            };
            let best = (0..accepted.len())
                .filter(fits)
                .max_by_key(|at| (mine.intersection(&members[*at]).count(), std::cmp::Reverse(*at)));
            if let Some(old) = best {
                used[old] = true;
                group.accepted = Some(old);
                group.is_known = group.members.len() <= accepted[old].members.len();
            }
        }
    }
}
