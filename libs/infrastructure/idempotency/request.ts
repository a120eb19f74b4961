/** Two requests are equal when their fields have equal values (I4); field order and number notation do not matter. */
import { hash } from 'node:crypto';
import { isPossibleId } from '#libs/infrastructure/contract';
import { isRawNumber } from '#libs/infrastructure/json';

/** Returns the SHA-256 of a request without `if_match`, which is a precondition and does not change the effect. */
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

/**
 * Writes digits without leading and trailing zeros, and the power of ten of the last digit: `1`, `1.0` and `10e-1` are
 * equal.
 */
function writeNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/(?<!0)0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)}`;
}

/**
 * Returns the distinct ids in fields `…person_id`, `…person_ids` and `participant_ids` and in people objects, at any
 * depth.
 */
export function listNamedPeople(...values: readonly unknown[]): number[] {
  const ids = new Set<number>();
  const add = (id: unknown): void => {
    if (typeof id === 'number' && isPossibleId(id)) ids.add(id);
  };
  const pending: unknown[] = [...values];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    const fields = value as Readonly<Record<string, unknown>>;
    if ('actor_kind' in fields || ('photo' in fields && 'contact' in fields)) add(fields['id']);
    for (const key of Object.keys(fields)) {
      const item = fields[key];
      if (/(?:^|_)person_id$/.test(key)) add(item);
      else if (/(?:^|_)(?:person|participant)_ids$/.test(key) && Array.isArray(item)) item.forEach(add);
      pending.push(item);
    }
  }
  return [...ids];
}
