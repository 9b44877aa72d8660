"""Caddy's configuration, as JSON: its Caddyfile cannot switch session tickets off."""

from collections.abc import Mapping, Sequence
from typing import Any

#: The headers of a request that the collector needs, and what stands for one that is missing.
PASSED = {
    "Content-Type": "",
    "If-None-Match": "",
    # It stands for a browser that does not say where a request comes from.
    "Sec-Fetch-Site": "none",
}
#: Pages that get the query of an address, which says what they show. Nobody sends answers there.
WITH_QUERY = ["/explore", "/explore/*", "/public/*"]
#: Headers that Caddy would add, about which an audit would complain.
_ITS_OWN = ["Server", "Via", "Alt-Svc"]
_SECOND = 1_000_000_000
#: Requests go to the collectors in turn, and to the others while one cannot be connected to. What
#: `/healthz` says does not matter: an unhealthy collector is better for visitors than none. The
#: proxy forgets a failure before it gives up a request. So a request waits up to 5 s for a
#: collector that comes back, and is not refused while the other one stops.
_BALANCED = {
    "load_balancing": {"selection_policy": {"policy": "round_robin"}, "try_duration": 5 * _SECOND},
    "health_checks": {"passive": {"fail_duration": 3 * _SECOND}},
}


def configuration(
    host: str,
    research_host: str | None,
    port: int,
    research_port: int,
    page: str,
    page_headers: Mapping[str, str],
    collectors: Sequence[str],
) -> dict[str, Any]:
    """Return what Caddy reads as JSON.

    Parameters
    ----------
    page, page_headers
        What visitors get while the collector does not answer.
    collectors
        Names of the containers; the researchers' port leads to the first. There are none if the
        collector runs on the same machine. In compose, Caddy has release 2.7 or later; otherwise
        it has 2.6, which buffers by other fields.
    """
    from analysis.survey.survey import LONGEST_REQUEST

    in_compose = bool(collectors)
    names_of_collectors = collectors or ["127.0.0.1"]
    # A longer body is passed on as it comes, and the collector refuses it.
    buffering = (
        {"request_buffers": LONGEST_REQUEST}
        if in_compose
        else {"buffer_requests": True, "max_buffer_size": LONGEST_REQUEST}
    )
    to_respondents = {
        "handler": "reverse_proxy",
        "upstreams": [{"dial": f"{name}:{port}"} for name in names_of_collectors],
        **(_BALANCED if len(names_of_collectors) > 1 else {}),
        **buffering,
        "headers": {
            "request": {
                "set": {
                    "Accept-Encoding": ["{http.vars.Accept-Encoding}"],
                    **{name: [f"{{http.vars.{name}}}"] for name in PASSED},
                    "User-Agent": [""],  # otherwise it is Go's own
                },
                "delete": ["X-Forwarded-*", "Via"],
            },
            "response": {"delete": _ITS_OWN},
        },
    }
    to_researchers = {
        "handler": "reverse_proxy",
        "upstreams": [{"dial": f"{names_of_collectors[0]}:{research_port}"}],
        **buffering,
        "headers": {"request": {"delete": ["X-Forwarded-*", "Via"]}},
    }
    routes = [_route(host, _cleaned(), to_respondents)]
    if research_host:
        routes.append(_route(research_host, to_researchers))
    names = [name for name in (host, research_host) if name]
    limits = {
        "read_header_timeout": 20 * _SECOND,
        "read_timeout": 20 * _SECOND,
        "write_timeout": 60 * _SECOND,
        "idle_timeout": 30 * _SECOND,
        "max_header_bytes": 32768,
        "protocols": ["h1", "h2"],
    }
    nothing = {"handle": [{"handler": "static_response", "abort": True}], "terminal": True}
    servers: dict[str, Any] = {
        "plain": {
            "listen": [":80"],
            "automatic_https": {"disable": True},
            **limits,
            "routes": [
                *(
                    _route(
                        name,
                        {
                            "handler": "static_response",
                            "status_code": 308,
                            "headers": {"Location": [f"https://{name}{{http.request.uri}}"]},
                        },
                    )
                    for name in names
                ),
                nothing,
            ],
        },
        "secure": {
            "listen": [":443"],
            "automatic_https": {"disable_redirects": True},
            **limits,
            "routes": [*routes, nothing],
            "errors": {"routes": [_unavailable(page, page_headers)]},
        },
    }
    if in_compose:
        servers["researchers"] = {
            "listen": [f":{research_port}"],
            "automatic_https": {"disable": True},
            **limits,
            "routes": [{"handle": [to_researchers]}],
        }
    return {
        "admin": {"disabled": True, "config": {"persist": False}},
        # Errors have the addresses of visitors, so only messages about certificates are kept.
        "logging": {
            "logs": {
                "default": {
                    "level": "INFO",
                    "include": ["tls.obtain", "tls.renew", "tls.issuance.acme"],
                }
            }
        },
        "apps": {
            "http": {"servers": servers},
            # A ticket would let the proxy recognize a device.
            "tls": {"session_tickets": {"disabled": True}},
        },
    }


def _route(host: str, *handlers: Mapping[str, Any]) -> dict[str, Any]:
    return {"match": [{"host": [host]}], "handle": list(handlers), "terminal": True}


def _cleaned() -> dict[str, Any]:
    """Return handlers that keep four headers of a request, and delete all others and the query.

    The query stays with pages that nobody answers, and whose addresses say what they show.
    What is kept is copied before the headers are deleted: Caddy has no "all but these".
    """
    compressed = {
        "handler": "map",
        "source": "{http.request.header.Accept-Encoding}",
        "destinations": ["{compressed}"],
        "mappings": [
            {"input_regexp": r"(?i)\bgzip *; *q=0(\.0*)? *(,|$)", "outputs": ["identity"]},
            {"input_regexp": r"(?i)\bgzip\b", "outputs": ["gzip"]},
        ],
        "defaults": ["identity"],
    }
    mapped = [
        {
            "handler": "map",
            "source": f"{{http.request.header.{name}}}",
            "destinations": [f"{{kept.{name}}}"],
            "mappings": [{"input": "", "outputs": [instead]}],
            "defaults": [f"{{http.request.header.{name}}}"],
        }
        for name, instead in PASSED.items()
    ]
    kept = {name: f"{{kept.{name}}}" for name in PASSED}
    return {
        "handler": "subroute",
        "routes": [
            {
                "handle": [
                    compressed,
                    *mapped,
                    {"handler": "vars", "Accept-Encoding": "{compressed}", **kept},
                    {"handler": "headers", "request": {"delete": ["**"]}},
                ]
            },
            {
                # No survey's page needs what other sites append to links ("?utm_...").
                "match": [{"not": [{"path": WITH_QUERY}]}],
                "handle": [{"handler": "rewrite", "uri": "{http.request.uri.path}?"}],
            },
        ],
    }


def _unavailable(page: str, headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        "match": [{"expression": "{http.error.status_code} in [502, 503, 504]"}],
        "handle": [
            {
                "handler": "static_response",
                "status_code": "{http.error.status_code}",
                "headers": {
                    "Content-Type": ["text/html; charset=utf-8"],
                    **{name: [value] for name, value in headers.items()},
                },
                "body": page,
            }
        ],
    }
