// Values that json-schema-faker makes for schemas, and what ajv says of those and of others.
//   { name, schema, count, others: [TEXT…] } a line in; { name, text, fits, by } a line out for each value.
import { createInterface } from "node:readline";
import { generate } from "json-schema-faker";
import Ajv2020 from "ajv/dist/2020.js";
import Ajv from "ajv";
import addFormats from "ajv-formats";

for await (const line of createInterface({ input: process.stdin })) {
  const { name, schema, count, others } = JSON.parse(line);
  const say = (said) => process.stdout.write(JSON.stringify({ name, ...said }) + "\n");
  const old = /draft-0[67]/.test(schema.$schema ?? "");
  const ajv = new (old ? Ajv : Ajv2020)({ strict: false, unicodeRegExp: true });
  addFormats(ajv);
  let validate;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    say({ by: "ajv", error: String(error) });
    continue;
  }
  for (let seed = 1; seed <= count; seed++) {
    try {
      const value = await generate(schema, { seed, optionalsProbability: (seed % 4) / 3, maxDepth: 6 });
      say({ by: "json-schema-faker", text: JSON.stringify(value), fits: validate(value) });
    } catch (error) {
      say({ by: "json-schema-faker", error: String(error).split("\n")[0] });
      break;
    }
  }
  for (const text of others) say({ by: "neighbour", text, fits: validate(JSON.parse(text)) });
}
