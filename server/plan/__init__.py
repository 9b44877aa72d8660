"""What `deniable plan` prints: its tables, and all of it as one page."""
