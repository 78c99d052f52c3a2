"""What the drilled installation knows of providers, tools and agents."""

from __future__ import annotations

TOML = """
[[provider]]
name = "primary"
kind = "openai"
base_url = "http://127.0.0.1:{upstream}/v1"
api_key = "sk-test"
allow_private = true

[[provider]]
name = "hasty"
kind = "openai"
base_url = "http://127.0.0.1:{proxy}/v1"
api_key = "sk-test"
allow_private = true
connect_timeout_s = 1
first_content_timeout_s = 2
idle_timeout_s = 2

[[price]]
provider = "primary"
model = "*"
input = "1.00"
output = "2.00"

[[tool]]
name = "order"
kind = "http"
url = "http://127.0.0.1:{shop}/orders"
method = "POST"
input_schema = {{ type = "object", properties = {{ n = {{ type = "integer" }} }} }}
allow_private = true

[[agent]]
slug = "helper"
default = true
route = ["primary/gpt-x"]

[[agent]]
slug = "hasty"
route = ["hasty/gpt-x"]

[[agent]]
slug = "buyer"
route = ["primary/gpt-x"]
tools = ["order"]

[[key]]
name = "ci"
key = "{key}"
"""
