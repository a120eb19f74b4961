/** Models of the OpenAPI documents: converts schemas and names them in `components`. */

import { errorCodes } from '#libs/infrastructure/errors';
import { lineFormat } from '#libs/infrastructure/text';

type Json = Record<string, unknown>;

/**
 * Converts a schema for the document. Every object with fields gets a name and is moved to `components`. Custom formats
 * become standard formats or are omitted. The name of an object is its `$id`, or is derived from `name` and the path to
 * the object.
 *
 * `deprecated` names fields that are accepted for old clients: one that differs from another field only in notation is
 * omitted, because generated code (Go, Java) would declare one name twice.
 */
export function publishSchema(schema: Json, schemas: Json, name: string, deprecated: readonly string[] = []): unknown {
  const copy = JSON.parse(JSON.stringify(schema)) as Json;
  const properties = copy['properties'] as Record<string, Json> | undefined;
  for (const field of deprecated) {
    if (properties?.[field] === undefined) continue;
    const isNotation = Object.keys(properties).some((other) => other !== field && pascal(other) === pascal(field));
    if (isNotation) delete properties[field];
    else properties[field] = { ...properties[field], deprecated: true };
  }
  return convertNode(copy, schemas, name);
}

/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(['const', 'enum', 'default', 'examples', 'required']);

function convertNode(node: Json, schemas: Json, position: string): Json {
  const { $id, ...rest } = node;
  const name = typeof $id === 'string' ? $id : position;
  const published: Json = {};
  for (const [key, value] of Object.entries(rest))
    published[key] = dataKeywords.has(key) ? value : publishPart(key, value, schemas, name);
  if (published['type'] === 'integer' && !isInt32(published)) published['format'] = 'int64';
  if (published['type'] === 'boolean') delete published['const']; // generators have no type for it
  if (published['format'] === 'date-time-offset') published['format'] = 'date-time';
  if (published['format'] === lineFormat) delete published['format'];
  if (node['choices'] !== undefined || node['listOf'] !== undefined) return describeOwnChoices(published);
  const choices = readChoices(node);
  if (choices !== undefined) return describeChoices(published, choices);
  const hasFields = published['type'] === 'object' && Object.keys(published['properties'] ?? {}).length > 0;
  return typeof $id === 'string' || hasFields ? addComponent(name, published, schemas) : published;
}

/** Returns true when the bounds of an integer fit 32 bits, the type that generators choose without a format. */
function isInt32({ maximum, enum: choices, const: value }: Json): boolean {
  return Number(maximum) <= 2 ** 31 - 1 || choices !== undefined || value !== undefined;
}

/**
 * Describes choices that the operation checks itself, with a specific error instead of 422. They are declared as
 * `choices` of a string, or as `listOf` of a comma-separated list (`listParameter`); an empty `listOf` allows any
 * words. `x-refused-with` is the status of the error.
 */
function describeOwnChoices({ choices, listOf, type, default: usual, maxLength: _maxLength, ...rest }: Json): Json {
  const isText = typeof usual === 'string';
  const refused = { 'x-refused-with': errorCodes.bad_request.status };
  if (choices !== undefined) return { type, enum: choices, ...(isText ? { default: usual } : {}), ...refused, ...rest };
  const items = { type: 'string', ...((listOf as unknown[]).length === 0 ? {} : { enum: listOf, ...refused }) };
  return { type: 'array', items, ...(isText ? { default: usual.split(',') } : {}), ...rest };
}

interface Choice {
  readonly const: string;
  readonly description?: string;
}

/** Returns the strings of a union that contains only strings. */
function readChoices({ anyOf }: Json): Choice[] | undefined {
  const branches = (anyOf ?? []) as Json[];
  const isChoice = (branch: Json): boolean => typeof branch['const'] === 'string';
  return branches.length > 1 && branches.every(isChoice) ? (branches as unknown as Choice[]) : undefined;
}

/**
 * Converts a union of strings to an enum, which every tool supports. The description lists the meaning of each value.
 */
function describeChoices({ anyOf: _anyOf, description, ...rest }: Json, choices: readonly Choice[]): Json {
  const meanings = choices.flatMap((choice) =>
    choice.description === undefined ? [] : [`- \`${choice.const}\`: ${choice.description}`],
  );
  const lines = [...(typeof description === 'string' ? [description] : []), ...meanings];
  return {
    type: 'string',
    enum: choices.map((choice) => choice.const),
    ...rest,
    ...(lines.length === 0 ? {} : { description: lines.join('\n') }),
  };
}

/** Adds a schema to `components` and returns a reference to it. @throws Error when another schema has the name */
export function addComponent(name: string, schema: Json, schemas: Json): Json {
  const known = schemas[name];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`schema "${name}" is defined twice`);
  schemas[name] = schema;
  return { $ref: `#/components/schemas/${name}` };
}

function publishPart(key: string, value: unknown, schemas: Json, name: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (key === 'properties') {
    const fields = Object.entries(value as Record<string, Json>);
    return Object.fromEntries(
      fields.map(([field, schema]) => [field, convertNode(schema, schemas, name + pascal(field))]),
    );
  }
  if (key === 'patternProperties') {
    const patterns = Object.entries(value as Record<string, Json>);
    return Object.fromEntries(
      patterns.map(([pattern, schema]) => [pattern, convertNode(schema, schemas, `${name}Value`)]),
    );
  }
  if (key === 'anyOf' || key === 'oneOf' || key === 'allOf')
    return (value as Json[]).map((branch) => convertNode(branch, schemas, name));
  if (key === 'items') return convertNode(value as Json, schemas, `${name}Item`);
  return key === 'additionalProperties' ? convertNode(value as Json, schemas, `${name}Value`) : value;
}

/** Converts a name to Pascal case: `get_agent`, `get-agent` and `getAgent` become `GetAgent`. */
export function pascal(text: string): string {
  return text.replace(/(?:^|(?<![_-])[_-]+)([A-Za-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
}
