"""First contact with every address: what independent generators make of the form is accepted, what independent
validators refuse is refused, and each disagreement has a reason that stands in EXPLAINED."""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis_jsonschema import from_schema

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from gate import ROOT, Backend, Gate, adopted_config, config_of, shipped_config  # noqa: E402

EACH = int(os.environ.get("EACH", "25"))
warnings.simplefilter("ignore")


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from strings(element)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from strings(member)


def numbers(value):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value
    elif isinstance(value, (list, dict)):
        for element in value.values() if isinstance(value, dict) else value:
            yield from numbers(element)


def has_format(schema):
    return '"format"' in json.dumps(schema)


# Why an independent validator may take what formgate refuses: which, when, why.
TAKEN = [
    ("python", lambda schema, value: any(text.endswith("\n") for text in strings(value)), "Python's `$` also matches before a last line break"),
    ("python", lambda schema, value: has_format(schema), "jsonschema does not check formats without further packages"),
    ("ajv", lambda schema, value: any(0xD800 <= ord(c) <= 0xDFFF for text in strings(value) for c in text), "half a surrogate pair is no Unicode text"),
]
# Why an independent validator may refuse what formgate takes.
REFUSED = [
    ("python", lambda schema, value: "multipleOf" in json.dumps(schema) and any(isinstance(n, float) for n in numbers(value)), "jsonschema divides in floating point"),
    ("ajv", lambda schema, value: "multipleOf" in json.dumps(schema) and any(isinstance(n, float) for n in numbers(value)), "ajv divides in floating point"),
]

# Public documents that others wrote.
PUBLIC = [
    "@readme/oas-examples/8.2.2/3.0/json/complex-nesting.json",
    "@readme/oas-examples/8.2.2/3.1/yaml/train-travel.yaml",
    "@figma/rest-api-spec/0.43.0/openapi/openapi.yaml",
]

counted, explained, faults = collections.Counter(), collections.Counter(), []


def post(gate, backend, address, text, fits, by, schema):
    """Posts a value and holds the answer against what its validator says."""
    body = text.encode("utf-8", "surrogatepass")
    before = backend.count
    status, answer = gate.ask("POST", address, body)
    arrived = backend.count - before
    if status == 200 and not (arrived == 1 and backend.last == body and answer == b'{"ok":true}'):
        faults.append(f"{address}: accepted, but the backend got {arrived} bodies, the last {backend.last!r}, for {text}")
    if status == 204 and arrived:
        faults.append(f"{address}: refused, but the backend got {text}")
    if status not in (200, 204):
        faults.append(f"{address}: {status} for {text}")
        return
    counted[f"{by} {'fit' if fits else 'do not'}"] += 1
    if (status == 200) == fits:
        return
    validator = "python" if by in ("hypothesis", "python") else "ajv"
    value = json.loads(text)
    for which, when, why in TAKEN if fits else REFUSED:
        if which == validator and when(schema, value):
            explained[why] += 1
            return
    faults.append(f"{address}: {validator} says it {'fits' if fits else 'does not fit'}, formgate says {status}: {text[:300]}")


