"""The collector: serves the page, takes in noisy reports, shows researchers the estimates."""
