"""A document as one page of HTML: no script, and no request to any other place."""

from __future__ import annotations

import html

from sqlanon.report.document import Document
from sqlanon.report.notebook import fragment

STYLE = (
    ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem}table{border-collapse:collapse;margin:1rem 0}th,td{padding:.2rem .8rem .2rem 0;vertical-align:top;"
    "border-bottom:1px solid #8884}"
)


def page(document: Document) -> str:
    """The page, in UTF-8; every text of the document is escaped."""
    title = html.escape(document.title)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>{title}</h1>{fragment(document)}</body></html>\n"
    )
