"""Drives trn/compiler.h through ctypes: what the header promises, promise by promise.

usage: compiler_api.py LIBRARY FOLDER KERNEL   FOLDER holds what make.py writes, and net.trnx for trn1
"""
import ctypes
import pathlib
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
folder = pathlib.Path(sys.argv[2])
kernel = sys.argv[3].encode()
OK, UNSUPPORTED, BAD_INPUT, USAGE, INTERNAL = range(5)


class Problem(ctypes.Structure):
    _fields_ = [("severity", ctypes.c_int), ("node", ctypes.c_char_p), ("op", ctypes.c_char_p),
                ("index", ctypes.c_int64), ("opset", ctypes.c_int64), ("reason", ctypes.c_char_p),
                ("hint", ctypes.c_char_p)]


library.trn_compiler_version.restype = ctypes.c_char_p
library.trn_compilation_create.restype = ctypes.c_void_p
library.trn_compilation_message.restype = ctypes.c_char_p
library.trn_compilation_num_problems.restype = ctypes.c_size_t


class Compilation:
    def __init__(self, **options):
        self.handle = ctypes.c_void_p(library.trn_compilation_create())
        for name, value in options.items():
            assert self.set(name.replace("_", "-"), value) == OK, self.message()

    def __del__(self):
        library.trn_compilation_free(self.handle)

    def set(self, name, value):
        return library.trn_compilation_set_option(self.handle, name and name.encode(), value and value.encode())

    def file(self, path):
        return library.trn_compilation_compile_file(self.handle, path)

    def bytes(self, model, where=None):
        return library.trn_compilation_compile_bytes(self.handle, model, ctypes.c_size_t(len(model)), where)

    def write(self, path):
        return library.trn_compilation_write(self.handle, path)

    def executable(self):
        data, size = ctypes.c_void_p(1), ctypes.c_size_t(1)
        status = library.trn_compilation_executable(self.handle, ctypes.byref(data), ctypes.byref(size))
        return status, ctypes.string_at(data, size.value) if data else None

    def message(self):
        return library.trn_compilation_message(self.handle).decode()

    def problems(self):
        found = []
        for i in range(library.trn_compilation_num_problems(self.handle)):
            problem = Problem()
            assert library.trn_compilation_problem(self.handle, ctypes.c_size_t(i), ctypes.byref(problem)) == OK
            found.append(problem)
        return found


def net(name="net"):
    return (folder / f"{name}.onnx").read_bytes()


expected = (folder / "net.trnx").read_bytes()
assert library.trn_compiler_version().decode().count(".") == 2

# Nothing has been compiled.
empty = Compilation()
assert empty.executable() == (USAGE, None) and "no executable" in empty.message()
assert empty.write(str(folder / "nothing.trnx").encode()) == USAGE and not (folder / "nothing.trnx").exists()

# A file and bytes give what trnc writes, also a second time; a wrong option changes nothing.
both = Compilation(target="trn1")
assert both.set("target", "trn9") == USAGE and "expected one of inf2" in both.message()
assert both.set("tagret", "trn1") == USAGE and "target" in both.message()
assert both.set("dim", "N") == USAGE and both.set("dim", "N=-1") == USAGE and both.set("shape", "x=2xy") == USAGE
assert both.set(None, "1") == USAGE and both.set("O", None) == USAGE and both.set("O", "7") == USAGE
for _ in range(2):
    assert both.file(str(folder / "net.onnx").encode()) == OK, both.message()
    assert both.executable() == (OK, expected) and both.message() == "" and not both.problems()
    assert both.bytes(net()) == OK and both.executable() == (OK, expected)
assert both.write(str(folder / "written.trnx").encode()) == OK and (folder / "written.trnx").read_bytes() == expected
assert both.write(str(folder / "missing/written.trnx").encode()) == BAD_INPUT and "missing" in both.message()

# A later value replaces an earlier one.
assert both.set("target", "trn2") == OK and both.bytes(net()) == OK and both.executable()[1] != expected
assert both.set("target", "trn1") == OK and both.bytes(net()) == OK and both.executable()[1] == expected

# What cannot be compiled leaves no executable and says why.
assert both.bytes(net("unknown")) == UNSUPPORTED and both.executable() == (USAGE, None)
assert both.bytes(net("unknown")) == UNSUPPORTED and "mystery" in both.message()
problem, = both.problems()
assert (problem.severity, problem.node, problem.op, problem.index) == (0, b"mystery", b"Mystery", 0), problem.node
assert problem.reason and problem.hint is not None
assert library.trn_compilation_problem(both.handle, ctypes.c_size_t(1), ctypes.byref(problem)) == USAGE
assert both.bytes(b"not a model") == BAD_INPUT and both.message() and both.problems()
assert both.bytes(b"") != OK and both.file(None) == USAGE and both.file(b"nowhere.onnx") == BAD_INPUT
assert both.set("shape", "a:0=3x2") == OK and both.bytes(net()) != OK and "a:0" in both.message()

# A kernel written by hand.
hand = Compilation(target="trn2")
assert hand.file(kernel) == OK and len(hand.executable()[1]) > 0, hand.message()

# Compilations share nothing.
results = []


def work():
    own = Compilation(target="trn1")
    for _ in range(5):
        results.append((own.bytes(net()), own.executable()[1]))


threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == [(OK, expected)] * 20
