"""Asks node-manager for a slot's sockets, as the gateway does, and serves them.

usage: gateway.py SOCKET SLOT UID; says what it got, then each connection and query it serves: what
the guest wanted to reach. Answers each with the first bytes it got.
"""
import os, select, socket, struct, sys

if int(sys.argv[3]) > 0:
    os.setgroups([])
    os.setgid(int(sys.argv[3]))
    os.setuid(int(sys.argv[3]))
ask = socket.socket(socket.AF_UNIX)
ask.connect(sys.argv[1])
request = struct.pack("!BBI", 1, 32, int(sys.argv[2]))
ask.send(struct.pack("!I", len(request)) + request)
try:
    answer, came, _, _ = socket.recv_fds(ask, 65536, 4)
except ConnectionResetError:
    answer = b""
if len(answer) < 6:
    print("closed", flush=True)
    sys.exit(0)
if answer[5] == 69:
    length = struct.unpack("!I", answer[6:10])[0]
    print("refused", answer[10:10 + length].decode(), flush=True)
    sys.exit(0)
listener, datagram = (socket.socket(fileno=number) for number in came)
print("sockets", answer[5], struct.unpack("!I", answer[6:10])[0], flush=True)
while True:
    for ready in select.select([listener, datagram], [], [])[0]:
        if ready is datagram:
            query, guest = datagram.recvfrom(1500)
            print("query", query.decode(), *guest, flush=True)
            datagram.sendto(query, guest)
        else:
            connection, guest = listener.accept()
            wanted = connection.getsockopt(socket.SOL_IP, 80, 16)
            port, address = struct.unpack("!2xH4s8x", wanted)
            print("connection", socket.inet_ntoa(address), port, *guest[:1], flush=True)
            connection.settimeout(5)
            connection.send(connection.recv(1500))
            if address != bytes([203, 0, 113, 9]):
                connection.close()
