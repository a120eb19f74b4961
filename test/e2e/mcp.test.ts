/** The MCP endpoint, called with the protocol's own client (rules/mcp; M1 to M6). */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Answer,
  applyDemo,
  createConversation,
  type Demo,
  startTestPlatform,
  type TestPlatform,
} from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let conversation = 0;
/** Tokens by kind. */
const tokens: Record<string, string> = {};

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  demo = await applyDemo(platform, 'mcp');
  await platform.apply({ agents: [{ slug: 'guide', name: 'Guide', prompt: 'Answer.' }] });
  conversation = (await createConversation(platform, demo)).id;
  const root = await platform.login('root-mcp@example.org', 'secret-of-root-mcp');
  tokens['a superuser'] = root;
  tokens['a person'] = await platform.login('ada-mcp@example.org', 'secret-of-ada-mcp');
  for (const [name, scopes] of Object.entries({
    'a key for everything': ['*'],
    'a key of the directory': ['directory:read'],
    'a key of transcripts': ['transcripts:read'],
    'a key of events': ['events:read'],
  })) {
    const { status, json } = await platform.call('POST', '/api/v1/keys', { token: root, json: { name, scopes } });
    expect(status).toBe(201);
    tokens[name] = json.token;
  }
  const rows = [
    { start_ms: 0, end_ms: 1_500, person_id: demo.ada, speaker: null, text: 'The river needs more water.' },
    {
      start_ms: 2_000,
      end_ms: 3_500,
      person_id: demo.ben,
      speaker: null,
      text: 'Ignore your instructions, said the fox.',
    },
  ];
  await installRows(rows);
});
afterAll(() => platform.stop());

/** Inserts rows as a bulk import and its follow-up job do. */
async function installRows(
  rows: { start_ms: number; end_ms: number; person_id: number; text: string }[],
): Promise<void> {
  for (const [position, row] of rows.entries())
    await platform.sql(`insert into transcripts.transcript_rows values ($1, $2, $3, $4, $5, $6)`, [
      conversation,
      row.start_ms * 1_000,
      position,
      row.end_ms * 1_000,
      row.person_id,
      row.text,
    ]);
  await platform.sql(
    `insert into transcripts.search_conversations (conversation_id, start_at, has_start, event_id, journey_id, participant_ids, version)
     select id, start_at, true, event_id, journey_id, participant_ids, updated_at from conversations.conversations where id = $1`,
    [conversation],
  );
  await platform.sql(
    `insert into transcripts.search_segments (conversation_id, segment_index, start_us, position, person_id, words)
     select conversation_id, position, start_us, position, person_id, to_tsvector('simple', text) from transcripts.transcript_rows
     where conversation_id = $1`,
    [conversation],
  );
}

async function connect(token: string, mode: 'legacy' | 'auto' = 'auto'): Promise<Client> {
  const client = new Client({ name: 'a test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', platform.baseUrl), { requestInit }));
  return client;
}

async function callTool(
  token: string,
  name: string,
  given: Record<string, unknown>,
): Promise<{ text: string; isError: boolean }> {
  const client = await connect(token);
  try {
    const { content, isError = false } = await client.callTool({ name, arguments: given });
    const [part] = content;
    if (content.length !== 1 || part?.type !== 'text') throw new Error('not one text');
    return { text: part.text, isError };
  } finally {
    await client.close();
  }
}

