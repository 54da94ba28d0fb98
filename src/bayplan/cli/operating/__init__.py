"""Commands of the running system: run, apply, what people say to a loop, and a sandbox to practise on."""
