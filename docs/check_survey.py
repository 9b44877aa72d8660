"""Check what a server of `deniable` promises, by its numbers alone and without its program.

    python3 check_survey.py https://survey.example.org/s/work-2026
    python3 check_survey.py saved-page.html --waves 4

From a survey's page, fetched or saved, this program computes again: the version, each ratio of
probabilities from its weights, what waves cost together, and whether each answer has an input. It
compares all of these with what the page states. It needs nothing but Python 3.11. Everything is
exact except the printed logarithms. It exits with 1 if anything is wrong. docs/protocol.md has the
formulas.
"""

import argparse
import json
import re
import urllib.request
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from hashlib import sha256
from itertools import combinations, product
from math import comb, factorial, log, log1p, prod
from pathlib import Path
from typing import Any

Part = dict[str, Any]
Apart = list[tuple[int, int]]


def must(holds: object, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)


def canonical(data: Any) -> str:
    """RFC 8785: keys in the order of UTF-16, no spaces, numbers as JavaScript writes them."""
    if isinstance(data, dict):
        keys = sorted(data, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(data[key])}" for key in keys) + "}"
    if isinstance(data, list):
        return "[" + ",".join(map(canonical, data)) + "]"
    if isinstance(data, float) and data and abs(data) < 1e-6:
        digits, _, exponent = repr(data).partition("e")
        return f"{digits}e{int(exponent)}"
    is_float = type(data) is float
    return (
        f"{Decimal(repr(data)).normalize():f}" if is_float else json.dumps(data, ensure_ascii=False)
    )


def exp_lower(number: Fraction) -> Fraction:
    """At most e^number: each term of the exponential series is rounded down."""
    term = total = 2**128
    index = 1
    while term:
        term = term * number.numerator // (number.denominator * index)
        total, index = total + term, index + 1
    return Fraction(total, 2**128)


def fewest(ratio: Fraction, parts: int = 10**6) -> int:
    """The least n with ratio <= e^(n/parts): what a report costs, in millionths."""
    near = ratio < 2**1000
    ln = log1p(ratio - 1) if near else log(ratio.numerator) - log(ratio.denominator)
    n = max(0, int(ln * parts) - 2)
    while ratio > exp_lower(Fraction(n, parts)):
        n += 1
    return n


def rows_of(c: Part) -> list[list[int]]:
    """The weights of all reports, a row for each input."""
    k = c["inputs"]
    if c["name"] == "table":
        return list(c["rows"])
    if c["name"] == "window":
        outputs, width = range(k + c["width"] - 1), c["width"]
        return [[c["near"] if x <= y < x + width else c["far"] for y in outputs] for x in range(k)]
    rows = [[0] * k for _ in range(k)]
    for x, (place, weight) in product(range(k), enumerate(c["noise"])):
        rows[x][min(max(x + place - (k - 1), 0), k - 1)] += weight
    return rows


def ratio_of(c: Part, apart: Apart) -> Fraction:
    """The largest ratio of the probabilities of one report, for the inputs that there can be."""
    k, name = c["inputs"], c["name"]
    if name == "bits":
        must(1 <= c["zero"] <= c["one"] < c["total"], "bits have no such weights")
        more = Fraction(c["one"], c["zero"])
        fewer = Fraction(c["total"] - c["zero"], c["total"] - c["one"])
        return max(more**a * fewer**b for a, b in apart)
    if name in ("subset", "overlap"):
        ones = c["ones"] if name == "overlap" else 1
        weights = c["weights"] if name == "overlap" else [c["exclude"], c["include"]]
        hits = range(max(0, c["size"] + ones - k), min(c["size"], ones) + 1)
        must(len(weights) == len(hits) and c["size"] < k > ones, f"{name} has no such weights")
        sets = [comb(ones, j) * comb(k - ones, c["size"] - j) for j in hits]
        chances = [Fraction(weight, some) for weight, some in zip(weights, sets, strict=True)]
        return max(chances) / min(chances)
    must(name != "shift" or len(c["noise"]) == 2 * k - 1, "shift has no such weights")
    must(name != "table" or len(c["rows"]) == k, "table has no such rows")
    if name == "window":
        return Fraction(max(c["near"], c["far"]), min(c["near"], c["far"]))
    rows = rows_of(c)
    must(all((len(row), sum(row)) == (len(rows[0]), sum(rows[0])) for row in rows), "rows differ")
    return max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


