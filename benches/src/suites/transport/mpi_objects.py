"""Ranks of mpi4py, which scatter and broadcast objects as they are told to.

usage: mpirun -n RANKS python3 mpi_objects.py SOCKET CORE0 CORE1

The orders and answers are those of `mpi.c`. BYTES is the number of elements of the list that is
broadcast, or of all records that are scattered. The objects are those of `with_objects.rs`, as the
types that Python pickles fastest: tuples, and arrays of integers.
"""

import os
import signal
import socket
import sys
import time
from array import array

from mpi4py import MPI

# A round that takes so many seconds does not end.
AT_MOST = 30
INTEGERS = 4096

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def list_of(count):
    """Returns a linked list of all integers, in `count` elements."""
    elements = None
    for _ in range(count):
        elements = (array("i", [1]) * (INTEGERS // count), elements)
    return elements


def sum_of_list(element):
    total = 0
    while element is not None:
        integers, element = element
        total += sum(integers)
    return total


def broadcast(root, elements):
    received = comm.bcast(elements if rank == root else None, root)
    if rank != root and sum_of_list(received) != INTEGERS:
        sys.exit("the sum is wrong")


def scatter(root, records):
    each = len(records) // size
    parts = None
    if rank == root:
        parts = [records[part * each : (part + 1) * each] for part in range(size)]
    part = comm.scatter(parts, root)
    total = sum(number + len(name) + sum(values) for number, name, values in part)
    if total <= 0:
        sys.exit("the sum is wrong")


def objects_of(pattern, count):
    """Returns the operation of a case, and its objects."""
    if pattern == "broadcast-object":
        return broadcast, list_of(count)
    if pattern == "scatter-objects":
        return scatter, [(number, f"record {number}", [1] * 4) for number in range(count)]
    sys.exit(f"there is no operation {pattern}")


def main():
    # A list is pickled recursively.
    sys.setrecursionlimit(100_000)
    os.sched_setaffinity(0, {int(sys.argv[2 + rank % 2])})
    control = socket.socket(socket.AF_UNIX)
    control.connect(sys.argv[1])
    control.sendall(f"{rank}\n".encode())
    case, turn = None, 0
    for line in control.makefile():
        pattern, count, _touch, _window, batch, batches = line.split()
        batch, batches = int(batch), int(batches)
        signal.alarm(AT_MOST)
        if case != (pattern, count):
            case = (pattern, count)
            operation, objects = objects_of(pattern, int(count))
        samples = []
        for _ in range(batches + 1):
            start = time.perf_counter_ns()
            for _ in range(batch):
                operation(turn % size, objects)
                turn += 1
            samples.append((time.perf_counter_ns() - start) / batch)
        signal.alarm(0)
        counted = sorted(samples[1:])
        answer = counted[len(counted) // 2] if rank == 0 else 0.0
        control.sendall(f"{answer:.3f}\n".encode())


main()
