"""`deniable audit`: what a database keeps, and what a server serves to browsers."""
