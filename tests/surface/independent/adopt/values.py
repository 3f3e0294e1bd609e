"""Values for a form: each is meant to fit, and mostly does."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

FORMATS = {
    "date": ["2026-11-30", "1999-01-01"],
    "date-time": ["2026-11-30T19:24:06Z", "1999-01-01T00:00:00+02:00"],
    "time": ["19:24:06Z"],
    "duration": ["P1DT2H"],
    "email": ["ada@example.com"],
    "hostname": ["api.example.com"],
    "ipv4": ["192.0.2.1"],
    "ipv6": ["2001:db8::1"],
    "uri": ["https://example.com/a?b=c", "urn:isbn:0451450523"],
    "uri-reference": ["/a/b"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
}
TEXTS = ["", "a", "hello world", "ä", "0", "null", "x" * 40, "A-1", "2026-11-30", "true"]


def matching(pattern, most):
    """Some texts that a pattern admits."""
    found = []

    @settings(max_examples=6, database=None, derandomize=True, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(st.from_regex(pattern, fullmatch=False))
    def look(text):
        found.append(text)

    try:
        look()
    except Exception:  # a pattern that Python reads differently
        pass
    return [text for text in found if len(text) <= most] or ["a"]


class Values:
    def __init__(self, form, chance):
        self.form, self.chance, self.patterns = form, chance, {}

    def any(self):
        return self.value(self.form)

    def value(self, schema):
        chance = self.chance
        if not isinstance(schema, dict):
            return chance.choice([None, 1, "a"])
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return chance.choice(schema["enum"])
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self.value(chance.choice(schema[keyword]))
        kinds = schema.get("type", "string")
        kind = kinds if isinstance(kinds, str) else chance.choice(kinds)
        return getattr(self, kind)(schema)

    def null(self, _):
        return None

    def boolean(self, _):
        return self.chance.random() < 0.5

    def bounds(self, schema):
        low, high = schema.get("minimum"), schema.get("maximum")
        if "exclusiveMinimum" in schema:
            low = schema["exclusiveMinimum"] + 1
        if "exclusiveMaximum" in schema:
            high = schema["exclusiveMaximum"] - 1
        low = low if low is not None else min(-5, (high or 0) - 10)
        return low, high if high is not None else low + 100

    def integer(self, schema):
        low, high = self.bounds(schema)
        step = schema.get("multipleOf", 1)
        picked = self.chance.choice([low, high, 0, 1, self.chance.randint(int(low), max(int(low), int(high)))])
        return int(picked // step * step)

    def number(self, schema):
        low, high = self.bounds(schema)
        if "multipleOf" in schema:
            return self.integer(schema)
        return self.chance.choice([low, high, low + (high - low) / 2, 0])

    def string(self, schema):
        most = schema.get("maxLength", 100)
        if "pattern" in schema:
            known = self.patterns.setdefault(schema["pattern"], matching(schema["pattern"], most))
            return self.chance.choice(known)
        texts = FORMATS.get(schema.get("format"), TEXTS)
        text = self.chance.choice(texts)
        least = schema.get("minLength", 0)
        if "format" not in schema:
            text = (text + "b" * least)[:most] if len(text) < least else text[:most]
        return text

    def array(self, schema):
        prefix = [self.value(inner) for inner in schema.get("prefixItems", [])]
        least, most = schema.get("minItems", 0), schema.get("maxItems", 3)
        count = self.chance.randint(least, max(least, min(most, least + 2)))
        if schema.get("items") is False or "items" not in schema:
            return prefix
        return prefix + [self.value(schema["items"]) for _ in range(count - len(prefix))]

    def object(self, schema):
        out, required = {}, schema.get("required", [])
        few = self.chance.choice([0.1, 0.5, 1.0])
        for name, inner in schema.get("properties", {}).items():
            if name in required or self.chance.random() < few:
                out[name] = self.value(inner)
        inner = schema.get("additionalProperties")
        if isinstance(inner, dict):
            for index in range(self.chance.randint(schema.get("minProperties", 0), 2)):
                out[f"key{index}"] = self.value(inner)
        return out
