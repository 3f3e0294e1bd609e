// JSON.parse. See README.md for what is read and written.
'use strict';
const text = (value) => Array.from(value, (character) => character.codePointAt(0).toString(16)).join('.');

function dump(value, out) {
  if (value === null) out.push('n');
  else if (typeof value === 'boolean') out.push(value ? 't' : 'f');
  else if (typeof value === 'number') {
    const bits = Buffer.alloc(8);
    bits.writeDoubleBE(value);
    out.push('d' + bits.toString('hex'));
  } else if (typeof value === 'string') out.push('s' + text(value));
  else if (Array.isArray(value)) {
    out.push('[');
    for (const element of value) dump(element, out);
    out.push(']');
  } else {
    out.push('{');
    const named = Object.keys(value).map((name) => ['k' + text(name), value[name]]);
    named.sort((a, b) => (a[0] < b[0] ? -1 : 1));
    for (const [name, member] of named) {
      out.push(name);
      dump(member, out);
    }
    out.push('}');
  }
}

const lines = [];
for (const line of require('fs').readFileSync(0, 'latin1').split('\n').slice(0, -1)) {
  try {
    const out = [];
    dump(JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(line, 'hex'))), out);
    lines.push(out.join(' '));
  } catch (fault) {
    lines.push('! ' + String(fault).replace(/\n/g, ' '));
  }
}
process.stdout.write(lines.join('\n') + '\n');
