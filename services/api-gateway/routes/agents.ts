/**
 * Agent records, the visitor chat and the messaging webhook (rules/agents#agents, rules/agents#visitor-chat,
 * rules/agents#messaging-webhook; D30 to D33d).
 */
import { route, Type } from '#libs/contract';
import { AgentChatIn, AgentChatOut, AgentOut, agents } from '#services/agents';

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
    toRequest: ({ params: { agent_slug }, headers, body: { body, visitor_id = null }, ip }) => ({
      agent_slug,
      body,
      visitor_id,
      idempotency_key: headers['Idempotency-Key'] ?? null,
      ip,
    }),
    deadlineMs: chatDeadlineMs,
    replies: {
      200: { description: 'The recorded turn.', schema: AgentChatOut },
      400: { description: 'The message is empty.' },
      404: { description: 'No agent has the slug.' },
      429: { description: 'Too many messages of this visitor, or of all visitors from this address; see `Retry-After`.' },
      503: {
        description:
          'The agent runtime is not configured, or cannot answer now or today; nothing was recorded. See `Retry-After`: when the agent has used ' +
          'its tokens of the day, the seconds until the next (UTC).',
      },
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
    neverShed: true,
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
