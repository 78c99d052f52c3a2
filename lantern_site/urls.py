"""All paths that Django answers."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularSwaggerView

from lantern_site import views
from widget.views import Bootstrap, Config, VisitorEndpoint, script

urlpatterns = [
    path("", views.front_page),
    path("health", views.health),
    path("ready", views.ready),
    path("metrics", views.metrics),
    path("widget.js", script),
    path("v1/widget/bootstrap", Bootstrap.as_view()),
    path("v1/widget/visitor", VisitorEndpoint.as_view()),
    path("v1/widget/config", Config.as_view()),
    path("v1/schema", views.schema, name="schema"),
    path("v1/docs", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
    path("v1/", include("sessions_app.edge.rest.urls")),
    path("admin/", admin.site.urls),
]

handler404 = "lantern_site.views.not_found"
handler500 = "lantern_site.views.server_error"
handler400 = "lantern_site.views.bad_request"
