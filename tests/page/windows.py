"""Windows of a browser that note everything that must not happen on the page."""

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.server.running import Served

VIOLATIONS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


@dataclass(kw_only=True)
class Windows:
    """Opens windows, signed in as an account or as nobody."""

    browser: Browser
    served: Served
    noted: list[str] = field(default_factory=list)
    """Errors of scripts, calls to other hosts, breaches of the policy."""
    expected: tuple[str, ...] = ()
    """Parts of notes that a test provokes on purpose, such as the status of a rejected query."""
    _contexts: list[BrowserContext] = field(default_factory=list)
    _pages: list[Page] = field(default_factory=list)

    def open(
        self, path: str = "/", who: str | None = "ann", *, url: str | None = None, **more: Any
    ) -> Page:
        """Open a window at a path of the page, signed in by token."""
        context = self.browser.new_context(
            viewport={"width": 1280, "height": 900} | more.pop("viewport", {}), **more
        )
        context.add_init_script(VIOLATIONS)
        self._contexts.append(context)
        page = context.new_page()
        self._pages.append(page)
        page.set_default_timeout(20_000)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.noted.append(f"error: {error}"))
        page.on("request", self._request)
        url = url or self.served.url
        if who is not None:
            reply = context.request.post(
                f"{url}/v1/session", data={"token": self.served.tokens[who]}
            )
            assert reply.status == 200, reply.text()
        page.goto(f"{url}{path}")
        return page

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.noted.append(f"{message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.served.url, "data:")):
            self.noted.append(f"foreign: {request.url}")

    def close(self) -> None:
        """Close all windows; fail if anything was noted that was not expected."""
        for page in self._pages:
            if not page.is_closed():
                self.noted += page.evaluate("window.violations ?? []")
        for context in self._contexts:
            context.close()
        wrong = [each for each in self.noted if not any(part in each for part in self.expected)]
        assert not wrong, wrong
