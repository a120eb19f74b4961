import { describe, expect, it } from '@jest/globals';
import { toType } from './client-types.ts';
import { writeClient } from './client.ts';

const components = {
  schemas: { Failure: { type: 'object', properties: { detail: { type: 'string' } }, required: ['detail'] } },
  securitySchemes: {},
  headers: {},
};
const failure = {
  description: 'Refused.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
};

const read = {
  operationId: 'read_thing',
  summary: 'Reads */ one',
  security: [{ sharedToken: [] }],
  parameters: [
    { name: 'thing_id', in: 'path', required: true, schema: { type: 'integer' } },
    {
      name: 'sort',
      in: 'query',
      required: false,
      description: 'Order.',
      schema: { type: 'string', enum: ['up', 'down'] },
    },
    { name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } },
  ],
  responses: {
    200: {
      description: 'OK',
      content: { 'application/json': { schema: { type: 'array', items: { type: ['string', 'null'] } } } },
    },
    304: { description: 'Known.' },
    404: failure,
  },
};
const upload = {
  operationId: 'uploadThing',
  summary: 'Uploads',
  security: [],
  requestBody: {
    required: true,
    content: { 'multipart/form-data': { schema: { type: 'object', properties: { sound: { type: 'string' } } } } },
  },
  responses: { 201: { description: 'OK', content: { 'audio/*': { schema: { type: 'string' } } } } },
};
const document = { paths: { '/things/{thing_id}': { get: read }, '/things': { post: upload } }, components };

describe('generated client', () => {
  const text = writeClient([document]);

  it('generates one documented method for every operation', () => {
    expect(text).toContain('readThing(request: ReadThingRequest, options?: CallOptions): Promise<ReadThingReply>;');
    expect(text).toContain(
      'readThing(request: ReadThingRequest & Conditional, options?: CallOptions): Promise<ReadThingReply | NotModified>;',
    );
    expect(text).toContain('   * Reads *\\/ one\n   * `GET /things/{thing_id}`');
  });

  it('groups parameters by location, and makes a group without required parameters optional', () => {
    expect(text).toContain(`export interface ReadThingRequest {
  path: {
    thing_id: number;
  };
  query?: {
    /** Order. */
    sort?: "up" | "down";
  };
  headers?: {
    'If-Match'?: string;
  };
}`);
  });

  it('generates separate types for responses and errors of each status', () => {
    expect(text).toContain('export type ReadThingReply = ApiReply<200, (string | null)[]>;');
    expect(text).toContain('  | { readonly status: 404; readonly body: Failure }');
    expect(text).toContain('export type UploadThingReply = ApiReply<201, ReadableStream<Uint8Array>>;');
  });

  it('derives the response type from the response format', () => {
    const content = {
      'text/plain': { schema: { type: 'string' } },
      'application/json': { schema: { type: 'integer' } },
    };
    const format = { name: 'format', in: 'query', required: false, schema: { type: 'string', enum: ['txt', 'json'] } };
    const many = { ...read, parameters: [format], responses: { 200: { description: 'OK', content }, 404: failure } };
    const written = writeClient(
      [{ paths: { '/things': { get: many } }, components }],
      new Map([
        ['read_thing', { formats: { txt: { contentType: 'text/plain' }, json: { contentType: 'application/json' } } }],
      ]),
    );
    expect(written).toContain('export interface ReadThingFormats {\n  txt: string;\n  json: number;\n}');
    expect(written).toContain('    format?: Format;');
    expect(written).toContain(
      "readThing<Format extends keyof ReadThingFormats = 'txt'>(request?: ReadThingRequest<Format>, options?: CallOptions): Promise<ReadThingReply<Format>>;",
    );
  });

  it('generates a request description of each operation for the transport', () => {
    expect(text).toContain(
      "readThing: { method: 'GET', path: '/things/{thing_id}', credential: 'token', replies: [200,304] }",
    );
    expect(text).toContain("credential: 'none', replies: [201], body: 'multipart', part: 'sound' }");
  });

  it('rejects two operations or two schemas with the same name', () => {
    expect(() =>
      writeClient([document, { paths: { '/other': { get: { ...read, operationId: 'readThing' } } }, components }]),
    ).toThrow('readThing');
    const other = { ...components, schemas: { Failure: { type: 'string' } } };
    expect(() => writeClient([document, { paths: {}, components: other }])).toThrow('Failure');
  });
});

describe('TypeScript types of schemas', () => {
  it.each([
    [{}, 'unknown'],
    [{ const: 'web' }, '"web"'],
    [{ type: 'object', additionalProperties: true }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, 'Record<string, number>'],
    [{ type: 'object', patternProperties: { '^.*$': { type: 'integer' } } }, 'Record<string, number>'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, '(string | null)[]'],
    [{ $ref: '#/components/schemas/Thing' }, 'Thing'],
    [
      { type: 'object', properties: { a: { type: 'boolean' } }, additionalProperties: true },
      '{\n  a?: boolean;\n  [key: string]: unknown;\n}',
    ],
  ])('generates the type for %j', (schema, type) => {
    expect(toType(schema)).toBe(type);
  });
});
