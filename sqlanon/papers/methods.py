"""The methods of papers as they were published: importing this module lets policies ask for them."""

from __future__ import annotations

from sqlanon.api.extensions import register
from sqlanon.papers.ipa.as_published import IPAAsPublished
from sqlanon.papers.thesis.epsilon_safe_as_published import EpsilonSafeAsPublished

__all__ = ["EpsilonSafeAsPublished", "IPAAsPublished"]

register(IPAAsPublished, method="sqlanon.papers.ipa.as_published:AsPublishedRun")
register(EpsilonSafeAsPublished, method="sqlanon.papers.thesis.epsilon_safe_as_published:AsPublishedRun")
