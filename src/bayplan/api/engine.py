"""`engine`: where the independent parts of a decision run."""

from bayplan.engine import Engine, engine_of


def engine(name: str = "pool") -> Engine:
    """The engine of a name, for the keyword `engine` of the verbs that have independent parts.

    - `"here"`: in this process, one part after the other;
    - `"pool"`: in processes on this machine, as many as `threads` says;
    - `"ray"`: on Ray, started on this machine or joined where RAY_ADDRESS says; `"ray:10.0.0.1:6379"`: on that Ray cluster;
      `"ray:auto"`: on the one that runs here. Needs `pip install 'bayplan[ray]'`.

    The verbs take the name as well. In a `with` block processes and connections are kept from one call to the next.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> with bp.engine("here") as engine:
    ...     answer = bp.collocate(shop, max_moves="20%", seconds=2, engine=engine)
    >>> answer.score["affinity"] > answer.before["affinity"]
    True
    """
    return engine_of(name)
