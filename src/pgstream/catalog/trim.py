"""trim: deletes old refreshes from the history, the newest of each table excepted."""

from __future__ import annotations

from pgstream.database.connection import Connection

BATCH = 1000
# Only the oldest are looked at: the primary key leads to them, whatever the size of the history.
_DELETE = """
DELETE FROM pgstream.pgs_refresh_history WHERE refresh_id IN (
    SELECT oldest.refresh_id
    FROM (SELECT refresh_id, pgs_id, end_time FROM pgstream.pgs_refresh_history
          ORDER BY refresh_id LIMIT %(batch)s) oldest
    WHERE oldest.end_time < now() - make_interval(days => %(days)s)
      AND EXISTS (SELECT FROM pgstream.pgs_refresh_history newer
                  WHERE newer.pgs_id = oldest.pgs_id AND newer.refresh_id > oldest.refresh_id))
"""


def trim_history(connection: Connection, days: int, batch: int = BATCH) -> int:
    """What ended more than so many days ago; how many rows went. Outside of a transaction."""
    deleted = 0
    while True:
        count = connection.execute(_DELETE, {"days": days, "batch": batch}).rowcount
        deleted += count
        if count < batch // 2:
            return deleted
