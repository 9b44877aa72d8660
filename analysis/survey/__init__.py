"""Surveys: the author's file, its questions, and the frozen form that everybody answers."""
