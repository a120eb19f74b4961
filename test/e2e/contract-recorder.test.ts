/** Tests the contract recorder itself: which responses it must reject. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findUnseen } from './contract/coverage.ts';
import { noteAnswer, type Recording } from './contract/recordings.ts';
import { createRecorder, type Recorder } from './contract/recorder.ts';
import { listOperations } from './contract/served-documents.ts';

const thing = {
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    infos: { type: 'object', additionalProperties: true },
  },
};
const failure = { type: 'object', required: ['detail'], properties: { detail: { type: 'string' } } };
const document = {
  paths: {
    '/api/things/{thing_id}': {
      get: {
        operationId: 'getThing',
        security: [],
        responses: {
          200: {
            description: 'OK',
            headers: { ETag: {} },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
          304: { description: 'Known.' },
          404: { description: 'Absent.', content: { 'application/json': { schema: failure } } },
        },
      },
    },
  },
  components: { schemas: { Thing: thing } },
};

let server: Server;
let recorder: Recorder;
beforeAll(async () => {
  server = createServer((req, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(req.url === '/api/openapi.json' ? document : { paths: {}, components: {} }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  recorder = await createRecorder(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(() => void server.close());

const json = { 'content-type': 'application/json', 'x-request-id': 'r-1' };
const observe = (
  status: number,
  body: unknown,
  {
    headers = { ...json, etag: '"1"' },
    method = 'GET',
    path = '/api/things/7?x=1',
  }: { headers?: Record<string, string>; method?: string; path?: string } = {},
) =>
  recorder.observe({
    method,
    path,
    status,
    headers: new Headers(headers),
    text: body === undefined ? '' : JSON.stringify(body),
  });

describe('contract recorder (rules/http#live-schema)', () => {
  it('accepts a response that matches the document', () => {
    expect(() => observe(200, { id: 1, at: '2026-05-01T10:00:00.000001Z', infos: { any: 1 } })).not.toThrow();
    expect(() => observe(404, { detail: 'Not Found', more: 1 })).not.toThrow();
    expect(() => observe(304, undefined)).not.toThrow();
    expect(() => observe(404, { detail: 'Not Found' }, { path: '/api/elsewhere' })).not.toThrow();
    expect(() => observe(405, { detail: 'Method not allowed' }, { method: 'DELETE' })).not.toThrow();
  });

  it.each([
    ['an undocumented status', 500, { detail: 'x' }, {}, 'status is not documented'],
    ['an undocumented field of a success', 200, { id: 1, secret: 1 }, {}, 'additional properties'],
    ['a missing field', 200, {}, {}, "'id'"],
    ['a naive datetime', 200, { id: 1, at: '2026-05-01T10:00:00' }, {}, 'format'],
    ['a missing header', 200, { id: 1 }, { headers: json }, 'ETag'],
    [
      'another content type',
      200,
      { id: 1 },
      { headers: { ...json, etag: '"1"', 'content-type': 'text/plain' } },
      'content type',
    ],
    ['an undocumented body', 304, { id: 1 }, {}, 'body is not documented'],
    ['another envelope', 404, { error: 'x' }, {}, "'detail'"],
    ['an undocumented operation', 200, { id: 1 }, { path: '/api/elsewhere' }, 'no such operation'],
    ['an undocumented method', 200, { id: 1 }, { method: 'DELETE' }, 'no such operation'],
    ['no envelope outside the table', 404, { gone: true }, { path: '/api/elsewhere' }, 'no error envelope'],
  ])('rejects a response with %s', (_what, status, body, options, message) => {
    expect(() => observe(status, body, options)).toThrow(message);
  });

  it('counts recorded responses, and lists documented responses that were not recorded', () => {
    const seen: Recording = {};
    noteAnswer(seen, 'getThing', '200');
    noteAnswer(seen, 'getThing', '200');
    expect(seen).toEqual({ getThing: { 200: 2 } });
    expect(findUnseen(listOperations([document]), seen)).toEqual({
      documented: 3,
      unseen: ['getThing 304', 'getThing 404'],
    });
  });
});
