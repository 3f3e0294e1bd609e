//! Rates over all instances.

use super::{rates, setup, with};
use crate::support::redis::{Redis, is_up};
use crate::support::{Backend, Gate, MEETING, MEETING_BODY, Request, eventually};

fn limited(backend: &Backend, redis: &Redis, post: &str, refused: &str) -> Gate {
    setup(backend, redis.store("refuse")).with("defaults/limits", rates(post, refused)).start()
}

fn passed(gates: &[&Gate], many: usize) -> usize {
    let answers = (0..many).map(|number| gates[number % gates.len()].post(MEETING, MEETING_BODY).status);
    let answers: Vec<_> = answers.collect();
    assert!(answers.iter().all(|status| [200, 429].contains(status)), "{answers:?}");
    answers.iter().filter(|status| **status == 200).count()
}

/// Within 2 %: of 100 that are allowed, 100 pass, and what comes back meanwhile.
#[test]
fn two_instances_hold_one_limit() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gates = [(); 2].map(|()| limited(&backend, &redis, "1/m burst 100", "none"));
    let passed = passed(&[&gates[0], &gates[1]], 160);
    assert!((100..=102).contains(&passed), "{passed}");
    assert_eq!(backend.count(), passed);
    // Whoever waits as long as is said is served; nobody is told to wait for longer than for one.
    let told = gates[0].post(MEETING, MEETING_BODY);
    let wait: u32 = told.field("retry-after").unwrap().parse().unwrap();
    assert!(told.status == 429 && wait <= 60, "{}", told.head);
    // Names go by themselves, and say nothing.
    let names = redis.ask(&["KEYS", "{formgate}:rate:*"]);
    assert_eq!(names.lines().count(), 1, "{names}");
    let left: i64 = redis.ask(&["PTTL", &names]).parse().unwrap();
    assert!(left > 0 && left <= 100 * 60_000, "{left}");
}

/// The same at a pace: a second of hammering from both sides gives what one instance would.
#[test]
fn two_instances_keep_one_pace() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gates = [(); 2].map(|()| limited(&backend, &redis, "100/s burst 50", "none"));
    let began = std::time::Instant::now();
    let passed: usize = std::thread::scope(|scope| {
        let hammer = |gate: &'static usize| {
            let gates = &gates;
            scope.spawn(move || {
                let mut client = gates[*gate].client();
                let mut passed = 0;
                while began.elapsed() < std::time::Duration::from_secs(3) {
                    passed +=
                        usize::from(client.exchange(&Request::post(MEETING, MEETING_BODY)).status == 200);
                }
                passed
            })
        };
        let all = [&0, &1, &0, &1].map(hammer);
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    let allowed = 50.0 + began.elapsed().as_secs_f64() * 100.0;
    let share = f64::from(u32::try_from(passed).unwrap()) / allowed;
    println!("{passed} of {allowed:.0} passed: {share:.3}");
    // Below, where the machine is too slow to hammer.
    assert!(share <= 1.02, "{passed} of {allowed}");
}

/// Each instance its own, where the file says so; and rates of GET are always each instance's own.
#[test]
fn limits_may_stay_local() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gates = [(); 2].map(|()| {
        let store = with(redis.store("refuse"), "limits", "local");
        setup(&backend, store).with("defaults/limits", rates("1/m burst 10", "none")).start()
    });
    assert!((20..=22).contains(&passed(&[&gates[0], &gates[1]], 40)));
    assert_eq!(redis.ask(&["KEYS", "{formgate}:rate:*"]), "");
}

/// Refused acts count wherever they were refused, and a refusal is not waited for.
#[test]
fn refused_acts_are_counted_together() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gates = [(); 2].map(|()| limited(&backend, &redis, "none", "1/m burst 5"));
    for number in 0..5 {
        assert_eq!(gates[number % 2].post(MEETING, "{}").status, 204);
    }
    for gate in &gates {
        eventually("nothing is left", || gate.post(MEETING, MEETING_BODY).status == 429);
    }
}

/// What was used up stays used up over a reload, and over a restart of an instance.
#[test]
fn a_reload_and_a_restart_forgive_nothing() {
    let Some(redis) = Redis::start(&[]) else { return };
    let backend = Backend::agreeing();
    let gate = limited(&backend, &redis, "1/m burst 10", "none");
    assert_eq!(passed(&[&gate], 10), 10);
    let changed = setup(&backend, redis.store("refuse"))
        .with("defaults/limits", rates("1/m burst 10", "none"))
        .with("routes/0/context", "Changed.");
    gate.replace("gateway.yaml", changed.text());
    assert_eq!(gate.reload().status, 200);
    assert!(passed(&[&gate], 5) <= 1);
    let other = limited(&backend, &redis, "1/m burst 10", "none");
    is_up(&other, 1);
    assert!(passed(&[&other], 5) <= 1);
}
