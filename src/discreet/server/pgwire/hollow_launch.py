"""Starts PostgreSQL with little of what its starter may do; runs as a program of its own.

    python hollow_launch.py USER PROGRAM ARGUMENT...

The program ends with the process that started it, has a limit on memory, no more environment than
it needs, and, if root starts it, the rights of another user: PostgreSQL refuses to run as root.
"""

import ctypes
import os
import pwd
import resource
import signal
import sys

DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""

MOST_MEMORY = 1 << 28
"""Bytes that a process of the database may use, besides its stack: a stack that cannot grow ends
the process, and PostgreSQL then ends those of all other connections."""


def main() -> None:
    """Give up rights, and become the program."""
    user, program, *arguments = sys.argv[1:]
    parent = os.getppid()
    if user:
        entry = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    resource.setrlimit(kind, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # after the change of users, which would undo it
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGQUIT)
        if os.getppid() != parent:  # it ended before it could be watched
            sys.exit(1)
    os.umask(0o077)
    os.execve(program, [program, *arguments], {"LC_ALL": "C", "TZ": "UTC"})  # noqa: S606 - no shell


if __name__ == "__main__":
    main()
