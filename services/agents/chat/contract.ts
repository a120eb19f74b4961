/** Chat of visitors with an agent. */
import { byGateway, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { slug } from '../agent/contract.ts';

/** Maximum length of a chat message in characters (D33a). */
export const maxChatBodyCharacters = 16_384;

/** Message of a visitor (rules/agents#visitor-chat). */
export const AgentChatIn = Type.Object(
  {
    body: Type.String({
      maxLength: maxChatBodyCharacters,
      description: 'Message in Markdown. Blank messages return 400.',
    }),
    visitor_id: Type.Optional(
      nullable(
        Type.String({
          description: 'Value of an earlier reply, to continue its thread. Unknown values start a new thread (D33a).',
        }),
      ),
    ),
  },
  { $id: 'AgentChatIn' },
);

/** Reply to a visitor's message (rules/agents#visitor-chat). */
export const AgentChatOut = Type.Object(
  {
    visitor_id: Type.String({
      description: "Id of the visitor's thread. Keep it secret: it grants access to the thread.",
    }),
    thread_key: Type.String({ description: '`web:visitor:<visitor_id>:agent:<agent_id>`.' }),
    human_html: Type.String({ description: "The visitor's message as HTML of the messaging subset." }),
    agent_html: Type.String({ description: 'The reply as HTML of the messaging subset.' }),
    created_at: Type.String({ format: 'date-time', description: 'Time of the turn, RFC 3339 with `+00:00`.' }),
    waits_for: Type.Optional(
      Type.Literal('person', {
        description: 'An operator has taken the conversation and will answer. `agent_html` contains a notice.',
      }),
    ),
  },
  { $id: 'AgentChatOut' },
);

const message = Type.Object({
  agent_slug: slug,
  body: AgentChatIn.properties.body,
  visitor_id: AgentChatIn.properties.visitor_id,
  idempotency_key: Type.Optional(
    nullable(Type.String({ description: 'Repetitions with the same key, text and visitor create one turn.' })),
  ),
  ip: Type.String({ description: 'Address for rate limits: IPv4 address or IPv6 /64.' }),
});

export const chatRpcs = {
  sendChatMessage: rpc({
    subject: 'agents.chat.send',
    callers: byGateway,
    summary: "Answers a visitor's message and records the turn completely or not at all.",
    request: message,
    reply: AgentChatOut,
    timeoutMs: 150_000,
  }),
  streamChatMessage: rpc({
    subject: 'agents.chat.stream',
    callers: byGateway,
    summary:
      'Streams the reply while it is written. The stream starts with the first text, and the turn completes even if the client disconnects (C1, C2).',
    request: message,
    reply: Type.String({
      description: 'Server-sent events: `snapshot` with `agent_html`, then `done` with the complete turn.',
    }),
    timeoutMs: 150_000,
  }),
};
