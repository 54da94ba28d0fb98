"""`bayplan serve --demo`: clusters, requests, an admission and a live loop to look at; nothing is needed, nothing is kept."""
