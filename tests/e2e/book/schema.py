"""The sets of source tables, by the name that the queries give."""

from __future__ import annotations

from e2e.book import schema_orders as orders
from e2e.book import schema_people as people
from e2e.book import schema_things as things
from e2e.book.cases import TableSet

TABLES: dict[str, TableSet] = {
    "tutorial orders": orders.TUTORIAL_ORDERS,
    "sales": orders.SALES,
    "users": orders.USERS,
    "customers": orders.CUSTOMERS,
    "shop": orders.SHOP,
    "products": orders.PRODUCTS,
    "org chart": people.ORG_CHART,
    "employees": people.EMPLOYEES,
    "config": people.CONFIG,
    "hierarchies": people.HIERARCHIES,
    "lateral": people.LATERAL,
    "ranked": people.RANKED,
    "stock": things.STOCK,
    "documents": things.DOCUMENTS,
    "keyless events": things.KEYLESS_EVENTS,
    "json": things.JSON,
    "partitioned": things.PARTITIONED,
    "measures": things.MEASURES,
    "expressions": things.EXPRESSIONS,
}
