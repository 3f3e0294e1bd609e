//! What triage looks at: a request head, borrowed from wherever it was read.

use super::Gateway;
use crate::every::every;
use ipnet::IpNet;
use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv6Addr};

/// A header field as it stood on the wire.
pub type Field<'a> = httparse::Header<'a>;

/// A request head whose framing is already known to be unambiguous (RFC 9112, 6.3; `edge` has
/// refused the rest).
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// As written; methods are case-sensitive (RFC 9110, 9.1).
    pub method: &'a str,
    /// The target up to the first `?`, never normalised.
    pub path: &'a str,
    /// What follows the first `?`, if there is one, empty or not.
    pub query: Option<&'a str>,
    /// In order of arrival.
    pub fields: &'a [Field<'a>],
    /// How long the body says it is.
    pub length: Length,
    /// The other end of the connection.
    pub peer: IpAddr,
    /// `http` or `https`: how this connection was made.
    pub scheme: &'static str,
    /// `Host`, or `:authority`; empty when HTTP/1.0 sent none.
    pub authority: &'a str,
}

/// How long a body says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// `Content-Length`, or 0 where no body was announced.
    Known(u64),
    /// Chunked, or HTTP/2 without `content-length`.
    Unknown,
}

/// The methods that mean something at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Arrival.
    Get,
    /// Arrival without the body.
    Head,
    /// Act.
    Post,
    /// Which methods there are.
    Options,
    /// Every other token.
    Other,
}

impl Method {
    every![Get, Head, Post, Options, Other];
}

impl<'a> Head<'a> {
    /// What is known of a request whose head could not be read.
    pub fn nothing(peer: IpAddr) -> Self {
        Self {
            method: "",
            path: "",
            query: None,
            fields: &[],
            length: Length::Known(0),
            peer,
            scheme: "http",
            authority: "",
        }
    }

    /// The method.
    pub fn verb(&self) -> Method {
        match self.method {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "OPTIONS" => Method::Options,
            _ => Method::Other,
        }
    }

    /// The values of every field of this name, in order.
    pub fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        self.fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
    }

    /// The value of the one field of this name; `None` when there is none, or more than one.
    pub fn only(&self, name: &str) -> Option<&'a [u8]> {
        let mut values = self.all(name);
        let first = values.next()?;
        values.next().is_none().then_some(first)
    }
}

/// Where a request came from, as far as it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The peer, or the right-most untrusted entry of `X-Forwarded-For` behind trusted proxies.
    pub client: IpAddr,
    /// Whether the peer is one of `trusted_proxies`.
    pub peer_trusted: bool,
}

impl Gateway {
    /// Reads `X-Forwarded-For` only from trusted peers, from the right, and stops at the first
    /// entry that is not trusted or not an address.
    pub fn origin(&self, head: &Head<'_>) -> Origin {
        let peer = head.peer.to_canonical();
        if !trusts(&self.trusted_proxies, peer) {
            return Origin { client: peer, peer_trusted: false };
        }
        let mut client = peer;
        // Several fields are one list (RFC 9110, 5.3): the right-most is the end of the last.
        let fields = head.fields.iter().rev();
        let lists = fields.filter(|field| field.name.eq_ignore_ascii_case("x-forwarded-for"));
        'lists: for list in lists {
            for entry in list.value.rsplit(|byte| *byte == b',') {
                let Some(address) = read_address(entry) else {
                    break 'lists;
                };
                client = address;
                if !trusts(&self.trusted_proxies, address) {
                    break 'lists;
                }
            }
        }
        Origin { client, peer_trusted: true }
    }
}

fn trusts(proxies: &[IpNet], address: IpAddr) -> bool {
    proxies.iter().any(|network| network.contains(&address))
}

fn read_address(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry.trim_ascii()).ok()?;
    let text = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    text.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

/// How the outside names this gateway (`public_url`): what backends are told, instead of what a client
/// claims in `Host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicName {
    /// `http` or `https`.
    pub scheme: String,
    /// Host, and port where it is not the scheme's own.
    pub authority: String,
}

impl PublicName {
    /// From an absolute URL.
    pub fn of(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split('/').next().filter(|authority| !authority.is_empty())?;
        Some(Self { scheme: scheme.to_owned(), authority: authority.to_owned() })
    }
}

/// What a client is to a rate: an IPv4 address, an IPv6 /64, or the name of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientKey(u128);

impl ClientKey {
    /// IPv4 /32, IPv6 /64.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            // ::ffff:0:0/96 is no /64 that an IPv6 client can have
            IpAddr::V4(v4) => Self(u128::from(v4.to_ipv6_mapped())),
            IpAddr::V6(v6) => Self(u128::from(network_64(v6))),
        }
    }

    /// The same for the same client, in every process.
    pub(super) fn hash(self) -> u64 {
        super::balance::hash(&self.0.to_le_bytes())
    }

    /// To be hashed: an address itself is stored nowhere.
    pub fn as_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The holder of a token, from wherever: keeps its allowance when the token itself is replaced.
    pub fn of_token(name: &str) -> Self {
        let hash = Sha256::digest(name);
        let high = hash.iter().take(8).fold(0, |high, byte| high << 8 | u128::from(*byte));
        // No address ends in ones: an IPv6 network ends in zeros, a mapped IPv4 address in 0000:ffff and its 32 bits.
        Self(high << 64 | u128::from(u64::MAX))
    }
}

fn network_64(address: Ipv6Addr) -> Ipv6Addr {
    let [a, b, c, d, ..] = address.segments();
    Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)
}
