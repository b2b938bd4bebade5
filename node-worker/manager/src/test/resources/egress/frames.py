"""Puts odd frames on a guest's wire and counts what comes back: run in the guest's namespace.

usage: frames.py odd | frames.py flood COUNT
"""
import select, socket, struct, sys, time

GATEWAY, ME = bytes.fromhex("02fc00000001"), bytes.fromhex("02fc00000002")
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
wire.bind(("tap0", 0))


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip(protocol, target, body, source="10.200.0.2", fragment=0, options=b""):
    head = struct.pack(
        "!BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, 20 + len(options) + len(body), 7, fragment,
        64, protocol, 0, socket.inet_aton(source), socket.inet_aton(target)) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def frame(packet, mac=ME, to=GATEWAY, kind=0x0800):
    return to + mac + struct.pack("!H", kind) + packet


def udp(port, data=b"text"):
    return struct.pack("!HHHH", 40000, port, 8 + len(data), 0) + data


def syn(source_port, port, source="10.200.0.2", target="203.0.113.7"):
    head = struct.pack("!HHIIBBHHH", source_port, port, 1, 0, 0x50, 2, 1024, 0, 0)
    pseudo = socket.inet_aton(source) + socket.inet_aton(target) + struct.pack("!HH", 6, len(head))
    return head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:]


echo = struct.pack("!BBHHH", 8, 0, 0xF7FD, 1, 1)
ODD = [
    frame(ip(1, "10.200.0.1", echo)),
    frame(ip(1, "127.0.0.1", echo)),
    frame(ip(17, "203.0.113.7", udp(443))),
    frame(ip(17, "10.200.0.1", udp(15053))),
    frame(ip(17, "224.0.0.251", udp(53)), to=bytes.fromhex("01005e0000fb")),
    frame(ip(17, "255.255.255.255", udp(53)), to=b"\xff" * 6),
    frame(ip(17, "203.0.113.7", udp(53), fragment=0x2000)),
    frame(ip(6, "203.0.113.7", syn(40000, 80)[8:], fragment=1)),
    frame(ip(6, "203.0.113.7", syn(40000, 443, source="10.200.0.3"), source="10.200.0.3")),
    frame(ip(17, "203.0.113.7", udp(53), source="127.0.0.1")),
    frame(ip(6, "203.0.113.7", syn(40000, 443)), mac=bytes.fromhex("02fc00000003")),
    frame(ip(6, "203.0.113.7", syn(40000, 443), options=b"\x83\x07\x04\x0a\x00\x00\x01\x00")),
    frame(ip(47, "203.0.113.7", b"\0" * 8)),
    frame(b"\0" * 60, kind=0x88CC),
    frame(struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, bytes.fromhex("02fc00000009"),
                      socket.inet_aton("10.200.0.2"), b"\0" * 6, socket.inet_aton("10.200.0.1")),
          mac=bytes.fromhex("02fc00000009"), kind=0x0806),
    frame(struct.pack("!IHBB16s16s", 0x60000000, 8, 58, 255,
                      socket.inet_pton(socket.AF_INET6, "fe80::2"),
                      socket.inet_pton(socket.AF_INET6, "fe80::1")) + echo, kind=0x86DD),
]

if sys.argv[1] == "flood":
    for number in range(int(sys.argv[2])):
        wire.send(frame(ip(6, "203.0.113.7", syn(1024 + number, 443))))
    print("sent", sys.argv[2])
    sys.exit(0)

for each in ODD:
    wire.send(each)
replies, end = 0, time.monotonic() + 1
while time.monotonic() < end:
    if select.select([wire], [], [], 0.1)[0]:
        came, where = wire.recvfrom(70000)
        incoming = where[2] != socket.PACKET_OUTGOING
        replies += incoming and came[12:14] in (b"\x08\x00", b"\x86\xdd")
print("sent", len(ODD), "replies", replies)
