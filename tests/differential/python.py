"""Python's json, as `json.loads` is used. See README.md for what is read and written."""
import json
import struct
import sys


def text(value):
    return ".".join("%x" % ord(character) for character in value)


def dump(value, out):
    if value is None:
        out.append("n")
    elif value is True or value is False:
        out.append("t" if value else "f")
    elif isinstance(value, int):
        out.append("i%d" % value)
    elif isinstance(value, float):
        out.append("d" + struct.pack(">d", value).hex())
    elif isinstance(value, str):
        out.append("s" + text(value))
    elif isinstance(value, list):
        out.append("[")
        for element in value:
            dump(element, out)
        out.append("]")
    else:
        out.append("{")
        named = [("k" + text(name), member) for name, member in value.items()]
        for name, member in sorted(named, key=lambda pair: pair[0]):
            out.append(name)
            dump(member, out)
        out.append("}")


for line in sys.stdin:
    try:
        out = []
        dump(json.loads(bytes.fromhex(line.strip())), out)
        print(" ".join(out))
    except Exception as fault:
        print("! " + type(fault).__name__ + ": " + str(fault).replace("\n", " "))
