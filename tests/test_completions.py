"""The completions of the shells are those of the options there are."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from write_completions import FILES, FOLDER, written


@pytest.mark.parametrize("shell", FILES)
def test_they_are_up_to_date(shell: str) -> None:
    text = (FOLDER / FILES[shell]).read_text("utf-8")
    assert text == written(shell), "write them anew: python tests/write_completions.py"


@pytest.mark.parametrize("shell", FILES)
def test_the_shell_can_read_them(shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not here")
    subprocess.run([program, "-n", str(FOLDER / FILES[shell])], check=True)


def test_bash_completes() -> None:
    program = shutil.which("bash")
    if program is None:
        pytest.skip("bash is not here")
    ask = (
        f"source '{FOLDER / FILES['bash']}'; COMP_WORDS=(statecli validate --fo); COMP_CWORD=2;"
        "COMP_LINE='statecli validate --fo'; _shtab_statecli; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run([program, "-c", ask], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"--form", "--format"}
