import { describe, expect, it } from '@jest/globals';
import { listOperations } from '../../test/e2e/contract/served-documents.ts';
import { chooseExamples } from './examples.ts';

const body = { content: { 'application/json': { schema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } } } };
const operations = listOperations([
  {
    paths: {
      '/things': {
        post: { operationId: 'makeThing', security: [], requestBody: body, responses: { 200: { description: 'OK', ...body }, 304: {} } },
      },
    },
    components: {},
  },
]);
const recorded = (example: { request?: unknown; response: unknown }) => ({ makeThing: { 200: { count: 1, example } } });

describe('examples of the documents', () => {
  const good = { request: { id: 1 }, response: { id: 2 } };

  it('keeps a committed exchange that fits, whatever was recorded since', () => {
    expect(chooseExamples(operations, { makeThing: { 200: good } }, recorded({ response: { id: 9 } }))).toEqual({
      makeThing: { 200: good },
    });
  });

  it.each([
    ['a field that the document does not name any more', { response: { id: 1, old: true } }],
    ['a request that is refused now', { request: {}, response: { id: 1 } }],
  ])('replaces one with %s', (_what, stale) => {
    expect(chooseExamples(operations, { makeThing: { 200: stale } }, recorded(good))).toEqual({ makeThing: { 200: good } });
  });

  it('drops operations and statuses that are gone, and answers without a body', () => {
    expect(chooseExamples(operations, { gone: { 200: good }, makeThing: { 201: good, 304: good } }, {})).toEqual({});
  });
});
