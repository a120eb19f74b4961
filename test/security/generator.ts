/**
 * Generates requests from the document of an operation that are large in one dimension: long texts, lists, names and
 * numbers, many invalid items, undeclared fields, or deep nesting, at every position of the body. Also generates
 * parameters up to the size limit of the request head.
 */
import type { DocumentedOperation, Json } from '../e2e/contract/served-documents.ts';

export interface LargeRequest {
  readonly dimension: string;
  /** The position of the large value, for messages. */
  readonly place: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Generates the body when it is needed, because all bodies together have gigabytes. */
  readonly body?: () => string;
}

/** Length of the large value; with the surrounding JSON, the body has the maximum size (rules/http#json-body-cap). */
const valueLength = 4_194_304 - 65_536;
/** Maximum length that fits into a request head beside the other headers. */
const maxParameterLength = 14_000;
const maxDepth = 3;

/** JSON values of about the requested length, for any position. */
const dimensions: Readonly<Record<string, (length: number) => string>> = {
  'a long text': (length) => `"${'x'.repeat(length)}"`,
  'a text of U+0000': (length) => `"${String.raw`\u0000`.repeat(length / 6)}"`,
  'a text of halves of characters': (length) => `"${String.raw`\ud800`.repeat(length / 6)}"`,
  'a text that looks like a date': (length) => `"2026-05-01T10:00:00.${'1'.repeat(length)}Z"`,
  'a long number': (length) => '9'.repeat(length),
  'runs of digits': (length) => list(length, () => '1'.repeat(499)),
  'numbers that no double holds': (length) => list(length, (index) => `${index}e999`),
  'wrong items': (length) => list(length, (index) => ['1', '"x"', 'null', '[]', '{}', 'true', '1.5'][index % 7] ?? '1'),
  'empty objects': (length) => list(length, () => '{}'),
  'items with U+0000': (length) => list(length, () => String.raw`"\u0000"`),
  'wrong fields': (length) => `{${join(length, (index) => `"k${index}":[]`)}}`,
  'one field many times': (length) => `{${join(length, () => '"k":{}')}}`,
  'a long name': (length) => `{"${'k'.repeat(length)}":[1]}`,
  'long names with U+0000': (length) =>
    `{${join(length, (index) => String.raw`"\u0000${index}${'k'.repeat(500)}":[]`)}}`,
  'the deepest nesting': () => `${'['.repeat(50)}1${']'.repeat(50)}`,
  'nesting that is too deep': (length) => '['.repeat(length),
};

const list = (length: number, item: (index: number) => string): string => `[${join(length, item)}]`;

function join(length: number, item: (index: number) => string): string {
  const parts: string[] = [];
  for (let index = 0, size = 0; size < length; index++) {
    const part = item(index);
    parts.push(part);
    size += part.length + 1;
  }
  parts.pop();
  return parts.join(',');
}

/** Cached values, because generating a value takes longer than rejecting it. */
const made = new Map<string, string>();

function makeOnce(dimension: string, make: (length: number) => string): string {
  const value = made.get(dimension) ?? make(valueLength);
  made.set(dimension, value);
  return value;
}

/** A position in a body: its path and schema. */
interface Place {
  readonly steps: readonly (string | number)[];
  readonly schema: Json;
}

/** Yields every large request for an operation, hundreds in total. */
export function* largeRequests(operation: DocumentedOperation): Generator<LargeRequest> {
  yield* largeParameters(operation);
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return;
  const { path, headers } = smallRequest(operation);
  const places = [...listPlaces(schema, operation.components), { steps: ['undeclared'], schema: {} }];
  for (const place of places) {
    const frame = write(example(schema, operation.components), place.steps);
    const request = { place: ['body', ...place.steps].join('.'), path, headers };
    for (const [dimension, make] of Object.entries(dimensions)) {
      yield { ...request, dimension, body: () => frame.replace(hole, () => makeOnce(dimension, make)) };
    }
    for (const [dimension, make] of Object.entries(ownDimensions(place.schema, operation.components))) {
      yield { ...request, dimension, body: () => frame.replace(hole, () => make(valueLength)) };
    }
  }
}

/**
 * Texts that patterns match repeatedly: with such a text a backtracking pattern would not terminate in reasonable time.
 */
const signs = [
  ' ',
  '\\n',
  '<',
  '<a ',
  '</',
  '&#',
  '[',
  '](',
  '![x](',
  '*',
  '**_',
  '`',
  '@',
  'a@',
  '.',
  '-',
  ',',
  '/',
  ':',
  '0',
  '1e',
  '%',
  '\\\\',
  '(a+)+$ ',
];
const fullLength = 20_000;

/** Yields requests with a text of the maximum length that repeats one of these texts, at alternating positions. */
export function* monotonousRequests(operation: DocumentedOperation): Generator<LargeRequest> {
  const { components } = operation;
  const isText = ({ type, format }: Json): boolean => type === 'string' && format === undefined;
  const of = (sign: string, { maxLength }: Json): string =>
    sign.repeat(Math.min(fullLength, Number(maxLength ?? fullLength)) / sign.length);
  const queries = operation.parameters.filter(
    ({ in: place, schema }) => place === 'query' && isText(branchOf(schema, components)),
  );
  for (const [turn, { name, schema }] of queries.entries()) {
    for (const sign of signs.filter((_sign, index) => index % queries.length === turn)) {
      const text = encodeURIComponent(of(JSON.parse(`"${sign}"`) as string, schema))
        .slice(0, maxParameterLength)
        .replace(/%.?$/, '');
      yield { dimension: sign, place: `query.${name}`, ...smallRequest(operation, { name, text }) };
    }
  }
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return;
  const places = [...listPlaces(schema, components)].filter((place) => isText(place.schema));
  for (const [index, sign] of signs.entries()) {
    const place = places[index % places.length];
    if (place === undefined) return;
    const body = (): string =>
      write(example(schema, components), place.steps).replace(hole, () => `"${of(sign, place.schema)}"`);
    yield { dimension: sign, place: ['body', ...place.steps].join('.'), ...smallRequest(operation), body };
  }
}

