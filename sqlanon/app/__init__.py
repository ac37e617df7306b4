"""The app: a table, its policy and its releases in the browser, on this machine alone.

The policy file is the state; each screen is a module with its template, and calls what every program may call.
"""

OFFERS = {"commands": {"Every day/app": "sqlanon.app.app_command:app"}}
