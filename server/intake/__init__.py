"""What takes reports in: the shape of a request, the decision about it, and its way to the store.

Together with `analysis/core` and the program in `client/`, this is all that respondents must trust.
"""
