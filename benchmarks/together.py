"""Compare one draw for several questions with separate draws: `python benchmarks/together.py`.

For each number of questions, total, and limit of one answer, the benchmark prints n times the
variance of a share (the mean over questions). For yes-no questions it also prints that of the
product of two (answers counted as 1 and -1). It does so for separate draws of the same total and
for one draw. It prints how many times fewer respondents one draw takes, and its variance as a part
of the bound that no pattern with sets of these sizes beats. All are exact sums. Then come the
respondents for a standard error of 0.2 of each slope of a logistic model whose outcome and three
predictors are all randomized, by Fisher's information: the intercept is -1, slopes are 1,
predictors are even and unrelated, and their distribution is estimated, too.

Then it prints what it takes to ask each person some of ten yes-no questions instead of all, within
the same limits, and what one estimate costs from people who were asked different other questions.
At last come the options of one question, of which any number may be ticked or no answer given, in a
draw with two yes-no questions, beside the best mechanism for the options alone at a third of the
total.

The benchmark takes a minute. The exit status is 1 if a variance is over 1.02 times its bound, or if
the model takes more than 1,000 respondents at a total of 4 with both limits equal.
"""

import sys
from fractions import Fraction
from itertools import combinations

import numpy as np

from analysis.core.channels.pattern import Pattern
from analysis.core.domain import Sets
from analysis.mechanisms.joint_design import design, sampled_design, share_variances
from analysis.mechanisms.joint_goals import AIMS, Part, alone
from analysis.study.planning.together import slope_variance

#: Whether this run only shows that the program runs, at its smallest size.
SMALLEST = "--smallest" in sys.argv[1:]
#: How far a variance may lie above its bound, and how many respondents the model may take.
NEAR, MOST = 1.02, 1000
#: Questions (numbers of values, usual share), totals, and limits of one answer.
CELLS: list[tuple[tuple[int, ...], float, str, list[str]]] = [
    ((2,) * 4, 0.5, "4", ["1", "1.5", "2", "4"]),
    ((2,) * 6, 0.5, "4", ["1", "4"]),
    ((2,) * 10, 0.5, "4", ["0.6", "0.8", "4"]),
    ((2,) * 10, 0.5, "2", ["2"]),
    ((3,) * 4, 0.3, "4", ["1.5", "2"]),
    ((8,) * 3, 0.1, "3", ["1.5", "2"]),
    ((3, 3, 4, 6, 3, 5), 0.2, "6", ["1.5", "2", "3"]),
    ((3, 3, 4, 6, 3, 5), 0.05, "6", ["1.5", "2", "3"]),
    ((3, 3, 4, 6, 3, 5), 0.2, "4", ["1", "1.5"]),
    ((2, 5, 9), 0.1, "3", ["1.5", "3"]),
]


def rows() -> bool:
    """Print the cells; return whether each is near its bound."""
    print(f"{'values, share':26} {'total':>5} {'each':>4}  {'separate':>8} {'one draw':>8}", end="")
    print(f" {'fewer':>6}  {'pair: separate':>14} {'one draw':>8} {'fewer':>6}  {'of bound':>8}")
    good = True
    for ks, share, total, limits in CELLS[:1] if SMALLEST else CELLS:
        parts = tuple(Part(k, share) for k in ks)
        even = Fraction(total) / len(ks)
        separate = [alone(part, even) for part in parts]
        for each in limits[:1] if SMALLEST else limits:
            found = design(parts, Fraction(total), Fraction(each))
            variances = share_variances(found.channel, parts)
            saved = float(1 / np.mean(np.array(variances) / separate))
            pair = ""
            if set(ks) == {2}:
                before = 16 * separate[0] * separate[1]
                after = 1 / float(4 * found.channel.contrast(0, 1)) ** 2
                pair = f"{before:14.2f} {after:8.2f} {before / after:6.1f}"
            name = ",".join(map(str, ks)) if len(set(ks)) > 1 else f"{len(ks)} x {ks[0]}"
            over = 1 / saved / found.bound
            good = good and over <= NEAR
            print(
                f"{f'{name}, {share}':26} {total:>5} {each:>4}  {np.mean(separate):8.3f}"
                f" {np.mean(variances):8.3f} {saved:6.2f}  {pair:30}  {over:8.6f}"
            )
    return good


