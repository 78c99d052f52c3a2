"""What a member of the staff does in the dashboard."""

from __future__ import annotations

from tests.e2e.browser.conftest import Shop
from tests.fakes.live_server import manage

PASSWORD = "a-long-password-of-the-desk"


async def log_in(shop: Shop) -> None:
    """As a superuser, made for the purpose."""
    manage(
        shop.server.folder,
        "createsuperuser",
        "--no-input",
        DJANGO_SUPERUSER_USERNAME="desk",
        DJANGO_SUPERUSER_EMAIL="desk@shop.example",
        DJANGO_SUPERUSER_PASSWORD=PASSWORD,
    )
    page = shop.visit.page
    await page.goto(f"{shop.server.url}/admin/")
    await page.get_by_label("Username").fill("desk")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Log in").click()
    await page.get_by_role("link", name="Conversations").first.wait_for()


async def open_conversation(shop: Shop, title: str) -> None:
    """By its link in the list."""
    page = shop.visit.page
    await page.get_by_role("link", name="Conversations").first.click()
    await page.get_by_role("link", name=title, exact=True).first.click()
    await page.get_by_role("textbox", name="Reply").wait_for()
