//! The loop that passes packets from the devices to the emulator and back, in real time.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use bbrlab_kernel::plain;
use bbrlab_net::Side;
use bbrlab_run::Run;
use bbrlab_sim::NetworkResult;
use bbrlab_units::{NS_PER_S, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::time::{ClockId, clock_gettime};

use crate::emulator::Emulator;
use crate::frame::FRAME_MAX;
use crate::lateness::Lateness;

/// The loop stops waiting for the devices this many nanoseconds before the next event is due. From
/// then on, the loop polls the clock. If the loop waited until the event is due, the system would
/// wake the thread too late.
const SPIN_NS: u64 = 80_000;

/// Replaces [`SPIN_NS`] if the loop has recently waited for less than one part in [`REST_PARTS`] of
/// the time.
const SHORT_SPIN_NS: u64 = 10_000;

/// The loop should spend at least one part in `REST_PARTS` of its time waiting. By default, Linux
/// lets a thread of real-time priority run for at most 95 % of each second, and stops it for the
/// rest of the second.
const REST_PARTS: u64 = 10;

/// The span, in nanoseconds, over which the share of time spent waiting is computed.
const REST_OVER_NS: u64 = 100_000_000;

/// The longest wait for the devices, after which the loop checks whether the run is over.
const WAIT_NS: u64 = 50_000_000;

/// The largest number of packets that are read from one device before the loop writes packets that
/// have left the network.
const BATCH: usize = 16;

/// The time that the loop has spent waiting for the devices since `begin`.
#[derive(Debug)]
struct Rest {
    begin: Time,
    waited_ns: u64,
}

impl Rest {
    /// Returns how many nanoseconds before the next event the loop stops waiting.
    fn spin_ns(&mut self, now: Time) -> u64 {
        let past_ns = now.since(self.begin).0;
        let is_rested = self.waited_ns.saturating_mul(REST_PARTS) >= past_ns;
        if past_ns > REST_OVER_NS {
            // The next span begins in the middle of this one, with half of this span's waiting
            // time.
            self.begin = Time(now.0 - past_ns / 2);
            self.waited_ns /= 2;
        }
        if is_rested { SPIN_NS } else { SHORT_SPIN_NS }
    }
}

/// The network's result of a run in real time, and measurements of [`serve`], the loop that passed
/// the packets.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) network: NetworkResult,
    pub(crate) lateness: Lateness,
    /// CPU seconds of this thread, in which the kernel also processes the packets.
    pub(crate) cpu_s: f64,
}

/// The devices of both sides, and the time zero of the run on the system's clock.
struct Devices {
    sides: [(Side, OwnedFd); 2],
    zero_ns: u64,
}

fn ns(time: Timespec) -> u64 {
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec) * NS_PER_S + part(time.tv_nsec)
}

