"""Which parts of the grammar are in use."""

FEATURES = {
    "deep correlation": True,
    "distinct on": True,
    "grouped window": True,
    "grouping sets": True,
    "having subquery": True,
    "inequality": True,
    "lateral function": True,
    "lateral subquery": True,
    "more aggregates": True,
    "quantified": True,
    "recursion": True,
    "scalar limit": True,
    "subquery": True,
    "topk": True,
    "views": True,
    "window": True,
}
