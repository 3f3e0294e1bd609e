//! Who opens URLs without meaning to act: prefetchers, crawlers, link unfurlers, parts of pages (REQUIREMENTS
//! B-33, U-15). For them a GET-Action is never done and never recorded.
//!
//! They are told `human_review_required`, with status 200: the answer of an action that has not been done and may
//! be asked for again. Not 503, which B-33 would allow for a prefetch: the answer of a GET-Action is always the same
//! two keys (U-06), and a browser that shows a prefetched answer must show one that is true, as this one is.
//!
//! None of this is a defence against mail scanners and link checkers, which look like browsers: that is what
//! `execute: false`, the default, is for.

use crate::gateway::head::{Head, Method};

/// Fields that only a request made ahead of a visit carries. `Sec-Purpose` and the older `Purpose` (Chromium
/// and Safari: `prefetch`, `prefetch;prerender`), `X-Purpose` (Safari: `preview`), `X-Moz` (Firefox before 115:
/// `prefetch`). No value of them announces an act (U-20), so none is read.
const AHEAD: [&str; 4] = ["sec-purpose", "purpose", "x-purpose", "x-moz"];

/// What `Sec-Fetch-Dest` says when a page or a program fetches for itself (Fetch standard, 2.2.7).
const DESTINATIONS: [&str; 2] = ["document", "empty"];

/// Parts of a `User-Agent`, lower case, of those that fetch without being sent by anyone: as their owners publish
/// them. Agents that fetch because a user asked (`ChatGPT-User`, `Claude-User`, `Perplexity-User`) are not here:
/// they are who GET-Action is for.
#[rustfmt::skip]
const CRAWLERS: &[&str] = &[
    // Google: developers.google.com/search/docs/crawling-indexing/google-common-crawlers, …-special-case-crawlers
    "googlebot", "storebot-google", "google-inspectiontool", "googleother", "google-cloudvertexbot", "apis-google",
    "adsbot-google", "mediapartners-google", "google-safety", "feedfetcher-google", "google-read-aloud",
    "google-site-verification", "googleimageproxy", "google-pagerenderer", "google-structured-data-testing-tool",
    // Microsoft: bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0
    "bingbot", "adidxbot", "msnbot", "bingpreview", "microsoftpreview", "skypeuripreview",
    // Other search engines: yandex.com/support/webmaster/robot-workings/check-yandex-robots.html,
    // duckduckgo.com/duckduckgo-help-pages/results/duckduckbot, support.apple.com/en-us/119829, help.naver.com, …
    "yandex.com/bots", "baiduspider", "duckduckbot", "duckassistbot", "applebot", "petalbot", "sogou web spider", "seznambot", "yeti/",
    "daum/4", "coccocbot", "qwantbot", "mojeekbot", "yahoo! slurp", "exabot", "360spider", "bravebot", "kagibot",
    // Models: platform.openai.com/docs/bots, support.anthropic.com/en/articles/8896518,
    // docs.perplexity.ai/guides/bots, developer.amazon.com/amazonbot, developers.facebook.com/docs/sharing/webmasters
    "gptbot", "oai-searchbot", "claudebot", "claude-searchbot", "claude-web", "anthropic-ai", "perplexitybot",
    "amazonbot", "meta-externalagent", "meta-webindexer", "facebookbot", "bytespider", "tiktokspider", "cohere-ai",
    "cohere-training-data-crawler", "diffbot", "youbot", "ai2bot", "timpibot", "imagesiftbot", "omgili",
    "webzio-extended", "ccbot", "pangubot", "panscient",
    // Archives: archive.org/details/archive.org_bot, webarchive.jira.com/wiki/spaces/Heritrix
    "archive.org_bot", "ia_archiver", "heritrix", "special_archiver",
    // Link unfurlers: api.slack.com/robots, developers.facebook.com/docs/sharing/webmasters, developer.x.com/en/docs/x-for-websites/cards,
    // core.telegram.org, faq.whatsapp.com, linkedin.com/help, and what Discord, Matrix, Mastodon and others send
    "slackbot", "slack-imgproxy", "facebookexternalhit", "facebookcatalog", "facebot", "twitterbot", "discordbot",
    "telegrambot", "whatsapp", "linkedinbot", "pinterestbot", "pinterest/0.", "redditbot", "viber", "line-poker", "snap url preview",
    "tumblr", "vkshare", "kakaotalk-scrap", "mastodon/", "pleroma", "misskey/", "cardyb", "synapse (bot",
    "mattermost-bot", "rocket.chat", "iframely", "embedly", "flipboardproxy", "bitlybot",
    // Auditors of links and uptime: ahrefs.com/robot, semrush.com/bot, mj12bot.com, moz.com/help/moz-procedures/crawlers,
    // uptimerobot.com, validator.w3.org
    "ahrefs", "semrushbot", "siteauditbot", "mj12bot", "dotbot", "blexbot", "dataforseobot", "screaming frog",
    "uptimerobot", "pingdom", "w3c-checklink", "linkchecker",
];

/// Whether who sent this head only looks.
pub(super) fn only_looks(head: &Head<'_>) -> bool {
    head.verb() != Method::Get
        || AHEAD.iter().any(|name| head.all(name).next().is_some())
        || head.all("range").next().is_some()
        || head.all("sec-fetch-dest").any(|said| {
            let said = said.trim_ascii();
            !DESTINATIONS.iter().any(|own| said.eq_ignore_ascii_case(own.as_bytes()))
        })
        || head.all("user-agent").any(is_crawler)
}

fn is_crawler(agent: &[u8]) -> bool {
    let agent = agent.to_ascii_lowercase();
    // Bounded by the head; what is not UTF-8 is nobody we know.
    let agent = String::from_utf8_lossy(&agent);
    CRAWLERS.iter().any(|name| agent.contains(name))
}

#[cfg(test)]
mod tests {
    use super::{CRAWLERS, is_crawler};

    #[test]
    fn names_are_lower_case_and_once() {
        for (index, name) in CRAWLERS.iter().enumerate() {
            assert_eq!(*name, name.to_ascii_lowercase());
            let others = CRAWLERS.iter().enumerate().filter(|(other, _)| *other != index);
            let within: Vec<_> = others.filter(|(_, other)| name.contains(**other)).collect();
            assert!(within.is_empty(), "{name} is found by {within:?}");
        }
    }

    #[test]
    fn agents_that_users_send_are_not_crawlers() {
        for agent in [
            "curl/8.5.0",
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; +Claude-User@anthropic.com)",
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)",
            "python-requests/2.32",
            "",
        ] {
            assert!(!is_crawler(agent.as_bytes()), "{agent}");
        }
        for agent in
            ["Mozilla/5.0 (compatible; GOOGLEBOT/2.1)", "Slackbot-LinkExpanding 1.0", "WhatsApp/2.23"]
        {
            assert!(is_crawler(agent.as_bytes()), "{agent}");
        }
    }
}
