/**
 * Agent records, the visitor chat and the messaging webhook (rules/agents#agents, rules/agents#visitor-chat,
 * rules/agents#messaging-webhook; D30 to D33d).
 */
import { nullable, route, Type } from '#libs/contract';
import { AgentChatIn, AgentChatOut, AgentOut, agents, ChatUpdates, maxChatWaitSeconds } from '#services/agents';

/** Two attempts of the language model, and a turn of the same thread that may have to end first. */
const chatDeadlineMs = 140_000;

export const agentRoutes = [
  route({
    method: 'GET',
    path: '/api/agents/{slug}/',
    operationId: 'getAgent',
    tag: 'agents',
    summary: 'One agent by slug',
    auth: 'shared',
    scope: 'agents:read',
    params: Type.Object({ slug: Type.String({ description: 'Slug of the agent.' }) }),
    rpc: agents.rpcs.getAgent,
    etag: true,
    replies: {
      200: { description: 'The agent.', schema: AgentOut },
      404: { description: 'No agent has the slug.' },
    },
  }),
  route({
    method: 'POST',
    path: '/api/chat/{agent_slug}/message/',
    operationId: 'sendChatMessage',
    tag: 'chat',
    summary: 'Send a message to an agent and wait for its reply',
    description:
      'Visitors have no account. Leave `visitor_id` out on the first message and send the returned value to go on with the thread; an unknown one ' +
      'begins a new thread. Messages of one thread are answered one after the other. When the agent cannot answer, nothing is recorded. Whoever does ' +
      'not know whether a message arrived sends it again under the same Idempotency-Key: it is recorded once, and the same turn is returned.',
    auth: 'none',
    params: Type.Object({ agent_slug: Type.String({ description: 'Slug of the agent.' }) }),
    headers: Type.Object({
      'Idempotency-Key': Type.Optional(
        Type.String({
          minLength: 16,
          maxLength: 255,
          pattern: '\\S',
          description:
            'Made by the client at random, for one message: with the words of a first message it opens the thread, so nobody may guess it.',
        }),
      ),
    }),
    body: { schema: AgentChatIn },
    rpc: agents.rpcs.sendChatMessage,
    events: {
      rpc: agents.rpcs.streamChatMessage,
      description:
        'With `Accept: text/event-stream`: `snapshot` with `{agent_html}`, the whole reply so far, at most every 80 ms; then `done` with an ' +
        'AgentChatOut, or `error` with `{detail}` and nothing recorded. After 15 s without a word the events begin with comments. Who leaves early gets the recorded turn under the same Idempotency-Key.',
      example: [
        'event: snapshot\ndata: {"agent_html":"We meet <b>every</b>"}\n\n',
        'event: snapshot\ndata: {"agent_html":"We meet <b>every Tuesday</b> at"}\n\n',
        'event: done\ndata: {"visitor_id":"…","thread_key":"…","human_html":"When?","agent_html":"We meet <b>every Tuesday</b> at six.","created_at":"…"}\n\n',
      ].join(''),
    },
    toRequest: ({ params: { agent_slug }, headers, body: { body, visitor_id = null }, ip }) => ({
      agent_slug,
      body,
      visitor_id,
      idempotency_key: headers['Idempotency-Key'] ?? null,
      ip,
    }),
    deadlineMs: chatDeadlineMs,
    isLongRunning: true,
    replies: {
      200: { description: 'The recorded turn.', schema: AgentChatOut },
      400: { description: 'The message is empty.' },
      404: { description: 'No agent has the slug.' },
      429: { description: 'Too many messages of this visitor, or of all visitors from this address; see `Retry-After`.' },
      503: {
        description:
          'The agent runtime is not configured, or the agent cannot reply now or today. Nothing was recorded. See `Retry-After`: when the agent has used ' +
          'its daily token budget, the seconds until the next day (UTC).',
      },
    },
  }),
  route({
    method: 'POST',
    path: '/api/chat/{agent_slug}/updates/',
    operationId: 'readChatUpdates',
    tag: 'chat',
    summary: 'Read what a person wrote in the place of the agent',
    description:
      'A person may take a conversation over: the answer to a message then has `waits_for: "person"`, and what they write is found here. Ask again ' +
      'and again with `wait`, or every few seconds while `waits_for` says so, else now and then; the limits of messages hold, counted apart. A `POST`, since `visitor_id` is a secret that no address may hold; it changes nothing. ' +
      'An unknown one has no updates.',
    auth: 'none',
    params: Type.Object({ agent_slug: Type.String({ description: 'Slug of the agent.' }) }),
    body: {
      schema: Type.Object({
        visitor_id: Type.String({ maxLength: 200, description: 'As returned with the answer to a message.' }),
        after: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0, description: '`next` of the answer before; 0 at first.' }),
        ),
        wait: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: maxChatWaitSeconds,
            default: 0,
            description: 'Seconds to wait for a message, or for another `waits_for` than the one given. Fewer while the platform is busy.',
          }),
        ),
        waits_for: Type.Optional(nullable(Type.Literal('person', { description: '`waits_for` of the answer before.' }))),
      }),
    },
    rpc: agents.rpcs.readChatUpdates,
    toRequest: ({ params, body: { visitor_id, after = 0, wait = 0, waits_for }, ip }) => ({
      ...params,
      visitor_id,
      after,
      wait,
      ...(waits_for === undefined ? {} : { waits_for }),
      ip,
    }),
    responseHeaders: () => ({ 'Cache-Control': 'no-store' }),
    replies: {
      200: { description: 'What came since.', schema: ChatUpdates },
      404: { description: 'No agent has the slug.' },
      429: { description: 'Too many requests of this visitor, or of all visitors from this address; see `Retry-After`.' },
    },
  }),
  route({
    method: 'POST',
    path: '/api/hook/agents/{slug}',
    operationId: 'receiveAgentUpdate',
    tag: 'webhooks',
    summary: 'Receive an update of the messaging platform',
    description:
      'For Telegram: register `{base_url}/api/hook/agents/{slug}` with `setWebhook` and the `secret_token` of the agent. Everything is answered ' +
      'with 200 as soon as it is stored, whatever it is; the reply is sent through the Bot API, and what became of an update is in its receipt.',
    auth: 'none',
    exemptFromShedding: true,
    params: Type.Object({ slug: Type.String({ description: 'Slug of the agent.' }) }),
    rawBody: {
      contentType: 'application/json',
      description: "Telegram's Update, at most 4 MiB.",
      schema: Type.Object({
        update_id: Type.Integer({ description: 'Number of the update: each is answered once.' }),
        message: Type.Optional(
          Type.Unsafe({
            type: 'object',
            description: "Telegram's Message; with `text` in a private chat, group or supergroup it is answered.",
          }),
        ),
      }),
    },
    handler: 'telegram-webhook',
    replies: { 200: { description: 'Stored.', schema: Type.Object({ ok: Type.Literal(true) }, { $id: 'Accepted' }) } },
  }),
];
