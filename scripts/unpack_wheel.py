"""Takes the files that match the given patterns out of a wheel and lays them flat into a folder.

usage: unpack_wheel.py WHEEL FOLDER PATTERN...   Exit code 1 when a pattern matches nothing.
"""
import fnmatch
import pathlib
import sys
import zipfile


def main(wheel, folder, *patterns):
    with zipfile.ZipFile(wheel) as archive:
        for pattern in patterns:
            names = [n for n in archive.namelist() if fnmatch.fnmatch(n, pattern) and not n.endswith("/")]
            if not names:
                sys.exit(f"unpack_wheel: nothing in {wheel} matches '{pattern}'")
            for name in names:
                (pathlib.Path(folder) / pathlib.PurePosixPath(name).name).write_bytes(archive.read(name))


if __name__ == "__main__":
    main(*sys.argv[1:])
