"""One function per verb and question: what the command line, the experiments and notebooks call."""
