"""The table of all addresses: who may read and who may change what is there, and of what it is.

The server looks each request up here before a view runs (`server.console.blueprint.let_in`). What
has no row is answered as if it did not exist. `docs/console.md` has the same table.
"""

from dataclasses import dataclass

from server.store.researchers import ROLES

#: Everybody, without an account: respondents' devices, and whoever wants to sign in.
ANYBODY, GUEST = "anybody", "whoever signs in"
#: The accounts that a row lets in. An owner may do everything, and decides about pilots.
ACCOUNT, FIELDWORKER, ANALYST, OWNER = "every account", "fieldworker", "analyst", "owner"
PILOT = "analyst, if owners let them"
#: The roles that are let in by each of these.
LET_IN = {
    ACCOUNT: ROLES,
    FIELDWORKER: ("owner", "fieldworker"),
    ANALYST: ("owner", "analyst"),
    PILOT: ("owner", "analyst"),
    OWNER: ("owner",),
}
#: What an address is about: everything here; or the published study that it names; or the study
#: that it names, even if only its draft exists.
COLLECTOR, STUDY, DRAFT = "the collector", "one study", "one study or draft"


@dataclass(frozen=True)
class Route:
    """An address, what it is about, and whom it lets in to read (GET, HEAD) and to change (POST).

    The address is written as the view has it. "" lets nobody in, and no other method has a row.
    `repeats` says that a form that is sent again goes to the view, which knows what to do then;
    `is_for_setup`, that accounts come here to set up a second factor where all need one.
    """

    rule: str
    scope: str
    get: str = ""
    post: str = ""
    repeats: bool = False
    is_for_setup: bool = False

    def who(self, method: str) -> str:
        """Return whom the row lets in with a method; "" for nobody."""
        return {"GET": self.get, "HEAD": self.get, "POST": self.post}.get(method, "")


