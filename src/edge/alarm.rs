//! Waits that end. A connection has one timer for all of them, that is left where it stands when a wait is over: most waits
//! end long before their time, and the next one asks for a later one. It is set again when it goes off, or would go off
//! too late.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};
use tokio::task::coop::unconstrained;
use tokio::time::{Sleep, sleep_until};

/// A connection's timer; none before it first has to wait.
#[derive(Debug, Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Runs `work`, for `time` at most. Only where it has to wait is the clock looked at.
    pub(super) async fn within<T>(
        &mut self,
        time: Duration,
        work: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        let mut end = None;
        self.run(|| *end.get_or_insert_with(|| Instant::now() + time), work).await
    }

    /// Runs `work`, until `end` at most. What need not wait is done also after it.
    pub(super) async fn until<T>(
        &mut self,
        end: Instant,
        work: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        self.run(|| end, work).await
    }

    async fn run<T>(
        &mut self,
        mut end: impl FnMut() -> Instant,
        work: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        let mut work = pin!(work);
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(outcome),
            Poll::Pending => {
                let end = end();
                // Work that never has to wait is pending whenever the budget of its task is used up. Then a timer does not
                // look at its time, unless it is asked outside of the budget.
                let timer = pin!(unconstrained(poll_fn(|context| self.poll_at(end, context))));
                timer.poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
        })
        .await
    }

    fn poll_at(&mut self, end: Instant, context: &mut Context<'_>) -> Poll<()> {
        let end = end.into();
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if sleep.deadline() > end {
            sleep.as_mut().reset(end);
        }
        loop {
            ready!(sleep.as_mut().poll(context));
            if sleep.deadline() >= end {
                return Poll::Ready(());
            }
            // That was the time of an earlier wait.
            sleep.as_mut().reset(end);
        }
    }
}

/// What `work` comes to at once: `None` where it would have to wait. Outside of the budget of the task, which when it is
/// used up makes everything look as if it had to.
pub(super) fn at_once<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(unconstrained(work)).poll(&mut context) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(1);
    const SHORT: Duration = Duration::from_millis(30);

    async fn brief() -> io::Result<()> {
        tokio::time::sleep(SHORT / 10).await;
        Ok(())
    }

    async fn wait(alarm: &mut Alarm, time: Duration) -> Duration {
        let began = Instant::now();
        let ended: io::Result<()> = alarm.within(time, std::future::pending()).await;
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
        began.elapsed()
    }

    #[tokio::test]
    async fn each_wait_has_its_own_time() {
        let mut alarm = Alarm::default();
        assert!(wait(&mut alarm, SHORT).await >= SHORT);
        // An earlier wait that has come to its end, with more time than the next.
        alarm.within(LONG, brief()).await.unwrap();
        assert!(wait(&mut alarm, SHORT).await < LONG);
        // And with less.
        alarm.within(SHORT, brief()).await.unwrap();
        assert!(wait(&mut alarm, 5 * SHORT).await >= 5 * SHORT);
    }

    #[tokio::test]
    async fn work_that_never_waits_has_its_time_too() {
        let mut alarm = Alarm::default();
        let busy = async {
            loop {
                tokio::task::coop::consume_budget().await;
            }
        };
        let ended: io::Result<()> = alarm.within(SHORT, busy).await;
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn what_need_not_wait_is_done_after_its_time() {
        let mut alarm = Alarm::default();
        let past = Instant::now();
        tokio::time::sleep(SHORT / 10).await;
        assert_eq!(alarm.until(past, async { io::Result::Ok(7) }).await.unwrap(), 7);
        let never: io::Result<()> = alarm.until(past, std::future::pending()).await;
        assert!(never.is_err());
    }
}
