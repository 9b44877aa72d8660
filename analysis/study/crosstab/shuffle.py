"""How far a statistic of two questions is spread if they have nothing to do with each other."""


def widening(n: int, ranks: tuple[int, int], squares: list[float]) -> float:
    """Variance of the statistic if one question's reports are shuffled, as chi-square's multiple.

    At least 1. Chi-square takes products of scores for normal; where few reports have large ones,
    and there are fewer pairs of such, it is too narrow.

    Parameters
    ----------
    n : int
        Respondents.
    ranks, squares : pairs
        Of the scores of each question: their rank, and the sum of the squares of the leverages of
        respondents.

    References
    ----------
    Kazi-Aoual, Hitier, Sabatier and Lebreton, Computational Statistics & Data Analysis 1995.
    """
    if n < 4 or not all(ranks):
        return 1.0
    plain = [rank * (n - 1 - rank) for rank in ranks]
    peaked = [
        n * (n + 1) * square - (n - 1) * rank * (rank + 2)
        for rank, square in zip(ranks, squares, strict=True)
    ]
    variance = 2 * plain[0] * plain[1] / ((n - 1) ** 2 * (n + 1) * (n - 2))
    variance += peaked[0] * peaked[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    return max(1.0, variance * n**2 / (2 * ranks[0] * ranks[1]))
