"""Holds what `formgate init` makes of public documents against the documents."""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import jsonschema
import yaml
from oracle import Oracle, lookup
from values import Values

ROOT = pathlib.Path(__file__).resolve().parents[4]
BINARY = os.environ.get("FORMGATE_BIN", str(ROOT / "target/release/formgate"))
PLACE = ROOT / "target/independent/adopt/packages"
VALUES = 12


def read(path):
    text = path.read_text()
    if text.lstrip().startswith("{"):
        return json.loads(text)
    # Dates and octal numbers stay text, as in formgate's own reading.
    loader = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, known) for tag, known in rules if not tag.endswith("timestamp")]
        for first, rules in loader.yaml_implicit_resolvers.items()
    }
    return yaml.load(text, loader)


def below(pointer, name):
    return pointer + "/" + str(name).replace("~", "~0").replace("/", "~1")


class Account:
    """Walks the schemas that were carried, and looks for each of their keywords in the report."""

    BY_NAME = {"properties", "patternProperties"}
    LISTS = {"anyOf", "oneOf", "allOf", "prefixItems"}
    SINGLE = {"items", "additionalProperties", "propertyNames", "contains"}

    def __init__(self, document, report):
        self.document, self.seen, self.missing = document, set(), []
        self.table = {entry["at"]: entry for entry in report["keywords"]}

    def left_out(self, pointer):
        entry = self.table.get(pointer, {})
        return not entry.get("carried") and any(
            why.startswith("left out") or "readOnly" in why for why in entry.get("dropped", [])
        )

    def walk(self, pointer, schema):
        if pointer in self.seen or not isinstance(schema, dict) or self.left_out(pointer):
            return
        self.seen.add(pointer)
        for name, value in schema.items():
            at = below(pointer, name)
            entry = self.table.get(at)
            if entry is None:
                self.missing.append(at)
                continue
            if self.left_out(at):
                continue
            if name == "$ref" and isinstance(value, str):
                self.walk(value[1:], lookup(self.document, value[1:]))
            elif name in self.BY_NAME and isinstance(value, dict):
                for member, inner in value.items():
                    self.walk(below(at, member), inner)
            elif name in self.LISTS and isinstance(value, list):
                for index, inner in enumerate(value):
                    self.walk(below(at, index), inner)
            elif name in self.SINGLE:
                self.walk(at, value)


def run(*words):
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=300)


def main():
    carried, reasons, wrong = 0, collections.Counter(), []
    with_paths = documents = held = accepted = not_accepted = keywords = 0
    for line in (pathlib.Path(__file__).parent / "documents.txt").read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        package, version, file = line.split()
        path = PLACE / package / version / file
        with tempfile.TemporaryDirectory() as out:
            made = run("init", "--openapi", path, "--out", out, "--report", "json")
            if made.returncode != 0:
                wrong.append(f"{line}: init exits with {made.returncode}: {made.stderr[:500]}")
                continue
            report = json.loads(made.stdout)
            again = run("check", pathlib.Path(out) / "gateway.yaml")
            if again.returncode != 0:
                wrong.append(f"{line}: check exits with {again.returncode}: {again.stderr[:500]}")
                continue
            twice = run("init", "--openapi", path, "--out", out, "--report", "json", "--force")
            if twice.stdout != made.stdout:
                wrong.append(f"{line}: a second run says something else")
            paths = pathlib.Path(out) / "paths"
            wider = run("init", "--openapi", path, "--out", paths, "--path-members", "--report", "json")
            if wider.returncode != 0 or run("check", paths / "gateway.yaml").returncode != 0:
                wrong.append(f"{line}: with --path-members: {wider.returncode}: {wider.stderr[:300]}")
            else:
                with_paths += len(json.loads(wider.stdout)["carried"])
            document = read(path)
            account = Account(document, report)
            oracle = Oracle(document)
            for route in report["carried"]:
                account.walk(route["schema"], lookup(document, route["schema"]))
                form = json.loads((pathlib.Path(out) / route["form"]).read_text())
                validator = oracle.validator(route["schema"])
                held += against(route, form, validator, wrong, line)
                accepted += route["examples_accepted"]
                not_accepted += len(route["examples_not_carried"])
            for at in account.missing[:5]:
                wrong.append(f"{line}: {at} is accounted for nowhere")
            keywords += len(report["keywords"])
            documents += 1
            carried += len(report["carried"])
            reasons.update(report["reasons"])
            print(f"{package} {file}: {len(report['carried'])} carried, {report['reasons']}", flush=True)
    print(f"{documents} documents, {carried} operations carried, {with_paths} with --path-members; not carried: {dict(reasons.most_common())}")
    print(f"{keywords} keywords accounted for; {held} generated values held against form and document")
    print(f"examples of the documents: {accepted} accepted, {not_accepted} listed")
    for what in wrong[:40]:
        print(f"WRONG {what}")
    if documents < 10 or carried < 100 or held < 1000:
        sys.exit("too little was looked at")
    sys.exit(1 if wrong else 0)


def against(route, form, validator, wrong, line):
    """Values that the form admits are admitted by the schema of the document."""
    own = jsonschema.Draft202012Validator(form, format_checker=jsonschema.FormatChecker())
    values, held = Values(form, random.Random(route["name"])), 0
    for _ in range(VALUES):
        value = values.any()
        if not own.is_valid(value):
            continue
        held += 1
        fault = next(validator.iter_errors(value), None)
        if fault is not None:
            told = f"{fault.message[:160]} at {'/'.join(map(str, fault.absolute_schema_path))[:200]}"
            wrong.append(f"{line}: {route['method']} {route['path']}: the form admits {json.dumps(value)[:300]}: {told}")
            break
    return held


if __name__ == "__main__":
    main()
