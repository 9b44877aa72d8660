"""The pages of respondents and researchers, and the files that these load."""
