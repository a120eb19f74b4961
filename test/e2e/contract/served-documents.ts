/**
 * The OpenAPI documents served by a running gateway, prepared for checking responses: operations are found by method
 * and path, response schemas are compiled strictly (an undocumented field is a violation).
 */
import { compileSchemaForAll, type SchemaProblem } from '#libs/infrastructure/schema';
import type { TSchema } from '#libs/infrastructure/contract';

export type Json = Record<string, unknown>;

export interface DocumentedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Json;
}

interface MediaTypes {
  readonly [contentType: string]: { readonly schema?: Json };
}

export interface DocumentedReply {
  readonly description: string;
  readonly headers?: Json;
  readonly content?: MediaTypes;
}

export interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  /** Path template with `{name}`. */
  readonly path: string;
  readonly parameters: readonly DocumentedParameter[];
  readonly requestBody: { readonly required: boolean; readonly content: MediaTypes } | undefined;
  readonly responses: Readonly<Record<string, DocumentedReply>>;
  readonly security: readonly Json[];
  /** The `components` of the operation's document, to which `$ref`s refer. */
  readonly components: Json;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Json;
}

/** Fetches the documents of the gateway at `baseUrl`. Documents that an earlier release does not serve are skipped. */
export async function fetchDocuments(baseUrl: string): Promise<OpenApi[]> {
  const answers = await Promise.all(
    ['/api/openapi.json', '/api/v1/openapi.json', '/api/ops/openapi.json'].map((path) => fetch(`${baseUrl}${path}`)),
  );
  return Promise.all(
    answers.filter(({ status }) => status !== 404).map(async (answer) => (await answer.json()) as OpenApi),
  );
}

/** Returns all operations of the documents in order. */
export function listOperations(documents: readonly OpenApi[]): DocumentedOperation[] {
  return documents.flatMap(({ paths, components }) =>
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        id: String(operation['operationId']),
        method: method.toUpperCase(),
        path,
        parameters: (operation['parameters'] ?? []) as DocumentedParameter[],
        requestBody: operation['requestBody'] as DocumentedOperation['requestBody'],
        responses: operation['responses'] as DocumentedOperation['responses'],
        security: operation['security'] as Json[],
        components,
      })),
    ),
  );
}

export type Lookup =
  | { readonly kind: 'operation'; readonly operation: DocumentedOperation }
  /** The path is documented, but not the method. */
  | { readonly kind: 'method' }
  | { readonly kind: 'path' };

/**
 * Returns a function that finds the operation of a request. Fixed segments win over parameters, and a trailing slash is
 * ignored.
 */
export function createLookup(operations: readonly DocumentedOperation[]): (method: string, path: string) => Lookup {
  const byPath = [...Map.groupBy(operations, (operation) => operation.path)]
    .map(([path, group]) => ({ pattern: toPattern(path), order: path.replace(/\{[^}]+\}/g, '\u{10ffff}'), group }))
    .toSorted((left, right) => (left.order < right.order ? -1 : 1));
  return (method, path) => {
    const found = byPath.find(({ pattern }) => pattern.test(path));
    if (found === undefined) return { kind: 'path' };
    const wanted = method === 'HEAD' ? 'GET' : method;
    const operation = found.group.find((item) => item.method === wanted);
    return operation === undefined ? { kind: 'method' } : { kind: 'operation', operation };
  };
}

function toPattern(path: string): RegExp {
  const plain = path.replace(/\/$/, '').replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${plain.replace(/\{[^}]+\}/g, '[^/]+')}/?$`);
}

/** Compiles a schema of the document; `strict` also rejects unnamed fields. */
export function compileDocumented(
  schema: Json,
  components: Json,
  strict: boolean,
): (value: unknown) => SchemaProblem[] {
  const whole = { ...schema, components: pickComponents(schema, components) };
  return compileSchemaForAll(strict ? (close(whole) as TSchema) : whole);
}

/** Returns the components that the schema references, directly or indirectly, to reduce compile time. */
function pickComponents(schema: Json, components: Json): Json {
  const picked: Record<string, Json> = {};
  const pick = (value: unknown): void => {
    for (const [, kind = '', name = ''] of JSON.stringify(value).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"/]+)/g)) {
      const component = (components[kind] as Json | undefined)?.[name];
      if (component === undefined || picked[kind]?.[name] !== undefined) continue;
      (picked[kind] ??= {})[name] = component;
      pick(component);
    }
  };
  pick(schema);
  return picked;
}

/** Makes a schema strict: undocumented fields are violations, and datetimes require an offset. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  const closed: Json = {};
  for (const [key, item] of Object.entries(value)) {
    closed[key] =
      key === 'enum' || key === 'const' || key === 'default' || key === 'examples' || key === 'required'
        ? item
        : close(item);
  }
  if (closed['format'] === 'date-time') closed['format'] = 'date-time-offset';
  const fields = closed['properties'];
  const named = typeof fields === 'object' && fields !== null && !('type' in fields && typeof fields.type === 'string');
  if (
    named &&
    Object.keys(fields).length > 0 &&
    closed['type'] === 'object' &&
    closed['additionalProperties'] === undefined
  ) {
    closed['additionalProperties'] = false;
  }
  return closed;
}