impl Devices {
    /// Waits for the message with which the program that opens the flows' sockets hands over the
    /// devices and the time zero; `None` if the program has ended.
    fn receive(socket: &UnixStream) -> Result<Option<Self>, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut zero = [0; 8];
        let got = loop {
            let mut parts = [IoSliceMut::new(&mut zero)];
            match recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        };
        let fds = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => fds.collect(),
            _ => Vec::new(),
        });
        let mut fds = fds.collect::<Vec<OwnedFd>>().into_iter();
        let (Some(sender), Some(receiver), 8) = (fds.next(), fds.next(), got.bytes) else {
            return Ok(None);
        };
        let sides = [(Side::Sender, sender), (Side::Receiver, receiver)];
        Ok(Some(Self { sides, zero_ns: u64::from_ne_bytes(zero) }))
    }

    /// Returns the time since the start of the run; `None` before the start.
    fn now(&self) -> Option<Time> {
        ns(clock_gettime(ClockId::Monotonic)).checked_sub(self.zero_ns).map(Time)
    }

    /// Reads the next packet from the device `fd`; `None` if no packet waits there.
    fn read<'b>(fd: &OwnedFd, buffer: &'b mut [u8]) -> Result<Option<&'b [u8]>, Errno> {
        match read(fd, &mut *buffer) {
            Ok(len) => Ok(Some(&buffer[..len])),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits until a packet can be read from one of the devices, but at most `ns` nanoseconds.
    fn wait(&self, ns: u64) -> Result<(), Errno> {
        let mut fds = self.sides.each_ref().map(|(_, fd)| PollFd::new(fd, PollFlags::IN));
        let part = |value: u64| i64::try_from(value).unwrap_or(0);
        let limit = Timespec { tv_sec: part(ns / NS_PER_S), tv_nsec: part(ns % NS_PER_S) };
        match poll(&mut fds, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Waits until the program that opens the flows' sockets hands over the TUN devices in a message.
/// After that, passes packets through the network of a run until the run ends or `is_over` becomes
/// true. Returns `None` if `is_over` became true, or the program ended, before the run began.
///
/// # Errors
/// Fails if a device fails.
pub(crate) fn serve(
    run: &Run,
    socket: &UnixStream,
    is_over: &AtomicBool,
) -> Result<Option<Served>, String> {
    let failed = |error: Errno| format!("a TUN device failed: {}", plain(&error.into()));
    let mut emulator = Emulator::new(run);
    let mut lateness = Lateness::default();
    let mut buffer = [0; FRAME_MAX + 1];
    let mut pauses = Rest { begin: Time::ZERO, waited_ns: 0 };
    let Some(devices) = Devices::receive(socket).map_err(failed)? else { return Ok(None) };
    let end = Time(run.duration.0);
    loop {
        let Some(now) = devices.now() else {
            if is_over.load(Ordering::Relaxed) {
                return Ok(None);
            }
            // Discard packets that arrive before the run begins, because they belong to no flow.
            for (_, fd) in &devices.sides {
                while Devices::read(fd, &mut buffer).map_err(failed)?.is_some() {}
            }
            devices.wait(1_000_000).map_err(failed)?;
            continue;
        };
        emulator.advance(now);
        while let Some(packet) = emulator.leave() {
            let fd = &devices.sides[packet.to as usize].1;
            let at = devices.now().unwrap_or(packet.at);
            lateness.add(at.since(packet.at).0);
            write(fd, packet.frame.bytes()).map_err(failed)?;
        }
        if now >= end || is_over.load(Ordering::Relaxed) {
            break;
        }
        let mut is_idle = true;
        for (side, fd) in &devices.sides {
            for _ in 0..BATCH {
                let Some(packet) = Devices::read(fd, &mut buffer).map_err(failed)? else { break };
                is_idle = false;
                emulator.enter(*side, packet, devices.now().unwrap_or(now));
            }
        }
        let now = devices.now().unwrap_or(now);
        let rest = emulator.next_due().since(now).0;
        let spin = pauses.spin_ns(now);
        if is_idle && rest > spin {
            devices.wait((rest - spin).min(WAIT_NS)).map_err(failed)?;
            pauses.waited_ns += devices.now().unwrap_or(now).since(now).0;
        }
    }
    let cpu_ns = ns(clock_gettime(ClockId::ThreadCPUTime));
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let cpu_s = cpu_ns as f64 / NS_PER_S as f64;
    Ok(Some(Served { network: emulator.finish(run), lateness, cpu_s }))
}

#[cfg(test)]
mod tests {
    use bbrlab_units::Time;

    use super::{REST_OVER_NS, Rest, SHORT_SPIN_NS, SPIN_NS};

    #[test]
    fn a_loop_that_has_waited_too_little_waits_longer() {
        let mut rest = Rest { begin: Time::ZERO, waited_ns: 0 };
        assert_eq!(rest.spin_ns(Time(1000)), SHORT_SPIN_NS);
        rest.waited_ns = 100;
        assert_eq!(rest.spin_ns(Time(1000)), SPIN_NS);
        assert_eq!(rest.spin_ns(Time(1001)), SHORT_SPIN_NS);
        // `Rest` measures the waiting time over a span of time. After more than `REST_OVER_NS`, the
        // span ends. The next span begins in the middle of the ended one, with half of its waiting
        // time.
        let later = REST_OVER_NS + 1;
        rest.waited_ns = later / 10 + 1;
        assert_eq!(rest.spin_ns(Time(later)), SPIN_NS);
        assert_eq!(rest.spin_ns(Time(later)), SPIN_NS);
        assert_eq!(rest.spin_ns(Time(2 * later)), SHORT_SPIN_NS);
    }
}
