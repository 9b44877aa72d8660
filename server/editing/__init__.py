"""Editing a survey file in forms: the file stays the truth, with its comments and its order."""
