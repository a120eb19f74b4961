/** Generates values that match or violate a JSON Schema of the documents. */
import fc from 'fast-check';
import { compileDocumented, type Json } from './served-documents.ts';

/** Stored JSON is arbitrary, but of limited depth. */
const anyJson = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' });
const anyText = fc.string({ unit: 'grapheme', maxLength: 30 });
const maxItems = 4;
/** Datetimes with offsets and microseconds. */
const anyInstant = fc
  .tuple(
    fc.date({ min: new Date('1990-01-01T00:00:00Z'), max: new Date('2090-01-01T00:00:00Z'), noInvalidDate: true }),
    fc.constantFrom('', '.5', '.123456'),
    fc.constantFrom('Z', '+00:00', '-05:30'),
  )
  .map(([date, fraction, offset]) => `${date.toISOString().slice(0, 19)}${fraction}${offset}`);

/** Existing values by parameter or field name: without them nearly every request would return 404. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

/** Returns a known value in three of four cases, unless the schema has an enumeration. */
export function preferKnown<Value>(
  values: readonly Value[] | undefined,
  schema: Json,
  made: fc.Arbitrary<Value>,
): fc.Arbitrary<Value> {
  const branches = (schema['anyOf'] ?? []) as Json[];
  const minLength = Math.max(...[schema, ...branches].map((one) => Number(one['minLength'] ?? 0)));
  const usable = (values ?? []).filter((value) => typeof value !== 'string' || value.length >= minLength);
  if (usable.length === 0 || 'enum' in schema || branches.some((branch) => 'const' in branch)) return made;
  return fc.oneof({ arbitrary: fc.constantFrom(...usable), weight: 3 }, { arbitrary: made, weight: 1 });
}

/** Generates values that match the schema; `components` resolves the schema's references. */
export function fitting(schema: Json, components: Json, known: Known = {}): fc.Arbitrary<unknown> {
  const { $ref } = schema;
  if (typeof $ref === 'string') return fitting(resolve($ref, components), components, known);
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  const branches = (schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined;
  if (branches !== undefined) return fc.oneof(...branches.map((branch) => fitting(branch, components, known)));
  const { type } = schema;
  if (Array.isArray(type))
    return fc.oneof(...type.map((item: unknown) => fitting({ ...schema, type: item }, components, known)));
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: bound(schema, 'minimum', -1_000), max: bound(schema, 'maximum', 2_147_483_647) });
    case 'number':
      return fc.double({
        min: bound(schema, 'minimum', -1e6),
        max: bound(schema, 'maximum', 1e6),
        noNaN: true,
        noDefaultInfinity: true,
      });
    case 'string':
      return fittingText(schema);
    case 'array': {
      const item = fitting((schema['items'] ?? {}) as Json, components, known);
      const size = {
        minLength: Number(schema['minItems'] ?? 0),
        maxLength: Math.min(Number(schema['maxItems'] ?? maxItems), maxItems),
      };
      return schema['uniqueItems'] === true
        ? fc.uniqueArray(item, { ...size, selector: (value) => JSON.stringify(value) })
        : fc.array(item, size);
    }
    case 'object':
      return fittingObject(schema, components, known);
    default:
      return anyJson;
  }
}

function bound(schema: Json, keyword: 'minimum' | 'maximum', usual: number): number {
  const value = Number(schema[keyword] ?? usual);
  return Math.max(-2_147_483_648, Math.min(2_147_483_647, value));
}

function fittingText(schema: Json): fc.Arbitrary<string> {
  const { format, pattern } = schema;
  const minLength = Number(schema['minLength'] ?? 0);
  const usualMaximum = pattern === undefined ? Math.max(30, minLength) : Infinity; // a pattern can require more
  const maxLength = Number(schema['maxLength'] ?? usualMaximum);
  if (format === 'date-time') return anyInstant;
  if (format === 'date') return anyInstant.map((text) => text.slice(0, 10));
  if (format === 'uri') return fc.webUrl();
  const text = typeof pattern === 'string' ? fc.stringMatching(new RegExp(pattern)) : anyText;
  return text
    .map((value) => value.padEnd(minLength, 'x'))
    .filter((value) => {
      // JSON Schema counts code points.
      const { length } = Array.from(value);
      return length >= minLength && length <= maxLength && !value.includes('\0') && value.isWellFormed();
    });
}

function fittingObject(schema: Json, components: Json, known: Known): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
  const required = new Set((schema['required'] ?? []) as string[]);
  /**
   * Returns the known values that match the schema, because a parameter and a field with the same name may have
   * different types.
   */
  const knownOf = (name: string, property: Json): unknown[] | undefined => {
    if (known[name] === undefined) return undefined;
    const validate = compileDocumented(property, components, false);
    return known[name].filter((value) => validate(structuredClone(value)).length === 0);
  };
  const valueOf = (name: string, property: Json) =>
    preferKnown(knownOf(name, property), property, fitting(property, components, known));
  const named = fc.record(Object.fromEntries(properties.map(([name, property]) => [name, valueOf(name, property)])), {
    requiredKeys: properties.map(([name]) => name).filter((name) => required.has(name)),
  });
  const rest = schema['additionalProperties'];
  if (rest === undefined || rest === false) return named;
  const value = typeof rest === 'object' && rest !== null ? fitting(rest as Json, components) : anyJson;
  const extra = fc.dictionary(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 }), value, { maxKeys: 3 });
  return fc.tuple(extra, named).map(([others, fields]) => ({ ...others, ...fields }));
}

/** Values of a type that most fields do not allow. */
const strangers: readonly unknown[] = [
  null,
  true,
  1.5,
  -1,
  'neither date nor number',
  '',
  {},
  { strange: 1 },
  [],
  [[]],
  'x'.repeat(5_000),
];

/** Generates values with exactly one fault; each violates the schema. */
export function breaking(schema: Json, components: Json): fc.Arbitrary<unknown> {
  const validate = compileDocumented(schema, components, false);
  return fc
    .tuple(fitting(schema, components), fc.nat(), fc.constantFrom(...strangers), fc.boolean())
    .map(([value, place, stranger, remove]) => breakPlace(value, place, stranger, remove))
    .filter((value) => validate(structuredClone(value)).length > 0);
}

/** Replaces or removes one field at most two levels deep; the whole value if there is no field. */
function breakPlace(value: unknown, place: number, stranger: unknown, remove: boolean): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return stranger;
  const keys = Object.keys(value);
  const key = keys[place % (keys.length + 1)];
  if (key === undefined) return stranger;
  const fields = value as Json;
  const inner = fields[key];
  if (remove) return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
  const deeper = typeof inner === 'object' && inner !== null && !Array.isArray(inner) && place % 2 === 1;
  return { ...fields, [key]: deeper ? breakPlace(inner, Math.trunc(place / 3), stranger, remove) : stranger };
}

function resolve(reference: string, components: Json): Json {
  const [, , group = '', name = ''] = reference.split('/');
  return ((components[group] ?? {}) as Record<string, Json>)[name] ?? {};
}