_TABLE = (
    # Respondents' pages and API, and what else needs no account.
    Route("/", COLLECTOR, get=ANYBODY),
    Route("/s/<survey_id>", STUDY, get=ANYBODY),
    Route("/me", COLLECTOR, get=ANYBODY),
    Route("/api/surveys/<survey_id>", STUDY, get=ANYBODY),
    Route("/api/surveys/<survey_id>/reports", STUDY, post=ANYBODY),
    Route("/api/surveys/<survey_id>/invitations", STUDY, post=ANYBODY),
    Route("/api/openapi.json", COLLECTOR, get=ANYBODY),
    Route("/public/<survey_id>", STUDY, get=ANYBODY),
    Route("/explore", COLLECTOR, get=ANYBODY),
    Route("/explore/<section_id>", COLLECTOR, get=ANYBODY),
    Route("/healthz", COLLECTOR, get=ANYBODY),
    Route("/client/<path:name>", COLLECTOR, get=ANYBODY),
    Route("/static/<path:name>", COLLECTOR, get=ANYBODY),
    # Accounts.
    Route("/login", COLLECTOR, get=GUEST, post=GUEST),
    Route("/setup/<code>", COLLECTOR, get=GUEST, post=GUEST),
    Route("/account", COLLECTOR, get=ACCOUNT, post=ACCOUNT, is_for_setup=True),
    Route("/account/second-factor", COLLECTOR, get=ACCOUNT, post=ACCOUNT, is_for_setup=True),
    Route("/logout", COLLECTOR, post=ACCOUNT, is_for_setup=True),
    Route("/sign-out-everywhere", COLLECTOR, post=ACCOUNT, is_for_setup=True),
    Route("/people", COLLECTOR, get=OWNER, post=OWNER),
    Route("/people/rules", COLLECTOR, post=OWNER),
    Route("/people/<name>/remove", COLLECTOR, post=OWNER),
    Route("/log", COLLECTOR, get=OWNER),
    Route("/api/log.<any(csv, json):form>", COLLECTOR, get=OWNER),
    # All surveys.
    Route("/surveys", COLLECTOR, get=ACCOUNT),
    Route("/results", COLLECTOR, get=ACCOUNT),
    Route("/metrics", COLLECTOR, get=ACCOUNT),
    # Before a survey is published.
    Route("/surveys/new", COLLECTOR, get=ANALYST, post=ANALYST),
    Route("/surveys/<survey_id>/draft", STUDY, post=ANALYST),
    Route("/surveys/<survey_id>/edit", DRAFT, get=ANALYST, post=ANALYST),
    Route("/surveys/<survey_id>/preview", DRAFT, get=ANALYST),
    Route("/surveys/<survey_id>/translations", DRAFT, get=ANALYST, post=ANALYST),
    Route("/surveys/<survey_id>/file", DRAFT, get=ANALYST),
    Route("/surveys/<survey_id>/history", DRAFT, get=ANALYST, post=ANALYST),
    Route("/surveys/<survey_id>/plan", DRAFT, get=ANALYST),
    Route("/surveys/<survey_id>/pilot", DRAFT, get=ANALYST, post=PILOT),
    Route("/surveys/<survey_id>/trial", DRAFT, post=ANALYST),
    Route("/surveys/<survey_id>/work/<key>/live", DRAFT, get=ANALYST),
    Route("/surveys/<survey_id>/publish", DRAFT, get=ANALYST, post=OWNER),
    # In the field.
    Route("/surveys/<survey_id>", STUDY, get=ACCOUNT),
    Route("/surveys/<survey_id>/live", STUDY, get=ACCOUNT),
    Route("/surveys/<survey_id>/sheet", STUDY, get=ACCOUNT),
    Route("/surveys/<survey_id>/open", STUDY, post=OWNER),
    Route("/surveys/<survey_id>/close", STUDY, post=OWNER),
    Route("/results/<survey_id>/close", STUDY, post=OWNER),
    Route("/surveys/<survey_id>/planned", STUDY, post=OWNER),
    Route("/surveys/<survey_id>/schedule", STUDY, post=OWNER),
    Route("/surveys/<survey_id>/<any(archive, unarchive):what>", STUDY, post=OWNER),
    Route("/surveys/<survey_id>/delete", STUDY, post=OWNER),
    Route("/surveys/<survey_id>/invitations", STUDY, post=FIELDWORKER, repeats=True),
    Route("/surveys/<survey_id>/invitations/replace", STUDY, post=FIELDWORKER, repeats=True),
    Route("/surveys/<survey_id>/invitations/revoke", STUDY, post=FIELDWORKER),
    # Results.
    Route("/results/<survey_id>", STUDY, get=ANALYST),
    Route("/surveys/<survey_id>/same", STUDY, post=OWNER),
    Route("/surveys/<survey_id>/together", STUDY, get=ANALYST, post=ANALYST),
    Route("/surveys/<survey_id>/privacy", STUDY, get=ANALYST),
    Route("/surveys/<survey_id>/audit", STUDY, post=OWNER),
    Route("/surveys/<survey_id>/downloads", STUDY, get=ANALYST),
    Route("/api/surveys/<survey_id>/ledger.<any(csv, json):form>", STUDY, get=OWNER),
    *(
        Route(f"/api/surveys/<survey_id>/{file}", STUDY, get=ANALYST)
        for file in (
            "estimates.<any(csv, json):form>",
            "reports.<any(csv, json, xlsx, sav, dta, parquet, R, xml):form>",
            "plausibility.<any(csv, json):form>",
            "codebook.<any(csv, json):form>",
            "label.<any(csv, json):form>",
            "methods.txt",
            "bundle.zip",
            "crosstab.<any(csv, json):form>",
            "model.<any(csv, json):form>",
            "predicted.<any(csv, json):form>",
            "effects.<any(csv, json):form>",
            "calibrated.<any(csv, json):form>",
        )
    ),
)
#: All rows, by their addresses.
ROUTES = {route.rule: route for route in _TABLE}
