/**
 * Generates the operations of the TypeScript client from the two OpenAPI documents of the route table: one method per
 * documented route, with types of parameters, body, replies and errors.
 */
import type { OpenApiDocument } from '#libs/infrastructure/http';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { type Schema, toComment, toKey, toType } from './client-types.ts';

type Location = 'path' | 'query' | 'header';

interface Parameter {
  name: string;
  in: Location;
  required: boolean;
  description?: string;
  schema: Schema;
}

interface Content {
  readonly [contentType: string]: { readonly schema?: Schema };
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

interface Described {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly hints: RouteHints;
}

/** Facts about a route that the documents do not contain. */
export interface RouteHints {
  /** Deadline of the operation in milliseconds, if it differs from the default. */
  readonly deadlineMs?: number;
  /** Value of the query parameter `format` → representation of the answer. The default is first. */
  readonly formats?: Readonly<Record<string, { readonly contentType: string }>>;
}

/** Returns the text of clients/typescript/operations.ts. */
export function describeClient(): string {
  const { api, v1, ops } = buildDocuments(routes);
  return writeClient([api, withoutEvents(v1), ops], new Map(routes.map((route) => [route.operationId, route])));
}

/** Returns the document without the models of webhooks, whose types are in `event-types.ts`. */
function withoutEvents(document: OpenApiDocument): OpenApiDocument {
  const prefixes = Object.keys(document['webhooks'] as object).map((type) => `${pascal(camel(type))}Event`);
  const schemas = Object.entries(document.components.schemas).filter(
    ([name]) => !prefixes.some((prefix) => name.startsWith(prefix)),
  );
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } };
}

/**
 * Returns the text of the client.
 * @param hints hints by operation id
 * @throws Error if two operations have the same method name, or two different schemas the same type name
 */
