"""Policy files of linked tables: their problems, and what a person has to decide. The text is edited as a whole."""

from __future__ import annotations

import re
from functools import cached_property

from sqlanon.errors import PolicyError
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.policy.policy_files import fields_of
from sqlanon.suggestion.policy_edits import UNDECIDED
from sqlanon.suggestion.policy_file import PolicyFile
from sqlanon.suggestion.toml_text import TOKEN, scan

MARK = re.compile(rf"#\s*\{UNDECIDED}")


class LinkedPolicyFile(PolicyFile):
    """The policy file of linked tables; a run reads files of taxonomies beside it, which stay as they are here."""

    @cached_property
    def linked_policy(self) -> LinkedPolicy:
        """The policy, checked as in a run.

        Raises:
            PolicyError: lists every problem at once.
        """
        path = self.path or "policy.toml"
        policy = LinkedPolicy.of_file(fields_of(self.text, path), path)  # of fields that it may change
        policy.check_run()
        return policy

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """Why a run on any sources would refuse the policy, a sentence each."""
        try:
            _ = self.linked_policy
        except PolicyError as error:
            return tuple(error.problems or [str(error)])
        return ()

    @cached_property
    def to_decide(self) -> tuple[tuple[str, str], ...]:
        """The lines that a person has to decide, by their comments, each after the name of its table."""
        lines = []
        for pair in scan(self.text):
            for token in TOKEN.finditer(self.text, pair.start, pair.end):
                if MARK.match(token[0]):
                    start = self.text.rfind("\n", 0, token.start()) + 1
                    lines.append((".".join(map(str, pair.path[1:2])), self.text[start : token.end()].strip()))
        return tuple(lines)
