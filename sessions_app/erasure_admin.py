"""Deleting conversations in the dashboard: some, or all of a person."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from sessions_app import erasure
from sessions_app.models import Session


class PersonForm(forms.Form):
    """Whose conversations go; ``is_sure`` comes with the second step."""

    person = forms.CharField(
        max_length=200,
        label="User",
        help_text="The id that your site or server gave them, or the id of any of their"
        " conversations (sess_…).",
    )
    is_sure = forms.BooleanField(required=False, widget=forms.HiddenInput)


class ErasureAdmin(admin.ModelAdmin[Session]):
    """Ends what runs before anything is deleted, as the API does."""

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        erasure.delete([obj.pk])

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[Session]
    ) -> None:
        erasure.delete_all(Q(pk__in=list(queryset.values_list("pk", flat=True))))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.erase_view)
        name = "sessions_app_session_erase"
        return [path("erase/", view, name=name), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        may_erase = self.has_delete_permission(request)
        context = {"may_erase": may_erase, **(extra_context or {})}
        return super().changelist_view(request, context)

    def erase_view(self, request: HttpRequest) -> HttpResponse:
        """Asks whose conversations go, says how many there are, deletes them."""
        if not self.has_delete_permission(request):
            raise PermissionDenied
        form = PersonForm(request.POST or None)
        count = None
        if form.is_valid():
            person = form.cleaned_data["person"]
            whose = erasure.of_person(person)
            if whose is None:
                form.add_error("person", "Nothing is stored of anybody of that id.")
            elif form.cleaned_data["is_sure"]:
                return self._erased(request, erasure.erase(whose))
            else:
                count = erasure.there_now(whose).count()
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": "Delete all conversations of a user",
            "opts": self.opts,
            "form": form,
            "count": count,
        }
        template = "admin/sessions_app/session/erase.html"
        return TemplateResponse(request, template, context)

    def _erased(self, request: HttpRequest, count: int) -> HttpResponse:
        messages.success(request, f"Deleted: {count} conversations.")
        return HttpResponseRedirect(reverse("admin:sessions_app_session_changelist"))
