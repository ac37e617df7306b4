"""What a screen of the app is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlanon.app.desk import Desk
from sqlanon.app.requests import Fields, Shown

Values = Callable[[Desk, Fields], dict[str, Any]]
Action = Callable[[Desk, Fields], str | Shown]


@dataclass(frozen=True)
class Screen:
    name: str  # the last part of its address; its template is ``<name>.html``
    title: str  # its heading, and its name among the steps
    values: Values  # what its template needs besides the frame
    # Its forms, by the last part of their address; each returns the page to go to, or a page to show once.
    actions: Mapping[str, Action] = field(default_factory=dict)
    mark: Callable[[Desk], str] = lambda _desk: ""  # a word beside its step, such as "2 to decide"
    is_step: bool = True

    @property
    def template(self) -> str:
        return f"{self.name}.html"
