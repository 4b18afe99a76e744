//! A process group that ends with its owner.

use std::process::{Child, Command, ExitStatus};

/// A child and all that it started; killed when it is dropped.
pub(super) struct Group {
    pub(super) child: Child,
    is_reaped: bool,
}

impl Group {
    pub(super) fn spawn(mut command: Command) -> std::io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(Self { child: command.spawn()?, is_reaped: false })
    }

    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }

    /// Whether the child itself ended. It is not reaped, so that its number, which names
    /// the group, cannot be given to another process before the group is killed.
    #[cfg(unix)]
    pub(super) fn has_ended(&mut self) -> std::io::Result<bool> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(pid) = self.pid() else { return Ok(self.child.try_wait()?.is_some()) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), options) {
            Ok(status) => Ok(status.is_some()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn has_ended(&mut self) -> std::io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Kills whatever is left of the group and gives how the child ended.
    pub(super) fn end(&mut self) -> std::io::Result<ExitStatus> {
        self.kill();
        let status = self.child.wait()?;
        self.is_reaped = true;
        Ok(status)
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self.pid() {
            // That it is empty already is no failure.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        drop(self.child.kill());
    }

    #[cfg(target_os = "linux")]
    fn limit(&self, resource: rustix::process::Resource, value: u64) {
        let limit = rustix::process::Rlimit { current: Some(value), maximum: Some(value) };
        // It may have ended, or be limited more than this; both are fine.
        let _ = rustix::process::prlimit(self.pid(), resource, limit);
    }

    #[cfg(target_os = "linux")]
    pub(super) fn limit_address_space(&self, bytes: u64) {
        self.limit(rustix::process::Resource::As, bytes);
    }

    #[cfg(target_os = "linux")]
    pub(super) fn limit_processor_time(&self, seconds: u64) {
        self.limit(rustix::process::Resource::Cpu, seconds);
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn limit_address_space(&self, _: u64) {}

    #[cfg(not(target_os = "linux"))]
    pub(super) fn limit_processor_time(&self, _: u64) {}
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_reaped {
            drop(self.end());
        }
    }
}
