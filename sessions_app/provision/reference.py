"""The reference page of the file, written from the sections themselves."""

from __future__ import annotations

import json
from typing import Any

from sessions_app.provision.fields import TEXT_TABLE, Field
from sessions_app.provision.registry import sections
from sessions_app.provision.section import Section

_HEAD = """\
# The configuration file

`manage.py provision FILE` reads a TOML file and makes the database say the same; `-`
reads standard input. Running it again changes nothing. All of it is done in one
transaction, or nothing: whatever is wrong is said as `FILE:LINE: sentence` on standard
error, with exit status 1.

- Every string, also in a list, may be `env:NAME`: the value of that environment
  variable, or the content of the file that `NAME_FILE` names.
- What the file does not name stays as it is: other rows, and the keys that a table
  leaves out. A new row gets the default.
- What the file names is enabled.
- With `--prune` the file is the whole truth: every provider, agent, key, embed,
  budget and limit that it does not name is disabled, and the prices that it does not
  name are deleted for the providers that it does name.
- Decimal strings are numbers in quotes, such as `"0.15"`; whole numbers need none.

This page is generated; `tests/provision/test_reference.py` says how.

```toml
"""

EXAMPLE = """\
[[provider]]
name = "primary"
kind = "openai"
base_url = "https://api.openai.com/v1"
api_key = "env:OPENAI_API_KEY"

[[provider]]
name = "local"
service = "ollama"
first_content_timeout_s = 60

[[price]]
provider = "primary"
model = "gpt-*"
input = "0.15"
output = "0.60"
cached_input = "0.075"

[[agent]]
slug = "helper"
default = true
system_prompt = "You help the visitors of the shop."
route = ["primary/gpt-4.1-mini", "local/llama3.2"]
tools = ["current_time"]
max_output_tokens = 1024

[[key]]
name = "ci"
agents = ["helper"]

[[embed]]
key = "pk_shop"
agent = "helper"
origins = ["https://shop.example", "https://*.shop.example"]

[[budget]]
on = "embed:pk_shop"
period = "day"
usd = "5.00"
fallback_input = "1"
fallback_output = "3"

[[limit]]
on = "embed:pk_shop"
requests_per_minute = 300
concurrent_turns = 50
"""

_FENCE = "```\n"
_TABLE_HEAD = "| key | value | default | meaning |\n|---|---|---|---|\n"


def reference() -> str:
    """The page as Markdown."""
    parts = [_HEAD, EXAMPLE, _FENCE]
    for name, section in sections().items():
        rows = "".join(_row(section, field) for field in section.fields)
        parts.append(f"\n## `[[{name}]]`\n\n{section.about}\n\n{_TABLE_HEAD}{rows}")
    return "".join(parts)


def _row(section: Section[Any], field: Field) -> str:
    default = "required" if field.required else _default(section, field)
    text = field.help.replace("|", "\\|")
    return f"| `{field.name}` | {field.kind.label} | {default} | {text} |\n"


def _default(section: Section[Any], field: Field) -> str:
    name = section.column(field.name)
    names = {column.name for column in section.model._meta.get_fields()}
    if name not in names or field.kind is TEXT_TABLE:
        return ""  # kept within another column
    value = section.model._meta.get_field(name).get_default()
    return "" if value in ("", None) else f"`{json.dumps(value)}`"
