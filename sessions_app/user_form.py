"""Forms whose rules depend on who fills them in."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from django import forms
from django.contrib import admin
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.http import HttpRequest

M = TypeVar("M", bound=models.Model)


class UserForm(forms.ModelForm[M], Generic[M]):
    """Knows its user, who is set for each request; until then, nobody."""

    user: ClassVar[AbstractBaseUser | AnonymousUser] = AnonymousUser()


class WrittenSecret(forms.PasswordInput):
    """What was typed outlasts an error elsewhere; a browser's own password stays out.

    Its form shows nothing of what is stored: ``initial`` is empty.
    """

    def __init__(self) -> None:
        attributes = {"autocomplete": "new-password", "class": "vTextField"}
        super().__init__(attrs=attributes, render_value=True)


class UserFormAdmin(admin.ModelAdmin[M], Generic[M]):
    """Tells its form, a ``UserForm``, who fills it in."""

    def get_form(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> type[forms.ModelForm[M]]:
        form = super().get_form(request, *args, **kwargs)
        form.user = request.user  # type: ignore[attr-defined]
        return form
