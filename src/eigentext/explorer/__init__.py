"""`eigentext explore`: a local web page over saved models.

``app`` is the web application (Starlette), ``guard`` what every request has to pass, ``server``
its runner (uvicorn). ``models`` says of each kind of model what can be asked of it: what takes long
is asked in ``worker`` processes, which ``pool`` ends when they take too long. ``page`` holds the
built page in memory. Nothing here is imported until the command is used.
"""
