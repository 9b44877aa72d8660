"""What `/explore` answers about ε, δ and totals: sentences, pictures and tables."""

from decimal import Decimal

from analysis.charts import Mark, Series, icon_array, line_chart
from analysis.privacy.accounting import PrivacyLoss
from analysis.privacy.accounting.curves import Composition, composition
from analysis.privacy.meaning import (
    PRIORS,
    odds_table,
    of_100,
    percent,
    percent_at_most,
    rounded_up,
)
from analysis.study import exploration
from server.plan.parts import Figure, Part, Table
from server.plan.pictures import METHODS

#: ε of the table that sets one beside others.
_EPSILONS = ("0.1", "0.5", "1", "2", "3", "5", "8", "10")
#: The curve is drawn at these beliefs before a report, in percent.
_BELIEFS = (0, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 98, 99, 100)
#: The table has a row for each of these δ: one in so many.
_ONE_IN = (10**2, 10**3, 10**4, 10**6, 10**8, 10**10, 10**12)
#: Points of a curve over reports.
_POINTS = 12


def meaning(epsilon: Decimal, belief: Decimal) -> Part:
    """Return what one report reveals about the person who sent it."""
    prior = float(belief) / 100
    told = exploration.meaning(epsilon, prior)
    curve = exploration.beliefs(epsilon, [at / 100 for at in _BELIEFS])
    yes, no = of_100(told.yes), of_100(told.no)
    rows = odds_table([float(one) for one in sorted({*map(Decimal, _EPSILONS), epsilon})], PRIORS)
    return Part(
        [
            f"At ε = {epsilon}, a report is at most {rounded_up(told.odds)} times as likely under "
            "one true answer as under the other. That holds whatever else somebody knows, as long "
            "as no other report depends on the same answer.",
            f"Of 100 people whose true answer is “yes”, {yes} send “yes”. Of 100 whose true answer "
            f"is “no”, {no} send “yes”, too.",
            f"Somebody believes that a person's true answer is “yes”, with {percent(prior)}. After "
            f"the person sends “yes”, they can believe it with {percent(told.after_yes)}; after "
            f"“no”, with {percent(told.after_no)}.",
        ],
        [
            Figure(
                icon_array(f"Of 100 people whose true answer is yes, {yes} send yes", told.yes),
                f"Their true answer is “yes”: {yes} of 100 send “yes”.",
            ),
            Figure(
                icon_array(f"Of 100 people whose true answer is no, {no} send yes", told.no),
                f"Their true answer is “no”: {no} of 100 send “yes”, too.",
            ),
            Figure(
                line_chart(
                    f"Belief after one report at ε = {epsilon}, by the belief before",
                    [
                        Series("after “yes”", [(100 * m.prior, m.after_yes) for m in curve]),
                        Series("no report", [(100 * m.prior, m.prior) for m in curve]),
                        Series("after “no”", [(100 * m.prior, m.after_no) for m in curve]),
                    ],
                    "belief before, in %",
                    "belief after",
                    y_unit="%",
                    marks=[Mark(f"{percent(prior)} before", x=float(belief))],
                ),
                "The farther the curves are from the middle line, the more a report reveals.",
            ),
        ],
        [
            Table(
                "The same for other ε: what a belief becomes at most",
                ["ε", "Odds e^ε, at most", *(f"a belief of {percent(one)}" for one in PRIORS)],
                [
                    [
                        f"{row.epsilon:g}",
                        rounded_up(row.odds),
                        *map(percent_at_most, row.posteriors),
                    ]
                    for row in rows
                ],
                strong=[place for place, row in enumerate(rows) if row.epsilon == float(epsilon)],
                folded=True,
            )
        ],
    )


