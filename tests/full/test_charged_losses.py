"""Entropy and Prec that charge for suppressed rows: runs against the macros, with dropped and with masked rows."""

from itertools import product
from typing import Any

import pytest

import sqlanon as sa
from tests.conftest import clinic_policy

CHARGED = {
    "charged_entropy_loss": sa.Entropy(suppressed="charged"),
    "charged_precision_loss": sa.Prec(suppressed="charged"),
}


@pytest.mark.usefixtures("macros")
def test_the_loss_of_a_run_is_that_of_the_macro(clinic: sa.Session) -> None:
    for (macro, quality), suppression in product(CHARGED.items(), ("drop", "mask")):
        more: dict[str, Any] = {"quality": quality, "suppression_limit": 0.34, "suppression": suppression}
        wanted = clinic_policy(sa.KAnonymity(2), **more, earlier="none")
        report = clinic.anonymize("visits", wanted, into="released", replace=True).report
        ((loss,),) = clinic.connection.execute(f"FROM anon_helpers.{macro}('visits', MAP {report.node}, 2)").fetchall()
        assert report.suppressed_rows > 0
        assert report.rows.masked == (report.suppressed_rows if suppression == "mask" else 0)
        assert report.loss == pytest.approx(loss)
        assert report.loss > report.losses[macro.split("_")[1].replace("precision", "prec")]  # type: ignore[operator]
