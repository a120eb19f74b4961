/** Converts JSON Schema of the OpenAPI documents to TypeScript types, with descriptions as doc comments. */

export type Schema = Readonly<Record<string, unknown>>;

const plainName = /^[A-Za-z_$][\w$]*$/;
const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Returns the TypeScript type of a schema. Nested objects are indented from `indent`. */
export function toType(schema: Schema, indent = ''): string {
  const { $ref, enum: choices, type } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(choices)) return join(choices.map((choice) => JSON.stringify(choice)));
  const branches = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  if (branches !== undefined) return join(branches.map((branch) => toType(branch, indent)));
  const parts = schema['allOf'] as Schema[] | undefined;
  if (parts !== undefined) return parts.map((part) => wrap(toType(part, indent))).join(' & ');
  if (Array.isArray(type)) return join(type.map((item) => toType({ ...schema, type: item }, indent)));
  if (type === 'array') return `${wrap(toType((schema['items'] ?? {}) as Schema, indent))}[]`;
  if (type === 'object' || schema['properties'] !== undefined) return toObject(schema, indent);
  return scalars[String(type)] ?? 'unknown';
}

function toObject(schema: Schema, indent: string): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const [pattern] = Object.values((schema['patternProperties'] ?? {}) as Record<string, Schema>);
  const rest = pattern ?? schema['additionalProperties'];
  const index = typeof rest === 'object' && rest !== null ? toType(rest as Schema, indent) : 'unknown';
  if (properties.length === 0) return `Record<string, ${index}>`;
  const required = new Set((schema['required'] ?? []) as string[]);
  const inner = `${indent}  `;
  const lines = properties.flatMap(([name, property]) => [
    ...toComment([property['description'], property['deprecated'] === true ? '@deprecated' : undefined], inner),
    `${inner}${toKey(name)}${required.has(name) ? '' : '?'}: ${toType(property, inner)};`,
  ]);
  if (rest === true) lines.push(`${inner}[key: string]: unknown;`);
  const object = `{\n${lines.join('\n')}\n${indent}}`;
  return typeof rest === 'object' && rest !== null ? `${object} & Record<string, ${index}>` : object;
}

/** Returns the property name, quoted if necessary. */
export function toKey(name: string): string {
  return plainName.test(name) ? name : `'${name.replaceAll("'", String.raw`\'`)}'`;
}

/** Returns the lines of a doc comment with the texts that are defined; returns no lines if none is defined. */
export function toComment(texts: readonly unknown[], indent: string): string[] {
  const lines = texts
    .filter((text): text is string => typeof text === 'string' && text !== '')
    .flatMap((text) => text.replaceAll('*/', '*\\/').split('\n'));
  if (lines.length === 0) return [];
  if (lines.length === 1) return [`${indent}/** ${lines[0]} */`];
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`];
}

function join(types: readonly string[]): string {
  return [...new Set(types)].map((type) => (type.includes(' & ') ? `(${type})` : type)).join(' | ');
}

function wrap(type: string): string {
  return / [|&] /.test(type.replace(/\{[\s\S]*\}/g, '{}')) ? `(${type})` : type;
}
