"""What answers tell of the people who gave them: totals of ε, ledgers, and odds in words."""
