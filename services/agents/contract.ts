/** The public face of the agents service: agent records, the visitor chat, set-up data and what operators may see and forget. */
import { byAnybody, byOperators, ownAccount, defineService, job, jobAdminRpcs, line, rpc, Type, workspacePage } from '#libs/contract';
import { jobsOf, pipelineJobs } from '#libs/pipeline';
import { knowledgeRpcs } from './knowledge-contract.ts';
import { messagingJobs, messagingRpcs, telegramWebhookSubject } from './messaging-contract.ts';
import { personDataRpcs } from './person-data.ts';

export { firstUpdateReceiptId, TelegramWebhook, telegramWebhookSubject, updateOutcomes, type UpdateReceipt } from './messaging-contract.ts';

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const slug = Type.String({ description: 'Slug of the agent.' });

/** Longest chat message, in characters (D33a). */
export const maxChatBodyCharacters = 16_384;

/** AgentOut of rules/agents#agents. */
export const AgentOut = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    prompt: Type.String({ description: 'Instructions of the agent; `""` when it has none.' }),
    infos: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Open data about the agent; `{}` when it has none.' }),
  },
  { $id: 'AgentOut' },
);

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
    created_at: Type.String({ format: 'date-time', description: 'When the turn was recorded, ISO 8601 with `+00:00`.' }),
  },
  { $id: 'AgentChatOut' },
);

/** One agent of the workspace file, secrets resolved (rules/workspace#workspace-file, D33e). */
export const AgentItem = Type.Object(
  {
    slug: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$' }),
    name: line({ minLength: 1 }),
    prompt: Type.Optional(nullable(Type.String())),
    infos: Type.Optional(nullable(jsonObject)),
    config: Type.Optional(nullable(jsonObject)),
  },
  { additionalProperties: false },
);

const workspaceChange = Type.Object({
  list: Type.String(),
  key: Type.String(),
  action: Type.Union([Type.Literal('create'), Type.Literal('update')]),
  fields: Type.Array(Type.Object({ field: Type.String(), old: Type.Unknown(), new: Type.Unknown() })),
});

const recordedMessage = Type.Object({
  id: Type.Integer(),
  note_type: Type.String({ description: '`chat_visitor` or `chat_agent` (D34).' }),
  body: Type.String(),
  html: Type.String(),
  created_at: Type.String(),
});

const unknownAgent = { agent_not_found: { code: 'not_found', when: 'No agent has that slug.' } } as const;

/** A model that is away does not use attempts up (workers/memory.ts); one that replies nonsense does. */
const memoryPolicy = { maxAttempts: 5, firstDelayMs: 5_000, maxDelayMs: 900_000, timeoutMs: 300_000, concurrency: 2 } as const;

const forgotten = Type.Object({
  threads: Type.Integer({ description: 'Threads deleted.' }),
  messages: Type.Integer({ description: 'Messages deleted, questions and answers.' }),
  facts: Type.Integer({ description: 'Remembered sentences deleted, those that agents shared included.' }),
});