def delta(epsilon: Decimal, reports: Decimal, one_in: Decimal) -> Part:
    """Return what a δ buys, and how seldom a report reveals more."""
    n, chance = int(reports), 1 / float(one_in)
    told = exploration.told(epsilon, n, chance)
    rows = [exploration.told(epsilon, n, 1 / one) for one in _ONE_IN]
    pairs = exploration.deltas(epsilon, n)
    texts = [
        f"The ε of {n:,} reports of ε = {epsilon} add up to {rounded_up(told.plain, 4)}. That "
        "always holds, and needs no δ.",
        f"But it is very unlikely that all reports point the same way. With a δ of one in "
        f"{int(one_in):,}, the proved total is ε = {rounded_up(told.total, 4)}.",
        f"Of a million people who send such reports, at most {_of_million(told.beyond)} send some "
        "that reveal more than this smaller ε. Nobody sends any that reveal more than "
        f"{rounded_up(told.plain, 4)}.",
        "So δ is not the probability that a secret comes out. It limits how often, and by how "
        "much, reports can reveal more than the smaller ε.",
    ]
    if told.total >= told.plain:
        texts[1:] = ["Here a δ of this size proves no smaller total, so none is needed."]
    figures = []
    if pairs:
        curve = [(total, least) for total, least in pairs if least > 0]
        figures.append(
            Figure(
                line_chart(
                    f"The δ that each total ε needs, of {n:,} reports of ε = {epsilon}",
                    [Series("least δ", curve)],
                    "ε in total",
                    "δ",
                    log_y=True,
                    marks=[Mark(f"ε = {rounded_up(told.total)}", x=told.total)],
                ),
                "A smaller total needs a larger δ. At the sum of all ε, none is needed.",
            )
        )
    return Part(
        texts,
        figures,
        [
            Table(
                f"Totals of {n:,} reports of ε = {epsilon}",
                ["δ: one in", "ε in total", "of a million people, so many reveal more"],
                [
                    [f"{one:,}", rounded_up(row.total, 4), _of_million(row.beyond)]
                    for one, row in zip(_ONE_IN, rows, strict=True)
                ],
                folded=True,
            )
        ],
    )


def _of_million(chance: float) -> str:
    people = 1e6 * chance
    if people == 0:
        return "none"
    return "less than one" if people < 1 else f"{people:,.0f}"


def totals(epsilon: Decimal, reports: Decimal, one_in: Decimal) -> Part:
    """Return what this many reports add up to, by five rules of composition."""
    n, chance = int(reports), 1 / float(one_in)
    numbers = sorted({max(1, round(n * part / _POINTS)) for part in range(1, _POINTS + 1)})
    rows = composition([(PrivacyLoss.pure(float(epsilon)), 1)], numbers, chance)
    last = rows[-1]
    smallest = min(METHODS, key=lambda name: _total(last, name))
    return Part(
        [
            f"The ε of {n:,} reports of ε = {epsilon} each add up to "
            f"{rounded_up(_total(last, 'sum'), 4)}. With a δ of one in {int(one_in):,}, it is "
            f"proved that they reveal at most ε = {rounded_up(_total(last, smallest), 4)}, by "
            f"{_RULES[smallest][0]}.",
            "The limit of a respondent counts the sum. The sum holds even if somebody chooses the "
            "next question after seeing earlier reports.",
        ],
        [
            Figure(
                line_chart(
                    f"Total ε of reports of ε = {epsilon}, by five rules",
                    [
                        Series(METHODS[name], [(row.waves, _total(row, name)) for row in rows])
                        for name in METHODS
                    ],
                    "reports",
                    "ε in total",
                ),
                "All five are proved; the lowest says best what the reports reveal.",
            )
        ],
        [
            Table(
                f"The total ε of {n:,} reports, by five rules",
                ["Rule", "ε in total", "What it uses", "Source"],
                [
                    [_RULES[name][0], rounded_up(_total(last, name), 4), *_RULES[name][1:]]
                    for name in METHODS
                ],
                "Where a rule's own formula gives more than the sum, the sum stands, since it is "
                "proved as well.",
                strong=[list(METHODS).index(smallest)],
            )
        ],
    )


#: The name, the assumptions and the source of each method of `Composition`.
_RULES = {
    "sum": ("the sum", "nothing but the ε of each report", "basic composition"),
    "advanced": (
        "advanced composition",
        "a closed formula",
        "Dwork, Rothblum and Vadhan, FOCS 2010",
    ),
    "convolution": (
        "the exact sum of losses",
        "the whole law of each report; the least possible",
        "Kairouz, Oh and Viswanath 2017; by convolution",
    ),
    "renyi": ("Rényi divergences", "moments of the loss", "Canonne, Kamath and Steinke 2020"),
    "zcdp": ("zCDP", "one number, ρ, in place of all moments", "Bun and Steinke, TCC 2016"),
}


def _total(row: Composition, name: str) -> float:
    """Return the total by a method; reports that are pure have one by each."""
    total: float = getattr(row, name)
    return total
