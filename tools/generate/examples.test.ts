import { describe, expect, it } from '@jest/globals';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { compileDocumented, listOperations } from '../../test/e2e/contract/served-documents.ts';
import { collectExamples } from './examples.ts';
import { showStory, type StoryStep } from './story.ts';

describe('the request sequence of the documents', () => {
  it('replaces the value of a marker, also where a later step uses its name', () => {
    const steps: StoryStep[] = [
      {
        operation: 'make',
        as: 'ada',
        status: 201,
        answer: { id: '{{thing=7}}', at: '{{=2026-05-01T10:00:00Z}}', path: 'things/{{=x1}}.png' },
      },
      { operation: 'read', as: 'ada', path: { id: '{{thing}}' }, status: 200, answer: 'Thing {{thing}}' },
    ];
    expect(showStory(steps)).toEqual([
      {
        operation: 'make',
        as: 'ada',
        status: 201,
        answer: { id: 7, at: '2026-05-01T10:00:00Z', path: 'things/x1.png' },
      },
      { operation: 'read', as: 'ada', path: { id: 7 }, status: 200, answer: 'Thing 7' },
    ]);
  });

  it('rejects a marker that no earlier step defines', () => {
    expect(() => showStory([{ operation: 'read', as: 'ada', path: { id: '{{thing}}' }, status: 200 }])).toThrow(
      '{{thing}}',
    );
  });

  it('assigns to an operation the request of its first success, and the first response of each status', () => {
    const steps: StoryStep[] = [
      { operation: 'make', as: 'ada', body: {}, status: 422, answer: { detail: [] } },
      {
        operation: 'make',
        as: 'ada',
        headers: { 'Idempotency-Key': 'k' },
        query: { dry: true },
        body: { name: 'a' },
        status: 201,
        answer: { id: 1 },
      },
      { operation: 'make', as: 'ada', body: { name: 'b' }, status: 201, answer: { id: 2 } },
      { operation: 'read', as: 'ada', path: { id: 1 }, status: 404 },
    ];
    expect(collectExamples(steps)).toEqual({
      make: {
        parameters: { dry: true, 'Idempotency-Key': 'k' },
        request: { name: 'a' },
        replies: { 201: { id: 1 }, 422: { detail: [] } },
      },
      read: { parameters: { id: 1 }, replies: {} },
    });
  });
});

describe('the examples of the documents', () => {
  const documents = buildDocuments(routes);

  it.each(listOperations(Object.values(documents)))(
    'documents for $id an example that matches its schema',
    ({ parameters, requestBody, responses, components }) => {
      const shown: { schema?: Record<string, unknown>; example?: unknown }[] = [
        ...parameters,
        ...Object.values(requestBody?.content ?? {}),
        ...Object.values(responses).flatMap(({ content }) => Object.values(content ?? {})),
      ];
      const problems = shown.flatMap(({ schema, example }) =>
        schema === undefined || example === undefined ? [] : compileDocumented(schema, components, false)(example),
      );
      expect(problems).toEqual([]);
    },
  );
});
