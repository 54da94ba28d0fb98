"""The options of commands, worded once, and the texts that some of them take."""