export function writeClient(
  documents: readonly Pick<OpenApiDocument, 'paths' | 'components'>[],
  hints: ReadonlyMap<string, RouteHints> = new Map(),
): string {
  const operations = documents.flatMap((document) => listOperations(document, hints));
  const names = operations.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two operations would be the method ${twice}`);
  return [
    '/** Written from the route table by `npm run fix`; change the routes, not this file. */',
    "import type { ApiReply, CallOptions, Conditional, NotModified, OperationTable, Upload } from './transport.ts';",
    '',
    ...writeComponents(documents),
    ...operations.flatMap(writeOperationTypes),
    '/** The errors of each operation, by its name; see `isErrorOf`. */',
    'export interface OperationErrors {',
    ...operations.map(({ name }) => `  ${name}: ${pascal(name)}Error;`),
    '}',
    '',
    '/** One method for every operation. */',
    'export interface Operations {',
    ...operations.flatMap(writeMethod),
    '}',
    '',
    '/** What the transport has to know of each operation. */',
    'export const operationTable = {',
    ...operations.map(writeEntry),
    '} as const satisfies OperationTable;',
    '',
  ].join('\n');
}

function listOperations(
  { paths }: Pick<OpenApiDocument, 'paths'>,
  hints: ReadonlyMap<string, RouteHints>,
): Described[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, value]) => {
      const operation = value as unknown as Operation;
      return {
        name: camel(operation.operationId),
        method: method.toUpperCase(),
        path,
        operation,
        hints: hints.get(operation.operationId) ?? {},
      };
    }),
  );
}

function writeComponents(documents: readonly Pick<OpenApiDocument, 'components'>[]): string[] {
  const types = new Map<string, string[]>();
  for (const { components } of documents) {
    for (const [name, schema] of Object.entries(components.schemas as Record<string, Schema>)) {
      const lines = [...toComment([schema['description']], ''), `export type ${name} = ${toType(schema)};`, ''];
      const known = types.get(name);
      if (known !== undefined && known.join('\n') !== lines.join('\n'))
        throw new Error(`two schemas would be the type ${name}`);
      types.set(name, lines);
    }
  }
  return [...types.values()].flat();
}

function writeOperationTypes({ name, operation, hints: { formats } }: Described): string[] {
  const title = pascal(name);
  const replies = Object.entries(operation.responses);
  const success = replies.filter(([status]) => Number(status) < 400 && status !== '304');
  const failures = replies.filter(([status]) => Number(status) >= 400);
  const parameter = formats === undefined ? '' : `<Format extends keyof ${title}Formats = keyof ${title}Formats>`;
  const bodyOf = (content: Content | undefined): string =>
    formats === undefined ? toReplyType(content) : `${title}Formats[Format]`;
  return [
    ...(formats === undefined ? [] : writeFormats(title, formats, operation.responses['200']?.content)),
    `export interface ${title}Request${parameter} ${writeRequest(operation, formats !== undefined)}`,
    `export type ${title}Reply${parameter} = ${success.map(([status, reply]) => `ApiReply<${status}, ${bodyOf(reply.content)}>`).join(' | ')};`,
    `export type ${title}Error =`,
    ...failures.map(
      ([status, reply]) => `  | { readonly status: ${status}; readonly body: ${toReplyType(reply.content, '  ')} }`,
    ),
    ...(failures.length === 0 ? ['  never'] : []),
    ';',
    '',
  ];
}

/** Returns the type of the reply body for each format. */
function writeFormats(title: string, formats: NonNullable<RouteHints['formats']>, content: Content = {}): string[] {
  const fields = Object.entries(formats).map(
    ([format, { contentType }]) =>
      `  ${toKey(format)}: ${toReplyType({ [contentType]: content[contentType] ?? {} }, '  ')};`,
  );
  return [`export interface ${title}Formats {`, ...fields, '}'];
}

/**
 * Returns the type of the request. @param hasFormats true when the reply type depends on the query parameter `format`
 */
function writeRequest({ parameters = [], requestBody }: Operation, hasFormats: boolean): string {
  const groups = (['path', 'query', 'header'] as const).flatMap((location) => {
    const own = parameters.filter((parameter) => parameter.in === location);
    if (own.length === 0) return [];
    const optional = own.every(({ required }) => !required) ? '?' : '';
    const fields = own.flatMap(({ name, required, description, schema }) => [
      ...toComment([description], '    '),
      `    ${toKey(name)}${required ? '' : '?'}: ${hasFormats && location === 'query' && name === 'format' ? 'Format' : toType(schema, '    ')};`,
    ]);
    return [`  ${groupOf[location]}${optional}: {`, ...fields, '  };'];
  });
  const lines = [...groups, ...writeBody(requestBody)];
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n}`;
}

const groupOf: Readonly<Record<Location, string>> = { path: 'path', query: 'query', header: 'headers' };

function writeBody(body: Operation['requestBody']): string[] {
  const [contentType, content] = Object.entries(body?.content ?? {})[0] ?? [];
  if (contentType === undefined) return [];
  const schema = content?.schema ?? {};
  if (contentType === 'multipart/form-data') return [`  /** The part \`${findPart(schema)}\`. */`, '  file: Upload;'];
  return [`  body${body?.required === true ? '' : '?'}: ${toType(schema, '  ')};`];
}

const findPart = (schema: Schema): string => Object.keys(schema['properties'] ?? {})[0] ?? 'file';

/** Returns the reply type: the schema's type for JSON, string for text, and a stream for everything else. */
function toReplyType(content: Content | undefined, indent = ''): string {
  const [contentType, entry] = Object.entries(content ?? {})[0] ?? [];
  if (contentType === undefined) return 'undefined';
  if (contentType === 'application/json') return toType(entry?.schema ?? {}, indent);
  return /^(?:text\/|application\/x-subrip)/.test(contentType) ? 'string' : 'ReadableStream<Uint8Array>';
}

function writeMethod({ name, method, path, operation, hints: { formats } }: Described): string[] {
  const title = pascal(name);
  const needed =
    (operation.parameters ?? []).some(({ required }) => required) || operation.requestBody?.required === true;
  const comment = toComment([operation.summary, operation.description, `\`${method} ${path}\``], '  ');
  const usual = Object.keys(formats ?? {})[0];
  const parameter = usual === undefined ? '' : `<Format extends keyof ${title}Formats = '${usual}'>`;
  const chosen = usual === undefined ? '' : '<Format>';
  const signature = (request: string, reply: string): string =>
    `  ${name}${parameter}(${request}, options?: CallOptions): Promise<${reply}>;`;
  // Only a request with a validator, e.g. an ETag, can receive 304.
  const conditional = signature(
    `request: ${title}Request${chosen} & Conditional`,
    `${title}Reply${chosen} | NotModified`,
  );
  const plain = signature(`request${needed ? '' : '?'}: ${title}Request${chosen}`, `${title}Reply${chosen}`);
  return operation.responses['304'] === undefined ? [...comment, plain] : [...comment, conditional, ...comment, plain];
}

function writeEntry({ name, method, path, operation, hints: { deadlineMs } }: Described): string {
  const [contentType, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const schemes = operation.security.flatMap((entry) => Object.keys(entry));
  const entry = {
    method,
    path,
    credential: schemes.length === 0 ? 'none' : schemes.includes('loginGate') ? 'login-key' : 'token',
    replies: Object.keys(operation.responses)
      .map(Number)
      .filter((status) => status < 400),
    ...(contentType === undefined ? {} : { body: contentType === 'multipart/form-data' ? 'multipart' : 'json' }),
    ...(contentType === 'multipart/form-data' ? { part: findPart(content?.schema ?? {}) } : {}),
    ...(operation.parameters?.some((parameter) => parameter.name === 'Idempotency-Key') === true ? { key: true } : {}),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
  const fields = Object.entries(entry).map(([key, value]) => `${key}: ${JSON.stringify(value).replaceAll('"', "'")}`);
  return `  ${name}: { ${fields.join(', ')} },`;
}

/** Returns a name in camelCase: `get_agent`, `get.agent` and `getAgent` become `getAgent`. */
function camel(operationId: string): string {
  return operationId.replace(/[._-]+([A-Za-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
}

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
