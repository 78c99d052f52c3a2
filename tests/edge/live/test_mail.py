from __future__ import annotations

import asyncio
from typing import Any

from tests.fakes.edge import Live
from tests.fakes.smtp_server import smtp_server


async def test_slow_mail_server_keeps_nobody_waiting(live: Live, settings: Any) -> None:
    await live.run()
    with smtp_server() as post_office:
        post_office.pause_s = 0.3
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", post_office.port
        settings.LANTERN_EMAIL_FROM = "chat@shop.example"
        url, body = f"{live.path}/transcript", {"email": "a@b.example"}
        sending = asyncio.create_task(live.client.request("POST", url, json=body))
        await asyncio.sleep(0.2)
        ended = [await live.run() for _ in range(3)]
        assert not sending.done()
        assert {turn["status"] for turn in ended} == {"completed"}
        assert (await sending).status == 204
    assert "Hello" in post_office.mails[0][1].get_content()