/** Returns functions that create large lists and maps of valid items. */
function ownDimensions(schema: Json, components: Json): typeof dimensions {
  const { items, additionalProperties } = branchOf(schema, components);
  const write = (inner: unknown): string => JSON.stringify(example(inner as Json, components));
  const own: Record<string, (length: number) => string> = {};
  if (typeof items === 'object') {
    const item = write(items);
    own['fitting items'] = (length) => list(length, () => item);
  }
  if (typeof additionalProperties === 'object') {
    const field = write(additionalProperties);
    own['fitting fields'] = (length) => `{${join(length, (index) => `"f${index}":${field}`)}}`;
  }
  return own;
}

const hole = '"\u0001"';

/** Returns the value as JSON with a gap at one position. */
function write(value: unknown, [step, ...rest]: readonly (string | number)[]): string {
  if (step === undefined) return hole;
  const inner =
    typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[step] : undefined;
  const text = write(inner, rest);
  if (typeof step === 'number') return `[${text}]`;
  const others = Object.entries((value ?? {}) as Json).filter(([key]) => key !== step);
  return `{${[...others.map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`), `${JSON.stringify(step)}:${text}`].join(',')}}`;
}

function* listPlaces(given: Json, components: Json, steps: readonly (string | number)[] = []): Generator<Place> {
  const schema = branchOf(given, components);
  yield { steps, schema };
  if (steps.length >= maxDepth) return;
  for (const [name, property] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>)) {
    yield* listPlaces(property, components, [...steps, name]);
  }
  const { items, additionalProperties } = schema;
  if (typeof items === 'object') yield* listPlaces(items as Json, components, [...steps, 0]);
  if (typeof additionalProperties === 'object')
    yield* listPlaces(additionalProperties as Json, components, [...steps, 'any']);
}

/** Returns the schema itself, or the first non-null branch of its union, with references resolved. */
function branchOf(schema: Json, components: Json): Json {
  const { $ref, anyOf, oneOf } = schema;
  if (typeof $ref === 'string') {
    const [, , group = '', name = ''] = $ref.split('/');
    return branchOf(((components[group] ?? {}) as Record<string, Json>)[name] ?? {}, components);
  }
  const branches = (anyOf ?? oneOf ?? []) as Json[];
  const [branch] = branches.filter(({ type }) => type !== 'null');
  return branch === undefined ? schema : branchOf(branch, components);
}

/** Returns a small valid value. */
function example(given: Json, components: Json): unknown {
  const schema = branchOf(given, components);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[])[0];
  switch (schema['type']) {
    case 'string':
      return schema['format'] === 'date-time' ? '2026-05-01T10:00:00Z' : 'x'.repeat(Number(schema['minLength'] ?? 1));
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    default: {
      const properties = (schema['properties'] ?? {}) as Record<string, Json>;
      const required = (schema['required'] ?? []) as string[];
      return Object.fromEntries(required.map((name) => [name, example(properties[name] ?? {}, components)]));
    }
  }
}

function smallRequest(
  { path, parameters, components }: DocumentedOperation,
  long: { readonly name?: string; readonly text?: string } = {},
): {
  path: string;
  headers: Record<string, string>;
} {
  const valueOf = (name: string, schema: Json): string =>
    name === long.name ? (long.text ?? '') : String(example(schema, components));
  const of = (place: string) =>
    parameters.filter(({ in: own, name, required }) => own === place && (required || name === long.name));
  const filled = path.replace(/\{([^}]+)\}/g, (_all, name: string) => {
    const schema = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.schema ?? {};
    return encodeURIComponent(valueOf(name, schema));
  });
  const query = of('query').map(({ name, schema }) => `${encodeURIComponent(name)}=${valueOf(name, schema)}`);
  return {
    path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
    headers: Object.fromEntries(of('header').map(({ name, schema }) => [name, valueOf(name, schema)])),
  };
}

/** Parameter values that need no URL encoding. */
const parameterTexts: Readonly<Record<string, string>> = {
  'a long text': 'x'.repeat(maxParameterLength),
  digits: '9'.repeat(maxParameterLength),
  'a list': '1,'.repeat(maxParameterLength / 2),
  'something like times': '0:0+'.repeat(maxParameterLength / 4),
  quotes: '*'.repeat(maxParameterLength),
};

function* largeParameters(operation: DocumentedOperation): Generator<LargeRequest> {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? {} : { body: () => JSON.stringify(example(schema, operation.components)) };
  for (const { in: place, name } of operation.parameters) {
    for (const [what, text] of Object.entries(parameterTexts)) {
      yield {
        dimension: `${what} as a parameter`,
        place: `${place}.${name}`,
        ...smallRequest(operation, { name, text }),
        ...body,
      };
    }
  }
  const undeclared = Array.from({ length: 1_500 }, (_value, index) => `u${index}=1`).join('&');
  const { path, headers } = smallRequest(operation);
  yield {
    dimension: 'undeclared parameters',
    place: 'query',
    path: `${path}${path.includes('?') ? '&' : '?'}${undeclared}`,
    headers,
    ...body,
  };
}
