"""The collector serves the page, takes in noisy reports, and shows researchers the estimates."""
