"""What a program in the guest does: run in the guest's namespace.

usage: guest.py (tcp|udp|hold) ADDRESS PORT; prints the answer or the error's name.
"""
import errno, socket, sys

kind, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
s.settimeout(5)
try:
    s.connect((address, port))
    s.send(b"hello")
    print("answer", s.recv(100).decode(), flush=True)
    if kind == "hold":
        print("end", s.recv(100), flush=True)
except OSError as e:
    print("error", errno.errorcode.get(e.errno, str(e)), flush=True)
