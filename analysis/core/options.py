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
#: The δ that totals may spend by default.
DELTA = 1e-6
#: What a row of a ledger can be about.
ROWS_OF_LEDGERS = ("respondent", "question", "both", "total")
#: The most respondents, waves and simulated surveys of a plan.
MOST_RESPONDENTS, MOST_WAVES, MOST_RUNS = 10**9, 1000, 1000
#: Tables of a plan, the first by default.
TABLES_OF_PLANS = (
    *("questions", "totals", "meaning", "power", "split"),
    *("together", "sample", "curves", "deployments"),
)
#: The difference between two shares that a plan has to find by default.
DIFFERENCE = 0.1
#: The number of surveys that a plan simulates by default.
RUNS = 20
#: By default, at most this proportion of the detected strings is false on average.
FALSE_DISCOVERIES = 0.05
#: Engines that count exported reports, our own first.
ENGINES_OF_RECOUNTS = ("own", "duckdb", "spark")
