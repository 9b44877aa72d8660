"""What runs for one answer: domains, encoders, channels and their exact numbers."""
