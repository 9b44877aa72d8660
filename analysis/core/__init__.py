"""The base of all other rooms: domains, encoders, channels, and the ε that exact numbers prove."""
