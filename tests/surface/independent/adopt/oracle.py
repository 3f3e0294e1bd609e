"""The schemas of a document as JSON Schema 2020-12, for requests: nothing is closed, bounded or dropped.

`nullable` and boolean exclusive bounds are read as OpenAPI 3.0 defines them, `readOnly` members need not be sent, and a
`discriminator` decides between the alternatives that stand beside it.
"""

import jsonschema
import referencing
import referencing.jsonschema

SCHEMAS = {"not", "if", "then", "else", "additionalProperties", "propertyNames", "contains", "unevaluatedProperties",
           "unevaluatedItems", "additionalItems"}
LISTS = {"allOf", "anyOf", "oneOf", "prefixItems"}
BY_NAME = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
# What asserts, in any of the dialects; the rest is not read.
ASSERTS = {"enum", "const", "required", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
           "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties",
           "maxProperties", "dependentRequired", "minContains", "maxContains"}


def lookup(document, pointer):
    node = document
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list):
            node = node[int(step)]
        else:
            # YAML has keys that are numbers.
            node = node[step] if step in node else node[int(step)]
    return node


class Oracle:
    def __init__(self, document):
        self.document, self.known, self.schemas = document, {}, {}
        self.one = str(document.get("openapi", "")).startswith("3.1")

    def validator(self, pointer):
        root = self.reference(pointer)
        whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": root, "$defs": self.schemas}
        return jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker())

    def reference(self, pointer):
        """Where a schema of the document is among ours."""
        if pointer not in self.known:
            name = f"s{len(self.known)}"
            self.known[pointer] = name
            self.schemas[name] = True
            self.schemas[name] = self.schema(lookup(self.document, pointer), pointer)
        return f"#/$defs/{self.known[pointer]}"

    def is_read_only(self, schema):
        for _ in range(8):
            if not isinstance(schema, dict):
                return False
            if schema.get("readOnly") is True:
                return True
            if any(self.is_read_only(part) for part in schema.get("allOf", [])):
                return True
            if "$ref" not in schema or not schema["$ref"].startswith("#"):
                return False
            schema = lookup(self.document, schema["$ref"][1:])
        return False

    def schema(self, schema, pointer):
        if not isinstance(schema, dict):
            return schema
        parts = []
        if isinstance(schema.get("$ref"), str):
            if not schema["$ref"].startswith("#"):
                return False  # another document: nothing is known to fit
            parts.append({"$ref": self.reference(schema["$ref"][1:])})
            if not self.one:
                return parts[0]
        out = {}
        for name, value in schema.items():
            if name == "type":
                names = [value] if isinstance(value, str) else list(value)
                if schema.get("nullable") is True or schema.get("x-nullable") is True:
                    names.append("null")
                out["type"] = names
            elif name in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
                bound = name[9:].lower()
                if value and bound in schema:
                    out[name] = schema[bound]
            elif name == "required":
                if isinstance(value, list):
                    out[name] = [member for member in value if not self.member_is_read_only(schema, member)]
            elif name == "oneOf" and "discriminator" in schema:
                out["anyOf"] = self.told_apart(schema, pointer)
            elif name == "anyOf" and "discriminator" in schema:
                out["anyOf"] = self.told_apart(schema, pointer)
            elif name == "items":
                out["prefixItems" if isinstance(value, list) else "items"] = (
                    [self.schema(inner, "") for inner in value] if isinstance(value, list) else self.schema(value, "")
                )
            elif name in ASSERTS:
                out[name] = value
            elif name in SCHEMAS:
                out[name] = self.schema(value, "")
            elif name in LISTS and isinstance(value, list):
                out[name] = [self.schema(inner, "") for inner in value]
            elif name in BY_NAME and isinstance(value, dict):
                out[name] = {key: self.schema(inner, "") for key, inner in value.items()}
        if parts:
            out["allOf"] = out.get("allOf", []) + parts
        return out

    def member_is_read_only(self, schema, member):
        return member in schema.get("properties", {}) and self.is_read_only(schema["properties"][member])

    def told_apart(self, schema, pointer):
        """A value fits the alternative that its discriminator names."""
        told = schema["discriminator"]
        member = told if isinstance(told, str) else told["propertyName"]
        mapping = {} if isinstance(told, str) else told.get("mapping", {})
        alternatives = schema.get("oneOf") or schema.get("anyOf")
        out = []
        for alternative in alternatives:
            inner = self.schema(alternative, "")
            reference = alternative.get("$ref")
            if reference is None:
                return [self.schema(other, "") for other in alternatives]
            last = reference.rsplit("/", 1)[-1]
            keys = [key for key, to in mapping.items() if to in (reference, last)] or [last]
            out.append({"allOf": [inner], "required": [member], "properties": {member: {"enum": keys}}})
        return out
