"""How strongly reports point to an answer, in four grades of their odds.

The odds are the largest ratio of the probabilities of the same reports under two answers. If both
answers were equally likely before, odds of r leave a belief of at most r/(r + 1) in either.
"""

from enum import IntEnum
from fractions import Fraction


class Grade(IntEnum):
    """What reports can say about an answer, from the weakest to the strongest."""

    #: They say no more than the word of somebody whose toss of a coin may have decided it.
    COIN = 1
    #: They are a hint, and no proof.
    HINT = 2
    #: They strongly suggest the answer.
    STRONG = 3
    #: They nearly reveal it.
    NEARLY = 4


#: The largest odds of each grade but the last.
LIMITS = {Grade.COIN: 3, Grade.HINT: 8, Grade.STRONG: 20}


def grade_of(odds: Fraction | float) -> Grade:
    """Return the grade of what reports with these odds can say about an answer.

    All words on what reports reveal, for respondents and for researchers, follow these grades.

    - Up to 3, which are the odds of two coins (75 people of 100 against 25), an even belief becomes
      at most 3/4, and the picture of the coins is true. ε = 1 is in this grade.
    - Up to 8, it becomes at most 8/9: one in nine who are suspected is suspected wrongly, which is
      too many for a proof. ε = 2 is in this grade. Above it, no page reassures.
    - Up to 20, it becomes at most 20/21. This is about the 95 % with which research counts a thing
      as shown. So above it, which ε = 3 just is, reports nearly reveal the answer.
    """
    return next((grade for grade, most in LIMITS.items() if odds <= most), Grade.NEARLY)
