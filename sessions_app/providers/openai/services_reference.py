"""The page ``docs/reference/services.md``, from the file of services."""

from __future__ import annotations

from sessions_app.providers.openai.services import Service, services

_HEAD = """\
# Known services

Services that speak OpenAI's chat completions. `service = "ollama"` in a `[[provider]]`,
or the field in the dashboard, is all that one of them needs besides its key. This page
is generated from `sessions_app/providers/openai/services.toml`, whose first lines say
how it was checked; renew it with `make docs`.

- A local service may be at a private address. Your own `base_url` wins over the usual.
- An account at one of these hosts is treated alike if it names no service.
- Azure's address holds the name of your resource; a model is called as its deployment.
- vLLM's usual port is Lantern's own: give one of them another.

| service | | base_url | key | what is done differently | as of |
|---|---|---|---|---|---|
"""


def services_reference() -> str:
    """The page as Markdown."""
    return _HEAD + "".join(_row(each) for each in services().values())


def _row(service: Service) -> str:
    place = service.base_url or f"yours, such as {service.example}"
    key = "needed" if service.needs_key else "if it wants one"
    done = "; ".join(_differences(service)) or "–"
    return (
        f"| `{service.name}` | {service.label} | {place} | {key} | {done}"
        f" | [{service.as_of}]({service.source}) |\n"
    )


def _differences(service: Service) -> list[str]:
    found = [f"`{name}` is not sent" for name in service.refuses]
    if not service.names_tool:
        found.append('a named tool is offered alone, as `"required"`')
    if service.limit_name != "max_tokens":
        found.append(f"the limit is `{service.limit_name}`")
    if service.call_id_length:
        length = service.call_id_length
        found.append(f"ids of tool calls become {length} letters and digits")
    if service.key_header:
        found.append(f"the key goes into the header `{service.key_header}`")
    if service.usage_in:
        found.append(f"usage is read from `{service.usage_in}`, too")
    return found
