"""Pictures of a placement: the bay plan, before and after, how full the machines are, traffic."""
