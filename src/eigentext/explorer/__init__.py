"""`eigentext explore`: a local web page over saved models.

* ``app`` is the web application (Starlette). ``guard`` checks every request before it. ``server``
  runs both (uvicorn). ``page`` holds the built page in memory.
* ``models`` has the queries that each kind of model answers. ``worker`` processes answer the slow
  ones, and ``pool`` ends a worker that takes too long.

Nothing here is imported until the command is used.
"""
