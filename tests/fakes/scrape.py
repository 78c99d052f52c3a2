"""What ``/metrics`` says, as numbers."""

from __future__ import annotations

import httpx
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[str, float]


def samples(text: str) -> Samples:
    """Each value by the name and its sorted labels: ``lantern_turns_totalcompleted``"""
    return {
        sample.name + "".join(sorted(map(str, sample.labels.values()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def scrape(url: str) -> Samples:
    """Ask over a connection of its own: whichever process is free answers."""
    async with httpx.AsyncClient(trust_env=False, timeout=15) as client:
        answer = await client.get(f"{url}/metrics")
    assert answer.status_code == 200, answer.text
    return samples(answer.text)
