"""Agents: programs with a language model ask over the Model Context Protocol (MCP).

An agent has an account like any analyst. It sees what the routes of a server show, and no more.

| file | holds |
|---|---|
| `desk.py` | what tools need of whoever answers, and why a call is rejected |
| `contents.py` | what tools return, as typed values |
| `words.py` | instructions, the guide and the prompt |
| `ceiling.py` | the most that one process may spend |
| `arguments.py`, `failures.py` | what calls contain; errors as a model reads them |
| `tools.py` | the tools, for any transport |
| `agent_server.py` | tools, resources and the prompt together |
| `caller_desk.py` | answers for an account of a catalog: here, or of the server |
| `remote_desk.py` | answers that a server gives over HTTP |
| `over_http.py` | `/mcp` of a server |
| `over_stdio.py` | `discreet mcp` |
"""
