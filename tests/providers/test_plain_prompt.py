from __future__ import annotations

import pytest

from sessions_app.domain.errors import ProviderRefused
from sessions_app.domain.prompt import CompletionRequest, PromptImage, PromptMessage
from sessions_app.providers.plain_prompt import prompt_text


def test_images_are_refused_rather_than_forgotten() -> None:
    image = PromptImage("image/png", "aGk=")
    asked = PromptMessage("user", "Look", images=(image,))
    with pytest.raises(ProviderRefused):
        prompt_text(CompletionRequest("x", [asked], "key"))
