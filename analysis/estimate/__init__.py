"""From reports to what they tell of everybody: shares, means and texts, with their intervals."""
