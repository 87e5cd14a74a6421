//! A pool of threads that work on independent pieces of work.
//!
//! Each worker thread takes the heaviest remaining piece, so that no long piece begins last.
//! [`Pool::each`] returns all results in the caller's order. [`Pool::each_kept`] passes each result
//! to the caller as soon as its piece ends, and holds only a few bytes per piece, however large the
//! results are. After a piece fails or panics, no further piece is begun. A panic is raised again
//! in the caller's thread.
//!
//! [`Pool::each_kept_here`] does all pieces one after the other on the caller's thread, for work
//! that must not move to other threads.
//!
//! The last step of a computed piece may wait for the disk. With [`Pool::each_kept`], separate
//! threads do this step, several at once, because a file system writes the data of many waiting
//! threads together.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use bbrlab_backends::Stop;

/// A worker reports the finished share of its piece only when the share has grown by at least this
/// much.
const SHARE_REPORTED: f64 = 0.01;

/// The number of threads that write results and wait for the disk. At most this many computed
/// pieces wait for the disk at the same time.
const KEEPERS: usize = 8;

/// A pool of threads: the maximum number of its threads, and the request that ends their work
/// early.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// The maximum number of threads that compute.
    pub jobs: usize,
    /// The user's request to end the work early.
    pub stop: &'a Stop,
}

/// The progress of the work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of finished pieces.
    pub done: u64,
    /// The number of all pieces.
    pub total: u64,
    /// Share of the work that is done, the pieces in progress included.
    pub share: f64,
    /// The number of runs in the folder that are from another version or commit and will be
    /// recomputed. The number is reported once, before the first run, and is 0 in later reports.
    pub outdated: u64,
}

/// The parts of the pool that a piece of work can use: the request to stop, and the reports of
/// progress.
pub struct Worker<'a> {
    /// The request to stop, made by the user, or by the pool if another piece has failed.
    pub stop: &'a Stop,
    tell: &'a dyn Fn(f64),
}

impl Worker<'_> {
    /// Reports the share of this piece that is done.
    pub(crate) fn advance(&self, share: f64) {
        (self.tell)(share);
    }
}

enum Report<R, E> {
    Advanced(f64),
    Ended(Result<R, E>),
}

/// The channel on which threads send reports, each with its piece's index, to the caller's thread.
type Reports<R, E> = mpsc::Sender<(usize, Report<R, E>)>;

