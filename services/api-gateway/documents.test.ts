import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from '@jest/globals';
import { releaseVersion } from '#libs/infrastructure/release';
import { compileSchemaForAll } from '#libs/infrastructure/schema';
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

/**
 * Each schema is compiled once, because it includes the models of its document and most operations have the same error
 * schemas.
 */
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
 * Operations without a successful example. The story runs on a fresh platform without a video host, without a key of
 * Cal.com, without a bot of Telegram, without knowledge from visitors and without a reliably waiting job; delivery
 * attempts differ in each run.
 */
const withoutSuccess: ReadonlySet<string> = new Set([
  'getVideo',
  'downloadCaptions',
  'approveAgentKnowledge',
  'rejectAgentKnowledge',
  'retryPipeline',
  'reconcileBookings',
  'importTranscript',
  'lookUpAgentWebhook',
  'setAgentWebhook',
  'redeliverWebhook',
]);

describe('OpenAPI documents (rules/http#live-schema)', () => {
  it.each(documents)('contains the running release in $name (rules/operations#releases)', ({ document }) => {
    expect(document.info.version).toBe(releaseVersion);
  });

  it.each(documents)('writes $name according to the meta schema of OpenAPI 3.1', async ({ document }) => {
    const result = await new Validator().validate(structuredClone(document));
    expect([document.openapi.slice(0, 3), result.errors, result.valid]).toEqual(['3.1', undefined, true]);
  });

  it('documents an ETag for every GET of a single resource, and for no list (rules/http#etag)', () => {
    const documented = routes.filter(({ method, documented: shown }) => method === 'GET' && shown !== false);
    expect(documented.filter(({ etag }) => etag !== true).map(({ operationId }) => operationId)).toEqual(
      documented
        .map(({ operationId }) => operationId)
        .filter((id) => /^(?:list|search|browse.*Conversations$|findActive|findPeople|lookUp|getOverview)/.test(id)),
    );
  });

  it('documents no service key for routes that require a login (rules/access#own-login)', () => {
    const offered = operations.filter(({ security = [] }) => security.some((entry) => 'serviceKey' in entry));
    const loginOnly = ['logout', 'changePassword', 'listSessions', 'revokeSession'];
    expect(loginOnly.filter((id) => offered.some(({ operationId }) => operationId === id))).toEqual([]);
    expect(offered.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(['whoami', 'listKeys']));
  });

  it('uses every operation id once', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe(routes.filter((route) => route.documented !== false).length);
  });

  it.each(routes.filter(({ rpc }) => rpc !== undefined))(
    'documents every response of $operationId',
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
      // Several responses with different bodies are the branches of the reply.
      const { anyOf: branches } = (rpc?.reply ?? {}) as { anyOf?: object[] };
      if (successes.length > 1 && branches !== undefined) {
        expect(successes.map(([, { schema }]) => shapeOf(schema))).toEqual(
          expect.arrayContaining(branches.map(shapeOf)),
        );
        return;
      }
      // A 204 response has no body, whatever the operation returns.
      const answered = successes.map(([status]) => shapeOf(status === '204' ? undefined : rpc?.reply));
      expect(successes.map(([, { schema }]) => shapeOf(schema))).toEqual(answered);
    },
  );

  it.each(operations)('describes $operationId, its responses and the schema of every JSON body', (operation) => {
    expect(operation.summary).not.toBe('');
    for (const [status, { description, content = {} }] of Object.entries(operation.responses)) {
      expect([status, description]).toEqual([status, expect.stringMatching(/\S/)]);
      if (Number(status) >= 400) expect([status, Object.keys(content)]).toEqual([status, ['application/json']]);
      for (const { schema } of Object.values(content)) expect([status, schema]).toEqual([status, expect.any(Object)]);
    }
  });

  it.each(operations)(
    'documents valid examples for $operationId, including a success response if the test story contains one',
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
      // To add a missing example, extend the story and run `npm run fix`.
      expect(shown.filter(([, { example }]) => example === undefined).map(([type]) => type)).toEqual([]);
    },
  );
});
