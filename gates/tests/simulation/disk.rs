//! The disk of the simulated machine, as one of its processes sees it.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use owed_gates::disk::{Disk, DiskFile, Lock, Mode};

use super::world::{Broken, Inode, World};

#[derive(Clone, Debug)]
pub(crate) struct SimDisk {
    pub(crate) world: Arc<World>,
    pub(crate) process: usize,
}

impl Disk for SimDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.world.enter(self.process)?;
        if !path.parent().is_some_and(|parent| state.directories.contains(parent)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if state.directories.insert(path.to_path_buf()) {
            Ok(())
        } else {
            Err(io::ErrorKind::AlreadyExists.into())
        }
    }

    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.world.enter(self.process)?;
        let inode = match state.named(path) {
            Err(_) if mode == Mode::Create => {
                if !path.parent().is_some_and(|parent| state.directories.contains(parent)) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                let inode = state.inodes.len();
                let mut file = Inode::default();
                file.set_modified_ms(state.clock_ms);
                state.inodes.push(file);
                state.names.insert(path.to_path_buf(), inode);
                inode
            }
            named => named?,
        };
        let handle = state.new_handle();
        let second_place = path.parent().is_some_and(|parent| parent.ends_with("acks"));
        let (world, process) = (Arc::clone(&self.world), self.process);
        Ok(Box::new(SimFile { world, process, inode, handle, second_place }))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.world.enter(self.process)?;
        if !state.directories.contains(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let one_in = state.faults.sync;
        if state.happens(one_in) {
            return Err(io::Error::from_raw_os_error(5));
        }
        if state.faults.broken == Broken::SyncLies {
            return Ok(());
        }
        let inside = |it: &Path| it.parent() == Some(path);
        state.durable_names.retain(|it, _| !inside(it));
        let names: Vec<_> =
            state.names.iter().filter(|(it, _)| inside(it)).map(|(it, inode)| (it.clone(), *inode)).collect();
        state.durable_names.extend(names);
        let directories: Vec<_> = state.directories.iter().filter(|it| inside(it)).cloned().collect();
        state.durable_directories.extend(directories);
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let state = self.world.enter(self.process)?;
        if !state.directories.contains(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let all = state.names.keys().chain(&state.directories);
        let inside = all.filter(|it| it.parent() == Some(path));
        let mut names: Vec<OsString> = inside.filter_map(|it| it.file_name()).map(OsString::from).collect();
        names.sort();
        Ok(names)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.world.enter(self.process)?;
        let inode = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.names.insert(to.to_path_buf(), inode);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.world.enter(self.process)?;
        state.names.remove(path).map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

#[derive(Debug)]
struct SimFile {
    world: Arc<World>,
    process: usize,
    inode: usize,
    handle: u64,
    second_place: bool,
}

impl DiskFile for SimFile {
    fn size(&self) -> io::Result<u64> {
        let state = self.world.enter(self.process)?;
        Ok(state.inodes[self.inode].cache.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.world.enter(self.process)?;
        let cache = &state.inodes[self.inode].cache;
        let from = (offset as usize).min(cache.len());
        let mut read = buffer.len().min(cache.len() - from);
        buffer[..read].copy_from_slice(&cache[from..from + read]);
        if read > 1 && state.rng.u8(..16) == 0 {
            // A short read is not the end of a file.
            read = state.rng.usize(1..read);
        }
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.world.enter(self.process)?;
        if self.second_place && state.faults.broken == Broken::AckLies {
            return Ok(bytes.len());
        }
        let one_in = state.faults.full;
        let full = state.happens(one_in);
        let written = if full { state.rng.usize(..bytes.len()) } else { bytes.len() };
        let now = state.clock_ms;
        state.inodes[self.inode].write(offset as usize, &bytes[..written], now);
        if full && (written == 0 || state.rng.bool()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(written)
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        let mut state = self.world.enter(self.process)?;
        let now = state.clock_ms;
        state.inodes[self.inode].resize(size as usize, now);
        Ok(())
    }

    fn reserve(&self, _offset: u64, _length: u64) -> io::Result<()> {
        let mut state = self.world.enter(self.process)?;
        let one_in = state.faults.full;
        if state.happens(one_in) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&self) -> io::Result<()> {
        let entered = self.world.enter(self.process);
        let failed = entered.as_ref().is_err_and(|error| error.raw_os_error() == Some(5));
        let mut state = match entered {
            Err(error) if !failed => return Err(error),
            Err(_) => self.world.state(),
            Ok(state) => state,
        };
        let one_in = state.faults.sync;
        if failed || state.happens(one_in) {
            let mut rng = state.rng.fork();
            state.inodes[self.inode].fail_sync(&mut rng);
            return Err(io::Error::from_raw_os_error(5));
        }
        if state.faults.broken != Broken::SyncLies {
            state.inodes[self.inode].sync();
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn try_lock(&self, lock: Lock) -> io::Result<bool> {
        let mut state = self.world.enter(self.process)?;
        if state.faults.broken == Broken::LockLies {
            return Ok(true);
        }
        let (handle, process) = (self.handle, self.process);
        Ok(state.inodes[self.inode].try_lock(handle, process, lock))
    }

    fn unlock(&self) -> io::Result<()> {
        let mut state = self.world.enter(self.process)?;
        let handle = self.handle;
        state.inodes[self.inode].unlock(handle);
        Ok(())
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        let state = self.world.enter(self.process)?;
        Ok(state.named(path).is_ok_and(|inode| inode == self.inode))
    }

    fn modified_ms(&self) -> io::Result<u64> {
        let state = self.world.enter(self.process)?;
        Ok(state.inodes[self.inode].modified_ms())
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        // Closing is no call that can fail, and it frees the lock of this open file.
        let handle = self.handle;
        self.world.state().inodes[self.inode].unlock(handle);
    }
}
