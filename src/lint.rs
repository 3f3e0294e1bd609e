//! Lints: what a form or a file may say, and better would not. Each has a stable name, what it means and what to do;
//! a level says how much weight it has.

/// How much weight a lint has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Not looked at.
    Allow,
    /// Reported; the file loads.
    Warn,
    /// Refuses the file.
    Deny,
}

/// What a lint looks at: this decides where its level can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A form, at this level where `lints` of the file or of the route says no other.
    Form(Level),
    /// The file, or what it names: reported where `lints` of the file says no other.
    File,
}

/// Declares the one table of lints. Its lines are the variants, the arms of every match and the elements of the list:
/// a lint without a name and its two sentences does not build, and none is missing in the list.
macro_rules! lints {
    ($($lint:ident is $name:literal of $subject:expr, $meaning:literal, do $remedy:literal;)*) => {
        /// The lints, each with a stable kebab-case name used in config and output.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Lint {
            $(#[doc = $meaning] $lint,)*
        }

        impl Lint {
            /// All of them, those of forms first.
            pub const ALL: &'static [Self] = &[$(Self::$lint,)*];

            /// Its name in config and output.
            pub fn name(self) -> &'static str {
                match self { $(Self::$lint => $name,)* }
            }

            /// What it looks at.
            pub fn subject(self) -> Subject {
                match self { $(Self::$lint => $subject,)* }
            }

            /// What it means, and what can happen if it is left: one sentence, without a full stop.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$lint => $meaning,)* }
            }

            /// What to write instead: one sentence, without a full stop.
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$lint => $remedy,)* }
            }
        }
    };
}

const WARNED: Subject = Subject::Form(Level::Warn);
const DENIED: Subject = Subject::Form(Level::Deny);

