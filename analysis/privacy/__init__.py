"""What reports reveal about people: totals of ε, ledgers, and odds in words."""
