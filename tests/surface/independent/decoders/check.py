"""The profiles of `check --decoders` against the engines: for each construct its samples, and for all shipped forms the
bodies of the cases and neighbours of these. Every disagreement fails."""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import engines  # noqa: E402
from gate import ROOT, Backend, Gate, binary, config_of, shipped_config  # noqa: E402
from samples import SAMPLES  # noqa: E402

PROFILES = {
    path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "src/decoders/profiles").glob("*.json"))
}
faults = []


def fault(text):
    faults.append(text)
    print(f"decoders: WRONG: {text}", flush=True)


def spelled(value, engine):
    return json.dumps(value, ensure_ascii=False, separators=engine.separators)


def resolve(schema, root):
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#"):
        at = root
        for step in schema["$ref"][1:].split("/")[1:]:
            at = at[int(step)] if isinstance(at, list) else at[step.replace("~1", "/").replace("~0", "~")]
        schema = at
    return schema


def members(schema, value, root):
    """The declared members of a schema in its order, with their schemas; of alternatives the one that is meant."""
    schema = resolve(schema, root)
    if not isinstance(schema, dict):
        return {}, []
    found, required = dict(schema.get("properties", {})), list(schema.get("required", []))
    for keyword in ("allOf", "anyOf", "oneOf"):
        for branch in schema.get(keyword, []):
            of_branch, needed = members(branch, value, root)
            meant = keyword == "allOf" or set(value) <= set(of_branch) and all(
                value.get(name) in wanted
                for name, member in of_branch.items()
                if isinstance(member, dict) and name in value and (wanted := member.get("enum", [member["const"]] if "const" in member else None))
            )
            if meant:
                found, required = {**found, **of_branch}, required + needed
                if keyword != "allOf":
                    break
    return found, required


def ordered(value, schema, root, required_first):
    """The value with its members in the order in which an engine writes them."""
    if isinstance(value, list):
        schema = resolve(schema, root)
        items = schema.get("items", {}) if isinstance(schema, dict) else {}
        return [ordered(element, items, root, required_first) for element in value]
    if not isinstance(value, dict):
        return value
    known, required = members(schema, value, root)
    names = list(known)
    if required_first:
        names.sort(key=lambda name: name not in required)
    names = [name for name in names if name in value] + [name for name in value if name not in known]
    return {name: ordered(value[name], known.get(name, {}), root, required_first) for name in names}


def neighbours(value, chance):
    """The value with one thing in it changed."""
    if isinstance(value, dict):
        for name in value:
            yield {other: member for other, member in value.items() if other != name}
            for changed in neighbours(value[name], chance):
                yield {**value, name: changed}
        yield {**value, "unheard_of": 1}
    elif isinstance(value, list):
        yield value[:-1]
        yield value + value[-1:]
        for changed in neighbours(value[0], chance) if value else []:
            yield [changed, *value[1:]]
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, value - 1, -value, value + 0.5, value * 1000)
    elif isinstance(value, str):
        yield from (value + "x", value[1:], value.upper(), "", value * 40)
    yield chance.choice([None, True, 7, "other", [], {}])


def odd(value):
    """What is about spelling, not values: characters that some engines cannot write, numbers that Python spells oddly."""
    if isinstance(value, str):
        return any("\x7f" <= c <= "\x9f" or c < " " and c not in "\b\f\n\r\t" for c in value)
    if isinstance(value, float):
        return "e" in repr(value)
    if isinstance(value, (list, dict)):
        return any(odd(part) for part in (value if isinstance(value, list) else [*value, *value.values()]))
    return False