def respondents(channel: Pattern) -> float:
    """Return the respondents for a standard error of 0.2 of each slope."""
    return slope_variance(channel) / 0.2**2


def model() -> bool:
    """Print what the model takes; return whether it is few enough where both limits are equal."""
    print("\nRespondents for a logistic model of four yes-no answers, total 4, standard error 0.2:")
    parts = (Part(2, 0.5),) * 4
    apart = respondents(design(parts, Fraction(4), Fraction(1)).channel)
    print(f"  separate draws,      1 each {apart:8,.0f}")
    needed = 0.0
    for aim in AIMS:
        for each in ("1", "1.5", "2", "4"):
            needed = respondents(design(parts, Fraction(4), Fraction(each), aim).channel)
            print(f"  one draw for {aim:6} {each:>3} each {needed:8,.0f}")
    return needed <= MOST


def some() -> None:
    """Print n times the variance of a share if each person is asked some of ten questions."""
    print("\nTen yes-no questions, each at most half of the total; a share's variance, by how many")
    print(f"each person is asked: {'total':>5} {'2':>7} {'3':>7} {'5':>7} {'all':>7}")
    for total in ("1", "2", "4"):
        limits = Fraction(total), Fraction(total) / 2
        variances = []
        for asked in (2, 3, 5, 10):
            parts = (Part(2, 0.5),) * asked
            found = design(parts, *limits)
            variances.append(10 / asked * float(share_variances(found.channel, parts)[0]))
        print(f"{'':21} {total:>5}" + "".join(f" {variance:7.3f}" for variance in variances))


def mixed() -> None:
    """Print what it costs to treat all reports on a question alike, whatever else was asked."""
    print("\nSome of questions with different numbers of answers: variances of shares, as parts of")
    print("those by the best draw for each set, averaged by what each tells of:")
    for numbers, asked, total, each in (
        ((2, 3, 5, 2, 4), 2, 3, 2),
        ((2, 3, 5, 2, 4, 3), 3, 4, 2),
        ((2, 2, 3, 3, 6, 6, 2, 3), 4, 4, 2),
        ((3, 4, 5, 6, 7, 8), 3, 3, 1.5),
    ):
        parts = tuple(Part(k, 1 / k) for k in numbers)
        samples = tuple(combinations(range(len(parts)), asked))
        limits = Fraction(total), Fraction(each)
        known = np.zeros(len(parts))
        for sample in samples:
            order = sorted(sample, key=lambda place: numbers[place])
            best = tuple(parts[place] for place in order)
            known[order] += 1 / share_variances(design(best, *limits, "both").channel, best)
        times = len(samples) * asked / len(parts)
        found = share_variances(sampled_design(parts, samples, *limits, "both"), parts)
        told = " ".join(f"{part:.3f}" for part in found * known / times)
        print(f"  {asked} of {numbers}, total {total}, each {each}: {told}")


def options() -> None:
    """Print n times the variance of an option's share, in one draw and alone."""
    print("\nOptions of one question beside two yes-no questions, total 4, each 2:")
    print(f"  {'options':>7} {'alone':>7} {'one draw':>8} {'fewer':>6}")
    for number in range(2, 7):
        domain = Sets(tuple("abcdef"[:number]), number, True)
        own = (Part(2, 0.5, "options", domain),) * len(domain.parts)
        found = design((*own, *[Part(2, 0.5)] * 2), Fraction(4), Fraction(2), "both")
        separate = alone(own[0], Fraction(4, 3))
        variance = float(share_variances(found.channel, (*own, *[Part(2, 0.5)] * 2))[0])
        print(f"  {number:7} {separate:7.2f} {variance:8.2f} {separate / variance:6.2f}")


if __name__ == "__main__":
    results = [rows(), model()]
    some()
    mixed()
    options()
    sys.exit(not all(results))
