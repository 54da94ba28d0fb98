"""Does it pay to restart a walk, with and without noise?"""
