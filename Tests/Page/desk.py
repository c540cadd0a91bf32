"""An operator at the page: logs in, opens views, clicks and types, and waits for what the page shows."""

import json
from typing import Any
from urllib.parse import quote

from browser import Page

# Waits until an expression is true, by the changes of the document and not by time.
WAIT = """new Promise((resolve) => {
    const look = () => {
        let found;
        try { found = (%s); } catch { found = null; }
        if (found) { observer.disconnect(); resolve(found); }
    };
    const observer = new MutationObserver(look);
    observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
    look();
})"""
# What a person reads of the focused element.
FOCUSED = """(() => {
    const { activeElement: one } = document;
    return (one.getAttribute("aria-label") || one.labels?.[0]?.textContent || one.textContent || "").trim();
})()"""
# The element with a selector that has a text or a label, is shown, and can be used.
CLICKABLE = """[...document.querySelectorAll(%s)].find((one) =>
    !one.disabled && one.checkVisibility() && [one.innerText.trim(), one.getAttribute("aria-label")].includes(%s))"""
KEYS = {
    "Tab": (9, None),
    "Enter": (13, "\r"),
    "Escape": (27, None),
    "ArrowLeft": (37, None),
    "ArrowRight": (39, None),
    "Home": (36, None),
    "End": (35, None),
    "ArrowDown": (40, None),
}
SHIFT = 8
# No view has so many places for the focus.
TABS_MAXIMUM = 120


class Desk:
    """One tab with the page of an admin listener."""

    def __init__(self, page: Page, url: str):
        self.page = page
        self.url = url

    # --- Looking -----------------------------------------------------------------------------------------------------

    def evaluate(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def wait(self, expression: str) -> Any:
        return self.evaluate(WAIT % expression)

    def wait_for_text(self, text: str, within: str = "body") -> None:
        self.wait(f"document.querySelector({json.dumps(within)})?.innerText.includes({json.dumps(text)})")

    def text(self, within: str = "body") -> str:
        return self.evaluate(f"document.querySelector({json.dumps(within)}).innerText")

    def texts(self, selector: str) -> list[str]:
        return self.evaluate(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.innerText.trim())"
        )

    def count(self, selector: str) -> int:
        return self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    # --- Acting ------------------------------------------------------------------------------------------------------

    def open(self) -> "Desk":
        self.page.open(f"{self.url}/")
        self.wait('document.querySelector("input[name=token], #nav a")')
        return self

    def log_in(self, token: str) -> "Desk":
        self.open()
        self.type_into("input[name=token]", token)
        self.press("Enter")
        self.wait('document.querySelector("#nav a")')
        return self

    def go(self, view: str, **parameters: str) -> "Desk":
        query = "&".join(f"{name}={quote(value)}" for name, value in parameters.items())
        self.evaluate(f"void (location.hash = {json.dumps(f'#{view}?{query}' if query else f'#{view}')})")
        self.wait('document.querySelector("#view h1") && !document.querySelector("[aria-busy]")')
        return self

    def click(self, text: str, within: str = "body") -> None:
        """Clicks the button or link with this text or label."""
        found = CLICKABLE % (json.dumps(f"{within} :is(button, a, summary)"), json.dumps(text))
        assert self.wait(f"{found} && true")
        self.evaluate(f"{found}.click()")

    def type_into(self, selector: str, text: str) -> None:
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.evaluate(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.focus(); one.select(); }})()"
        )
        self.type(text)

    def type(self, text: str) -> None:
        self.page.call("Input.insertText", {"text": text})

    def press(self, key: str, modifiers: int = 0) -> None:
        code, text = KEYS[key]
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.page.call(
            "Input.dispatchKeyEvent",
            event | {"type": "keyDown" if text else "rawKeyDown"} | ({"text": text} if text else {}),
        )
        self.page.call("Input.dispatchKeyEvent", event | {"type": "keyUp"})

    def tab_to(self, label: str) -> None:
        """Presses Tab until the element with this text or label has the focus, and shows it."""
        passed = []
        for _ in range(TABS_MAXIMUM):
            self.press("Tab")
            focused = self.evaluate(FOCUSED)
            if focused == label or focused.startswith(f"{label} "):
                assert self.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", (
                    f"{label}: no focus is shown"
                )
                return
            passed.append(focused)
        raise AssertionError(f"Tab does not lead to {label}, but to {passed}")

    # --- Asking as the page does -------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, argument: object = None) -> dict[str, Any]:
        """Sends a request by the page's own module. Returns its answer, or the status and code of a refusal."""
        arguments = ", ".join(json.dumps(one) for one in (path, argument) if one is not None)
        return self.evaluate(
            f"import('/page/api.js').then((api) => api.{method}({arguments}))"
            ".then((answer) => ({ answer }), ({ status, code }) => ({ status, code }))"
        )

    def cookies(self) -> list[dict[str, Any]]:
        return self.page.call("Network.getCookies", {"urls": [self.url]})["cookies"]


def open_inner_workings(desk: Desk) -> None:
    """Shows the plots of the view Now that only a click shows."""
    desk.go("now")
    if not desk.evaluate("document.querySelector('details.inner').open"):
        desk.click("Inner workings")
