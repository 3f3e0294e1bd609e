use super::*;

fn fleet(balance: Balance, weights: &[u32]) -> Fleet {
    let rule = Ejection {
        failures: 2,
        within: Duration::from_secs(10),
        time: Duration::from_secs(30),
        max_percent: 50,
    };
    let seats = weights.iter().enumerate();
    let seats = seats.map(|(number, weight)| Seat::new(&format!("http://{number}"), *weight, None));
    Fleet::new(balance, Some(rule), seats.collect())
}

/// How many of so many acts, with keys from 0, each server gets first.
fn spread(fleet: &Fleet, acts: u64, now: Instant) -> Vec<usize> {
    let mut counts = vec![0; fleet.seats().len()];
    for act in 0..acts {
        counts[fleet.round(hash(&act.to_le_bytes()), now).try_next().unwrap().0] += 1;
    }
    counts
}

#[test]
fn turns_go_by_weight_and_far_apart() {
    let now = Instant::now();
    assert_eq!(schedule(&[1, 1, 1]), [0, 1, 2]);
    assert_eq!(schedule(&[5, 1, 1]), [0, 0, 1, 0, 2, 0, 0]);
    assert_eq!(schedule(&[100, 50]), [0, 1, 0]);
    assert_eq!(spread(&fleet(Balance::RoundRobin, &[1, 1, 1]), 300, now), [100, 100, 100]);
    assert_eq!(spread(&fleet(Balance::RoundRobin, &[3, 1]), 400, now), [300, 100]);
}

/// The share of one that is out goes to all the others alike, not to its neighbour.
#[test]
fn what_one_does_not_take_is_spread() {
    let now = Instant::now();
    for balance in [Balance::RoundRobin, Balance::LeastInFlight, Balance::Hash(HashBy::Client)] {
        let fleet = fleet(balance.clone(), &[1; 4]);
        fleet.seats()[1].condition.set_up(false);
        let counts = spread(&fleet, 3000, now);
        assert_eq!(counts[1], 0);
        assert!([0, 2, 3].iter().all(|at| (880..1120).contains(&counts[*at])), "{balance:?}: {counts:?}");
    }
}

#[test]
fn the_least_busy_is_chosen_for_its_weight() {
    let (fleet, now) = (fleet(Balance::LeastInFlight, &[1, 1, 2]), Instant::now());
    let mut held = Vec::new();
    let mut counts = [0; 3];
    for _ in 0..40 {
        let (number, lease) = fleet.round(0, now).try_next().unwrap();
        counts[number] += 1;
        held.push(lease);
    }
    assert_eq!(counts, [10, 10, 20]);
}

#[test]
fn a_key_stays_where_it_is_and_few_move() {
    let now = Instant::now();
    let home = |fleet: &Fleet, key: u64| fleet.round(hash(&key.to_le_bytes()), now).try_next().unwrap().0;
    let by = || Balance::Hash(HashBy::Client);
    let (four, five) = (fleet(by(), &[1; 4]), fleet(by(), &[1; 5]));
    let moved = (0..10_000).filter(|key| home(&four, *key) != home(&five, *key)).count();
    let to_the_new = (0..10_000).filter(|key| home(&five, *key) == 4).count();
    assert_eq!(moved, to_the_new, "only what the new one takes moves");
    assert!((1800..2200).contains(&moved), "{moved}");
    let counts = spread(&fleet(by(), &[1, 3]), 10_000, now);
    assert!((2300..2700).contains(&counts[0]), "{counts:?}");
}

#[test]
fn each_is_tried_once_and_the_unfit_last() {
    let now = Instant::now();
    for balance in [Balance::RoundRobin, Balance::LeastInFlight, Balance::Hash(HashBy::Client)] {
        let fleet = fleet(balance, &[1, 2, 3]);
        let tried = |affinity| {
            let mut round = fleet.round(affinity, now);
            let mut tried = Vec::new();
            while let Ok((number, _)) = round.try_next() {
                tried.push(number);
            }
            assert_eq!(tried.iter().sum::<usize>(), 3, "{tried:?}");
            tried
        };
        assert!((0..20).all(|key| tried(key).len() == 3));
        fleet.seats()[0].condition.set_up(false);
        assert!((0..20).all(|key| tried(key)[2] == 0));
        fleet.seats()[2].condition.eject(now, Duration::from_secs(1));
        assert!((0..20).all(|key| tried(key)[0] == 1));
        fleet.seats()[1].condition.set_up(false);
        assert!((0..20).all(|key| tried(key).len() == 3));
    }
}