def plain(value):
    """`60.0` is the number 60, and engines write it so."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain(element) for element in value]
    return {name: plain(member) for name, member in value.items()} if isinstance(value, dict) else value


def judge(engine, schema, values):
    """Which of these an engine would let through; None where it refuses the schema."""
    first = engine.name == "llama.cpp"
    try:
        return engine.judge(schema, [spelled(ordered(value, schema, schema, first), engine) for value in values]), ""
    except engines.Refused as refused:
        return None, str(refused)[:100].replace("\n", " ")


def marks(fits, others):
    return [True] * len(fits) + [False] * len(others)


def shown(engine, schema, fits, others):
    """What an engine does, with the values that show it."""
    said, why = judge(engine, schema, fits + others)
    if said is None:
        return {"refused": why}
    effects = {}
    for value, taken, fit in zip(fits + others, said, marks(fits, others)):
        if taken != fit:
            effects.setdefault("weaker" if taken else "stronger", spelled(value, engine)[:80])
    return effects


def assessed(config):
    done = subprocess.run([binary(), "check", "--decoders", "--json", str(config)], capture_output=True, text=True)
    document = json.loads(done.stdout)
    if not document["ok"]:
        sys.exit(f"decoders: formgate refuses: {json.dumps(document['faults'], indent=1)}")
    return {route["name"]: route for route in document["decoders"]["routes"]}


def hold_samples(local, folder, backend):
    forms = {f"s_{name.replace('-', '_')}_{at}": schema for name, samples in SAMPLES.items() for at, (schema, *_) in enumerate(samples)}
    config = folder / "samples.yaml"
    config.write_text(config_of(forms, backend.port))
    routes = assessed(config)
    with Gate(config) as gate:
        for name, samples in SAMPLES.items():
            for at, (schema, fits, others) in enumerate(samples):
                route = f"s_{name.replace('-', '_')}_{at}"
                for value, fit in zip(fits + others, marks(fits, others)):
                    status, _ = gate.ask("POST", f"/{route}", json.dumps(value).encode())
                    if status != (200 if fit else 204):
                        fault(f"{name}: formgate says {status} to {value}")
                rows = [profile["rows"].get(name, {"effect": "unknown"})["effect"] for profile in PROFILES.values()]
                seen = {finding["construct"] for finding in routes[route]["findings"]}
                if name not in seen and any(effect != "exact" for effect in rows):
                    fault(f"{name}: not found in {json.dumps(schema)}")
    count = 0
    for engine in local:
        for name, samples in SAMPLES.items():
            said = PROFILES[engine.name]["rows"][name]["effect"]
            if said == "unknown":
                continue
            effects = {}
            for schema, fits, others in samples:
                effects.update(shown(engine, schema, fits, others))
            count += 1
            does = "refused" if "refused" in effects else "_and_".join(sorted(effects, reverse=True)) or "exact"
            if does != said:
                fault(f"{engine.name}: {name} is said to be {said} and is {does}: {effects}")
    print(f"decoders: {count} rows of {len(local)} profiles are what the engines do", flush=True)


def bodies(form):
    """The values of the cases for a form; what is not JSON is about parsing, not about forms."""
    found = []
    for path in sorted((ROOT / f"tests/cases/forms/{form}").glob("*/[as]*.json")):
        try:
            found.append(json.loads(path.read_text()))
        except ValueError:
            pass
    return found


def hold_forms(local, folder, backend):
    chance = random.Random(7)
    cases = {path.parent.name: json.loads(path.read_text()) for path in sorted((ROOT / "tests/cases/forms").glob("*/form.json"))}
    config = folder / "forms.yaml"
    config.write_text(config_of({name.replace("-", "_"): form for name, form in cases.items()}, backend.port))
    for config, forms in [(config, cases), (shipped_config(folder / "shipped", backend.port), None)]:
        routes = assessed(config)
        with Gate(config) as gate:
            for name, route in routes.items():
                schema = json.loads(gate.ask("GET", route["address"])[1])["s"]
                # The case that has the same form, or one that is near.
                folder_of = [case for case in cases if case.replace("-", "_") in (name, route["address"].strip("/"))]
                folder_of = folder_of or [case for case in cases if cases[case].get("properties") == schema.get("properties")]
                folder_of = folder_of or [case for case, form in cases.items() if form.get("title") == schema.get("title")]
                values = [value for case in folder_of for value in bodies(case)]
                values += [made for value in list(values) for made in neighbours(value, chance)][:150]
                values = [plain(value) for value in values if not odd(value)]
                fits, others = [], []
                for value in values:
                    status, _ = gate.ask("POST", route["address"], json.dumps(value).encode())
                    (fits if status == 200 else others).append(value)
                if not fits:
                    print(f"decoders: {name}: no value that fits is known", flush=True)
                for engine in local:
                    hold_form(engine, name, route, schema, fits, others)


def hold_form(engine, name, route, schema, fits, others):
    if engine.name == "outlines-core":
        engine.long = 0  # the regular expression it makes is read by Python: its own index takes minutes for a form
    said, why = judge(engine, schema, fits + others)
    effects = [finding["effects"].get(engine.name, {"effect": "exact"})["effect"] for finding in route["findings"]]
    if "unknown" in effects:
        print(f"decoders: {name} on {engine.name}: not known, not held", flush=True)
        return
    if (said is None) != ("refused" in effects):
        fault(f"{name} on {engine.name}: said to be {route['verdicts'][engine.name]}, and {why or 'it is taken'}")
    for value, taken, fit in zip(fits + others, said or [], marks(fits, others)):
        kind = "weaker" if taken else "stronger"
        if taken != fit and not any(kind in effect for effect in effects):
            fault(f"{name} on {engine.name}: said to be {route['verdicts'][engine.name]}, and is {kind}: {json.dumps(value)[:200]}")
    word = route["verdicts"][engine.name]
    print(f"decoders: {name} on {engine.name}: {word} ({len(fits)} that fit, {len(others)} that do not)", flush=True)


def main():
    local = [engines.Llguidance(), engines.Xgrammar(), engines.Outlines(), engines.Llamacpp(sys.argv[1])]
    backend = Backend()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        hold_samples(local, folder, backend)
        hold_forms(local, folder, backend)
    if faults:
        sys.exit(f"decoders: {len(faults)} disagreements")


main()
