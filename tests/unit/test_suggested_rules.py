"""The rules of suggestions by themselves: words of names, roles by evidence, taxonomies by counts, the policy file."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlanon.model.taxonomy.rules import made
from sqlanon.queries.source import SourceColumn, Traits
from sqlanon.suggestion.column_words import described_word, known_words, plain, word_of
from sqlanon.suggestion.evidence import Evidence
from sqlanon.suggestion.roles import Decision, decided, with_twins
from sqlanon.suggestion.safe_harbor import SPARSE_AREAS, area_of, decision_of
from sqlanon.suggestion.suggested_taxonomies import (
    MAX_NODES,
    coarsened,
    flat,
    lattice_nodes,
    of_ordered,
    of_texts,
    suggested,
)
from sqlanon.suggestion.suggestion import Draft, file_of

NUMBERS = Traits(
    is_text=False, is_enum=False, is_missing=False, is_json=False, is_float=False, is_number=True, is_fractional=False,
    is_date=False, is_list=False, is_instant=False, depends_on_time_zone=False, has_one_text=True, has_one_form=True,
    has_name=True, released_as="INTEGER",
)  # fmt: skip
TEXTS = replace(NUMBERS, is_text=True, is_number=False, released_as="VARCHAR")
LISTS = replace(NUMBERS, is_number=False, is_list=True, has_one_form=False)


def evidence(name: str, traits: Traits = TEXTS, rows: int = 1000, values: int = 40, **more: Any) -> Evidence:
    """A column of texts that repeat, unless more is said."""
    is_number = traits.is_number
    of_numbers = {"numbers": values, "minimum": 0.0, "maximum": float(values - 1)} if is_number else {}
    given: dict[str, Any] = {
        "filled": rows, "largest": rows // max(values, 1), "has_empty": False, "has_leading_zeros": False,
        "numbers": 0, "fractions": 0, "minimum": None, "maximum": None, "moments": 0, "daytimes": 0, "days": 0,
        "shape": "",
    }  # fmt: skip
    return Evidence(
        SourceColumn(name, traits.released_as, traits), rows, values=values, **{**given, **of_numbers, **more}
    )


class TestWords:
    @pytest.mark.parametrize(
        ("name", "word"),
        [
            ("age", "age"), ("AGE", "age"), ("patient_age", "age"), ("patientAge", "age"),
            ("age.at.entry", "ageatentry"),
            ("wage", "wage"), ("wages", "wages"), ("zip_code", "zipcode"), ("homeZIPCode", "zipcode"),
            ("dateOfBirth", "dateofbirth"), ("birth date", "birthdate"), ("Geburtsdatum", "geburtsdatum"),
            ("Größe", "grosse"), ("Straße", "strasse"), ("prénom", "prenom"), ("año_nacimiento", "anonacimiento"),
            ("teléfono", "telefono"), ("sex2", "sex"), ("PatientID", "patientid"),
            ("country of birth", "countryofbirth"),
        ],
    )  # fmt: skip
    def test_are_found_in_names(self, name: str, word: str) -> None:
        found = word_of(name)
        assert found is not None and found.text == word

    @pytest.mark.parametrize("name", ["", "x1", "wagesheet", "stagex", "engagement", "_", "💥", "42", "page"])
    def test_are_no_parts_of_parts(self, name: str) -> None:
        assert word_of(name) is None

    def test_the_last_of_equally_long_ones_counts(self) -> None:
        assert (word_of("sex_age") or pytest.fail()).text == "age"
        assert (word_of("age_sex") or pytest.fail()).text == "sex"

    @pytest.mark.parametrize(
        ("name", "word"),
        [
            ("diagnosis_age", "age"), ("year_of_death", "year"), ("treatment city", "city"), ("job_status", "job"),
            ("family_status", "family"), ("household_income", "household"),
            ("diagnosis_comment", "comment"), ("income_group", "income"),
            ("status", "status"), ("score", "score"),
        ],
    )  # fmt: skip
    def test_that_ask_for_more_care_count(self, name: str, word: str) -> None:
        assert (word_of(name) or pytest.fail()).text == word

    @pytest.mark.parametrize(
        ("name", "word"),
        [
            ("homeowner", "homeowner"), ("birthweight", "birthweight"), ("yearsmarried", "married"),
            ("lowincome", "income"), ("agegroup", "agegroup"), ("racegrp", "race"), ("is_female", "female"),
            ("Haushaltseinkommen", "haushaltseinkommen"), ("Wohnungsmiete", "wohnung"), ("incomes", "income"),
            ("ageSq", "age"), ("logwage", "wage"), ("hhincome", "income"),
            ("lwage", "wage"), ("lincome", "income"), ("meducation", "education"), ("fage", "age"), ("hwage", "wage"),
        ],
    )  # fmt: skip
    def test_are_found_in_compounds(self, name: str, word: str) -> None:
        assert (word_of(name) or pytest.fail()).text == word

    @pytest.mark.parametrize(
        "name", ["page", "stage2x", "lage", "mcity", "learner", "engagement", "xwage", "level", "ageing", "is"]
    )
    def test_of_a_compound_leave_nothing_over(self, name: str) -> None:
        assert word_of(name) is None

    def test_of_long_parts_are_not_looked_for(self) -> None:
        assert word_of("age" * 3000) is None

    def test_of_a_status_say_nothing_as_a_part(self) -> None:
        assert word_of("occupational_status") is None

    def test_are_spelled_as_they_are_compared(self) -> None:
        assert {word for word in known_words() if not re.fullmatch("[a-z0-9]+", word)} == set()
        assert plain("ß") == "ss"

    def test_nobody_is_let_through_as_insensitive(self) -> None:
        assert {word.role for word in known_words().values()} == {"identifier", "quasi-identifier", "sensitive"}


class TestDescriptions:
    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("Age of the respondent in years", "age"), ("monthly family income, in dollars", "familyincome"),
            ("Date of birth", "dateofbirth"), ("Year of the interview", "year"),
            ("Wife's wage in the year 1975", "wage"),
            ("number of visits in the last month", "visits"), ("cigarettes smoked per day", "smoked"),
            ("Indicator. Is the person married?", "married"), ("=1 if married", "married"),
            ("sign, with levels `Cancer` and `Leo`", None), ("sign, levels: Cancer, Leo", None),
            ("Time to arrival (hours)", None), ("avg. income, before taxes", "income"),
            ("Hourly wage in the state", "state"), ("Diagnosis: age of the patient", "diagnosis"),
            ("treatment of the patient", "treatment"), ("Nummer des Patienten", "nummer"),
            ("Alter des Kindes", "alter"), ("Ingresos del hogar", "ingresos"), ("Revenu du ménage", "revenu"),
            ("", None), ("nothing of use", None), ("(age)", None), ("status of the application", None),
            ("Survey weight", "surveyweight"), ("design weight of the household", "designweight"),
            ("Weight in kilograms", "weight"),
        ],
    )  # fmt: skip
    def test_say_first_what_they_are_about(self, text: str, word: str | None) -> None:
        found = described_word(text)
        assert (found and found.text) == word

    def test_of_others_are_looked_for(self) -> None:
        text = "months at this address in the city"
        assert (described_word(text) or pytest.fail()).text == "address"
        assert (described_word(text, {"address"}) or pytest.fail()).text == "city"


def role(found: Evidence) -> str:
    decision = decided(found)
    return "undecided" if decision.is_undecided else decision.role


class TestRoles:
    @pytest.mark.parametrize(
        ("found", "expected"),
        [
            (evidence("x"), "undecided"),
            (evidence("x", NUMBERS), "undecided"),
            (evidence("age", NUMBERS), "quasi-identifier"),
            (evidence("diagnosis"), "sensitive"),
            (evidence("diagnosis", shape="email"), "identifier"),
            (evidence("x", shape="icd10"), "sensitive"),
            (evidence("x", shape="text", values=990), "identifier"),
            (evidence("x", shape="text"), "undecided"),
            (evidence("x", values=1, largest=1000), "insensitive"),
            (evidence("x", values=0, filled=0, largest=1000), "insensitive"),
            (evidence("x", values=1, rows=1), "undecided"),
            (evidence("name", values=1, largest=1000), "identifier"),
            (evidence("hiv", values=1, largest=1000), "sensitive"),
            (evidence("city", values=0, filled=0, largest=1000), "insensitive"),
            (evidence("x", values=1, filled=500, largest=500), "undecided"),
            (evidence("x", values=960), "identifier"),
            (evidence("x", values=940), "undecided"),
            (evidence("x", NUMBERS, values=1000), "identifier"),
            (evidence("x", NUMBERS, values=1000, maximum=5000.0), "undecided"),
            (evidence("id", NUMBERS, values=990), "identifier"),
            (evidence("id", NUMBERS, values=300), "undecided"),
            (evidence("patient_id", NUMBERS, values=300), "identifier"),
            (evidence("patient_id", NUMBERS, values=20), "undecided"),
            (evidence("Pupil No", values=300), "identifier"),
            (evidence("Manager", values=180), "undecided"),
            (evidence("course_name"), "undecided"),
            (evidence("last_name"), "identifier"),
            (evidence("city_name"), "quasi-identifier"),
            (evidence("city_name", values=900), "identifier"),
            (evidence("has_email", values=2), "undecided"),
            (evidence("income_phone", values=2), "sensitive"),
            (evidence("job_id", NUMBERS, values=990), "identifier"),
            (evidence("job_id", NUMBERS), "quasi-identifier"),
            (evidence("x", NUMBERS, description="months at the address"), "undecided"),
            (evidence("x", description="months at the address", values=900), "identifier"),
            (evidence("x", NUMBERS, description="payments by credit card", values=900, fractions=90), "sensitive"),
            (evidence("x", NUMBERS, description="age of the subject"), "quasi-identifier"),
            (evidence("name"), "identifier"),
            (evidence("x", moments=40), "quasi-identifier"),
            (evidence("city", values=20_000, rows=100_000), "undecided"),
            (evidence("city", LISTS), "undecided"),
            (evidence("x", description="The patient's year of birth"), "quasi-identifier"),
            (evidence("diagnosis", description="age"), "sensitive"),
        ],
    )  # fmt: skip
    def test_follow_from_evidence(self, found: Evidence, expected: str) -> None:
        assert role(found) == expected

    @pytest.mark.parametrize(
        ("found", "beside", "role", "kind"),
        [
            # Visits and stays in a hospital, as MIMIC has them.
            (evidence("length_of_stay", NUMBERS), (), "sensitive", "treatment"),
            (evidence("los", NUMBERS), (), "sensitive", "treatment"),
            (evidence("dose_strep_g"), (), "sensitive", "treatment"),
            (evidence("drug"), (), "sensitive", "treatment"),
            (evidence("admission_type", digit_values=0), (), "undecided", ""),
            (evidence("admission_location", digit_values=0), (), "quasi-identifier", "place"),
            (evidence("discharge_location", digit_values=0), (), "quasi-identifier", "place"),
            (evidence("admission", digit_values=40), (), "quasi-identifier", "date"),
            (evidence("birth_month", digit_values=0), (), "quasi-identifier", "date"),
            (evidence("subject_id", NUMBERS, values=300), (), "identifier", "individual"),
            (evidence("hospital_expire_flag", NUMBERS, values=2), (), "undecided", ""),
            (evidence("diagnosis_date", moments=40), (), "quasi-identifier", "date"),
            # Health surveys, as NHANES and YRBSS.
            (evidence("school_night_hours_sleep"), (), "sensitive", "measure"),
            (evidence("hours_tv_per_school_day"), (), "undecided", ""),
            (evidence("days_hospitalized", NUMBERS), (), "sensitive", "treatment"),
            (evidence("weeks_worked", NUMBERS), (), "quasi-identifier", "work"),
            (evidence("years_education", NUMBERS), (), "quasi-identifier", "education"),
            (evidence("hours", NUMBERS), (), "quasi-identifier", "work"),
            (evidence("WTMEC2YR", NUMBERS), (), "identifier", "weight"),
            (evidence("WTINT2YR", NUMBERS), (), "identifier", "weight"),
            (evidence("weight", NUMBERS, mean=1.0, fractions=30), (), "identifier", "weight"),
            (evidence("weight", NUMBERS, mean=71.3, fractions=30), (), "quasi-identifier", "body"),
            (evidence("weight", NUMBERS, mean=1.0), (), "quasi-identifier", "body"),
            (evidence("birthweight", NUMBERS, mean=1.0, fractions=30), (), "quasi-identifier", "body"),
            (evidence("body_weight_kg", NUMBERS, mean=71.3), (), "quasi-identifier", "body"),
            # Places.
            (evidence("long", NUMBERS), ("lat",), "quasi-identifier", "place"),
            (evidence("home_long", NUMBERS), ("home_lat",), "quasi-identifier", "place"),
            (evidence("Long", NUMBERS), ("Latitude",), "quasi-identifier", "place"),
            (evidence("long", NUMBERS), ("height",), "undecided", ""),
            (evidence("long"), ("lat",), "undecided", ""),
            (evidence("pickup_long", NUMBERS), ("home_lat",), "undecided", ""),
            # Words that many columns share say what all are about.
            (evidence("job_stress"), [f"job_{each}" for each in "abcd"], "undecided", ""),
            (evidence("job_stress"), ["job_a", "job_b"], "quasi-identifier", "work"),
            (evidence("job_income"), [f"job_{each}" for each in "abcd"], "sensitive", "money"),
            (evidence("job_1"), [f"job_{each}" for each in "2345"], "quasi-identifier", "work"),
            (evidence("job_nurse", values=2), [f"job_{each}" for each in "abcd"], "quasi-identifier", "work"),
            (evidence("date_first"), [f"date_{each}" for each in "abcd"], "quasi-identifier", "date"),
            (evidence("phone_home"), [f"phone_{each}" for each in "abcd"], "identifier", "contact"),
            # Subjects of lessons and of studies.
            (evidence("subject", digit_values=0), (), "undecided", ""),
            (evidence("subject", digit_values=300, values=300), (), "identifier", "individual"),
            (evidence("Subject", NUMBERS, values=180), (), "identifier", "individual"),
            # Censuses.
            (evidence("country_of_birth"), (), "quasi-identifier", "origin"),
            (evidence("region_of_birth", digit_values=0), (), "quasi-identifier", "region"),
            (evidence("household_income", NUMBERS), (), "quasi-identifier", "family"),
        ],
    )  # fmt: skip
    def test_fit_the_headers_of_known_tables(
        self, found: Evidence, beside: Sequence[str], role: str, kind: str
    ) -> None:
        decision = decided(found, (found.name, *beside))
        assert ("undecided" if decision.is_undecided else decision.role, decision.kind) == (role, kind), decision.reason

    def test_repeated_ids_of_persons_name_individuals(self) -> None:
        assert decided(evidence("patient_id", NUMBERS, values=300)).is_individual
        assert not decided(evidence("patient_id", NUMBERS, values=300, filled=999)).is_individual
        assert not decided(evidence("patient_id", NUMBERS, values=1000)).is_individual

    def test_of_twins_one_is_dropped(self) -> None:
        wage, age, unknown = (
            Decision("sensitive", "money", ""), Decision("quasi-identifier", "age", ""),
            Decision("identifier", "", "", is_undecided=True),
        )  # fmt: skip
        found = with_twins({"a": unknown, "b": wage, "c": age, "d": age}, [("a", "b"), ("c", "d")])
        assert [each.role for each in found.values()] == ["identifier", "sensitive", "quasi-identifier", "identifier"]
        assert not found["a"].is_undecided
        assert with_twins({"a": unknown, "b": unknown}, [("a", "b")])["b"].is_undecided


class TestTaxonomies:
    @pytest.mark.parametrize(
        ("found", "kind", "tails", "rule"),
        [
            (evidence("age", NUMBERS, values=80), "age", None,
             {"kind": "intervals", "widths": [5, 10, 20, 40], "minimum": 0, "maximum": 99}),
            (evidence("age", NUMBERS, values=80, maximum=104.0), "age", (1, 99),
             {"kind": "intervals", "widths": [5, 10, 20, 40], "minimum": 0, "maximum": 119}),
            (evidence("x", NUMBERS, values=2), "", None, {"kind": "flat"}),
            (evidence("x", NUMBERS, values=4, minimum=1.0, maximum=4.0), "", None,
             {"kind": "intervals", "widths": [2], "origin": 1, "minimum": 1, "maximum": 4}),
            (evidence("x", NUMBERS, values=8, minimum=0.0, maximum=7.0), "", None,
             {"kind": "intervals", "widths": [2, 4], "origin": 0, "minimum": 0, "maximum": 7}),
            (evidence("x", NUMBERS, values=3, maximum=99.0), "", None, {"kind": "flat"}),
            (evidence("x", NUMBERS, values=500, maximum=640.0), "", (3, 630),
             {"kind": "intervals", "widths": [20, 40, 80, 160, 320], "minimum": 0, "maximum": 959}),
            (evidence("x", NUMBERS, values=500, maximum=9999.0), "", (0, 64),
             {"kind": "intervals", "widths": [2, 4, 8, 16, 32], "above": 66, "minimum": 0, "maximum": 10015}),
            (evidence("x", NUMBERS, values=500, fractions=9, maximum=0.64), "", (0.01, 0.63),
             {"kind": "intervals", "widths": [0.02, 0.04, 0.08, 0.16, 0.32]}),
            (evidence("x", moments=40, days=30), "date", None, {"kind": "dates", "units": ["week"]}),
            (evidence("x", moments=40, days=900), "date", None,
             {"kind": "dates", "units": ["month", "quarter", "year"]}),
            (evidence("x", moments=40, days=900, daytimes=1), "date", None,
             {"kind": "dates", "units": ["day", "month", "quarter", "year"]}),
            (evidence("x", moments=40, days=2000), "date", None, {"kind": "dates", "units": ["month", "year"]}),
            (evidence("x", moments=40, days=20000), "date", None, {"kind": "dates", "units": ["year", "decade"]}),
            (evidence("zip", NUMBERS), "zip", (0, 39), {"kind": "prefixes", "keep": [4, 3, 2, 1]}),
            (evidence("sex", values=2), "sex", None, {"kind": "flat"}),
        ],
    )  # fmt: skip
    def test_follow_from_counts(
        self, found: Evidence, kind: str, tails: tuple[float, float] | None, rule: dict[str, Any]
    ) -> None:
        taxonomy = suggested(found, kind, tails)
        assert taxonomy.rule == rule
        settings = {name: value for name, value in rule.items() if name != "kind"}
        assert made(rule["kind"], settings), "it is a rule of a policy"

    def test_texts_are_joined_where_few_rows_have_them(self) -> None:
        values = [("a", True), ("b", True), ("c", False), ("d", False)]
        assert of_texts(values).labels == (("a", "a", "*"), ("b", "b", "*"), ("c", "other", "*"), ("d", "other", "*"))
        named = of_texts([("a", True), ("other", False), ("x", False)])
        assert named.labels == (("a", "a", "*"), ("other", "(other)", "*"), ("x", "(other)", "*"))
        for pointless in ([("a", True), ("b", False)], [("a", False), ("b", False)]):
            assert of_texts(pointless).rule == {"kind": "flat"}

    def test_texts_in_order_are_joined_with_their_neighbours(self) -> None:
        assert of_ordered("abcde").labels == (
            ("a", "a – b", "a – d", "*"), ("b", "a – b", "a – d", "*"), ("c", "c – d", "a – d", "*"),
            ("d", "c – d", "a – d", "*"), ("e", "e", "e", "*"),
        )  # fmt: skip

    def test_become_coarser_until_the_lattice_is_small(self) -> None:
        numbers = suggested(evidence("x", NUMBERS, values=500, maximum=640.0), "", (3, 630))
        fine = {f"x{number}": numbers for number in range(8)}
        less = coarsened(fine)
        assert lattice_nodes(fine) == 7**8
        assert MAX_NODES / 7 < lattice_nodes(less) <= MAX_NODES
        assert {each.rule["widths"][-1] for each in less.values()} == {320}
        wide = {f"x{number}": flat() for number in range(40)}
        assert coarsened(wide) == wide


class TestSafeHarbor:
    @pytest.mark.parametrize(
        ("value", "area"),
        [
            ("53113", "531"), ("02139", "021"), ("2139", "021"), ("2139.0", "021"), ("53113-1234", "531"),
            ("531131234", "531"),
            ("03601", "000"), ("3601", "000"), ("10299", "000"), ("89301", "000"), ("89401", "894"),
            ("SW1A 1AA", "000"), ("", "000"), ("53", "000"), ("501", "005"),
        ],
    )  # fmt: skip
    def test_zip_codes_keep_three_digits(self, value: str, area: str) -> None:
        assert area_of(value) == area

    def test_the_sparse_areas_are_seventeen(self) -> None:
        assert len(SPARSE_AREAS) == 17

    def test_places_below_a_state_are_dropped(self) -> None:
        for name, expected in (("city", "identifier"), ("county", "identifier"), ("state", "quasi-identifier")):
            assert decision_of(evidence(name), decided(evidence(name)), ()).role == expected

    def test_zip_codes_that_no_file_can_list_are_dropped(self) -> None:
        found = evidence("zip", has_empty=True)
        assert decision_of(found, decided(found), ()).role == "identifier"

    def test_dates_that_no_rule_reads_are_dropped(self) -> None:
        for found, expected in (
            (evidence("birth_date"), "identifier"),
            (evidence("birth_month", NUMBERS, values=12), "identifier"),
            (evidence("birth_date", moments=40), "quasi-identifier"),
        ):
            assert decision_of(found, decided(found), ()).role == expected


class TestPolicyFiles:
    def test_hostile_names_are_read_back(self) -> None:
        names = ['a"b', "a\nb", "a\\u0041", "\x7f", "'", "# x", "", "ö", "=1", "]"]
        columns = {name: f"because of {name}" for name in names}
        draft = Draft(
            ["About\nit"], {"quasi_identifiers": columns, "identifiers": {"id": "? "}},
            {"individual": ("a\nb", "x\ny"), "rest": ("identifier", "")},
            [{"model": "k-anonymity", "k": 5}], {name: flat("a\nhint") for name in names},
        )  # fmt: skip
        read = file_of(draft, {}, Path("policy.toml")).values
        assert read["quasi_identifiers"] == names
        assert [*read["taxonomies"]] == names
        assert read["individual"] == "a\nb"
        assert 'rest = "identifier"\n' in file_of(draft, {}, Path("policy.toml")).text

    def test_files_have_names_of_their_own(self) -> None:
        texts = of_texts([("a", True), ("b", False), ("c", False)])
        names = ["City", "city ", "čity", "../x", "", "a" * 300]
        read = file_of(Draft([], {}, {}, [], dict.fromkeys(names, texts)), {}, Path("policy.toml")).values
        files = [*read["taxonomies"].values()]
        assert len({file.lower() for file in files}) == len(names)
        assert all(re.fullmatch(r"policy_[a-z0-9_]{1,45}\.csv", file) for file in files)