export const agents = defineService({
  service: 'agents',
  rpcs: {
    ...jobAdminRpcs('agents'),
    ...personDataRpcs,
    ...messagingRpcs,
    ...knowledgeRpcs,
    getAgent: rpc({
      subject: 'agents.agents.get',
      callers: { 'api-gateway': ['shared', 'none'], cli: ownAccount },
      summary: 'One agent by slug; 404 when no agent has it.',
      request: Type.Object({ slug }),
      reply: AgentOut,
    }),
    sendChatMessage: rpc({
      subject: 'agents.chat.send',
      callers: byAnybody,
      summary: "Answers a visitor's message and records the turn, wholly or not at all.",
      request: Type.Object({
        agent_slug: slug,
        body: AgentChatIn.properties.body,
        visitor_id: AgentChatIn.properties.visitor_id,
        idempotency_key: Type.Optional(
          nullable(Type.String({ description: 'Names the message: the same words under it, from the same visitor, are one message.' })),
        ),
        ip: Type.String({ description: 'What limits count the visitor by: IPv4 address or IPv6 /64.' }),
      }),
      reply: AgentChatOut,
      timeoutMs: 150_000,
      idempotent: false,
    }),
    applyWorkspace: rpc({
      subject: 'admin.agents.workspace.apply',
      callers: byOperators,
      summary: 'Applies the `agents` list of a workspace file, whole or not at all. Nothing that it does not name is touched.',
      request: Type.Object({
        agents: Type.Array(
          Type.Unknown({ description: 'Items as in the file, secrets resolved; checked one by one so that every problem is found.' }),
        ),
        dry_run: Type.Boolean(),
      }),
      reply: Type.Object({
        created: Type.Integer(),
        updated: Type.Integer(),
        unchanged: Type.Integer(),
        ids: Type.Object({ agents: Type.Record(Type.String(), Type.Integer()) }),
        diff: Type.Array(workspaceChange, { description: 'Secrets are never shown.' }),
      }),
      errors: {
        invalid_workspace: {
          code: 'bad_request',
          when: 'Items have problems; `problems` lists every one as {path, message}. Nothing was changed.',
        },
      },
      timeoutMs: 60_000,
    }),
    exportWorkspace: rpc({
      subject: 'admin.agents.workspace.export',
      callers: byOperators,
      summary: 'One page of the `agents` list of the workspace file, as `workspace apply` reads it.',
      request: Type.Object(workspacePage.request),
      reply: workspacePage.reply,
      timeoutMs: 60_000,
    }),
    getRecord: rpc({
      subject: 'admin.agents.record.get',
      callers: byOperators,
      summary:
        'What is stored of the conversations with an agent, oldest thread first, in pages: of threads, or of the messages of one thread.',
      request: Type.Object({
        slug,
        thread_key: Type.Optional(Type.String({ description: 'Only this thread; the pages are of its messages then.' })),
        after: Type.Optional(Type.Integer({ minimum: 0, description: '`next` of the page before.' })),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1_000, description: 'Threads, or messages of the one thread; default 100.' }),
        ),
      }),
      reply: Type.Object({
        agent: Type.Object({
          id: Type.Integer(),
          slug: Type.String(),
          name: Type.String(),
          memory: Type.Object({
            summary: Type.String({ description: 'What the agent knows of its subject; `""` when nothing yet.' }),
            notes: Type.Array(Type.String(), { description: 'What the summary is made of, newest first.' }),
          }),
        }),
        threads: Type.Array(
          Type.Object({
            thread_key: Type.String(),
            created_at: Type.String(),
            updated_at: Type.String(),
            message_count: Type.Integer(),
            messages: Type.Array(recordedMessage, {
              description: 'Oldest first: the newest 200 in a page of threads, the page in a page of messages.',
            }),
            memory: Type.Object({
              summary: Type.String(),
              facts: Type.Array(Type.String(), { description: 'What the person said about themselves.' }),
              notes: Type.Array(Type.String(), { description: 'What the thread gave to the knowledge of the agent.' }),
              up_to_turn: Type.Integer({ description: 'Last turn that it was made from; 0 = none yet.' }),
            }),
          }),
        ),
        next: nullable(Type.Integer({ description: 'For `after`; null when this was the last page.' })),
      }),
      errors: unknownAgent,
      timeoutMs: 120_000,
    }),
    forgetThreads: rpc({
      subject: 'admin.agents.record.forget',
      callers: byOperators,
      summary: 'Deletes threads with their messages and all that is remembered of them: one by key, or all of an agent.',
      request: Type.Object({
        slug,
        thread_key: Type.Optional(Type.String({ description: 'Only this thread; absent = every thread of the agent.' })),
      }),
      reply: forgotten,
      errors: unknownAgent,
      timeoutMs: 60_000,
    }),
    forgetPerson: rpc({
      subject: 'admin.agents.memory.forget',
      callers: byOperators,
      summary:
        "Deletes what is stored of one person's conversations with all agents: messages, facts, and what agents derived from them. Nothing found is no error.",
      request: Type.Union([
        Type.Object({ visitor_id: Type.String({ minLength: 1, description: 'Of the visitor page.' }) }, { additionalProperties: false }),
        Type.Object({ thread_key: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
        Type.Object(
          {
            telegram_user_id: Type.Integer({
              minimum: 1,
              description: 'The private chat goes whole, in groups the turns that this user asked for.',
            }),
          },
          { additionalProperties: false },
        ),
      ]),
      reply: forgotten,
      timeoutMs: 60_000,
    }),
    listUsage: rpc({
      subject: 'admin.agents.usage.list',
      callers: byOperators,
      summary: 'What the language model cost each agent, by day (UTC) and purpose, newest day first.',
      request: Type.Object({
        slug: Type.Optional(slug),
        since: Type.Optional(Type.String({ format: 'date', description: 'First day, `YYYY-MM-DD`.' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 100.' })),
      }),
      reply: Type.Object({
        items: Type.Array(
          Type.Object({
            slug: Type.String(),
            day: Type.String(),
            purpose: Type.Union([Type.Literal('chat'), Type.Literal('memory')]),
            calls: Type.Integer({ description: 'Calls of the model, failed ones included.' }),
            failed_calls: Type.Integer(),
            calls_without_usage: Type.Integer({ description: 'Calls whose tokens the model did not tell.' }),
            prompt_tokens: Type.Integer(),
            completion_tokens: Type.Integer(),
            duration_ms: Type.Integer({ description: 'Time spent waiting for the model.' }),
          }),
        ),
      }),
    }),
  },
  jobs: {
    ...messagingJobs,
    ...jobsOf('agents', pipelineJobs),
    threadMemory: job({
      type: 'agents.thread-memory',
      summary: 'Makes facts and a rolling summary of the turns of a thread that were recorded since the last time',
      payload: Type.Object({ thread_id: Type.Integer() }),
      policy: memoryPolicy,
    }),
    agentMemory: job({
      type: 'agents.agent-memory',
      summary: 'Makes the summary of what an agent knows of its subject from the notes of all its threads',
      payload: Type.Object({ agent_id: Type.Integer() }),
      policy: memoryPolicy,
    }),
  },
  events: {},
  consumers: { updates: { stream: 'WEBHOOKS', durable: 'agents-updates', filter: telegramWebhookSubject } },
});
