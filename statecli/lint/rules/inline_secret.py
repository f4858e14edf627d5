"""A value looks like an API key, a token or a password.

Why: a graph is shared, committed and sent to people; whoever can read it can use the key. Keys are
read from the environment only.

Bad:
    model: {name: gpt-5-mini, api_key: sk-4f9a2c7e1b8d3a6f5e0c9b8a}
    initial: done
    states:
      done:
        type: terminal

Bad (in an address):
    tools:
      crm: {url: "https://crm.example/mcp?api_key=4f9a2c7e1b"}
    initial: done
    states:
      done:
        type: terminal

Good:
    model: {name: gpt-5-mini, api_key: "${OPENAI_API_KEY}"}
    initial: done
    states:
      done:
        type: terminal

Fix: write the name of an environment variable, as in `${OPENAI_API_KEY}`, and set that. A key that
others have seen should be revoked. The value is never shown in a message.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.secrets import Secret, secrets
from statecli.model.diagnostic import Finding
from statecli.model.span import Place

FAMILY = "model"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Every secret in the values of the document."""
    for secret in secrets(facts.document):
        yield Finding(
            message=f"{_shown(secret)} stands in the graph: whoever reads the file can use it",
            at=Place(secret.path, within=secret.within),
            states=facts.owner(secret.path),
            hint=f"write '${{{secret.variable}}}' and set that in the environment; "
            "revoke a key that others have seen",
            masked=True,
        )


def _shown(secret: Secret) -> str:
    """What it is, with no more of it than the part that all keys of the sort begin with."""
    return f"{secret.what} ('{secret.prefix}…')" if secret.prefix else secret.what
