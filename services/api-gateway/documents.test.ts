import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from '@jest/globals';
import { releaseVersion } from '#libs/release';
import { compileSchemaForAll } from '#libs/schema';
import { buildDocuments } from './documents.ts';
import { routes } from './routes/index.ts';

interface Operation {
  operationId: string;
  summary: string;
  security?: Record<string, string[]>[];
  requestBody?: { content: Record<string, { schema?: object; example?: unknown }> };
  responses: Record<string, { description: string; content?: Record<string, { schema?: object; example?: unknown }> }>;
}

const documents = Object.entries(buildDocuments(routes)).map(([name, document]) => ({
  name,
  document: JSON.parse(JSON.stringify(document)) as ReturnType<typeof buildDocuments>['api'],
}));
const operations = documents.flatMap(({ name, document }) =>
  Object.values(document.paths).flatMap((item) =>
    Object.values(item).map((value) => ({
      ...(value as unknown as Operation),
      document: name,
      components: document.components,
    })),
  ),
);

/** Compiled once: every schema drags the models of its document along, and most operations fail in the same words. */
const checks = new Map<string, ReturnType<typeof compileSchemaForAll>>();

function checkFor(
  document: string,
  components: object,
  schema: object | undefined,
): ReturnType<typeof compileSchemaForAll> {
  const key = `${document} ${JSON.stringify(schema)}`;
  const check = checks.get(key) ?? compileSchemaForAll({ ...schema, components });
  checks.set(key, check);
  return check;
}

/**
 * What the story cannot show: it is sent to a fresh platform, which has no host of videos, agents that gather nothing
 * from visitors, no job that surely waits, and says of attempts what is never twice the same.
 */
const withoutSuccess: ReadonlySet<string> = new Set([
  'getVideo',
  'downloadCaptions',
  'approveAgentKnowledge',
  'rejectAgentKnowledge',
  'retryPipeline',
  'redeliverWebhook',
]);

describe('OpenAPI documents (rules/http#live-schema)', () => {
  it.each(documents)('$name contains its release (rules/operations#releases)', ({ document }) => {
    expect(document.info.version).toBe(releaseVersion);
  });

  it.each(documents)('$name fits the meta schema of OpenAPI 3.1', async ({ document }) => {
    const result = await new Validator().validate(structuredClone(document));
    expect([document.openapi.slice(0, 3), result.errors, result.valid]).toEqual(['3.1', undefined, true]);
  });

  it('document an ETag for every GET of one resource, and for no list (rules/http#etag)', () => {
    const documented = routes.filter(({ method, documented: shown }) => method === 'GET' && shown !== false);
    expect(documented.filter(({ etag }) => etag !== true).map(({ operationId }) => operationId)).toEqual(
      documented
        .map(({ operationId }) => operationId)
        .filter((id) => /^(?:list|search|browse.*Conversations$|findActive|lookUp|getOverview)/.test(id)),
    );
  });

  it('do not offer a key for routes that require a login (rules/access#own-login)', () => {
    const offered = operations.filter(({ security = [] }) => security.some((entry) => 'serviceKey' in entry));
    const loginOnly = ['logout', 'changePassword', 'listSessions', 'revokeSession'];
    expect(loginOnly.filter((id) => offered.some(({ operationId }) => operationId === id))).toEqual([]);
    expect(offered.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(['whoami', 'listKeys']));
  });

  it('name every operation once', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe(routes.filter((route) => route.documented !== false).length);
  });

  it.each(routes.filter(({ rpc }) => rpc !== undefined))(
    '$operationId documents the responses of its operation',
    ({ rpc, replies, formats }) => {
      const shapeOf = (schema: object | undefined) =>
        JSON.parse(JSON.stringify({ ...schema, description: undefined })) as unknown;
      if (formats !== undefined) {
        const shapes = new Set(Object.values(formats).map(({ schema }) => JSON.stringify(shapeOf(schema))));
        const { anyOf = [] } = (rpc?.reply ?? {}) as { anyOf?: object[] };
        expect(shapes).toEqual(new Set(anyOf.map((branch) => JSON.stringify(shapeOf(branch)))));
        return;
      }
      const successes = Object.entries(replies).filter(([status]) => Number(status) < 300);
      // 204 has no body, whatever the operation says.
      const answered = successes.map(([status]) => shapeOf(status === '204' ? undefined : rpc?.reply));
      expect(successes.map(([, { schema }]) => shapeOf(schema))).toEqual(answered);
    },
  );

  it.each(operations)('$operationId describes itself, its responses and the schema of every JSON body', (operation) => {
    expect(operation.summary).not.toBe('');
    for (const [status, { description, content = {} }] of Object.entries(operation.responses)) {
      expect([status, description]).toEqual([status, expect.stringMatching(/\S/)]);
      if (Number(status) >= 400) expect([status, Object.keys(content)]).toEqual([status, ['application/json']]);
      for (const { schema } of Object.values(content)) expect([status, schema]).toEqual([status, expect.any(Object)]);
    }
  });

  it.each(operations)(
    '$operationId has examples that fit their schemas, including a success if the story has one',
    ({ operationId, document, responses, requestBody, components }) => {
      const bodies = [
        ...Object.entries(responses).flatMap(([, { content }]) => Object.values(content ?? {})),
        ...Object.values(requestBody?.content ?? {}),
      ];
      for (const { schema, example } of bodies.filter((body) => body.example !== undefined)) {
        expect(checkFor(document, components, schema)(example)).toEqual([]);
      }
      const shown = Object.entries(responses).flatMap(([status, { content }]) =>
        Number(status) < 300 ? Object.entries(content ?? {}).filter(([type]) => /json|text/.test(type)) : [],
      );
      if (withoutSuccess.has(operationId)) return;
      // Missing ones come from a step of the story, then npm run fix.
      expect(shown.filter(([, { example }]) => example === undefined).map(([type]) => type)).toEqual([]);
    },
  );
});
