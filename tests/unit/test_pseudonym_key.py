"""The key of pseudonyms: where it comes from, what is refused for one, and that nothing shows it."""

import hashlib
import hmac
import os
import stat
import subprocess
import threading
from pathlib import Path
from unittest.mock import Mock

import pytest

import sqlanon as sa
from sqlanon.model.pseudonym_key import HOW_TO_MAKE, MAX_KEY_BYTES, VARIABLE, PseudonymKey, key_for

KEY = b"8f1d02a97c64b35e" * 4


def policy(**more: object) -> sa.Policy:
    values = {"quasi_identifiers": ["age"], "pseudonyms": ["patient"], "privacy": [sa.KAnonymity(2)], **more}
    return sa.Policy(**values)  # type: ignore[arg-type]


def key_file(folder: Path, content: bytes = KEY + b"\n", mode: int = 0o600) -> Path:
    path = folder / "pseudonym.key"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def refusal(given: object) -> str:
    with pytest.raises(sa.PolicyError) as caught:
        key_for(policy(), given)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


class TestWhereItComesFrom:
    def test_bytes_a_file_and_the_environment_are_one_key(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given = key_for(policy(), KEY)
        assert given is not None
        monkeypatch.setenv(VARIABLE, KEY.decode())
        others = [key_for(policy(), key_file(tmp_path, KEY + end)) for end in (b"", b"\n", b"\r\n")]
        others.append(key_for(policy(), None))
        assert [found and found.blocks for found in others] == [given.blocks] * 4

    def test_an_error_without_a_reason(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Path, "open", Mock(side_effect=OSError))
        assert "that is not the name of a file" in refusal(Path("pseudonym.key"))

    @pytest.mark.parametrize("length", [32, 63, 64, 65, 4096])
    def test_its_blocks_are_those_of_hmac(self, length: int) -> None:
        key = bytes(range(33, 97)) * 64
        inner, outer = PseudonymKey(key[:length]).blocks
        found = hashlib.sha256(outer + hashlib.sha256(inner + b"alice").digest())
        assert found.digest() == hmac.digest(key[:length], b"alice", "sha256")

    def test_what_is_given_comes_before_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(VARIABLE, "another key " * 5)
        found = key_for(policy(), KEY)
        assert found is not None
        assert found.blocks == PseudonymKey(KEY).blocks

    def test_a_pipe(self, tmp_path: Path) -> None:
        path = tmp_path / "pipe"
        os.mkfifo(path, 0o600)
        writer = threading.Thread(target=path.write_bytes, args=(KEY,))
        writer.start()
        found = key_for(policy(), path)
        writer.join()
        assert found is not None
        assert found.blocks == PseudonymKey(KEY).blocks

    def test_policies_without_pseudonyms_have_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(VARIABLE, KEY.decode())
        without = policy(pseudonyms=[], identifiers=["patient"])
        assert key_for(without, None) is None
        with pytest.raises(sa.PolicyError, match="this one has none"):
            key_for(without, KEY)


class TestRefusals:
    def test_none(self) -> None:
        message = refusal(None)
        assert 'the pseudonyms of "patient" need a secret key' in message
        for word in ("--pseudonym-key FILE", "pseudonym_key=Path(FILE)", VARIABLE, "openssl rand -hex 32 >"):
            assert word in message

    @pytest.mark.parametrize("length", [0, 31])
    def test_too_short(self, length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        short = b"z" * length
        expected = f"the pseudonym key is refused: it has {length} bytes and needs 32 at least"
        monkeypatch.setenv(VARIABLE, short.decode())
        for message in (refusal(short), refusal(key_file(tmp_path, short + b"\n")), refusal(None)):
            assert expected in message
            assert "openssl rand -hex 32 >" in message
            assert "zz" not in message
        assert key_for(policy(), KEY[:32]) is not None

    def test_few_bytes_again_and_again(self) -> None:
        for weak in (b" " * 64, b"0" * 64, bytes(32), b"8f1d" * 16, b"1234567" * 9):
            assert "it repeats fewer than 8 different bytes" in refusal(weak)
        assert key_for(policy(), b"12345678" * 4) is not None

    def test_another_file(self, tmp_path: Path) -> None:
        assert "probably another file" in refusal(key_file(tmp_path, b"z" * (MAX_KEY_BYTES + 1)))
        assert key_for(policy(), key_file(tmp_path, KEY * (MAX_KEY_BYTES // 64) + b"\r\n")) is not None

    def test_a_file_that_others_read(self, tmp_path: Path) -> None:
        for mode in (0o604, 0o640, 0o666):
            message = refusal(key_file(tmp_path, mode=mode))
            assert "other users of this machine can read its file: `chmod 600` it" in message
        assert key_for(policy(), key_file(tmp_path, mode=0o620)) is not None, "nobody else reads it"

    def test_the_command_makes_a_file_that_is_taken(self, tmp_path: Path) -> None:
        made = key_file(tmp_path)
        made.unlink()
        command = HOW_TO_MAKE.split("`")[1]
        subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
        assert stat.S_IMODE(made.stat().st_mode) == 0o600
        assert key_for(policy(), made) is not None

    def test_a_name_that_is_the_key_itself_is_not_shown(self, tmp_path: Path) -> None:
        for given in (Path(KEY.decode()), tmp_path / KEY.decode(), tmp_path, Path("\0" + KEY.decode()), KEY.decode()):
            message = refusal(given)
            assert message.startswith("the pseudonym key is refused: ")
            assert KEY.decode() not in message


def test_nothing_prints_it() -> None:
    key = PseudonymKey(KEY)
    assert repr(key) == str(key) == f"{key}" == "PseudonymKey(<secret>)"


class TestPolicies:
    def test_toml_json_and_copies(self, tmp_path: Path) -> None:
        (tmp_path / "policy.toml").write_text(
            'quasi_identifiers = ["age"]\npseudonyms = ["patient"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
        )
        read = sa.Policy.from_toml(tmp_path / "policy.toml")
        assert read == policy() == sa.Policy(**read.model_dump())
        assert read.released_columns == {"age", "patient"}
        assert "pseudonyms" in sa.Policy.model_json_schema()["properties"]
        assert read.model_copy(update={"pseudonyms": ()}).sha256() != read.sha256()

    @pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "identifiers", "insensitive"])
    def test_a_column_has_no_other_role(self, role: str) -> None:
        with pytest.raises(sa.PolicyError, match=r'column "\w+" has two roles: (\w+ and pseudonyms|pseudonyms and)'):
            policy(**{"pseudonyms": ["PATIENT", "age"], role: ["age", "patient"]})

    def test_names_that_cannot_be(self) -> None:
        with pytest.raises(sa.PolicyError, match="reserved"):
            policy(pseudonyms=["anon_patient"])
        with pytest.raises(sa.PolicyError, match='individual "patient" is among the pseudonyms, which do not repeat'):
            policy(individual="patient")

    def test_methods_that_make_rows_anew(self) -> None:
        drawn = "a pseudonym shows that its row is in the table"
        for method, reason in (
            (sa.HCeiling(k=2), "counterfeits have no value to make a pseudonym of"),
            (sa.Relocation(k=2), "it gives rows the quasi-identifiers of others"),
            (sa.TopDownSpecialization(k=2), "it does not publish the rows of the source one by one"),
            (sa.IPA(budget=sa.Budget(1, "1e-6")), drawn),
            (sa.Histogram(budget=sa.Budget(1)), drawn),
            (sa.EpsilonSafe(k=2, beta=0.1), drawn),
            (sa.DiffGen("d"), drawn),
        ):
            with pytest.raises(sa.PolicyError) as caught:
                policy(method=method, privacy=[], sensitive=["d"])
            assert f'{method} cannot publish the pseudonyms of "patient": {reason}' in str(caught.value)
