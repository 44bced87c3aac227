"""The server: analysts ask over HTTP and never touch the data.

| file | holds |
|---|---|
| `settings.py` | what an owner may set: limits, the clock tick, approvals |
| `records.py` | besides the ledger: answers by id, client keys, sessions, the audit log |
| `sites.py` | a catalog that is served: its curator, its ledger, its records |
| `callers.py` | who calls, and what they may do |
| `admission.py` | how many calls run, wait and are sent away; the clock tick |
| `asking.py` | a query from its call to its saved answer: charged once, never lost |
| `faults.py` | the one form of errors |
| `bodies.py` | what calls and replies contain |
| `schema.py` | what a catalog declares, as JSON |
| `signing.py` | signing in: tokens, sessions, one-time codes |
| `oidc_settings.py` | the OpenID provider that people may sign in at, and who gets which role |
| `oidc_provider.py` | the provider: its addresses and keys, the tokens that it signs |
| `oidc.py` | accounts, roles and caps of those who sign in there |
| `oidc_routes.py` | signing in there from the page |
| `running_queries.py` | queries that wait or run, and cancelling them |
| `audit.py` | what the audit log says of a query |
| `analyst_routes.py`, `request_routes.py`, `running_routes.py`, `owner_routes.py` | the routes |
| `remedies.py` | rewrites of a rejected query that would be accepted |
| `shelf.py`, `shelf_routes.py` | saved queries, boards, lists of saved answers |
| `sample_routes.py` | synthetic rows, and queries that are tried on them |
| `spending_routes.py` | who spent how much on what, for owners |
| `data_places.py`, `data_drafts.py`, `data_sets.py`, `dataset_routes.py` | data that owners add |
| `learn/` | the numbers of playgrounds |
| `page.py` | the files of the page, in `discreet/page/` |
| `metrics.py` | counts and durations of calls, for owners |
| `connections.py` | connections that send too slowly |
| `app.py` | the application: routes, headers, OpenAPI |
| `run.py` | the process: address, TLS, shutdown |
"""
