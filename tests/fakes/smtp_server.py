"""A mail server on a real socket, which keeps what it is sent."""

from __future__ import annotations

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class SmtpServer:
    """``refusing`` makes it answer a command, such as RCPT, with an error.

    With ``hangs_up`` it closes each connection after its greeting; ``pause_s`` is how
    long it thinks about each command.
    """

    def __init__(self) -> None:
        self.mails: list[tuple[list[str], EmailMessage]] = []
        self.refusing: dict[str, str] = {}
        self.hangs_up = False
        self.pause_s = 0.0
        self.port = 0


def _handler(server: SmtpServer) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 mail.example")
            recipients: list[str] = []
            while not server.hangs_up and (line := self.rfile.readline()):
                time.sleep(server.pause_s)
                command = line[:4].decode().upper()
                if command in server.refusing:
                    self._say(server.refusing[command])
                elif command == "DATA":
                    self._say("354 go on")
                    server.mails.append((recipients, self._read_mail()))
                    self._say("250 kept")
                else:
                    if command == "RCPT":
                        recipients.append(line.decode().strip()[9:-1])
                    self._say("221 bye" if command == "QUIT" else "250 mail.example")
                    if command == "QUIT":
                        return

        def _say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        def _read_mail(self) -> EmailMessage:
            lines = iter(self.rfile.readline, b".\r\n")
            text = b"".join(line.removeprefix(b".") for line in lines)
            mail = message_from_bytes(text, policy=policy.default)
            assert isinstance(mail, EmailMessage)
            return mail

    return Handler


@contextmanager
def smtp_server() -> Iterator[SmtpServer]:
    """The server, listening on a port of its own."""
    server = SmtpServer()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _handler(server)) as tcp:
        tcp.daemon_threads = True
        server.port = tcp.server_address[1]
        thread = threading.Thread(target=tcp.serve_forever, args=(0.02,))
        thread.start()
        yield server
        tcp.shutdown()
        thread.join()