impl Pool<'_> {
    /// Calls `work` on each of `items`, the pieces of work, and calls `watch` on this thread with
    /// the progress. `weight` gives a piece's weight from its index in `items`. A piece that was
    /// not begun because the user asked to stop has the result `None`.
    ///
    /// # Errors
    /// Fails if `work` returns an error for a piece. If several pieces fail at once, returns the
    /// error of the piece that is first in the list.
    ///
    /// # Panics
    /// Panics if a piece of work panics.
    pub fn each<T: Sync, R: Send, E: Send>(
        self,
        items: &[T],
        weight: impl Fn(usize) -> u64,
        work: impl Fn(&T, &Worker<'_>) -> Result<R, E> + Sync,
        watch: impl FnMut(Progress),
    ) -> Result<Vec<Option<R>>, E> {
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        let take = |place: usize, result| results[place] = Some(result);
        self.through(0, items, weight, work, Ok, take, watch)?;
        Ok(results)
    }

    /// Works on the pieces as [`Self::each`] does, but the result of a piece is the output of
    /// `keep`, which gets the output of `work`. `keep` runs on separate threads, and is called for
    /// every computed piece, even after a request to stop. Calls `take` on this thread with each
    /// result and its index in the list.
    ///
    /// # Errors
    /// Fails like [`Self::each`].
    ///
    /// # Panics
    /// Panics if a piece of work panics.
    pub(crate) fn each_kept<T: Sync, C: Send, R: Send, E: Send>(
        self,
        items: &[T],
        weight: impl Fn(usize) -> u64,
        work: impl Fn(&T, &Worker<'_>) -> Result<C, E> + Sync,
        keep: impl Fn(C) -> Result<R, E> + Sync,
        take: impl FnMut(usize, R),
        watch: impl FnMut(Progress),
    ) -> Result<(), E> {
        self.through(KEEPERS, items, weight, work, keep, take, watch)
    }

    /// Does the same as [`Self::each_kept`], but works on the pieces one after the other on this
    /// thread, in the order of the list. `watch` is called whenever a piece advances.
    ///
    /// # Errors
    /// Fails if `work` or `keep` returns an error for a piece.
    pub(crate) fn each_kept_here<T, C, R, E>(
        self,
        items: &[T],
        weight: impl Fn(usize) -> u64,
        work: impl Fn(&T, &Worker<'_>) -> Result<C, E>,
        keep: impl Fn(C) -> Result<R, E>,
        mut take: impl FnMut(usize, R),
        watch: impl FnMut(Progress),
    ) -> Result<(), E> {
        let so_far = RefCell::new(SoFar::new(items.len(), weight));
        let watch = RefCell::new(watch);
        for (place, item) in items.iter().enumerate() {
            if self.stop.is_requested() {
                break;
            }
            let tell = |share| {
                so_far.borrow_mut().advance(place, share);
                watch.borrow_mut()(so_far.borrow().progress());
            };
            take(place, keep(work(item, &Worker { stop: self.stop, tell: &tell })?)?);
            so_far.borrow_mut().end(place);
            watch.borrow_mut()(so_far.borrow().progress());
        }
        Ok(())
    }

    /// Runs all pieces. If `keepers` is 0, there are no separate threads for `keep`, and the
    /// workers call `keep`.
    #[expect(
        clippy::too_many_arguments,
        reason = "each step of the work on a piece is a separate argument"
    )]
    fn through<T: Sync, C: Send, R: Send, E: Send>(
        self,
        keepers: usize,
        items: &[T],
        weight: impl Fn(usize) -> u64,
        work: impl Fn(&T, &Worker<'_>) -> Result<C, E> + Sync,
        keep: impl Fn(C) -> Result<R, E> + Sync,
        mut take: impl FnMut(usize, R),
        mut watch: impl FnMut(Progress),
    ) -> Result<(), E> {
        let mut order: Vec<u32> = (0u32..).take(items.len()).collect();
        order.sort_unstable_by_key(|&place| (Reverse(weight(place as usize)), place));
        let next = AtomicUsize::new(0);
        let stop = self.stop.inner();
        // Sending fails only if the receiving thread has panicked.
        let end = |reports: &Reports<R, E>, place: usize, result: Result<R, E>| {
            if result.is_err() {
                stop.request();
            }
            reports.send((place, Report::Ended(result))).is_ok()
        };
        let work_through = |reports: &Reports<R, E>, hand_over: &mpsc::SyncSender<(usize, C)>| {
            let _guard = WishOnPanic(&stop);
            while let Some(&place) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let place = place as usize;
                if stop.is_requested() {
                    break;
                }
                let shown = Cell::new(0.0);
                let tell = |share: f64| {
                    if share >= shown.get() + SHARE_REPORTED {
                        shown.set(share);
                        drop(reports.send((place, Report::Advanced(share))));
                    }
                };
                let is_heard = match work(&items[place], &Worker { stop: &stop, tell: &tell }) {
                    Ok(piece) if keepers > 0 => hand_over.send((place, piece)).is_ok(),
                    result => end(reports, place, result.and_then(&keep)),
                };
                if !is_heard {
                    break;
                }
            }
        };
        let keep_all = |reports: &Reports<R, E>, computed: &Mutex<mpsc::Receiver<(usize, C)>>| {
            let _guard = WishOnPanic(&stop);
            let next = || computed.lock().expect("no thread panics while holding the lock").recv();
            while let Ok((place, piece)) = next() {
                if !end(reports, place, keep(piece)) {
                    break;
                }
            }
        };
        let mut failed: Option<(usize, E)> = None;
        thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            // The channel has no buffer, so a worker waits until a thread that calls `keep` takes
            // the result of the worker's piece.
            let (hand_over, computed) = mpsc::sync_channel(0);
            let computed = Arc::new(Mutex::new(computed));
            let _guard = WishOnPanic(&stop);
            let mut threads = Vec::new();
            for _ in 0..self.jobs.clamp(1, items.len().max(1)) {
                let (send, hand_over, work_through) =
                    (send.clone(), hand_over.clone(), &work_through);
                threads.push(scope.spawn(move || work_through(&send, &hand_over)));
            }
            for _ in 0..keepers.min(items.len()) {
                let (send, computed, keep_all) = (send.clone(), Arc::clone(&computed), &keep_all);
                threads.push(scope.spawn(move || keep_all(&send, &computed)));
            }
            drop((send, hand_over, computed));
            let mut so_far = SoFar::new(items.len(), weight);
            for (place, report) in receive {
                match report {
                    Report::Advanced(share) => so_far.advance(place, share),
                    Report::Ended(Ok(result)) => {
                        take(place, result);
                        so_far.end(place);
                    }
                    Report::Ended(Err(error)) => {
                        if failed.as_ref().is_none_or(|(first, _)| place < *first) {
                            failed = Some((place, error));
                        }
                        continue;
                    }
                }
                watch(so_far.progress());
            }
            for ended in threads.into_iter().map(thread::ScopedJoinHandle::join) {
                ended.unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// A guard that requests the other workers to stop if its thread panics.
struct WishOnPanic<'a>(&'a Stop);

impl Drop for WishOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.request();
        }
    }
}

