/** Two requests are the same when their fields have equal values (I4); order of fields and notation of numbers do not count. */
import { hash } from 'node:crypto';
import { isRawNumber } from '#libs/json';

/** SHA-256 of a request without `if_match`, which is a precondition and not part of the effect. */
export function fingerprintOf(request: Readonly<Record<string, unknown>>): Buffer {
  const { if_match: _condition, ...compared } = request;
  return hash('sha256', write(compared), 'buffer');
}

function write(value: unknown): string {
  if (isRawNumber(value)) return writeNumber(value.rawJSON);
  if (typeof value === 'number') return writeNumber(String(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  const ordered = fields.toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${ordered.map(([key, item]) => `${JSON.stringify(key)}:${write(item)}`).join(',')}}`;
}

/** Digits without zeros at either end, and the power of ten of the last one: `1`, `1.0` and `10e-1` are one number. */
function writeNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/(?<!0)0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)}`;
}
