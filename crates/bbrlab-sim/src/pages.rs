//! Page loads: the connections of a browser fetch the objects of a page, round by round.
//!
//! The flows of one class are the connections. Each connection fetches one object at a time. When a
//! connection has read an object, it fetches the next object of the round. When all objects of a
//! round have been read, the next round begins; after the last round, the page is complete. A
//! connection opens when it is first needed.

use bbrlab_net::{FlowId, Port};
use bbrlab_run::{Pause, Requests, Source};
use bbrlab_units::{Span, Time};

use crate::app::Token;
use crate::draw::Draws;
use crate::flow::Flow;
use crate::wire::Payload;

/// The browser of a class with `page`.
#[derive(Debug)]
pub(crate) struct Browser {
    /// The number of the class's first flow. Pages begin at events of this flow, and page loads are
    /// recorded as messages of this flow.
    pub(crate) first: u32,
    /// For each connection, whether the connection was opened.
    is_open: Vec<bool>,
    /// The number of objects of each round.
    rounds: Vec<u32>,
    sizes: Draws,
    think: Option<Draws>,
    /// The page that is loading; `None` between pages.
    page: Option<Page>,
    /// The number of pages that are still to begin.
    left: u32,
}

/// A web page that is loading.
#[derive(Debug)]
struct Page {
    start: Time,
    round: usize,
    /// The number of the round's objects that are not yet requested.
    waiting: u32,
    /// The number of the round's objects that are requested but not yet read.
    pending: u32,
}

impl Browser {
    /// Creates the browser of class number `class`, whose first flow is `first`, in the run with
    /// `seed`; `None` if the class loads no pages.
    pub(crate) fn new(
        source: &Source,
        (class, first): (usize, u32),
        connections: usize,
        seed: u64,
    ) -> Option<Self> {
        let Source::Requests(Requests { size, pause: Pause::Page(load), .. }) = source else {
            return None;
        };
        let think = load.think.as_ref();
        Some(Self {
            first,
            is_open: vec![false; connections],
            rounds: load.rounds.to_vec(),
            sizes: Draws::new(size, seed, &format!("objects {class}")),
            think: think.map(|think| Draws::new(think, seed, &format!("think of {class}"))),
            page: None,
            left: load.count.unwrap_or(u32::MAX),
        })
    }

    /// Returns when the page that is loading began; `None` if no page is loading.
    pub(crate) fn loading_since(&self) -> Option<Time> {
        self.page.as_ref().map(|page| page.start)
    }

    /// Begins a page, or continues a page because the connection `id` has read an object. `flows`
    /// are all flows of the run.
    pub(crate) fn step(&mut self, port: &mut Port<'_, Payload>, id: FlowId, flows: &mut [Flow]) {
        if !flows[id.0 as usize].application.is_open() {
            return;
        }
        let now = port.now();
        let Some(page) = &mut self.page else {
            self.left -= 1;
            let waiting = self.rounds[0];
            self.page = Some(Page { start: now, round: 0, waiting, pending: 0 });
            self.request_all(port, flows);
            return;
        };
        page.pending -= 1;
        if page.waiting > 0 {
            self.request(port, (id.0 - self.first) as usize, flows);
        } else if page.pending == 0 {
            page.round += 1;
            if let Some(&waiting) = self.rounds.get(page.round) {
                page.waiting = waiting;
                self.request_all(port, flows);
            } else {
                let time = now.since(page.start);
                flows[self.first as usize].application.note_page(time);
                self.page = None;
                self.plan(port);
            }
        }
    }

    /// Schedules the next page. After the last page, schedules the end of all open connections
    /// instead.
    fn plan(&mut self, port: &mut Port<'_, Payload>) {
        let now = port.now();
        if self.left > 0 {
            let think = self.think.as_mut().map_or(Span::ZERO, |think| Span(think.next()));
            port.schedule(FlowId(self.first), now + think, Token::Page as u32);
            return;
        }
        for place in (0..).zip(&self.is_open).filter(|&(_, &is_open)| is_open).map(|(at, _)| at) {
            port.schedule(FlowId(self.first + place), now, Token::Stop as u32);
        }
    }

    /// Requests one object on each connection, as long as the round has objects that are not
    /// requested.
    fn request_all(&mut self, port: &mut Port<'_, Payload>, flows: &mut [Flow]) {
        for place in 0..self.is_open.len() {
            if self.page.as_ref().is_some_and(|page| page.waiting > 0) {
                self.request(port, place, flows);
            }
        }
    }

    /// Requests the next object of the round on a connection.
    fn request(&mut self, port: &mut Port<'_, Payload>, place: usize, flows: &mut [Flow]) {
        let Some(page) = &mut self.page else { return };
        page.waiting -= 1;
        page.pending += 1;
        let id = self.first + u32::try_from(place).expect("flows are numbered in 24 bits");
        let was_open = std::mem::replace(&mut self.is_open[place], true);
        flows[id as usize].application.assign(port.now(), self.sizes.next());
        let token = if was_open { Token::Write } else { Token::Connect };
        port.schedule(FlowId(id), port.now(), token as u32);
    }
}
