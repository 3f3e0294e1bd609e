"use strict";
(() => {
  // JSON as it is written: {k, v}. Numbers stay text, so none is rounded; objects stay lists of
  // members, so none is lost, moved, or taken for something of the language's own.
  const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
  const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
  const WORD = /null|true|false/y;
  const DEEPEST = 128;

  const read = text => {
    let at = 0;
    const fail = what => {
      const lines = text.slice(0, at).split("\n");
      throw new Error(`Line ${lines.length}, column ${lines[lines.length - 1].length + 1}: ${what}`);
    };
    const space = () => { while (at < text.length && " \t\n\r".includes(text[at])) at++; };
    const token = pattern => {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found) at += found[0].length;
      return found && found[0];
    };
    const string = () => {
      const found = token(STRING);
      return found === null ? fail("expected a string in double quotes") : JSON.parse(found);
    };
    // What stands between two brackets; `one` reads one of it.
    const row = (close, one) => {
      at++;
      space();
      for (let first = true; text[at] !== close; first = false) {
        if (!first) {
          if (text[at] !== ",") fail(`expected , or ${close}`);
          at++;
          space();
        }
        one();
        space();
      }
      at++;
    };
    const value = depth => {
      if (depth > DEEPEST) fail("nested too deep");
      const found = [];
      switch (text[at]) {
        case "{": {
          const names = new Set();
          row("}", () => {
            const start = at;
            const name = string();
            if (names.has(name)) { at = start; fail(`the member ${JSON.stringify(name)} stands twice`); }
            names.add(name);
            space();
            if (text[at] !== ":") fail("expected :");
            at++;
            space();
            found.push([name, value(depth + 1)]);
          });
          return { k: "object", v: found };
        }
        case "[":
          row("]", () => found.push(value(depth + 1)));
          return { k: "array", v: found };
        case '"':
          return { k: "string", v: string() };
      }
      const word = token(WORD);
      if (word !== null) return word === "null" ? { k: "null" } : { k: "boolean", v: word === "true" };
      const number = token(NUMBER);
      return number === null ? fail("expected a value") : { k: "number", v: number };
    };
    space();
    const whole = value(1);
    space();
    if (at < text.length) fail("something follows the value");
    return whole;
  };

  const print = (node, gap) => {
    const inner = gap === undefined ? undefined : gap + "  ";
    const list = (open, close, parts) => {
      if (!parts.length) return open + close;
      if (gap === undefined) return open + parts.join(",") + close;
      return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${gap}${close}`;
    };
    const colon = gap === undefined ? ":" : ": ";
    switch (node.k) {
      case "null": return "null";
      case "string": return JSON.stringify(node.v);
      case "array": return list("[", "]", node.v.map(each => print(each, inner)));
      case "object": return list("{", "}", node.v.map(([name, each]) => JSON.stringify(name) + colon + print(each, inner)));
      default: return String(node.v); // a number, a boolean, or what somebody typed that is no JSON yet
    }
  };
  const same = (a, b) => print(a) === print(b);

  // The form, read as the same kind of value.
  const island = read(document.getElementById("island").textContent);
  const member = (node, name) => node && node.k === "object" ? (node.v.find(each => each[0] === name) || [])[1] : undefined;
  const words = node => node && node.k === "string" ? node.v : "";
  const items = node => node && node.k === "array" ? node.v : [];
  const members = node => node && node.k === "object" ? node.v : [];
  const count = node => node && node.k === "number" ? Number(node.v) : undefined;
  const known = name => words(member(island, name));
  let form = member(island, "form");

  const object = list => ({ k: "object", v: list });
  const without = (schema, ...names) => object(members(schema).filter(each => !names.includes(each[0])));
  // Both at once: what `b` says counts, but properties and required names add up.
  const merge = (a, b) => {
    if (a.k !== "object" || b.k !== "object") return a.k === "boolean" && a.v ? b : a.k === "object" && b.v !== false ? a : b;
    const out = new Map(a.v);
    for (const [name, value] of b.v) {
      const before = out.get(name);
      if (before && name === "properties") {
        out.set(name, object([...new Map([...members(before), ...members(value)])]));
      } else if (before && name === "required") {
        out.set(name, { k: "array", v: [...items(before), ...items(value)] });
      } else {
        out.set(name, value);
      }
    }
    return object([...out]);
  };
  const target = reference => {
    let node = form;
    let pointer;
    try { pointer = decodeURIComponent(reference.slice(1)); } catch { return undefined; }
    // Names of other kinds are left to the gateway.
    if (reference[0] !== "#" || pointer && pointer[0] !== "/") return undefined;
    for (const token of pointer.split("/").slice(1)) {
      const name = token.replace(/~1/g, "/").replace(/~0/g, "~");
      node = node && node.k === "array" ? node.v[Number(name)] : member(node, name);
    }
    return node;
  };
  // A schema without references and `allOf` at its top, or nothing where a reference cannot be followed.
  const plain = schema => {
    for (let steps = 0; member(schema, "$ref"); steps++) {
      const found = target(words(member(schema, "$ref")));
      if (!found || steps > 64) return undefined;
      schema = merge(found, without(schema, "$ref", "$defs", "definitions"));
    }
    if (member(schema, "$dynamicRef") || member(schema, "$recursiveRef")) return undefined;
    const all = items(member(schema, "allOf")).map(plain);
    return all.includes(undefined) ? undefined : all.reduce(merge, all.length ? without(schema, "allOf") : schema);
  };
  const TELLS = ["type", "properties", "items", "prefixItems", "enum", "const", "anyOf", "oneOf", "$ref", "allOf"];
  // The alternatives of a schema, each with what holds for all of them; none where there is nothing to choose.
  const alternatives = schema => {
    const list = member(schema, "anyOf") || member(schema, "oneOf");
    if (list) {
      const found = items(list).map(plain).filter(each => each?.v !== false);
      if (found.includes(undefined)) return undefined;
      const telling = found.some(each => TELLS.some(name => member(each, name)));
      if (!telling && member(schema, "properties")) return [];
      const base = without(schema, "anyOf", "oneOf", "description", "title");
      return found.map(each => plain(merge(base, each)));
    }
    const types = items(member(schema, "type"));
    if (types.length < 2 || member(schema, "enum") || member(schema, "const")) return [];
    return types.map(type => merge(schema, object([["type", type]])));
  };
  const typeOf = schema => {
    const type = member(schema, "type");
    if (type) return words(type.k === "array" ? type.v[0] : type);
    if (member(schema, "properties")) return "object";
    return member(schema, "items") || member(schema, "prefixItems") ? "array" : "";
  };
  const isType = (type, node) => type === "" || type === node.k || type === "number" && node.k === "number"
    || type === "integer" && node.k === "number" && Number.isInteger(Number(node.v));
  // Whether a value looks like one for this schema: enough to tell alternatives apart.
  const looks = (schema, node) => {
    const fixed = member(schema, "const");
    const listed = member(schema, "enum");
    if (schema.k === "boolean") return schema.v;
    if (fixed && !same(fixed, node)) return false;
    if (listed && !items(listed).some(each => same(each, node))) return false;
    if (!isType(typeOf(schema), node)) return false;
    if (node.k !== "object") return true;
    const properties = members(member(schema, "properties"));
    const closed = (member(schema, "additionalProperties") || {}).v === false;
    return items(member(schema, "required")).every(name => member(node, words(name)))
      && node.v.every(([name, value]) => {
        const known = properties.find(each => each[0] === name);
        const expected = known && plain(known[1]);
        if (!expected) return Boolean(known) || !closed;
        const fixed = member(expected, "const");
        return !fixed || same(fixed, value);
      });
  };

  // What a schema asks of a text or a number, in a few words.
  const between = (low, high, unit) => {
    if (low === undefined && high === undefined) return "";
    if (low === undefined) return `at most ${high}${unit}`;
    if (high === undefined) return `at least ${low}${unit}`;
    return low === high ? `exactly ${low}${unit}` : `${low} to ${high}${unit}`;
  };
  const bound = (schema, name) => { const node = member(schema, name); return node && node.k === "number" ? node.v : undefined; };
  const asks = schema => {
    const pattern = words(member(schema, "pattern"));
    const above = bound(schema, "exclusiveMinimum");
    const below = bound(schema, "exclusiveMaximum");
    const step = bound(schema, "multipleOf");
    return [
      words(member(schema, "format")) || typeOf(schema),
      between(bound(schema, "minLength"), bound(schema, "maxLength"), " characters"),
      between(bound(schema, "minimum"), bound(schema, "maximum"), ""),
      above && `above ${above}`,
      below && `below ${below}`,
      step && `a multiple of ${step}`,
      pattern && `matches ${pattern.length > 80 ? "a pattern" : pattern}`,
    ].filter(Boolean).join(", ");
  };
  // Why a text or a number does not fit, as far as a page can tell. The gateway decides.
  const misfit = (schema, node) => {
    if (node.k === "string" && typeOf(schema) !== "string") return "This is not a number.";
    if (node.k === "string") {
      const length = [...node.v].length;
      if (length < (count(member(schema, "minLength")) || 0)) return "This is too short.";
      if (length > (count(member(schema, "maxLength")) ?? Infinity)) return "This is too long.";
      try {
        const pattern = words(member(schema, "pattern"));
        if (pattern && !new RegExp(pattern, "u").test(node.v)) return "This does not match the pattern.";
      } catch { /* a pattern that only the gateway can read */ }
      return "";
    }
    const value = Number(node.v);
    if (typeOf(schema) === "integer" && !Number.isInteger(value)) return "This is not a whole number.";
    const less = (a, b) => /^-?\d+$/.test(a) && /^-?\d+$/.test(b) ? BigInt(a) < BigInt(b) : Number(a) < Number(b);
    const [low, high] = [bound(schema, "minimum"), bound(schema, "maximum")];
    if (low !== undefined && less(node.v, low) || value <= (bound(schema, "exclusiveMinimum") ?? -Infinity)) return "This is too small.";
    if (high !== undefined && less(high, node.v) || value >= (bound(schema, "exclusiveMaximum") ?? Infinity)) return "This is too large.";
    const times = value / (count(member(schema, "multipleOf")) || value || 1);
    return Math.abs(times - Math.round(times)) > 1e-9 ? "This is not a multiple." : "";
  };

  // Elements. Text only ever becomes text.
  let ids = 0;
  const fresh = () => `f${++ids}`;
  const make = (tag, attributes, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...inside.filter(each => each !== undefined && each !== ""));
    return element;
  };
  const button = (text, label, click, kind) => make("button", { type: "button", class: kind || "small", "aria-label": label, click }, text);
  const mark = ({ required, element }) => element ? "" : make("span", { class: required ? "mark required" : "mark" }, required ? "required" : "optional");
  const below = (path, name) => `${path}/${String(name).replace(/~/g, "~0").replace(/\//g, "~1")}`;

  // A field is {element, get, set}. `get` gives a value, or nothing where it is left out; `set` takes a
  // value, or nothing, and says whether the field can show it.

  // Label, hint and complaint around one control.
  const labelled = (place, schema, hint, control, get) => {
    const id = fresh();
    const complaint = make("p", { class: "complaint", id: `${id}c`, hidden: true });
    const says = [words(member(schema, "description")) && `${id}d`, hint && `${id}h`, `${id}c`].filter(Boolean).join(" ");
    control.id = id;
    control.setAttribute("aria-describedby", says);
    if (place.required) control.setAttribute("aria-required", "true");
    const judge = () => {
      const value = get();
      const why = value === undefined ? place.required ? "This is required." : "" : control.hasAttribute("data-typed") ? misfit(schema, value) : "";
      complaint.textContent = why && `✗ ${why}`;
      complaint.hidden = !why;
      control.setAttribute("aria-invalid", String(Boolean(why)));
    };
    control.addEventListener("change", judge);
    control.addEventListener("judge", judge);
    return make("div", { class: "field" },
      make("label", { for: id }, make("span", { class: "name" }, place.name), mark(place)),
      words(member(schema, "description")) && make("p", { class: "text", id: `${id}d` }, words(member(schema, "description"))),
      control,
      hint && make("p", { class: "hint", id: `${id}h` }, hint),
      complaint);
  };
  const calm = control => control.setAttribute("aria-invalid", "false");

  const typed = (place, schema) => {
    const isText = typeOf(schema) === "string";
    const most = count(member(schema, "maxLength"));
    const long = isText && (most === undefined || most > 200);
    const control = make(long ? "textarea" : "input", {
      "data-typed": true, rows: long && "4", type: !long && "text", autocomplete: "off", spellcheck: "false",
      inputmode: isText ? undefined : typeOf(schema) === "integer" ? "numeric" : "decimal",
    });
    const get = () => {
      const text = control.value;
      if (text === "") return isText && place.required ? { k: "string", v: "" } : undefined;
      NUMBER.lastIndex = 0;
      const found = isText ? null : NUMBER.exec(text.trim());
      return found && found[0] === text.trim() ? { k: "number", v: found[0] } : { k: "string", v: text };
    };
    const set = node => {
      control.value = node ? node.v : "";
      calm(control);
      if (!node) return true;
      // A control that drops line ends, or an empty text that would count as left out.
      return node.k === (isText ? "string" : "number") && control.value === node.v && (node.v !== "" || place.required);
    };
    return { element: labelled(place, schema, asks(schema), control, get), get, set };
  };

  const shown = node => node.k === "string" && node.v.trim() ? node.v : print(node);
  const pick = (place, schema, values) => {
    const control = make("select", {}, make("option", { value: "" }, place.required ? "Choose…" : "Left out"),
      ...values.map((value, index) => make("option", { value: String(index) }, shown(value))));
    const get = () => control.value === "" ? undefined : values[Number(control.value)];
    const set = node => {
      const index = node ? values.findIndex(value => same(value, node)) : -1;
      control.value = index < 0 ? "" : String(index);
      calm(control);
      return !node || index >= 0;
    };
    return { element: labelled(place, schema, "", control, get), get, set };
  };

  const constant = (place, schema, value) => ({
    element: make("div", { class: "field" },
      make("span", { class: "label" }, make("span", { class: "name" }, place.name), make("span", { class: "mark" }, "always")),
      words(member(schema, "description")) && make("p", { class: "text" }, words(member(schema, "description"))),
      make("p", { class: "fixed" }, make("code", {}, print(value)))),
    get: () => value,
    set: node => !node || same(node, value),
  });

  // JSON text, for what no control can draw.
  const raw = (place, schema, back) => {
    const control = make("textarea", { class: "code", rows: "4", spellcheck: "false", autocomplete: "off" });
    const get = () => {
      if (control.value.trim() === "") return undefined;
      try { return read(control.value); } catch { return { k: "broken", v: control.value }; }
    };
    const set = node => { control.value = node ? print(node, "") : ""; calm(control); return true; };
    const element = labelled(place, schema, "Written as JSON.", control, get);
    if (back) element.append(button("Back to fields", `${place.name}: back to fields`, back));
    return { element, get, set };
  };

  const group = (place, schema, ...inside) => make("fieldset", {},
    make("legend", {}, make("span", { class: "name" }, place.name), place.path && mark(place)),
    words(member(schema, "description")) && make("p", { class: "text" }, words(member(schema, "description"))), ...inside);

  const composed = (place, schema) => {
    const required = items(member(schema, "required")).map(words);
    const rest = member(schema, "additionalProperties") || member(schema, "unevaluatedProperties");
    const open = !(rest && rest.v === false) || member(schema, "patternProperties");
    // A member that no value fits is not asked for.
    const properties = members(member(schema, "properties")).filter(each => plain(each[1])?.v !== false);
    const names = [...properties.map(each => each[0]), ...required.filter(name => !properties.some(each => each[0] === name))];
    const schemas = new Map(properties);
    const slots = names.map(name => [name, slot({ path: below(place.path, name), name, required: required.includes(name) }, schemas.get(name) || object([]))]);
    const more = open ? raw({ path: `${place.path}/`, name: "Other members", required: false }, object([])) : undefined;
    const nothing = !slots.length && !more ? make("p", { class: "hint" }, "Takes no members: the value is {}.") : undefined;
    const get = () => {
      const found = slots.map(([name, field]) => [name, field.get()]).filter(each => each[1]);
      const others = more && more.get();
      if (others && others.k !== "object") return { k: "broken", v: print(others) };
      return object([...found, ...members(others)]);
    };
    const set = node => {
      if (node && node.k !== "object") return false;
      const others = members(node).filter(each => !names.includes(each[0]));
      if (others.length && !more) return false;
      for (const [name, field] of slots) field.set(member(node, name));
      if (more) more.set(others.length ? object(others) : undefined);
      return true;
    };
    const element = group(place, schema, nothing, ...slots.map(each => each[1].element),
      more && make("details", {}, make("summary", {}, "Other members"), more.element));
    return { element, get, set };
  };

  const MOST = 1000; // elements that a page draws
  const series = (place, schema) => {
    const list = member(schema, "items");
    const first = member(schema, "prefixItems") || (list && list.k === "array" ? list : undefined);
    const others = first === list ? member(schema, "additionalItems") : list;
    const least = count(member(schema, "minItems")) || 0;
    const most = Math.min(count(member(schema, "maxItems")) ?? MOST, MOST);
    const rows = make("ol", { class: "rows" });
    let fields = [];
    const number = () => {
      fields.forEach((field, index) => { field.title.textContent = String(index + 1); });
      add.disabled = fields.length >= most;
      state.textContent = between(bound(schema, "minItems"), bound(schema, "maxItems"), " elements");
    };
    const append = () => {
      const index = fields.length;
      const own = items(first)[index] || others || object([]);
      const field = slot({ path: below(place.path, index), name: `${place.name} ${index + 1}`, required: true, element: true }, own);
      field.title = make("span", { class: "number", "aria-hidden": "true" });
      field.row = make("li", {}, field.title, field.element, button("Remove", `Remove ${place.name} ${index + 1}`, () => {
        fields = fields.filter(each => each !== field);
        field.row.remove();
        // What is left is drawn again: places and labels count from the start.
        set({ k: "array", v: fields.map(each => each.get()) });
        add.focus();
        touched();
      }));
      fields.push(field);
      rows.append(field.row);
      number();
      return field;
    };
    const add = button("Add an element", `Add an element to ${place.name}`, () => {
      const field = append();
      const control = field.row.querySelector("input, select, textarea, button");
      if (control) control.focus();
      touched();
    });
    const state = make("span", { class: "hint" });
    const get = () => ({ k: "array", v: fields.map(field => field.get()).filter(Boolean) });
    const set = node => {
      if (node && node.k !== "array" || node && node.v.length > MOST) return false;
      fields = [];
      rows.replaceChildren();
      for (const each of items(node)) append().set(each);
      if (!node) for (let index = 0; index < Math.min(least, 16); index++) append();
      number();
      return true;
    };
    set(undefined);
    return { element: group(place, schema, rows, make("p", { class: "row" }, add, state)), get, set };
  };

  // Several of a few values, none twice.
  const ticks = (place, schema, values) => {
    let chosen = [];
    const boxes = values.map(value => {
      const id = fresh();
      const box = make("input", { type: "checkbox", id, change: () => {
        chosen = chosen.filter(each => each !== value);
        if (box.checked) chosen.push(value);
      } });
      return { value, box, element: make("p", { class: "tick" }, box, make("label", { for: id }, shown(value))) };
    });
    const get = () => chosen.length || place.required ? { k: "array", v: chosen } : undefined;
    const set = node => {
      const found = items(node).map(each => values.find(value => same(value, each)));
      if (node && (node.k !== "array" || found.includes(undefined) || new Set(found).size < found.length)) return false;
      if (node && !found.length && !place.required) return false;
      chosen = found;
      for (const { value, box } of boxes) box.checked = found.includes(value);
      return true;
    };
    const hint = between(bound(schema, "minItems"), bound(schema, "maxItems"), " of them");
    return { element: group(place, schema, make("div", { class: "ticks" }, ...boxes.map(each => each.element)), hint && make("p", { class: "hint" }, hint)), get, set };
  };

  const shorten = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;
  const titled = schema => {
    const title = words(member(schema, "title"));
    const fixed = [member(schema, "const"), ...members(member(schema, "properties")).map(each => member(plain(each[1]) || each[1], "const"))].filter(Boolean).map(shown);
    const said = words(member(schema, "description"));
    const names = items(member(schema, "required")).map(words).join(", ");
    const start = title || fixed.join(", ") || (typeOf(schema) === "object" ? names && !said && `with ${names}` : typeOf(schema));
    return shorten([start, said].filter(Boolean).join(": ") || "anything else", 90);
  };
  const choice = (place, schema, list) => {
    const control = make("select", { id: fresh() }, ...list.map((each, index) => make("option", { value: String(index) }, titled(each))));
    const body = make("div", { class: "chosen" });
    let field;
    const draw = index => {
      control.value = String(index);
      field = slot({ path: place.path, name: titled(list[index]).split(":")[0], required: true, chosen: true, element: place.element }, list[index]);
      body.replaceChildren(field.element);
    };
    control.addEventListener("change", () => draw(Number(control.value)));
    draw(0);
    const get = () => field.get();
    const set = node => {
      if (!node) { draw(0); return true; }
      const index = list.findIndex(each => looks(each, node));
      if (index < 0) return false;
      draw(index);
      field.set(node);
      return true;
    };
    const which = make("div", { class: "field which" }, make("label", { for: control.id }, "One of"), control);
    return { element: group(place, schema, which, body), get, set };
  };

  const ALL = [true, false].map(v => ({ k: "boolean", v }));
  // The control for a schema.
  const draw = (place, schema, back) => {
    const found = plain(schema);
    const others = found && alternatives(found);
    if (!found || !others || found.k !== "object" || place.path.split("/").length > 48) return raw(place, object([]), back);
    const fixed = member(found, "const");
    if (fixed) return place.required ? constant(place, found, fixed) : pick(place, found, [fixed]);
    if (member(found, "enum")) return pick(place, found, items(member(found, "enum")));
    if (others.length) return choice(place, found, others);
    const inner = plain(member(found, "items") || object([]));
    switch (typeOf(found)) {
      case "null": return constant(place, found, { k: "null" });
      case "boolean": return pick(place, found, ALL);
      case "string": case "integer": case "number": return typed(place, found);
      case "object": return composed(place, found);
      case "array":
        return inner && member(inner, "enum") && (member(found, "uniqueItems") || {}).v === true
          ? ticks(place, found, items(member(inner, "enum"))) : series(place, found);
      default: return raw(place, found, back);
    }
  };
  const isLarge = schema => {
    const found = plain(schema);
    const others = found && alternatives(found);
    if (!found || member(found, "const") || member(found, "enum")) return false;
    const inner = plain(member(found, "items") || object([]));
    if (typeOf(found) === "array" && inner && member(inner, "enum") && (member(found, "uniqueItems") || {}).v) return false;
    return Boolean(others && others.length) || ["object", "array", "null"].includes(typeOf(found));
  };

  // A place in the form: its field, or its JSON where the field cannot show it, or nothing yet.
  const slot = (place, schema) => {
    const element = make("div", { class: place.chosen ? "slot chosen" : "slot", "data-at": place.path });
    const optional = !place.required && isLarge(schema);
    let field;
    const put = made => { field = made; element.replaceChildren(made.element, ...(optional ? [away] : [])); };
    const fields = () => put(draw(place, schema, undefined));
    const away = button("Leave out", `Leave out ${place.name}`, () => { leave(); add.focus(); touched(); });
    const add = button(`Add ${shorten(place.name, 60)}`, undefined, () => {
      fields();
      const control = element.querySelector("input, select, textarea, button");
      if (control) control.focus();
      touched();
    }, "small add");
    const said = words(member(plain(schema), "description"));
    const leave = () => {
      field = undefined;
      element.replaceChildren(make("div", { class: "field absent" }, make("p", { class: "label" }, make("span", { class: "name" }, place.name), mark(place)), said && make("p", { class: "text" }, said), add));
    };
    const set = node => {
      if (!node && optional) { leave(); return true; }
      fields();
      if (field.set(node)) return true;
      put(raw(place, plain(schema) || object([]), () => { fields(); touched(); }));
      return field.set(node);
    };
    if (optional) leave(); else fields();
    return { element, get: () => field && field.get(), set };
  };

  // The page: fields and JSON side by side, kept alike; the JSON is what is sent.
  const act = document.getElementById("act");
  const fields = make("div", { id: "fields" });
  const editor = make("textarea", { id: "editor", class: "code", rows: "10", spellcheck: "false", autocomplete: "off", autocapitalize: "off", "aria-describedby": "editor-state" });
  const state = make("p", { id: "editor-state", class: "hint", role: "status" });
  const token = make("input", { id: "token", type: "password", autocomplete: "off" });
  const tokens = make("div", { class: "field", hidden: !member(island, "guarded") }, make("label", { for: "token" }, make("span", { class: "name" }, "Bearer token"), make("span", { class: "mark" }, "kept in this page only")), token);
  const submit = make("button", { type: "submit", id: "send", class: "main" }, "Send");
  const answer = make("section", { id: "answer", "aria-labelledby": "answer-title", hidden: true });
  const live = make("p", { class: "spoken", role: "status", "aria-live": "polite" });
  let root;

  const weigh = () => {
    editor.rows = Math.min(Math.max(editor.value.split("\n").length + 1, 5), 24);
    const bytes = new TextEncoder().encode(editor.value).length;
    const most = count(member(island, "most"));
    let why = "";
    try { read(editor.value); } catch (fault) { why = fault.message; }
    state.textContent = (why ? `✗ Not JSON yet. ${why}` : `✓ JSON, ${bytes} ${bytes === 1 ? "byte" : "bytes"}`) + (bytes > most ? `, more than the ${most} allowed` : "");
    state.classList.toggle("wrong", Boolean(why) || bytes > most);
    editor.setAttribute("aria-invalid", String(Boolean(why)));
  };
  const touched = () => {
    const value = root.get();
    editor.value = value ? print(value, "") : "";
    weigh();
  };
  const typedIn = () => {
    weigh();
    try { root.set(read(editor.value)); } catch { /* said already; the fields stay */ }
  };
  const fill = text => { editor.value = text; typedIn(); };

  const quote = text => `'${text.replace(/'/g, "'\\''")}'`;
  const here = (known("origin") || location.origin) + known("address");
  const guarded = Boolean(member(island, "guarded"));
  const keyed = words(member(island, "keyed"));
  const named = keyed === "required" ? `-H "Idempotency-Key: $(date +%s)-$$" \\\n  ` : "";
  const bearer = guarded ? `-H "Authorization: Bearer $TOKEN" \\\n  ` : "";
  const curl = body => `curl -i -H 'Content-Type: application/json' \\\n  ${bearer}${named}--data-binary ${quote(body)} \\\n  ${quote(here)}`;
  const copy = async (text, source) => {
    try {
      await navigator.clipboard.writeText(text);
      live.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(source);
      live.textContent = "Selected: copy it with the keyboard.";
    }
  };

  const MEANS = {
    200: ["Done", "The backend did it. This is what it said:"],
    204: ["Refused", "Nothing happened. The value does not fit the form, or the backend does not take it; why is never said."],
    400: ["Not understood", "The request was broken on its way. Nothing happened."],
    401: ["Token needed", "This address wants a bearer token, and this is none it knows. Nothing happened."],
    404: ["Gone", "There is no such address any more. Nothing happened."],
    408: ["Too slow", "The value took too long to arrive. Nothing happened."],
    409: ["Under way", "The same act is still being done."],
    412: ["Form changed", "The form is no longer the one of this page. Nothing happened: load the page again."],
    429: ["Too often", "Nothing happened."],
    500: ["Gateway failed", "It may have happened. Look before you send it again."],
    502: ["Backend failed", "Part of it may have been done. Look before you send it again."],
    503: ["Not now", "The backend cannot be reached or has too much to do. Most likely nothing was done; where doing it twice would do harm, look first."],
    504: ["Not known", "The value was sent, and no answer came: it may have happened. Look before you send it again."],
  };
  const show = (status, body, wait) => {
    const [word, meaning] = MEANS[status] || (status ? ["Answer", ""] : ["No answer", "The connection broke: it may have happened. Look before you send it again."]);
    const kind = status === 200 ? "good" : [0, 500, 504].includes(status) ? "open" : "bad";
    const sign = { good: "✓", open: "?", bad: "✗" }[kind];
    let pretty = body;
    try { pretty = print(read(body), ""); } catch { /* shown as it is */ }
    answer.className = kind;
    answer.hidden = false;
    answer.replaceChildren(
      make("h3", { id: "answer-title", tabindex: "-1" }, make("span", { class: "sign", "aria-hidden": "true" }, sign), ` ${word} `, status ? make("code", { id: "status" }, String(status)) : ""),
      make("p", {}, [meaning, wait && `Try again in ${wait} s.`].filter(Boolean).join(" ")),
      body ? make("pre", { tabindex: "0", "aria-label": "Body of the answer" }, make("code", { id: "body" }, pretty)) : "");
    live.textContent = `${word}. ${meaning}`;
    answer.scrollIntoView({ block: "nearest" });
  };

  // The key of an act, where the address takes one. It stays until an answer says what became of the act, so that
  // sending the same value again asks for that and does nothing twice. What only turns a request away says nothing of it.
  const keys = new Map();
  const keyFor = text => {
    if (!keys.has(text)) keys.set(text, [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join(""));
    return keys.get(text);
  };

  let busy = false;
  const send = async () => {
    if (busy) return;
    busy = true;
    submit.setAttribute("aria-disabled", "true");
    live.textContent = "Sending…";
    answer.hidden = true;
    for (const control of fields.querySelectorAll("[aria-describedby]")) control.dispatchEvent(new Event("judge"));
    const headers = { "Content-Type": "application/json", "If-Match": known("etag") };
    const text = editor.value;
    if (keyed) headers["Idempotency-Key"] = keyFor(text);
    if (token.value) headers.Authorization = `Bearer ${token.value}`;
    try {
      const response = await fetch(location.pathname, { method: "POST", headers, body: text, cache: "no-store", redirect: "manual" });
      if (response.status === 401) tokens.hidden = false;
      const said = await response.text();
      const told = [200, 204, 502].includes(response.status);
      if (told || (response.status === 503 && response.headers.has("Idempotency-Replayed"))) keys.delete(text);
      show(response.status, said, response.headers.get("Retry-After"));
    } catch {
      show(0, "", null);
    }
    busy = false;
    submit.removeAttribute("aria-disabled");
  };

  const start = () => {
    root = slot({ path: "", name: "Value", required: true }, form);
    fields.replaceChildren(root.element);
    touched();
  };
  const begin = () => {
    const example = known("example");
    const shell = document.getElementById("curl");
    if (example) shell.textContent = curl(example);
    const sheet = make("form", { id: "form", novalidate: true, autocomplete: "off", submit: event => { event.preventDefault(); send(); }, keydown: event => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send(); }
    } },
    make("p", { class: "row" },
      example && button("Fill in an example", undefined, () => fill(example)),
      button("Start over", undefined, start)),
    fields,
    make("div", { class: "field json" }, make("label", { for: "editor" }, make("span", { class: "name" }, "JSON"), make("span", { class: "mark" }, "sent as it stands here")), editor, state),
    tokens,
    make("p", { class: "row end" }, submit, button("Copy as curl", undefined, () => copy(curl(editor.value), editor)), make("span", { class: "hint" }, "Ctrl + Enter sends")));
    fields.addEventListener("input", touched);
    fields.addEventListener("change", touched);
    editor.addEventListener("input", typedIn);
    shell.closest("section").querySelector("h2").after(make("p", { class: "row" }, button("Copy", "Copy the curl line", () => copy(shell.textContent, shell))));
    act.append(sheet, answer, live);
    start();
  };

  if (form) begin();
  else {
    // Too large to come with the page: it is read from where programs read it.
    fetch(location.pathname, { headers: { Accept: "application/json" } })
      .then(response => response.text())
      .then(text => { form = member(read(text), "s"); begin(); })
      .catch(() => act.append(make("p", { class: "note", role: "alert" }, "The form could not be loaded. Load the page again.")));
  }
})();
