"""Django settings, read from the environment (``docs/reference/settings.md``)."""

from __future__ import annotations

from pathlib import Path

import django_stubs_ext

from lantern_site.environment import database, mail_server, secret_keys, switch
from lantern_site.shared import channel_layer
from sessions_app.conf import read_env

# Generic bases such as ModelAdmin[Session] are written as the type checker reads them.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(read_env("LANTERN_DATA_DIR") or BASE_DIR / "var")

LANTERN_SECRET_KEYS, SECRET_KEY = secret_keys(DATA_DIR)
DEBUG = False
ALLOWED_HOSTS = [
    host.strip()
    for host in (
        read_env("LANTERN_ALLOWED_HOSTS") or "localhost,127.0.0.1,[::1]"
    ).split(",")
    if host.strip()
]
LANTERN_TRUSTED_PROXIES = [
    proxy.strip()
    for proxy in (read_env("LANTERN_TRUSTED_PROXIES") or "").split(",")
    if proxy.strip()
]
LANTERN_METRICS_TOKEN = read_env("LANTERN_METRICS_TOKEN") or ""
LANTERN: dict[str, object] = {}
LANTERN_EMAIL_FROM = read_env("LANTERN_EMAIL_FROM") or ""
globals().update(mail_server(LANTERN_EMAIL_FROM))
LANTERN_TICKET_URL = read_env("LANTERN_TICKET_URL") or ""

REDIS_URL = read_env("REDIS_URL") or ""
"""Empty: log, bell and counters are in the process, and there is one process."""

LANTERN_ENGINE = switch("LANTERN_ENGINE")
"""Whether web processes run turns; if not, ``manage.py runworker`` does."""

INSTALLED_APPS = [
    "lantern_site",
    "lantern_site.admin.LanternAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "sessions_app",
    "widget",
]

MIDDLEWARE = [
    "lantern_site.request_counter.request_counter",
    "django.middleware.security.SecurityMiddleware",
    "lantern_site.static_files.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "lantern_site.urls"
ASGI_APPLICATION = "lantern_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "lantern_site" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": database(DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CHANNEL_LAYERS = {"default": channel_layer(REDIS_URL)}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_MAX_AGE = 60
# The names of what the script loads hold a hash of the content.
WHITENOISE_IMMUTABLE_FILE_TEST = (
    r"^.+/(panel|triggers|lang-[a-z-]+)-[0-9A-Za-z]{8,}\.js$"
)

# Without a referrer browsers send the origin "null" with forms, and CSRF refuses it.
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "sessions_app.edge.rest.authentication.Credential"
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["sessions_app.edge.rest.media.JsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    # OPTIONS is for preflights; the schema says the rest.
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "sessions_app.edge.errors.rest_exception_handler",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Lantern",
    "DESCRIPTION": "A chat server for LLMs: sessions, turns and their event stream.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/v1",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "sessions_app.edge.rest.schema.add_event_stream",
        "sessions_app.edge.rest.schema.add_errors",
    ],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django.channels.server": {"level": "WARNING"},
        "daphne": {"level": "WARNING"},
        "twisted": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
    },
}
