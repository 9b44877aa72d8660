"""The page Together: tables of two questions, models, and estimates for known shares."""
