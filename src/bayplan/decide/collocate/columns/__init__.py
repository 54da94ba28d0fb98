"""Column generation ([RASA] Algorithm 1). A pattern is what one machine of a type runs: (workload,) counts.

`pattern_master` holds the patterns and the linear master over them, `pricing` finds new ones for one machine, `rounds` alternates
between both and proves a bound, `integer_master` chooses whole patterns, and `solve` does all of it in order. `merge_solutions`
begins with the patterns of several solutions.
"""
