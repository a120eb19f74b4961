/** The chat of visitors with an agent. */
import { byGateway, nullable, rpc, Type } from '#libs/contract';
import { slug } from '../schemas.ts';

/** Longest chat message, in characters (D33a). */
export const maxChatBodyCharacters = 16_384;

/** Body of a visitor's message (rules/agents#visitor-chat). */
export const AgentChatIn = Type.Object(
  {
    body: Type.String({ maxLength: maxChatBodyCharacters, description: 'The message, Markdown allowed. Blank → 400.' }),
    visitor_id: Type.Optional(
      nullable(Type.String({ description: 'As returned before, to continue a thread; anything else begins a new one (D33a).' })),
    ),
  },
  { $id: 'AgentChatIn' },
);

/** AgentChatOut of rules/agents#visitor-chat. */
export const AgentChatOut = Type.Object(
  {
    visitor_id: Type.String({ description: "Identifier of the visitor's thread; keep it secret, it is the key to the thread." }),
    thread_key: Type.String({ description: '`web:visitor:<visitor_id>:agent:<agent_id>`.' }),
    human_html: Type.String({ description: "The visitor's message as HTML of the messaging subset." }),
    agent_html: Type.String({ description: 'The reply as HTML of the messaging subset.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the turn was recorded, RFC 3339 with `+00:00`.' }),
    waits_for: Type.Optional(
      Type.Literal('person', {
        description: 'A person has the conversation in the place of the agent and will answer: `agent_html` says no more than that.',
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
    nullable(Type.String({ description: 'Names the message: the same words under it, from the same visitor, are one message.' })),
  ),
  ip: Type.String({ description: 'What limits count the visitor by: IPv4 address or IPv6 /64.' }),
});

export const chatRpcs = {
  sendChatMessage: rpc({
    subject: 'agents.chat.send',
    callers: byGateway,
    summary: "Answers a visitor's message and records the turn, wholly or not at all.",
    request: message,
    reply: AgentChatOut,
    timeoutMs: 150_000,
  }),
  streamChatMessage: rpc({
    subject: 'agents.chat.stream',
    callers: byGateway,
    summary:
      'The same, with the reply while it is written; it begins with the first word, and the turn is finished whoever leaves (C1, C2).',
    request: message,
    reply: Type.String({ description: 'Server-sent events: `snapshot` with `agent_html`, then `done` with the whole turn.' }),
    timeoutMs: 150_000,
  }),
};
