"""C71: which addresses may be asked."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from sessions_app.outbound.addresses import (
    AddressRefused,
    check_url,
    is_public,
    require_public,
)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001::1",
        "fd00::1",
        "fe80::1",
        "fec0::1",
        "feff::1",
        "3fff::1",
        "192.88.99.1",
        "2002:c058:6301::",
        "ff02::1",
    ],
)
def test_address_inside_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"],
)
def test_address_outside_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::7f00:1]/",
        "http://100.64.0.1/",
        "http://0.0.0.0/",
        "http://[fd00::1]/",
        "http://[fe80::1%25eth0]/",
        # Clients read all of these as an address, as IDNA has it.
        "http://\uff11\uff12\uff17.0.0.1/",
        "http://\u2460\u2461\u2466.0.0.1/",
        "http://127\u30020\u30020\u30021/",
        "http://169\uff0e254\uff0e169\uff61254/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "http://user@127.0.0.1/",
        "http://user@example.com/",
        "http:///path",
        "http://example.com:0/",
        "http://exam ple.com/",
        "http://example.com\\@127.0.0.1/",
        "http://[::1/",
        "//example.com/",
        "",
    ],
)
def test_url_is_refused_before_anything_is_asked(url: str) -> None:
    with pytest.raises(AddressRefused):
        check_url(url, allow_private=False)


def test_name_in_another_script_is_fine() -> None:
    url = "https://b\u00fccher.example/\u3002"
    assert check_url(url, allow_private=False).hostname == "b\u00fccher.example"


def test_private_address_is_fine_where_it_is_allowed() -> None:
    parts = check_url("http://127.0.0.1:6379/x", allow_private=True)
    assert (parts.hostname, parts.port) == ("127.0.0.1", 6379)


def test_name_with_one_private_address_is_refused() -> None:
    with pytest.raises(AddressRefused):
        require_public("example.com", ["93.184.215.14", "10.0.0.1"])
