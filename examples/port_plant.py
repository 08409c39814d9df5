#!/usr/bin/env python3
"""The machine of port_plant.c in Python: a rotor at the other end of a port, with nothing but the standard library.

    ./port_plant.py 47001 &     ends after one run
    yoke run port_plant.yaml
"""
import socket
import struct
import sys

HELLO, STEP, ANSWER, STOP, FAULT = range(1, 6)
HEAD = struct.Struct("<4sHHQQddQQQII")  # magic version kind session sequence t h sent echo signals size check
J, D = 0.01, 0.05  # [kg.m2], [N.m.s/rad]


def check_of(data):
    """FNV-1a of all bytes but the sum itself, folded to 32 bits."""
    value = 0xCBF29CE484222325
    for byte in data[:68] + data[72:]:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return (value ^ value >> 32) & 0xFFFFFFFF


def datagram(kind, session, sequence, t, echo, signals, values):
    head = HEAD.pack(b"YKPT", 1, kind, session, sequence, t, 0, 0, echo, signals, len(values), 0)
    return head[:68] + struct.pack("<I", check_of(head + values)) + values


def main():
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.bind(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 47001))
    print("listening at %s:%d" % own.getsockname(), flush=True)
    run, last, omega, answer = None, 0, 0.0, b""
    while True:
        data, peer = own.recvfrom(256)
        if len(data) < HEAD.size or data[:6] != b"YKPT\1\0":
            continue
        _, _, kind, session, sequence, t, h, sent, _, signals, size, check = HEAD.unpack(data[: HEAD.size])
        if check != check_of(data) or kind not in (HELLO, STEP, STOP) or (kind != HELLO and session != run):
            continue
        values = data[HEAD.size :]
        reply = lambda kind, t, out: datagram(kind, session, sequence, t, sent, signals, out)
        if kind == STOP:
            return
        if len(values) != 3:
            answer = reply(FAULT, t, b"expected a torque and enable")
        elif session != run:  # a hello
            run, last, omega = session, sequence, 0.0
            answer = reply(ANSWER, t, struct.pack("<f", omega))
        elif kind == STEP and sequence == last + 1:
            torque, enable = struct.unpack("<hB", values)
            last = sequence
            omega += h / J * ((0.001 * torque if enable else 0) - D * omega)
            answer = reply(ANSWER, t + h, struct.pack("<f", omega))
        elif sequence > last:
            answer = reply(FAULT, t, b"a command was lost")
        if session != run or sequence >= last:  # the last one again: its answer was lost
            own.sendto(answer, peer)


main()