def apart_of(e: Part) -> Apart:
    """Return the numbers of ones by which two inputs of bits can differ, as (more, fewer)."""
    most: int = {"onehot": 1, "bloom": e.get("hashes")}.get(e["name"], e.get("at_most")) or 0
    other = max(1, min(most, e["options"] - most)) if e["name"] == "multihot" else most
    return [(most, other), (other, most)] if most else []


def fits(e: Part, question: Part) -> bool:
    """Return whether the encoder has an input for each answer of a question, and no other input."""
    kind, name, inputs, skips = question["kind"], e["name"], e["inputs"], question["no_answer"]
    n = len(question.get("options", []))
    flags = {"choices": n + 1, "rank": n * (n - 1) // 2}.get(kind)
    if name in ("index", "onehot", "hash"):
        return kind in ("yes-no", "choice", "scale") and e.get("values", inputs) == n + skips
    if name == "grid":
        return bool(kind == "number" and (inputs > e["steps"] + 1) == skips)
    if name == "prefix":
        is_open = kind == "text" and "candidates" not in question
        return bool(is_open and e["lengths"][-1] >= question["longest"])
    if name in ("digest", "bloom"):
        return bool(kind == "text" and "candidates" in question)
    if name in ("order", "suborder"):
        orders = factorial(e.get("picked", n))
        return bool(kind == "rank" and e["items"] == n and inputs == orders + skips)
    if name == "pick":
        return bool(flags and e["parts"] == flags and inputs == 2 + skips)
    if name == "group":
        own = n if e["picked"] == e["parts"] else flags
        return bool(kind == "choices" and e["parts"] == own and inputs == 2 ** e["picked"] + skips)
    bits = n + (1 if name == "multihot" else e["at_most"]) + skips
    same = (e["options"], e["at_most"]) == (n, question.get("at_most"))
    return bool(kind == "choices" and same and inputs == bits)


def of_bit(c: Part, one: int, zero: int, length: int, ones: int) -> int:
    """The probability of reports of a bit that share a remembered draw, up to a factor."""
    up = c["one"] ** ones * (c["total"] - c["one"]) ** (length - ones)
    down = c["zero"] ** ones * (c["total"] - c["zero"]) ** (length - ones)
    return int(one * up + zero * down)


def gain(p: Part, c: Part, waves: int, a: int, b: int) -> Fraction:
    """The largest ratio of a bit's reports that is 1 in a waves to those of one 1 in b waves."""
    kept = {1: (p["one"], p["total"] - p["one"]), 0: (p["zero"], p["total"] - p["zero"])}
    chance = cache(lambda bit, length, ones: of_bit(c, *kept[bit], length, ones))
    best = (0, 1)
    for both in range(max(0, a + b - waves), min(a, b) + 1):
        sizes = both, a - both, b - both, waves - a - b + both
        for i, j, k, m in product(*(range(size + 1) for size in sizes)):
            top = chance(1, a, i + j) * chance(0, waves - a, k + m)
            bottom = chance(1, b, i + k) * chance(0, waves - b, j + m)
            best = max(best, (top, bottom), key=lambda pair: Fraction(*pair))
    return Fraction(*best)


def constant(p: Part, c: Part, apart: Apart, waves: int) -> Fraction:
    """The largest ratio of the reports of some waves if the answer never changes."""
    if p["name"] == "bits":
        up, down = gain(p, c, waves, waves, 0), gain(p, c, waves, 0, waves)
        return max(up**more * down**fewer for more, fewer in apart)
    one, other, near, far = p["near"], p["far"], c["near"] ** waves, c["far"] ** waves
    rest = (p["inputs"] - 2) * other * far
    return Fraction(one * near + other * far + rest, other * near + one * far + rest)


def partitions(waves: int, most: int, parts: int) -> Iterator[tuple[int, ...]]:
    if waves == 0:
        yield ()
    for first in range(1, min(waves, most) + 1) if parts else ():
        yield from ((first, *rest) for rest in partitions(waves - first, first, parts - 1))


def windows(p: Part, c: Part, waves: int) -> Fraction:
    """The largest ratio over all answers in some waves, or a bound of it."""
    g, q, r = p["inputs"], p["far"], Fraction(c["near"], c["far"])
    total = p["near"] + (g - 1) * q

    def mean(x: int, counts: tuple[int, ...]) -> Fraction:
        weights = (p["near"] if x == at else q for at in range(len(counts)))
        more = [w * (r**n - 1) for w, n in zip(weights, counts, strict=True)]
        mean: Fraction = 1 + sum(more, Fraction()) / total
        return mean

    @cache
    def least(x: int, counts: tuple[int, ...]) -> Fraction:
        if x == g - 1:
            return mean(x, counts)
        shares = product(*(range(n + 1) for n in counts))
        rest = ((own, tuple(map(int.__sub__, counts, own))) for own in shares)
        return min(Fraction(mean(x, own) * least(x + 1, left)) for own, left in rest)

    def relaxed(counts: tuple[int, ...]) -> Fraction:
        rows = (sum(n > row for n in counts) for row in range(waves))
        return prod((1 + q * (r - 1) * row / total for row in rows), start=Fraction(1))

    exact = g <= waves and (g == 2 or waves <= 6)
    ratios = []
    for some in partitions(waves, waves, g):
        unlikely = least(0, some + (0,) * (g - len(some))) if exact else relaxed(some)
        ratios.append(prod((mean(0, (n,)) for n in some), start=1 / unlikely))
    bound = max(ratios)
    return bound if exact or g > waves else min(bound, Fraction(r * windows(p, c, waves - 1)))


def shared(p: Part, waves: int, most: int, table: dict[tuple[int, int], Any], none: Any) -> Any:
    """The best of one entry of the table for each bit, by the sums of both sizes of all bits.

    Entries are added if they are whole numbers, and multiplied if they are fractions.
    """
    best, slots, least = {(0, 0): none}, waves * most, waves if type(none) is int else 0
    for _ in range(min(p["inputs"], 2 * slots)):
        longer: dict[tuple[int, int], Any] = {}
        for ((x, y), done), ((a, b), more) in product(best.items(), table.items()):
            if x + a <= slots and y + b <= slots:
                value = done + more if type(none) is int else done * more
                longer[x + a, y + b] = max(longer.get((x + a, y + b), none), value)
        best = longer
    return max(value for (x, y), value in best.items() if x >= least and y >= least)


def cost(randomizer: Part, question: Part, waves: int) -> int:
    """Return the cost of some waves together, in millionths of ε, however the answers change."""
    if "permanent" not in randomizer or waves == 0:
        # With a δ, the stated ratio is smaller than what a report can reveal.
        is_stated = "delta" in randomizer
        ratio = ratio_of(randomizer["channel"], []) if is_stated else fraction(randomizer["ratio"])
        return waves * fewest(ratio)
    p, c, apart = randomizer["permanent"], randomizer["channel"], apart_of(randomizer["encoder"])
    stable = question.get("stable") and not question["no_answer"]
    if stable or waves == 1:
        return fewest(constant(p, c, apart, waves))
    searched = min(waves, 12)
    if p["name"] == "window":
        later = Fraction(c["near"], c["far"]) ** (waves - searched)
        return fewest(windows(p, c, searched) * later)
    most = max(map(max, apart))
    touched = sum(min(p["inputs"], 2 * most * wave) for wave in range(searched + 1, waves + 1))
    last, sizes = ratio_of(c, [(1, 0), (0, 1)]), range(searched + 1)
    if question.get("memory") == 2 and most <= 4:
        far = p["inputs"] >= 2 * searched * most
        pairs = [(a, b) for a in sizes for b in sizes if not far or a * b == 0]
        logs = {pair: fewest(gain(p, c, searched, *pair), 10**12) for pair in pairs}
        total: int = shared(p, searched, most, logs, 0) + touched * fewest(last, 10**12)
        return -(-total // 10**6)
    worst = last**touched
    for one in ([(a, 0) for a in sizes], [(0, b) for b in sizes]):
        table = {pair: gain(p, c, searched, *pair) for pair in one}
        worst *= shared(p, searched, most, table, Fraction(1))
    return fewest(worst)


def fraction(pair: list[str]) -> Fraction:
    must(all(re.fullmatch("[0-9]{1,4000}", one) for one in pair), "a fraction is no two numbers")
    return Fraction(int(pair[0]), int(pair[1]))


def pattern_ratio(c: Part, changed: range) -> Fraction:
    """The largest ratio of two rows of answers that differ in the parts `changed` at most."""
    groups: dict[tuple[int, ...], list[Fraction]] = {}
    d = len(c["inputs"])
    must(len(c["sizes"]) == d and len(c["weights"]) in (d + 1, 2**d), "pattern has no such weights")
    for others in product((0, 1), repeat=d):
        cells = zip(c["inputs"], c["sizes"], others, strict=True)
        sets = prod(comb(k - 1, size - 1 + other) for k, size, other in cells)
        by_number = len(c["weights"]) == d + 1
        place = sum(others) if by_number else sum(other << i for i, other in enumerate(others))
        sets *= comb(d, place) if by_number else 1
        same = tuple(other for part, other in enumerate(others) if part not in changed)
        groups.setdefault(same, []).append(Fraction(c["weights"][place], sets))
    return max(max(some) / min(some) for some in groups.values())


def names_in(condition: list[Any]) -> set[str]:
    first, *rest = condition or ["and"]
    both = first in ("and", "or", "not")
    return set().union(*map(names_in, rest)) if both else {rest[0]}


def check_table(joint: Part, table: Part, questions: dict[str, Part]) -> None:
    names, encoders, ratios, each = table["questions"], joint["encoders"], [], []
    needed = [names_in(questions[name].get("shows_if", [])) & set(names) for name in names]
    for asked in combinations(range(len(names)), table.get("ask", len(names))):
        if any(needed[place] - {names[other] for other in asked} for place in asked):
            continue
        key = ",".join(str(encoders.index(encoders[place])) for place in asked)
        law = joint["channels"][key] if "ask" in table else joint["channel"]
        ratios.append(pattern_ratio(law, range(len(law["inputs"]))))
        at = 0
        for encoder in (encoders[place] for place in asked):
            kinds = {"index": [encoder["inputs"]], "multihot": [2] * encoder["inputs"]}
            parts = kinds[encoder["name"]]
            must(law["inputs"][at : at + len(parts)] == parts, "channel does not take the encoders")
            each.append(pattern_ratio(law, range(at, at + len(parts))))
            at += len(parts)
        must(at == len(law["inputs"]), "channel does not take the encoders")
    must(fraction(joint["ratio"]) == max(ratios), f"ratio is {max(ratios)}")
    must(fraction(joint["each"]) == max(each), f"each is {max(each)}")
    must_prove("epsilon", max(ratios), table["epsilon"])
    must_prove("epsilon_each", max(each), table["epsilon_each"])
    for name, encoder in zip(names, encoders, strict=True):
        question = questions[name]
        must(fits(encoder, question), f"{name}: the encoder does not fit its answers")
        must(question["epsilon"] == table["epsilon_each"], f"{name}: epsilon is not epsilon_each")


def must_prove(name: str, ratio: Fraction, epsilon: Any) -> None:
    must(
        ratio <= exp_lower(Fraction(repr(epsilon))),
        f"{name} is {epsilon}, not {fewest(ratio) / 10**6}",
    )


def check_question(randomizer: Part, question: Part) -> None:
    e, c = randomizer["encoder"], randomizer["channel"]
    stated, apart = fraction(randomizer["ratio"]), apart_of(e)
    must(fits(e, question), "the encoder does not fit its answers")
    must(question["no_answer"] or "shows_if" not in question, "being hidden shows")
    taken = e["inputs"] == c["inputs"] and bool(apart) == (c["name"] in ("bits", "overlap"))
    taken &= c.get("ones") == (e["at_most"] if e["name"] == "padded" else None)
    must(taken, "the channel does not take what the encoder gives")
    must(("epsilon_forever" in question) == ("permanent" in randomizer), "epsilon_forever is odd")
    if "permanent" in randomizer:
        p = randomizer["permanent"]
        must((p["name"], p["inputs"]) == (c["name"], c["inputs"]), "permanent is not as channel")
        for one in (p, c):
            sound = one["name"] == "bits" or (one.get("width") == 1 and one["near"] >= one["far"])
            must(sound, "permanent and channel are no memory")
        forever, true = ratio_of(p, apart), constant(p, c, apart, 1)
        must(fraction(randomizer["forever"]) == forever, f"forever is {forever}")
        must_prove("epsilon_forever", forever, question["epsilon_forever"])
        must(stated == true, f"ratio is {true}")
    elif "delta" in randomizer:
        must(c["name"] in ("window", "shift", "table") and stated >= 1, "delta cannot be")
        rows = rows_of(c)
        pairs = ((zip(x, y, strict=True)) for x in rows for y in rows)
        more = [[max(Fraction(), a - stated * b) for a, b in pair] for pair in pairs]
        delta = max(sum(some, Fraction()) for some in more) / sum(rows[0])
        must(ratio_of(c, apart) >= 1 and fraction(randomizer["delta"]) == delta, f"δ is {delta}")
        most = min(Fraction(repr(question.get("delta", 0))), Fraction(1, 100))
        must(delta <= most, f"δ is {delta}, which is more than is allowed")
    else:
        true = ratio_of(c, apart)
        must(stated == true, f"ratio is {true}")
    must_prove("epsilon", stated, question["epsilon"])


def check(data: Part, waves: int) -> Iterator[tuple[bool, str]]:
    """Yield whether each part is as it is stated, and a line about it."""
    survey, randomizers = data["survey"], data["randomizers"]
    whole = canonical({"survey": survey, "randomizers": randomizers})
    version = sha256(whole.encode()).hexdigest()
    sound = data.get("protocol", "deniable-1") == "deniable-1"
    yield sound, f"protocol: {data.get('protocol', 'deniable-1')}"
    yield version == data["version"], f"version: {version}, stated {data['version']}"
    questions = {one["id"]: one for one in survey["questions"] if one["kind"] != "note"}
    for name, one in questions.items():
        ids = ["", "no-answer", *["none"] * (one["kind"] == "choices")]
        ids += [option["id"] for option in one.get("options", [])]
        if len(set(ids)) < len(ids):
            yield False, f"{name}: an option's id has another meaning"
    tables = {table["id"]: table for table in survey.get("together", [])}
    joined = [name for table in tables.values() for name in table["questions"]]
    drawn = [name for name in questions if name not in joined] + list(tables)
    yield sorted(drawn) == sorted(randomizers), f"drawn: {', '.join(drawn)}"
    totals = [0] * (waves + 1)
    for name in drawn:
        try:
            randomizer, question = randomizers[name], questions.get(name, {})
            must(is_whole(randomizer), "a number is not whole, or below 1")
            if name in tables:
                check_table(randomizer, tables[name], questions)
            else:
                check_question(randomizer, question)
            costs = [cost(randomizer, question, wave) for wave in range(waves + 1)]
            totals = [total + more for total, more in zip(totals, costs, strict=True)]
            stated = tables.get(name, question)["epsilon"]
            told = " ".join(f"{one / 10**6:.6f}" for one in costs[1:])
            yield True, f"{name}: ε = {stated}; after each wave {told}"
        except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            yield False, f"{name}: {error if type(error) is ValueError else 'not a randomizer'}"
    cap = Fraction(repr(survey["privacy"]["cap"])) * 10**6
    fitting = len([total for total in totals[1:] if total <= cap])
    told = " ".join(f"{total / 10**6:.6f}" for total in totals[1:])
    yield fitting > 0, f"all: {told}; the cap of {float(cap) / 10**6:g} allows {fitting} of {waves}"


def is_whole(part: Any) -> bool:
    """Return whether all numbers in it are whole and at least 1; fractions are texts."""
    if isinstance(part, dict | list):
        return all(map(is_whole, part.values() if isinstance(part, dict) else part))
    return isinstance(part, str) or (type(part) is int and part >= 1)


def read(place: str) -> Part:
    if place.startswith(("http://", "https://")):
        with urllib.request.urlopen(place.partition("#")[0], timeout=60) as answer:
            text = answer.read().decode()
    else:
        text = Path(place).read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
    data: Part = json.loads(found[1] if found else text)
    return data


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a survey of deniable by its numbers.")
    parser.add_argument("page", help="the address of a survey's page, or a file it was saved in")
    parser.add_argument("--waves", type=int, default=3, help="of how many waves totals are printed")
    given = parser.parse_args()
    try:
        findings = list(check(read(given.page), max(1, given.waves)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"{given.page}: expected a survey of deniable, got {type(error).__name__}: {error}")
        return 2
    for is_right, line in findings:
        print("ok   " if is_right else "WRONG", line)
    return 0 if all(is_right for is_right, _ in findings) else 1


if __name__ == "__main__":
    raise SystemExit(main())
