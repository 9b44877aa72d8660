"""The words and limits of options. They stand here so that a command's help needs no numpy."""

#: Kinds of intervals for shares of values that a report either supports or not, the usual first.
INTERVALS_OF_SHARES = ("clopper-pearson", "wilson", "profile-likelihood", "feldman-cousins")
#: Ways to possible shares for display.
NORM_SUB, EM = "norm-sub", "em"
#: Laws of a model's outcome.
FAMILIES = ("logistic", "multinomial", "linear", "poisson")
#: Standard errors of models: from the observed information, or robust.
ERRORS = ("observed", "sandwich")
#: Kinds of intervals and tests of models.
INTERVALS_OF_MODELS = ("profile", "wald")
#: How models treat respondents without an answer.
NO_ANSWERS = ("left-out", "category")
#: Priors of coefficients.
PENALTIES = ("none", "log-f")
#: The most respondents of a plan.
MOST_RESPONDENTS = 10**9