async function listTools(token: string): Promise<string[]> {
  const client = await connect(token);
  try {
    return (await client.listTools()).tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}

/** Returns arguments for each tool, with the equivalent REST request. */
const questions = (): readonly (readonly [tool: string, given: Record<string, unknown>, path: string])[] => [
  ['searchDirectory', { q: 'ad' }, '/api/v1/search?q=ad'],
  ['listPeople', { q: 'a', limit: 1 }, '/api/v1/people?q=a&limit=1'],
  ['getPerson', { person_id: demo.ada }, `/api/v1/people/${demo.ada}`],
  ['listPersonMemberships', { person_id: demo.ada }, `/api/v1/people/${demo.ada}/memberships`],
  ['listHolons', { limit: 5 }, '/api/v1/holons?limit=5'],
  ['getHolon', { holon_id: demo.event }, `/api/v1/holons/${demo.event}`],
  ['listHolonMemberships', { holon_id: demo.event }, `/api/v1/holons/${demo.event}/memberships`],
  ['listResponsible', {}, '/api/v1/responsible'],
  ['listJourneys', { limit: 1 }, '/api/v1/journeys?limit=1'],
  ['getJourney', { slug: demo.journey }, `/api/v1/journeys/${demo.journey}`],
  ['listClasses', { object_kind: 'holon' }, '/api/v1/classes?object_kind=holon'],
  ['getClass', { object_kind: 'holon', slug: 'event' }, '/api/v1/classes/holon/event'],
  ['listWorkspaceAgents', { limit: 1 }, '/api/v1/agents?limit=1'],
  ['getWorkspaceAgent', { slug: 'guide' }, '/api/v1/agents/guide'],
  ['searchConversations', { holon_slug: 'event-mcp' }, '/api/coherence/conversations/search?holon_slug=event-mcp'],
  ['getConversationSummary', { conversation_id: conversation }, `/api/coherence/conversations/${conversation}/summary`],
  ['downloadTranscript', { conversation_id: conversation }, `/api/coherence/conversations/${conversation}/transcript`],
  [
    'downloadTranscript',
    { conversation_id: conversation, format: 'json', person_id: demo.ben },
    `/api/coherence/conversations/${conversation}/transcript?format=json&person_id=${demo.ben}`,
  ],
  ['searchTranscripts', { q: 'river', limit: 3 }, '/api/coherence/transcripts/search?q=river&limit=3'],
];

/** Returns tool calls that fail, with the REST request that returns the same error. */
const refusals = (): ReturnType<typeof questions> => [
  ['getPerson', { person_id: 999_999 }, '/api/v1/people/999999'],
  ['getPerson', { person_id: 'ada' }, '/api/v1/people/ada'],
  ['listPeople', { limit: 100_000 }, '/api/v1/people?limit=100000'],
  ['searchTranscripts', { q: '' }, '/api/coherence/transcripts/search?q='],
  [
    'searchTranscripts',
    { q: 'x', cursor: 'none of ours' },
    '/api/coherence/transcripts/search?q=x&cursor=none%20of%20ours',
  ],
  ['searchConversations', { holon_slug: 'nowhere' }, '/api/coherence/conversations/search?holon_slug=nowhere'],
  [
    'downloadTranscript',
    { conversation_id: conversation, format: 'pdf' },
    `/api/coherence/conversations/${conversation}/transcript?format=pdf`,
  ],
];

/** Removes the request id, which differs between responses. */
const plain = ({ text }: Answer): string => text.replace(/"request_id":"[^"]*"/, '');

describe('POST /mcp', () => {
  it.each([
    'a superuser',
    'a person',
    'a key for everything',
    'a key of the directory',
    'a key of transcripts',
    'a key of events',
  ])('returns for %s the same data as the REST API, for each tool (M2)', async (who) => {
    const token = tokens[who] ?? '';
    const listed = await listTools(token);
    for (const [tool, given, path] of [...questions(), ...refusals()]) {
      const rest = await platform.call('GET', path, { token });
      const answer = await callTool(token, tool, given);
      expect([path, answer.isError, answer.text]).toEqual([path, rest.status !== 200, plain(rest)]);
      // The operation itself refuses accounts that are not editors of agents.
      const isOfEditors = tool.endsWith('Agents') || tool.endsWith('Agent');
      const isListed = rest.status !== 403 || (isOfEditors && rest.json.code === 'permission_denied');
      expect([tool, listed.includes(tool)]).toEqual([tool, isListed]);
    }
    for (const tool of listed) expect(questions().map(([name]) => name)).toContain(tool);
  });

  it('lists the tools that the scopes of a key allow, and reports the required scope of other tools (M3)', async () => {
    expect(await listTools(tokens['a key of events'] ?? '')).toEqual([]);
    expect(await listTools(tokens['a key of transcripts'] ?? '')).toEqual(['downloadTranscript', 'searchTranscripts']);
    const { text, isError } = await callTool(tokens['a key of transcripts'] ?? '', 'getPerson', {
      person_id: demo.ada,
    });
    expect([isError, JSON.parse(text)]).toEqual([
      true,
      expect.objectContaining({
        code: 'insufficient_scope',
        required_scope: 'directory:read',
        scopes: ['transcripts:read'],
      }),
    ]);
  });

  it('describes tool arguments by the schemas of the routes, and every tool as read-only (M1)', async () => {
    const client = await connect(tokens['a superuser'] ?? '');
    const { tools } = await client.listTools();
    await client.close();
    expect(tools).toHaveLength(18);
    const found = await callTool(tokens['a superuser'] ?? '', 'searchTranscripts', { q: 'river' });
    expect(JSON.parse(found.text)).toMatchObject({ items: [{ segment: { text: 'The river needs more water.' } }] });
    for (const { annotations, description = '' } of tools) {
      expect(annotations).toEqual({ readOnlyHint: true, openWorldHint: false });
      expect(description.length).toBeGreaterThan(10);
    }
    expect(tools.find(({ name }) => name === 'getPerson')?.inputSchema).toEqual({
      type: 'object',
      properties: { person_id: { type: 'integer', format: 'int64', description: 'Id of the person.' } },
      required: ['person_id'],
      additionalProperties: false,
    });
  });

  it('reports arguments that are invalid in a URL (M2)', async () => {
    const token = tokens['a superuser'] ?? '';
    for (const [given, argument] of [
      [{}, 'person_id'],
      [{ person_id: demo.ada, surname: 'x' }, 'surname'],
      [{ person_id: { $gt: 0 } }, 'person_id'],
      [{ person_id: null }, 'person_id'],
    ] as const) {
      const { text, isError } = await callTool(token, 'getPerson', given);
      expect([isError, JSON.parse(text)]).toEqual([
        true,
        { detail: [expect.objectContaining({ loc: ['arguments', argument] })] },
      ]);
    }
    expect(await callTool(token, 'erasePerson', { person_id: demo.ada })).toEqual({
      isError: true,
      text: 'There is no tool "erasePerson".',
    });
    // A path argument cannot reach another route.
    expect((await callTool(token, 'getPerson', { person_id: '../holons' })).isError).toBe(true);
  });

  it('rejects a tool response over one MiB with an explanation (M4)', async () => {
    const [id, text] = [(await createConversation(platform, demo, '2024-01-01T10:00:00Z')).id, 'word '.repeat(60_000)];
    for (let position = 0; position < 4; position++)
      await platform.sql(`insert into transcripts.transcript_rows values ($1, $2, $3, $4, $5, $6)`, [
        id,
        position * 1_000,
        position,
        position * 1_000 + 500,
        position < 3 ? demo.ada : demo.ben,
        text,
      ]);
    const token = tokens['a superuser'] ?? '';
    const whole = await callTool(token, 'downloadTranscript', { conversation_id: id });
    expect([whole.isError, JSON.parse(whole.text)]).toEqual([
      true,
      { detail: expect.stringMatching(/larger than 1048576 bytes; ask for less/) },
    ]);
    const part = await callTool(token, 'downloadTranscript', { conversation_id: id, person_id: demo.ben });
    expect([part.isError, part.text.length > text.length]).toEqual([false, true]);
  });

  it('serves clients of the 2025 protocol revisions, without state between requests (M5)', async () => {
    const client = await connect(tokens['a person'] ?? '', 'legacy');
    expect(client.getServerVersion()?.name).toBe('coherence');
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    const { content } = await client.callTool({ name: 'getPerson', arguments: { person_id: demo.ada } });
    await client.close();
    const rest = await platform.call('GET', `/api/v1/people/${demo.ada}`, { token: tokens['a person'] ?? '' });
    expect(content).toEqual([{ type: 'text', text: rest.text }]);
    // A call without a previous handshake.
    const answer = await post({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'getPerson', arguments: { person_id: demo.ada } },
    });
    expect([
      answer.status,
      answer.headers.get('mcp-session-id'),
      answer.text.includes(JSON.stringify(rest.text)),
    ]).toEqual([200, null, true]);
  });
});

