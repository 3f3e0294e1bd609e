//! What the fuzzer of answers calls; compiled for it only.

use super::link::Link;
use super::{Rates, Shared, SharedRecords};
use crate::config::{Policy, RedisAddress, RedisStore, WhenDown};
use crate::gateway::fuzzing::account;
use crate::gateway::{ClientKey, Due};
use crate::reason::Reason;
use crate::store::{Begun, Bounds, Down, Fingerprint, Found, Holder, Key, Terms};
use crate::telemetry::StoreMeters;
use std::cell::LazyCell;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, Runtime};

/// What the server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Whether an act is within its rate.
    Take,
    /// The record of a key.
    Find,
    /// To begin an act.
    Begin,
    /// Whether it can be used.
    TryOut,
}

/// What was made of its answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The act is within its rate.
    Within,
    /// It is not, for so long.
    Above(Duration),
    /// There is a record.
    Exists(Found),
    /// There is none.
    Nothing,
    /// The act is begun.
    Fresh,
    /// There is no room.
    Full,
    /// This client has its share.
    Crowded,
    /// It can be used.
    Usable,
    /// Nothing: what the config says of a server that is down holds.
    Down,
}

thread_local! {
    static RUNTIME: LazyCell<Runtime> =
        LazyCell::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));
    static METERS: LazyCell<StoreMeters> = LazyCell::new(|| StoreMeters::new().expect("meters"));
}

/// Asks a server that gives these answers, one for each thing that it is told and each in pieces, and then goes. What
/// was heard, and what an operator is told.
pub fn ask(question: Question, answers: Vec<Vec<&[u8]>>) -> (Heard, Vec<String>) {
    let owned = |answer: Vec<&[u8]>| answer.into_iter().map(<[u8]>::to_vec).collect();
    let answers = std::iter::once(VecDeque::new()).chain(answers.into_iter().map(owned));
    let server = Server { answers: answers.collect(), told: 0, begun: 0, reader: None };
    RUNTIME.with(|runtime| runtime.block_on(heard(question, server, runtime)))
}

async fn heard(question: Question, server: Server, runtime: &Runtime) -> (Heard, Vec<String>) {
    let refuse = Policy::Refuse;
    let store = RedisStore {
        address: RedisAddress::Unix("/nowhere".into()),
        database: 0,
        user: None,
        password: None,
        prefix: "formgate".to_owned(),
        // A find, were it to pass.
        timeout: Duration::from_secs(600),
        when_down: WhenDown { records: refuse, limits: refuse },
        shares_limits: true,
    };
    let link = Link::over(&store, METERS.with(|meters| StoreMeters::clone(meters)), server).await;
    // Without password and database nothing is said before the first question.
    let link = Arc::new(link.expect("a connection"));
    let shared =
        Shared { link: Arc::clone(&link), thread: runtime.handle().clone(), secret: "secret".into() };
    let (key, client) = (Key::of("post route", b"key"), ClientKey::of(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    let records = SharedRecords::new(shared.clone(), Bounds::undivided(100, 1 << 20), refuse);
    let heard = match question {
        Question::Take => {
            let account = account();
            let due = Due { client, take: Some(&account), look: Some(&account) };
            match Rates::new(shared, refuse).pay(&due).await {
                Ok(()) => Heard::Within,
                Err(rejection) if rejection.reason == Reason::Throttled => {
                    Heard::Above(rejection.retry_after.unwrap_or_default())
                }
                Err(_) => Heard::Down,
            }
        }
        Question::Find => match records.find(key).await {
            Ok(found) => found.map_or(Heard::Nothing, Heard::Exists),
            Err(Down) => Heard::Down,
        },
        Question::Begin => {
            let [lease, keep, wait] = [Duration::from_secs(30); 3];
            let (fingerprint, holder) = (Fingerprint::of(b"{}"), Holder::of(client));
            match records.begin(&Terms { key, fingerprint, holder, lease, keep, wait }).await {
                Ok(Begun::Fresh(_)) => Heard::Fresh,
                Ok(Begun::Exists(found)) => Heard::Exists(found),
                Ok(Begun::Full) => Heard::Full,
                Ok(Begun::Crowded) => Heard::Crowded,
                Err(Down) => Heard::Down,
            }
        }
        Question::TryOut => {
            let usable = link.try_out().await;
            // By whatever clock it says it has.
            let _ = (link.latest(), link.count());
            if usable { Heard::Usable } else { Heard::Down }
        }
    };
    let trouble = link.trouble().into_iter().chain(link.forgetful()).map(|trouble| trouble.cause);
    (heard, trouble.chain(link.warnings()).collect())
}

/// The other end of the connection.
struct Server {
    /// The first is what it says before it is told anything: nothing.
    answers: VecDeque<VecDeque<Vec<u8>>>,
    /// Commands that it was given.
    told: usize,
    /// Answers that it has begun.
    begun: usize,
    reader: Option<Waker>,
}

impl AsyncRead for Server {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let piece = loop {
            let (told, begun, last) = (self.told, self.begun, self.answers.len() <= 1);
            match self.answers.front_mut().and_then(VecDeque::pop_front) {
                Some(piece) => break piece,
                None if told > begun && !last => {
                    self.answers.pop_front();
                    self.begun += 1;
                }
                // It has nothing more to say, and goes.
                None if told > 0 && last => return Poll::Ready(Ok(())),
                None => {
                    self.reader = Some(context.waker().clone());
                    return Poll::Pending;
                }
            }
        };
        let (now, later) = piece.split_at(piece.len().min(buffer.remaining()));
        buffer.put_slice(now);
        if !later.is_empty() {
            self.answers[0].push_front(later.to_vec());
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Server {
    /// Each command comes whole, and by itself.
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.told += 1;
        self.reader.take().into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
