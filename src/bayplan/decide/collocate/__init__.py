"""Which services should share machines?"""