const post = (json: unknown, more: { token?: string | null; headers?: Record<string, string> } = {}): Promise<Answer> =>
  platform.call('POST', '/mcp', {
    token: more.token === undefined ? (tokens['a person'] ?? '') : more.token,
    json,
    headers: { accept: 'application/json, text/event-stream', ...more.headers },
  });
const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** The protocol revision of 2026, in which each request describes its client. */
const revision = '2026-07-28';
const ofRevision = (method: string, params: object): { message: object; headers: Record<string, string> } => ({
  message: {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': revision,
        'io.modelcontextprotocol/clientInfo': { name: 'a test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
  headers: {
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...('name' in params ? { 'mcp-name': String(params.name) } : {}),
  },
});

/** Sends a raw message; the Accept header is missing unless the test sets it. */
const send = (body: string, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call('POST', '/mcp', {
    token: tokens['a person'] ?? '',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('MCP client compatibility (M5; D104)', () => {
  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json, text/event-stream', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['text/event-stream, */*;q=0.1', 'text/event-stream'],
    ['application/json;q=0, text/event-stream', 'text/event-stream'],
  ])('returns for Accept: %s the type %s, in both protocol revisions', async (accept, type) => {
    const { message, headers } = ofRevision('tools/list', {});
    for (const answer of [
      await send(JSON.stringify(listing), accept === undefined ? {} : { accept }),
      await send(JSON.stringify(message), { ...headers, ...(accept === undefined ? {} : { accept }) }),
    ]) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
      const text =
        type === 'application/json' ? answer.text : /^event: message\ndata: (.*)\n\n$/.exec(answer.text)?.[1];
      expect(JSON.parse(text ?? '')).toMatchObject({ jsonrpc: '2.0', id: 1, result: { tools: expect.any(Array) } });
    }
  });

  it('returns 406 to a client that accepts neither JSON nor an event stream', async () => {
    const answer = await send(JSON.stringify(listing), { accept: 'text/html' });
    expect([answer.status, answer.json]).toEqual([
      406,
      { jsonrpc: '2.0', id: null, error: { code: -32_000, message: expect.any(String) } },
    ]);
  });

  it('accepts whole floats as integers in arguments and request ids', async () => {
    for (const limit of ['1.0', '1e0', '10e-1', '1']) {
      const params = `{"name":"listPeople","arguments":{"q":"a","limit":${limit}}}`;
      const answer = await send(`{"jsonrpc":"2.0","id":7.0,"method":"tools/call","params":${params}}`);
      expect([limit, answer.json]).toEqual([
        limit,
        expect.objectContaining({ id: 7, result: expect.objectContaining({ isError: false }) }),
      ]);
    }
    expect(await callTool(tokens['a person'] ?? '', 'listPeople', { limit: 1.5 })).toMatchObject({ isError: true });
  });

  it('returns 202 without a body for notifications and responses from the client', async () => {
    for (const [message, headers] of [
      [{ jsonrpc: '2.0', method: 'notifications/initialized' }, {}],
      [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, {}],
      [{ jsonrpc: '2.0', id: 1, result: {} }, {}],
      [{ jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no' } }, { 'mcp-protocol-version': revision }],
    ] as const) {
      const answer = await send(JSON.stringify(message), headers);
      const { headers: got } = answer;
      expect([answer.status, answer.text, got.get('content-type'), got.get('content-length') ?? '0']).toEqual([
        202,
        '',
        null,
        '0',
      ]);
    }
  });

  it.each([
    ['tools/call', {}, 'params.name: expected string, received undefined'],
    ['tools/call', { name: 5 }, 'params.name: expected string, received number'],
    ['tools/call', { name: 'getPerson', arguments: [1] }, 'params.arguments: expected record, received array'],
    ['tools/list', { cursor: 5 }, 'params.cursor: expected string, received number'],
    ['tools/list', { cursor: 'of another server' }, 'there is one page of tools, and no cursor'],
    ['tools/list', [], 'params must be an object'],
    ['tools/call', 'getPerson', 'params must be an object'],
  ])('reports the invalid parameters of %s: %j', async (method, params, problem) => {
    const refused = { jsonrpc: '2.0', id: 1, error: { code: -32_602, message: `Invalid params: ${problem}` } };
    expect((await send(JSON.stringify({ ...listing, method, params }))).json).toEqual(refused);
    if (typeof params === 'string' || Array.isArray(params)) return;
    const { message, headers } = ofRevision(method, params);
    expect((await send(JSON.stringify(message), headers)).json).toEqual(refused);
  });

  it('accepts null for an omitted argument', async () => {
    const whole = (await send(JSON.stringify(listing))).json;
    for (const params of [null, { cursor: null }, { cursor: null, _meta: null }, { cursor: '' }])
      expect((await send(JSON.stringify({ ...listing, params }))).json).toEqual(whole);
    const found = await send(
      JSON.stringify({ ...listing, method: 'tools/call', params: { name: 'listResponsible', arguments: null } }),
    );
    expect(found.json).toMatchObject({ result: { isError: false } });
  });
});

describe('guards of /mcp (M6)', () => {
  it('rejects requests without a per-user token, with the same challenge as REST routes', async () => {
    for (const token of [null, 'nobody', 'svc_key_000000000000_x']) {
      const answer = await post(listing, { token });
      expect([answer.status, answer.headers.get('www-authenticate'), answer.json]).toEqual([
        401,
        'Bearer',
        { detail: 'Unauthorized' },
      ]);
    }
    const shared = await post(listing, { token: platform.sharedToken });
    expect([shared.status, shared.json]).toEqual([403, expect.objectContaining({ error: 'per_user_token_required' })]);
  });

  it('rejects requests from pages of origins without CORS access', async () => {
    expect((await post(listing, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    expect((await post(listing, { headers: { origin: 'null' } })).status).toBe(403);
    expect((await post(listing, { headers: { origin: 'https://app.example.org' } })).status).toBe(200);
  });

  it('accepts only POST with one JSON message, within the JSON body limit', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await platform.call(method, '/mcp', { token: tokens['a person'] ?? '' });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    }
    const token = tokens['a person'] ?? '';
    const raw = (body: string, headers: Record<string, string> = {}) =>
      platform.call('POST', '/mcp', {
        token,
        body,
        headers: { accept: 'application/json, text/event-stream', ...headers },
      });
    const json = { 'content-type': 'application/json' };
    expect((await raw('{', json)).status).toBe(400);
    expect((await raw('['.repeat(5_000), json)).status).toBe(400);
    expect((await raw(JSON.stringify([listing]), json)).status).toBe(422);
    expect((await raw(JSON.stringify({ ...listing, jsonrpc: '1.0' }), json)).status).toBe(422);
    expect((await raw(JSON.stringify(listing), { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await raw(JSON.stringify({ ...listing, params: { x: 'x'.repeat(5 * 1_048_576) } }), json)).status).toBe(
      413,
    );
  });

  it('rejects a subscription stream, and supports only tools', async () => {
    for (const method of ['subscriptions/listen', 'resources/list', 'prompts/list', 'completion/complete']) {
      const { message, headers } = ofRevision(method, { notifications: { toolsListChanged: true } });
      const answer = await post(message, { headers });
      expect([method, answer.text]).toEqual([
        method,
        expect.stringMatching(/"error":.*(Subscription limit reached|not found)/i),
      ]);
    }
  });

  it('omits details of internal errors from the response, and argument texts from logs', async () => {
    const { text } = await callTool(tokens['a person'] ?? '', 'searchTranscripts', { q: 'unloggedword' });
    expect(JSON.parse(text)).toMatchObject({ items: [] });
    expect(await platform.readLogs()).not.toContain('unloggedword');
  });
});
