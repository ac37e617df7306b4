"""δ of publishing classes of k sampled rows, and the least k for a δ: computed anew, beside what is printed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sqlanon.evaluation.results import Row
from sqlanon.model.sampled_classes import delta, minimum_k

DELTA = "δ of classes of k sampled rows"
MINIMUM_K = "Least k for a δ, with β = 1 - exp(-ε)"

LEAST = (5, 10, 20, 50, 100)  # the k of the columns of the tables

DELTAS = {
    (0.01, 0.1): "1.081284e-04 4.661594e-08 1.196024e-14 3.537088e-34 1.506516e-66",
    (0.01, 0.5): "7.469708e-08 2.850509e-14 3.537133e-27 1.191860e-65 1.363111e-129",
    (0.05, 0.1): "2.902628e-02 2.747097e-03 2.924498e-05 6.534981e-11 3.442507e-20",
    (0.05, 1.0): "6.027344e-06 2.324454e-10 1.759510e-19 3.696909e-46 2.691425e-90",
    (0.1, 0.5): "2.750964e-03 2.072312e-05 1.606253e-09 1.296328e-21 1.360443e-41",
    (0.1, 1.0): "1.765000e-04 6.840415e-08 4.072506e-14 1.475145e-32 4.060691e-63",
    (0.1, 2.0): "1.000000e-05 1.000000e-09 1.891000e-18 1.748304e-43 9.900424e-85",
    (0.25, 0.5): "4.892731e-02 5.421779e-03 8.832514e-05 1.074194e-09 1.199130e-17",
    (0.25, 1.0): "4.638672e-03 1.261234e-04 1.209607e-07 1.759085e-16 1.801578e-31",
    (0.5, 0.75): "1.093750e-01 4.614258e-02 4.677653e-03 7.858515e-06 3.778550e-10",
    (0.5, 1.0): "1.093750e-01 1.928711e-02 7.719398e-04 2.294416e-07 2.254430e-13",
    (0.5, 2.0): "3.125000e-02 9.765625e-04 1.049042e-05 2.759792e-12 1.725318e-22",
    (0.75, 1.5): "2.373047e-01 5.631351e-02 1.902727e-02 1.965092e-04 1.013986e-07",
    (0.75, 2.0): "2.373047e-01 5.631351e-02 3.171212e-03 7.645342e-06 9.699983e-10",
}
"""δ of Li, Qardaji and Su 2012 by β and ε, for each of :data:`LEAST`: spec/epsafe.md (b)."""

TIGHT_DELTAS = {
    (0.01, 0.1): "1.235464e-06 2.568361e-10 - - -",
    (0.01, 0.5): "4.092889e-09 - - - -",
    (0.05, 0.1): "6.368904e-04 3.006330e-05 1.703258e-07 1.518921e-13 -",
    (0.05, 1.0): "1.142931e-06 1.513010e-11 - - -",
    (0.1, 0.5): "1.792495e-04 6.716234e-07 2.631783e-11 - -",
    (0.1, 1.0): "2.781718e-05 9.980119e-09 2.760687e-15 - -",
    (0.1, 2.0): "1.000000e-05 2.610944e-10 - - -",
    (0.25, 0.5): "6.065052e-03 3.895141e-04 3.900563e-06 2.002044e-11 -",
    (0.25, 1.0): "1.984100e-03 2.388741e-05 9.234224e-09 - -",
    (0.5, 0.75): "4.321875e-02 6.882812e-03 4.044612e-04 3.754623e-07 9.769122e-12",
    (0.5, 1.0): "3.125000e-02 3.359677e-03 1.082967e-04 9.752544e-09 -",
    (0.5, 2.0): "3.125000e-02 9.765625e-04 3.443664e-06 4.972670e-13 -",
    (0.75, 1.5): "2.373047e-01 5.631351e-02 4.814886e-03 1.851005e-05 6.140548e-09",
    (0.75, 2.0): "- - 3.171212e-03 3.460760e-06 1.604086e-10",
}
"""The exact δ, where the table has it."""

LIMITS = (1e-5, 1e-6)

MINIMUM_K_OF_LIMITS = {
    0.5: (51, 63, 35, 46),
    math.log(2): (55, 67, 39, 50),
    0.75: (57, 68, 40, 52),
    1.0: (61, 74, 46, 58),
    math.log(3): (65, 81, 48, 62),
    1.25: (70, 84, 54, 67),
    1.5: (80, 99, 64, 78),
    2.0: (113, 131, 92, 114),
}
"""By ε: the least k for each of :data:`LIMITS`, and with the exact δ."""


def printed_deltas() -> Iterator[tuple[float, float, int, str, str | None]]:
    """β, ε, k, δ and, where the table has it, the exact δ."""
    for (beta, epsilon), deltas in DELTAS.items():
        tight = TIGHT_DELTAS[beta, epsilon].split()
        for k, found, exact in zip(LEAST, deltas.split(), tight, strict=True):
            yield beta, epsilon, k, found, None if exact == "-" else exact


def deltas() -> Iterator[Row]:
    """A row for each δ, in as many digits as are printed."""
    for beta, epsilon, k, printed, printed_tight in printed_deltas():
        yield {
            "part": DELTA,
            "beta": beta,
            "epsilon_sampling": epsilon,
            "k": k,
            "computed": f"{delta(k, beta, epsilon):.6e}",
            "printed": printed,
            "computed_tight": f"{delta(k, beta, epsilon, tight=True):.6e}",
            "printed_tight": printed_tight,
        }


def least_k() -> Iterator[Row]:
    """A row for each ε and δ."""
    for epsilon, printed in MINIMUM_K_OF_LIMITS.items():
        beta = 1 - math.exp(-epsilon)
        for limit, wanted, wanted_tight in zip(LIMITS, printed[:2], printed[2:], strict=True):
            yield {
                "part": MINIMUM_K,
                "beta": beta,
                "epsilon_sampling": epsilon,
                "delta": f"{limit:.0e}",
                "computed": minimum_k(beta, epsilon, limit),
                "printed": wanted,
                "computed_tight": minimum_k(beta, epsilon, limit, tight=True),
                "printed_tight": wanted_tight,
            }


def findings(rows: Sequence[Row]) -> Iterator[str]:
    """Count the numbers that agree with the printed ones."""
    for part in (DELTA, MINIMUM_K):
        of_part = [row for row in rows if row["part"] == part]
        for kind, words in (("", "as Li et al. have it"), ("_tight", "exact")):
            printed = [row for row in of_part if row[f"printed{kind}"] is not None]
            same = sum(row[f"computed{kind}"] == row[f"printed{kind}"] for row in printed)
            yield f"{part}: {same} of {len(printed)} are as printed ({words})"