/// The progress of all pieces together, in units of their weights.
struct SoFar<W> {
    total: usize,
    weight: W,
    /// The finished shares of the pieces in progress, by index.
    shares: BTreeMap<usize, f64>,
    work: f64,
    done_work: f64,
    done: u64,
}

#[expect(clippy::cast_precision_loss, reason = "these numbers only determine a progress bar")]
impl<W: Fn(usize) -> u64> SoFar<W> {
    fn new(total: usize, weight: W) -> Self {
        let work = (0..total).map(|place| weight(place) as f64).sum::<f64>().max(1.0);
        Self { total, weight, shares: BTreeMap::new(), work, done_work: 0.0, done: 0 }
    }

    fn advance(&mut self, place: usize, share: f64) {
        let before = self.shares.insert(place, share).unwrap_or(0.0);
        self.done_work += (share - before) * (self.weight)(place) as f64;
    }

    fn end(&mut self, place: usize) {
        self.advance(place, 1.0);
        self.shares.remove(&place);
        self.done += 1;
    }

    fn progress(&self) -> Progress {
        let share = (self.done_work / self.work).min(1.0);
        Progress { done: self.done, total: self.total as u64, share, outdated: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use std::thread;
    use std::time::Duration;

    use super::{Pool, Progress};
    use bbrlab_backends::Stop;

    /// Doubles every number in a pool of `jobs` threads. Returns the results and the reported
    /// progress.
    fn doubled(items: &[u64], jobs: usize) -> (Vec<Option<u64>>, Vec<Progress>) {
        let mut heard = Vec::new();
        let results = Pool { jobs, stop: &Stop::new() }.each(
            items,
            |place| items[place],
            |&item, _| Ok::<_, Infallible>(2 * item),
            |progress| heard.push(progress),
        );
        (results.unwrap(), heard)
    }

    #[test]
    fn results_are_in_the_callers_order_with_any_number_of_threads() {
        let items: Vec<u64> = (0..100).map(|n| n * 37 % 101).collect();
        let expected: Vec<Option<u64>> = items.iter().map(|item| Some(2 * item)).collect();
        for jobs in [0, 1, 2, 7, 1000] {
            assert_eq!(doubled(&items, jobs).0, expected, "{jobs} threads");
        }
        assert_eq!(doubled(&[], 2).0, []);
    }

    #[test]
    fn work_of_this_thread_is_done_in_order_and_reported_as_it_advances() {
        let stop = Stop::new();
        let (here, mut heard) = (thread::current().id(), Vec::new());
        let mut results = [None; 3];
        let ended = Pool { jobs: 8, stop: &stop }.each_kept_here(
            &[1, 3, 5],
            |place| [1, 3, 5][place],
            |&item, worker| {
                assert_eq!(thread::current().id(), here);
                worker.advance(0.5);
                if item == 3 {
                    stop.request();
                }
                Ok::<_, Infallible>(item)
            },
            |item| Ok(2 * item),
            |place, result| results[place] = Some(result),
            |progress| heard.push((progress.done, progress.share * 9.0)),
        );
        assert_eq!((ended, results), (Ok(()), [Some(2), Some(6), None]));
        assert_eq!(heard, [(0, 0.5), (1, 1.0), (1, 2.5), (2, 4.0)]);
        let failed = Pool { jobs: 1, stop: &Stop::new() }.each_kept_here(
            &[1, 2],
            |_| 1,
            |&item, _| if item == 1 { Err("the first is damaged") } else { Ok(item) },
            Ok,
            |_, _| {},
            |_| {},
        );
        assert_eq!(failed.unwrap_err(), "the first is damaged");
    }

    #[test]
    fn the_heaviest_is_begun_first_and_equals_in_order() {
        let begun = Mutex::new(Vec::new());
        let items = [("small", 1), ("large", 9), ("early", 5), ("late", 5)];
        Pool { jobs: 1, stop: &Stop::new() }
            .each(
                &items,
                |place| items[place].1,
                |&(name, _), _| {
                    begun.lock().unwrap().push(name);
                    Ok::<_, Infallible>(())
                },
                |_| {},
            )
            .unwrap();
        assert_eq!(*begun.lock().unwrap(), ["large", "early", "late", "small"]);
    }

    #[test]
    fn progress_counts_pieces_and_weighs_their_shares() {
        let mut heard = Vec::new();
        Pool { jobs: 1, stop: &Stop::new() }
            .each(
                &[1, 3],
                |place| [1, 3][place],
                |_, worker| {
                    worker.advance(0.5);
                    Ok::<_, Infallible>(())
                },
                |progress| heard.push((progress.done, progress.total, progress.share)),
            )
            .unwrap();
        assert_eq!(heard, [(0, 2, 0.375), (1, 2, 0.75), (1, 2, 0.875), (2, 2, 1.0)]);
    }

    #[test]
    fn an_interrupt_leaves_out_what_was_not_begun() {
        let stop = Stop::new();
        let results = Pool { jobs: 1, stop: &stop }.each(
            &[1, 2, 3],
            |_| 0,
            |&item, worker| {
                if item == 2 {
                    stop.request();
                }
                Ok::<_, Infallible>((item, worker.stop.is_requested()))
            },
            |_| {},
        );
        assert_eq!(results.unwrap(), [Some((1, false)), Some((2, true)), None]);
    }

    #[test]
    fn the_first_failure_ends_the_others_and_is_no_wish_of_the_users() {
        let stop = Stop::new();
        let begun = Mutex::new(0);
        let result = Pool { jobs: 2, stop: &stop }.each(
            &(0..1000).collect::<Vec<u64>>(),
            |_| 0,
            |&item, worker| {
                *begun.lock().unwrap() += 1;
                if item == 3 {
                    return Err("the third is damaged");
                }
                // Later pieces that were begun before the failure wait until the pool has noticed
                // the failure.
                while item > 3 && !worker.stop.is_requested() {
                    thread::yield_now();
                }
                Ok(())
            },
            |_| {},
        );
        assert_eq!(result.unwrap_err(), "the third is damaged");
        assert!(!stop.is_requested());
        assert!(*begun.lock().unwrap() < 10);
    }

    #[test]
    fn the_first_of_two_failures_in_the_list_is_reported() {
        let both = std::sync::Barrier::new(2);
        let result = Pool { jobs: 2, stop: &Stop::new() }.each(
            &["first", "second"],
            |place| place as u64,
            |&item, _| {
                both.wait();
                Err::<(), _>(item)
            },
            |_| {},
        );
        assert_eq!(result.unwrap_err(), "first");
    }

    #[test]
    fn others_are_computed_while_one_is_kept() {
        let (begun, kept) = (std::sync::Barrier::new(2), Mutex::new(Vec::new()));
        let mut results = [None; 2];
        let ended = Pool { jobs: 1, stop: &Stop::new() }.each_kept(
            &["first", "second"],
            |_| 0,
            |&item, _| {
                if item == "second" {
                    begun.wait();
                }
                Ok::<_, Infallible>(item)
            },
            |item| {
                if item == "first" {
                    begun.wait();
                }
                kept.lock().unwrap().push(item);
                Ok(item.len())
            },
            |place, result| results[place] = Some(result),
            |_| {},
        );
        assert_eq!((ended, results), (Ok(()), [Some(5), Some(6)]));
        assert_eq!(kept.lock().unwrap().len(), 2);
    }

    #[test]
    fn what_was_computed_before_an_interrupt_is_kept() {
        let stop = Stop::new();
        let work = |&item: &u64, _: &super::Worker<'_>| {
            if item == 2 {
                stop.request();
            }
            Ok::<_, &str>(item)
        };
        let pool = Pool { jobs: 1, stop: &stop };
        let mut results = [None; 3];
        let take = |place: usize, result| results[place] = Some(result);
        let ended = pool.each_kept(&[1, 2, 3], |_| 0, work, Ok, take, |_| {});
        assert_eq!((ended, results), (Ok(()), [Some(1), Some(2), None]));
    }

    #[test]
    fn a_failure_to_keep_ends_the_work() {
        let keep = |item: u64| if item == 0 { Err("the disk is full") } else { Ok(()) };
        let begun = Mutex::new(0);
        let work = |&item: &u64, worker: &super::Worker<'_>| {
            *begun.lock().unwrap() += 1;
            while item > 0 && !worker.stop.is_requested() {
                thread::yield_now();
            }
            Ok(item)
        };
        let items: Vec<u64> = (0..1000).collect();
        let pool = Pool { jobs: 2, stop: &Stop::new() };
        let result = pool.each_kept(&items, |_| 0, work, keep, |_, ()| {}, |_| {});
        assert_eq!(result.unwrap_err(), "the disk is full");
        assert!(*begun.lock().unwrap() < 10);
    }

    #[test]
    fn a_panic_surfaces_with_its_message_and_the_others_end() {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            Pool { jobs: 2, stop: &Stop::new() }.each(
                &[1, 2, 3],
                |_| 0,
                |&item, worker| {
                    assert!(item != 1, "the work on item 1 panics");
                    while !worker.stop.is_requested() {
                        thread::sleep(Duration::from_millis(1));
                    }
                    Ok::<_, Infallible>(())
                },
                |_| {},
            )
        }));
        let words = caught.unwrap_err();
        assert_eq!(words.downcast_ref(), Some(&"the work on item 1 panics"));
    }

    #[test]
    fn a_panic_of_the_one_who_watches_ends_the_work() {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            Pool { jobs: 2, stop: &Stop::new() }.each(
                &[1, 2],
                |_| 0,
                |&item, worker| {
                    while item == 2 && !worker.stop.is_requested() {
                        thread::sleep(Duration::from_millis(1));
                    }
                    Ok::<_, Infallible>(())
                },
                |_| panic!("no terminal"),
            )
        }));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"no terminal"));
    }
}