/// A server that is down does not get what the others have no room for.
#[test]
fn where_the_fit_are_full_the_unfit_are_left_alone() {
    let now = Instant::now();
    let seats = vec![Seat::new("a", 1, Some(1)), Seat::new("b", 1, Some(1))];
    let fleet = Fleet::new(Balance::RoundRobin, None, seats);
    fleet.seats()[0].condition.set_up(false);
    let held = fleet.round(0, now).try_next().unwrap();
    assert_eq!(held.0, 1);
    assert_eq!(fleet.round(0, now).try_next().unwrap_err(), Exhausted::Full);
}

#[test]
fn a_full_server_is_passed_over_and_all_full_is_said() {
    let now = Instant::now();
    let seats = vec![Seat::new("a", 1, Some(1)), Seat::new("b", 1, Some(1))];
    let fleet = Fleet::new(Balance::RoundRobin, None, seats);
    let first = fleet.round(0, now).try_next().unwrap();
    let second = fleet.round(0, now).try_next().unwrap();
    assert_ne!(first.0, second.0);
    assert_eq!(fleet.round(0, now).try_next().unwrap_err(), Exhausted::Full);
    drop(first);
    assert!(fleet.round(0, now).try_next().is_ok());
}

#[test]
fn failures_in_a_row_eject_but_never_too_many_and_never_the_last() {
    let now = Instant::now();
    let fleet = fleet(Balance::RoundRobin, &[1; 4]);
    let twice = |number| [fleet.note_badly(number, now), fleet.note_badly(number, now)];
    assert_eq!(twice(0), [false, true]);
    assert!(!fleet.note_badly(1, now));
    fleet.note_well(1);
    assert_eq!(twice(1), [false, true]);
    assert_eq!(twice(2), [false, false], "half are out already");
    let later = now + Duration::from_secs(31);
    assert!(fleet.seats().iter().all(|seat| seat.condition.is_fit(later)));
    assert_eq!(fleet.seats()[0].condition.ejections(), 1);
    // With the others down, the last that is fit stays.
    for number in [0, 1, 2] {
        fleet.seats()[number].condition.set_up(false);
    }
    assert_eq!([fleet.note_badly(3, later), fleet.note_badly(3, later)], [false, false]);
}

#[test]
fn checks_turn_a_server_by_their_number_in_a_row() {
    let rule = HealthCheck {
        path: "/".into(),
        host: None,
        interval: Duration::from_secs(1),
        timeout: Duration::from_secs(1),
        healthy: 2,
        unhealthy: 3,
        fails_readiness: false,
    };
    let (mut streak, mut up) = (Streak::default(), true);
    let mut stands = |good| {
        up = streak.observe(&rule, up, good);
        up
    };
    let checks = [false, false, true, false, false, false, true, false, true, true, true];
    let stood = [true, true, true, true, true, false, false, false, false, true, true];
    assert_eq!(checks.map(&mut stands), stood);
}

#[test]
fn what_is_learned_of_an_answer() {
    use UpstreamResult as R;
    for (result, status, learned) in [
        (R::Unknown, None, Some(Experience::Badly)),
        (R::Broken, Some(200), Some(Experience::Badly)),
        (R::Failed, Some(500), Some(Experience::Well)),
        (R::Failed, Some(503), Some(Experience::Badly)),
        (R::Refused, Some(404), Some(Experience::Well)),
        (R::NotSent, None, None),
    ] {
        assert_eq!(Experience::of(result, status), learned, "{result:?} {status:?}");
    }
}
