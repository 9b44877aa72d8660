"""What `deniable plan` prints: its tables, and all of them as one page."""