lints! {
    MissingType is "missing-type" of WARNED,
        "no `type`, or a keyword about a type that `type` excludes: a keyword says nothing of values of other types, so they pass by it",
        do "say `type` and what bounds it; take out a keyword about a type that is not admitted";
    OpenObject is "open-object" of WARNED,
        "an object that takes members nobody declared: your API gets them as they are, and may obey one you did not think of",
        do "`\"additionalProperties\": false`; where `allOf` or `$ref` stands beside the members, `\"unevaluatedProperties\": false`";
    UnboundedString is "unbounded-string" of WARNED,
        "a string of any length: nothing but `max_body` bounds what your API has to store, search or show",
        do "`maxLength`, `enum`, or a `pattern` between `^` and `$` that has an end";
    UnboundedArray is "unbounded-array" of WARNED,
        "an array of any length: one act may ask for as many things as fit into `max_body`",
        do "`maxItems`";
    OneOf is "one-of" of WARNED,
        "`oneOf` also refuses what fits two alternatives: who fills in the form has to exclude the others, where `anyOf` lets it choose",
        do "`anyOf`, with a `const` member that tells the alternatives apart";
    UnboundedRecursion is "unbounded-recursion" of DENIED,
        "the form refers to itself: up to 128 levels of JSON, nothing bounds how deep a value may be, and your API may not go as deep",
        do "`unroll: N` on the route publishes and enforces it N levels deep";
    UnanchoredPattern is "unanchored-pattern" of WARNED,
        "a pattern fits wherever a part of the text matches: `[a-z]+` admits all that has one letter in it",
        do "`^(?:…)$`; for names under `patternProperties`, `^…`";
    LargestBody is "largest-body" of WARNED,
        "the form admits values that are longer than `max_body`: who keeps to the form is refused all the same, as `too_large`",
        do "smaller `maxLength` and `maxItems`, or a larger `max_body` on the route";
    MissingDescription is "missing-description" of WARNED,
        "no `description` at the root of the form: it is all that tells a reader what the action does",
        do "`\"description\": \"…\"`, a sentence for who has never seen your API";
    UniqueItems is "unique-items" of WARNED,
        "`uniqueItems` on arrays that may have more than 256 elements: every request pays for comparing them",
        do "`maxItems` of 256 or less, or leave the comparing to your API";
    FrameworkMember is "framework-member" of WARNED,
        "a member name that frameworks read as something else than data (`__proto__`, `_method`, `@type`, …): it may change how your API reads the rest",
        do "another name";
    ReadWriteOnly is "read-write-only" of WARNED,
        "`readOnly` or `writeOnly`, which constrain nothing: a form is a request, and what it declares can be sent",
        do "leave the member out of the form if it must not be sent, else say what is meant in `description`";
    EmbeddedId is "embedded-id" of WARNED,
        "`$id` below the root: a reader that does not follow it takes the references there for others than this gateway does",
        do "references by JSON Pointer, `#/$defs/…`, and no `$id`";
    RepeatedWork is "repeated-work" of WARNED,
        "alternatives that refer to the same schemas multiply: a value that fits may cost so much to judge that it is refused for it",
        do "fewer levels of alternatives, or alternatives that differ in what they refer to";
    Actions is "actions" of Subject::File,
        "importers of the OpenAPI document may refuse it, or something in it: no https, a choice at the root of a form, more than an action carries",
        do "what the warning's `help` says; or `actions: longtail`, or `actions: none`, on the route";
    Traces is "traces" of Subject::File,
        "`sample: 0` and no `trusted_proxies`: nobody can ask for a trace, so none is recorded",
        do "name your proxies, or write the share that is recorded, `sample: 0.01`";
    SlowExchange is "slow-exchange" of Subject::File,
        "`timeouts.exchange` is over 40s: GPT Actions give up after 45s, and then nobody tells the caller whether the act happened",
        do "`exchange: 40s` or less";
    PassedToken is "passed-token" of Subject::File,
        "`pass_headers` hands `Authorization` on: the backend, and who reads its logs, has the token that opens this route",
        do "take it out, and set a secret of the backend's own with `set_headers`";
    WritableSecret is "writable-secret" of Subject::File,
        "every user of this machine may write to the file of a secret: who does so decides what your API is sent",
        do "`chmod 640` or `600`";
    ReadableKey is "readable-key" of Subject::File,
        "every user of this machine can read a private key, or others than its owner may write to it: who reads it can pose as the site",
        do "`chmod 640` or `600`; in Kubernetes `defaultMode: 0440` and `fsGroup`";
    ExpiredCertificate is "expired-certificate" of Subject::File,
        "the last day of a certificate is over: it is served all the same, and whoever verifies it will not go on",
        do "renew certificate and key; they are taken over while it runs";
    FutureCertificate is "future-certificate" of Subject::File,
        "the first day of a certificate is still to come: it is served all the same, and whoever verifies it will not go on",
        do "compare this machine's clock with the certificate's dates";
    UnlinkedCertificate is "unlinked-certificate" of Subject::File,
        "a certificate of the chain was not issued by the one behind it: a client that does not know the issuer finds no way to a root",
        do "the site's own first, then each one's issuer, and nothing else";
    NamelessCertificate is "nameless-certificate" of Subject::File,
        "a certificate without a DNS name (subjectAltName): no client that asks for a name takes it",
        do "have it made with one: `openssl req -addext subjectAltName=DNS:api.example.com …`";
    UnusedUpstream is "unused-upstream" of Subject::File,
        "no route goes to this upstream: it may be a route's that was forgotten",
        do "remove it, or name it in a route's `upstream.to`";
    UnusedToken is "unused-token" of Subject::File,
        "nothing asks for this token: its holder opens nothing with it, and the route it was meant for may be open to everyone",
        do "remove it, or name it in a route's `tokens`; operator tokens need `admin`";
    UnusedStore is "unused-store" of Subject::File,
        "`store` is set up and nothing is written into it: no route keeps records, so no act is done only once",
        do "remove it, or say `idempotency: optional` on a route";
    UnusedLimiterKeys is "unused-limiter-keys" of Subject::File,
        "`limiter_keys` bounds what limiters remember, and no rate is limited: it has no effect",
        do "remove it, or say a rate under `limits`";
    UnusedUnroll is "unused-unroll" of Subject::File,
        "`unroll` has no effect: nothing in the form recurs",
        do "remove it";
    UnusedAnnotation is "unused-annotation" of Subject::File,
        "a name under `annotations` has no effect: the form does not have it, or has it spelt otherwise",
        do "remove it, or spell it as the form does";
    UnusedIdle is "unused-idle" of Subject::File,
        "`timeouts.idle` has no effect beside `keepalive: 0`: no connection is kept that could lie idle",
        do "remove one of them";
    SingleServerBalance is "single-server-balance" of Subject::File,
        "`balance` or `weight` has no effect: there is one server, and nothing to choose",
        do "name a second server, or remove the key";
    SingleServerEjection is "single-server-ejection" of Subject::File,
        "`eject` has no effect: the only server is never ejected, however often it fails",
        do "name a second server, or remove `eject`";
}

impl Lint {
    /// The lint of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|lint| lint.name() == name)
    }

    /// Whether it looks at a form: a route has one, and can say its level.
    pub fn is_of_form(self) -> bool {
        match self.subject() {
            Subject::Form(_) => true,
            Subject::File => false,
        }
    }
}

/// The level of each lint: the defaults, overridden per gateway, then per route.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct LintLevels {
    set: Vec<(Lint, Level)>,
}

impl LintLevels {
    /// Overrides the level of one lint.
    pub fn set(&mut self, lint: Lint, level: Level) {
        self.set.retain(|(other, _)| *other != lint);
        self.set.push((lint, level));
    }

    /// The level of one lint.
    pub fn of(&self, lint: Lint) -> Level {
        let usual = match lint.subject() {
            Subject::Form(level) => level,
            Subject::File => Level::Warn,
        };
        self.set.iter().find(|(other, _)| *other == lint).map_or(usual, |(_, level)| *level)
    }
}
