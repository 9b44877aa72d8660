"""What reports reveal about people: totals of ε, ledgers, and their meaning in words."""
