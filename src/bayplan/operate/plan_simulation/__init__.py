"""`simulate`: one plan carried out on a model of the cluster, without time, with failures where they are wanted."""