def validator_of(schema):
    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def hypothetical(schema):
    """Values that hypothesis makes of a schema."""
    made = []

    @settings(max_examples=EACH, database=None, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(from_schema(schema))
    def gather(value):
        made.append(json.dumps(value, ensure_ascii=False))

    try:
        gather()
    except Exception as error:
        return made, f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
    return made, ""


def neighbours(value, chance):
    """The value with one thing in it changed."""
    if isinstance(value, dict):
        for name in value:
            yield {other: member for other, member in value.items() if other != name}
            for changed in neighbours(value[name], chance):
                yield {**value, name: changed}
        yield {**value, "unheard_of": 1}
    elif isinstance(value, list):
        yield [*value, *value]
        for changed in neighbours(value[0], chance) if value else []:
            yield [changed, *value[1:]]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from (value + 1000, -value - 1, value + 0.25)
    elif isinstance(value, str):
        yield from (value + "\u00e9", value * 90, "")
    yield chance.choice([None, True, -7, "other", [], {}])


def meet(gate, backend, forms):
    """`forms` by address: fetched as any client would."""
    chance, jobs, made = random.Random(7), [], {}
    for address in forms:
        status, answer = gate.ask("GET", address)
        if status != 200:
            sys.exit(f"first contact: GET {address} says {status}")
        schema = json.loads(answer)["s"]
        texts, why = hypothetical(schema)
        if why:
            print(f"first contact: {address}: hypothesis gives up after {len(texts)}: {why}")
        python = validator_of(schema)
        for text in texts:
            post(gate, backend, address, text, python.is_valid(json.loads(text)), "hypothesis", schema)
        others = [json.dumps(other, ensure_ascii=False) for text in texts[:EACH] for other in neighbours(json.loads(text), chance)]
        chance.shuffle(others)
        made[address] = schema
        jobs.append({"name": address, "schema": schema, "count": EACH, "others": others[: 4 * EACH]})
    work = "".join(json.dumps(job) + "\n" for job in jobs)
    done = subprocess.run(["node", sys.argv[1]], input=work, capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"first contact: {done.stderr[-2000:]}")
    by_address = collections.Counter()
    for line in filter(None, done.stdout.split("\n")):
        said = json.loads(line)
        address = said["name"]
        if "error" in said:
            print(f"first contact: {address}: {said['by']} gives up: {said['error'][:160]}")
            continue
        by_address[address, said["by"]] += 1
        post(gate, backend, address, said["text"], said["fits"], said["by"], made[address])
        if said["by"] == "neighbour":
            fits = validator_of(made[address]).is_valid(json.loads(said["text"]))
            post(gate, backend, address, said["text"], fits, "python", made[address])
    for address in forms:
        if not by_address[address, "neighbour"] and not by_address[address, "json-schema-faker"]:
            faults.append(f"{address}: nobody made a value")


def addresses_of(config):
    return re.findall(r'(?m)^  - address: "?([^\s"]+)"?', config.read_text())


def documents():
    """The OpenAPI documents to adopt: the cases, and some public ones when `adopt/run` has brought them."""
    yield from sorted((ROOT / "tests/cases/openapi").iterdir())
    for path in PUBLIC:
        path = ROOT / "target/independent/adopt/packages" / path
        if path.exists():
            yield path
        else:
            print(f"first contact: not here: {path.relative_to(ROOT)} (adopt/run brings it)")


def main():
    backend = Backend()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shipped = shipped_config(folder / "shipped", backend.port)
        with Gate(shipped) as gate:
            meet(gate, backend, addresses_of(shipped))
        cases = {path.parent.name.replace("-", "_"): json.loads(path.read_text()) for path in sorted((ROOT / "tests/cases/forms").glob("*/form.json"))}
        config = folder / "cases.yaml"
        config.write_text(config_of(cases, backend.port))
        with Gate(config) as gate:
            meet(gate, backend, [f"/{name}" for name in cases])
        for at, document in enumerate(documents()):
            adopted = adopted_config(document, folder / f"adopted-{at}", backend.port)
            addresses = addresses_of(adopted)
            print(f"first contact: {len(addresses)} routes adopted from {document.relative_to(ROOT)}", flush=True)
            if not addresses:
                sys.exit("first contact: nothing was adopted")
            with Gate(adopted) as gate:
                meet(gate, backend, addresses)
    for what, count in sorted(counted.items()):
        print(f"first contact: {count} values of {what}")
    for why, count in explained.most_common():
        print(f"first contact: {count} disagreements: {why}")
    for text in faults[:40]:
        print(f"first contact: WRONG: {text}")
    if faults:
        sys.exit(f"first contact: {len(faults)} disagreements without a reason")


main()
