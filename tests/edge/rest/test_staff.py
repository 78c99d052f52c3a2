from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.fakes.edge import People


def client_of(*permissions: str, **fields: Any) -> Client:
    user = User.objects.create_user("staff", **{"is_staff": True, **fields})
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    client.get("/admin/")
    return client


def post(client: Client, path: str, token: str | None = None, **options: Any) -> int:
    headers = {} if token is None else {"X-CSRFToken": token}
    options = {"data": {"content": "x"}, "content_type": "application/json", **options}
    return client.post(path, headers=headers, **options).status_code


@pytest.fixture
def url(people: People) -> str:
    return f"{people.path}/messages"


def test_staff_reads_all_sessions(people: People, url: str) -> None:
    client = client_of("view_session")
    assert client.get(people.path).status_code == 200
    assert client.get(url).status_code == 200
    assert len(client.get("/v1/sessions").json()["data"]) == 1


def test_staff_without_permission_is_refused(people: People) -> None:
    assert client_of().get(people.path).status_code == 401


def test_user_that_is_no_staff_is_refused(people: People) -> None:
    client = client_of("view_session", is_staff=False)
    assert client.get(people.path).status_code == 401


def test_writing_needs_the_csrf_token(url: str) -> None:
    client = client_of("view_session", "change_session")
    client.cookies["csrftoken"] = "x" * 32
    assert post(client, url) == 403
    assert post(client, url, "y" * 32) == 403
    assert post(client, url, "x" * 32) == 202


def test_staff_that_may_only_look_does_not_write(people: People, url: str) -> None:
    client = client_of("view_session")
    client.cookies["csrftoken"] = "x" * 32
    assert post(client, url, "x" * 32) == 403
    response = client.delete(people.path, headers={"X-CSRFToken": "x" * 32})
    assert response.status_code == 403


# The CSRF check reads forms: the body must survive that.
@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain",
        "garbage",
    ],
)
def test_content_type_makes_no_difference(url: str, content_type: str) -> None:
    client = client_of("view_session", "change_session")
    client.cookies["csrftoken"] = "x" * 32
    body = b'{"content": "x"}'
    options = {"data": body, "content_type": content_type}
    assert post(client, url, "x" * 32, **options) == 202
    assert post(client, url, **options) == 403


def test_token_goes_before_the_cookie(people: People) -> None:
    client = client_of("view_session")
    headers = {"Authorization": "Bearer lk_wrong"}
    assert client.get(people.path, headers=headers).status_code == 401


def test_dashboard_shows_itself_to_no_other_origin(people: People) -> None:
    response = client_of("view_session").get(
        "/admin/login/", headers={"Origin": "https://shop.example"}
    )
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("right", ["add", "change", "delete"])
def test_each_act_takes_its_own_permission(people: People, right: str) -> None:
    client = client_of("view_session", f"{right}_session")
    client.cookies["csrftoken"] = "x" * 32
    options: dict[str, Any] = {
        "content_type": "application/json",
        "headers": {"X-CSRFToken": "x" * 32},
    }
    made = client.post("/v1/sessions", data={}, **options).status_code
    changed = client.patch(people.path, data={"title": "x"}, **options).status_code
    deleted = client.delete(people.path, **options).status_code
    assert made == (201 if right == "add" else 403)
    assert changed == (200 if right == "change" else 403)
    assert deleted == (204 if right == "delete" else 403)
