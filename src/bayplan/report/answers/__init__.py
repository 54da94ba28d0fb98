"""One pair of modules for each kind of answer: what it shows, as tables for terminal, HTML and JSON, and its page."""
