from __future__ import annotations

import pytest
from django.test import Client

from sessions_app.models import Provider


def page_of(client: Client, base_url: str) -> str:
    row = Provider.objects.create(name="mine", kind="openai", base_url=base_url)
    return client.get(f"/admin/sessions_app/provider/{row.pk}/change/").content.decode()


def test_admin_shows_the_prices_of_a_vendor(admin_client: Client) -> None:
    page = page_of(admin_client, "https://api.deepseek.com/v1")
    assert "<td>deepseek-v4-pro</td>" in page
    assert "<td>Monday to Friday 01:00–04:00, 06:00–10:00 UTC</td><td>1.32</td>" in page
    assert "2026-12-02</a>" in page
    assert "<td>gpt-" not in page


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:8080/v1", ""])
def test_admin_says_that_none_apply(admin_client: Client, base_url: str) -> None:
    assert "None: the address is not that of a vendor" in page_of(
        admin_client, base_url
    )


def test_form_of_a_new_provider_opens(admin_client: Client) -> None:
    answer = admin_client.get("/admin/sessions_app/provider/add/")
    assert answer.status_code == 200
