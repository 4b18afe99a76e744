//! Damage that no crash does: bits, cuts, NUL pages, files that are gone or another's. After
//! one of these a run may be held; what it must not do is forget.

use std::path::{Path, PathBuf};

use super::world::World;

/// Damages one thing of a run; gives what, or nothing when there was nothing to damage.
pub(crate) fn damage(world: &World, run: &str, other: &str) -> Option<String> {
    let frames = PathBuf::from(format!("/p/.owed/ledger/{run}/frames"));
    let foreign = PathBuf::from(format!("/p/.owed/ledger/{other}/frames"));
    let ack = PathBuf::from(format!("/p/.owed/acks/{run}"));
    let mut state = world.state();
    let frames_inode = *state.names.get(&frames)?;
    let ack_inode = *state.names.get(&ack)?;
    let inode = if state.rng.u8(..4) == 0 { ack_inode } else { frames_inode };
    let size = state.inodes[inode].cache.len();
    if size == 0 {
        return None;
    }
    let at = state.rng.usize(..size);
    let what = match state.rng.u8(..9) {
        0 | 1 => {
            let bit = 1 << state.rng.u8(..8);
            edit(&mut state.inodes[inode], |bytes| bytes[at] ^= bit);
            format!("bit at {at}")
        }
        2 | 3 => {
            edit(&mut state.inodes[inode], |bytes| bytes.truncate(at));
            format!("cut at {at}")
        }
        4 => {
            let end = (at + 4096).min(size);
            edit(&mut state.inodes[inode], |bytes| bytes[at..end].fill(0));
            format!("NUL page at {at}")
        }
        5 => {
            let gone: &Path = if inode == ack_inode { &ack } else { &frames };
            state.names.remove(gone);
            state.durable_names.remove(gone);
            format!("{} gone", gone.display())
        }
        6 => {
            let cache = &state.inodes[frames_inode].cache;
            let copy = cache[at.min(cache.len() / 2)..].to_vec();
            edit(&mut state.inodes[frames_inode], |bytes| bytes.extend_from_slice(&copy));
            "frames repeated".to_owned()
        }
        7 => {
            let foreign = *state.names.get(&foreign)?;
            let bytes = state.inodes[foreign].cache.clone();
            edit(&mut state.inodes[frames_inode], |own| *own = bytes);
            "frames of another run".to_owned()
        }
        _ => {
            let directory = frames.parent()?.to_path_buf();
            state.names.retain(|path, _| !path.starts_with(&directory));
            state.durable_names.retain(|path, _| !path.starts_with(&directory));
            state.directories.remove(&directory);
            state.durable_directories.remove(&directory);
            "the run's directory gone".to_owned()
        }
    };
    Some(what)
}

fn edit(inode: &mut super::world::Inode, change: impl FnOnce(&mut Vec<u8>)) {
    change(&mut inode.cache);
    inode.durable = inode.cache.clone();
}
