"""The exit codes, the same for every command."""

FAILED = 1
USAGE = 2  # what the command line parser uses too
ANSWER_IS_NO = 3
INTERRUPTED = 130  # 128 + SIGINT, as shells expect
