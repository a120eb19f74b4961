/**
 * Agent records, the visitor chat and the messaging webhook (rules/agents#agents, rules/agents#visitor-chat,
 * rules/agents#messaging-webhook; D30 to D33d).
 */
import { nullable, route, Type } from '#libs/infrastructure/contract';
import { AgentChatIn, AgentChatOut, AgentOut, agents, ChatUpdates, maxChatWaitSeconds } from '#services/agents';

/** Time for two attempts of the language model, after an earlier turn of the same thread. */
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
      'Visitors have no account. Omit `visitor_id` in the first message and send the returned value to continue the thread; an unknown value ' +
      'starts a new thread. Messages of one thread are answered in order. If the agent cannot reply, nothing is recorded. ' +
      'After a lost response, repeat the request with the same Idempotency-Key: the message is recorded once and the same turn is returned.',
    auth: 'none',
    params: Type.Object({ agent_slug: Type.String({ description: 'Slug of the agent.' }) }),
    headers: Type.Object({
      'Idempotency-Key': Type.Optional(
        Type.String({
          minLength: 16,
          maxLength: 255,
          pattern: '\\S',
          description:
            'Random value created by the client for one message. It must be unguessable: with the text of a first message it gives access to the thread.',
        }),
      ),
    }),
    body: { schema: AgentChatIn },
    rpc: agents.rpcs.sendChatMessage,
    events: {
      rpc: agents.rpcs.streamChatMessage,
      description:
        'With `Accept: text/event-stream`: `snapshot` with `{agent_html}`, the whole reply so far, at most every 80 ms; then `done` with an ' +
        'AgentChatOut, or `error` with `{detail}` and nothing recorded. Comments are sent while no event is available for 15 s. If the connection ends early, the same Idempotency-Key returns the recorded turn.',
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
      429: { description: 'Too many messages from this visitor or this address. See `Retry-After`.' },
      503: {
        description:
          'The agent runtime is not configured or the agent cannot reply now. Nothing was recorded. See `Retry-After`: if the daily token budget ' +
          'of the agent is used up, the seconds until the next day (UTC).',
      },
    },
  }),
  route({
    method: 'POST',
    path: '/api/chat/{agent_slug}/updates/',
    operationId: 'readChatUpdates',
    tag: 'chat',
    summary: 'Read replies from a person',
    description:
      'After a person has taken over a conversation, responses to messages have `waits_for: "person"`, and this operation returns what the person wrote. ' +
      'Poll with `wait`, or every few seconds while `waits_for` is set. The message limits apply, counted separately. This is a `POST` because ' +
      '`visitor_id` is a secret that must not be in a URL; it changes nothing. An unknown `visitor_id` has no updates.',
    auth: 'none',
    params: Type.Object({ agent_slug: Type.String({ description: 'Slug of the agent.' }) }),
    body: {
      schema: Type.Object({
        visitor_id: Type.String({ maxLength: 200, description: 'As returned by sendChatMessage.' }),
        after: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 2_147_483_647,
            default: 0,
            description: '`next` of the previous response; 0 in the first request.',
          }),
        ),
        wait: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: maxChatWaitSeconds,
            default: 0,
            description:
              'Seconds to wait for a message or a change of `waits_for`. Shorter while the platform is busy.',
          }),
        ),
        waits_for: Type.Optional(
          nullable(Type.Literal('person', { description: '`waits_for` of the previous response.' })),
        ),
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
      200: { description: 'The updates.', schema: ChatUpdates },
      404: { description: 'No agent has the slug.' },
      429: { description: 'Too many requests from this visitor or this address. See `Retry-After`.' },
    },
  }),
  route({
    method: 'POST',
    path: '/api/hook/agents/{slug}',
    operationId: 'receiveAgentUpdate',
    tag: 'webhooks',
    summary: 'Receive an update of the messaging platform',
    description:
      'For Telegram: register `{base_url}/api/hook/agents/{slug}` with `setWebhook` and the `secret_token` of the agent. Every request ' +
      'returns 200 once it is stored. The reply is sent through the Bot API; the receipt shows the outcome.',
    auth: 'none',
    exemptFromShedding: true,
    params: Type.Object({ slug: Type.String({ description: 'Slug of the agent.' }) }),
    rawBody: {
      contentType: 'application/json',
      description: "Telegram's Update, at most 4 MiB.",
      schema: Type.Object({
        update_id: Type.Integer({ description: 'Number of the update. Each update is processed once.' }),
        message: Type.Optional(
          Type.Unsafe({
            type: 'object',
            description: "Telegram's Message. Messages with `text` in a private chat, group or supergroup get a reply.",
          }),
        ),
      }),
    },
    handler: 'telegram-webhook',
    replies: { 200: { description: 'Stored.', schema: Type.Object({ ok: Type.Literal(true) }, { $id: 'Accepted' }) } },
  }),
];
