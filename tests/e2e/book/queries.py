"""All queries of the book."""

from __future__ import annotations

from e2e.book import queries_more as more
from e2e.book import queries_reference as reference
from e2e.book.cases import Query

QUERIES: tuple[Query, ...] = (
    *reference.AGGREGATES,
    *reference.CTES,
    *reference.SET_OPERATIONS,
    *reference.LATERAL,
    *reference.WHERE_SUBQUERIES,
    *more.EXPRESSIONS,
    *more.INTEROPERABILITY,
    *more.TUTORIALS,
    *more.FAQ,
    *more.OPERATORS,
)

# The book's lines with a call of create_stream_table that has a query.
CALLS = (
    *(7, 152, 199, 243, 524, 531, 538, 547, 555, 569, 582, 594, 605, 618, 630, 646, 654, 668, 681),
    *(694, 707, 722, 737, 746, 755, 764, 773, 784, 793, 802, 811, 821, 833, 848, 861, 876, 885),
    *(894, 903, 912, 1195, 1204, 1216, 1222, 1226, 1236, 1240, 1251, 1281, 1285, 1293, 1311, 1350),
    *(1374, 1888, 3355, 3528, 3707, 3755, 3935, 4077, 4189, 4206, 4331, 4371, 4375, 5924, 5927),
    *(5937,),
)
