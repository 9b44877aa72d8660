"""The store in a PostgreSQL database, which several collectors can share."""
