/** Agents, read and written through the API and by the workspace file. */
import {
  anyActor,
  byOperators,
  byUsers,
  type ErrorReasons,
  limitParameter,
  nullable,
  rpc,
  singleLine,
  type Static,
  Type,
  withoutActor,
  workspacePage,
} from '#libs/infrastructure/contract';
import { historyItem } from '#libs/product/history';

export const slug = Type.String({ description: 'Slug of the agent.' });

/** Error of operations when no agent has the requested slug. */
export const agentNotFound = { code: 'not_found', when: 'No agent has that slug.' } as const;

/** Agent as the API returns it (rules/agents#agents). */
export const AgentOut = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    prompt: Type.String({ description: 'Instructions of the agent; `""` if it has none.' }),
    infos: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'Custom data of the agent; `{}` if it has none.',
    }),
  },
  { $id: 'AgentOut' },
);

const jsonObject = Type.Record(Type.String(), Type.Unknown());

const maxSlugLength = 100;

/** One agent of the workspace file with its secrets (rules/workspace#workspace-file, D33e). */
export const AgentItem = Type.Object(
  {
    slug: Type.String({ minLength: 1, maxLength: maxSlugLength, pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$' }),
    name: singleLine({ minLength: 1 }),
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
  edited: Type.Optional(
    Type.Boolean({ description: 'True if a field is edited, or the agent was deleted over the API (W24).' }),
  ),
  fields: Type.Array(
    Type.Object({
      field: Type.String(),
      old: Type.Unknown(),
      new: Type.Unknown(),
      edited: Type.Optional(
        Type.Boolean({ description: 'Whether it was changed over the API since the file last changed it (W24).' }),
      ),
    }),
  ),
});

/** An agent as its editors see it (W6). */
export const Agent = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    prompt: Type.String({ description: 'Instructions of the agent; `""` if it has none.' }),
    infos: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Custom data; public.' }),
    config: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'Settings, for example `messaging`. A stored secret is `{"set": true}`.',
    }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time.' }),
    updated_at: Type.String({ format: 'date-time', description: 'Time of the last change.' }),
  },
  { $id: 'Agent', description: 'An agent with its settings.' },
);

/** Maximum length of an agent's prompt over HTTP, in characters. */
const maxPromptLength = 100_000;
/** Maximum size of `infos` and of `config` as JSON text, in bytes. */
export const maxAgentDataBytes = 1_048_576;

const agentFields = {
  name: singleLine({ maxLength: 500, description: 'Must not be blank.' }),
  prompt: Type.Optional(
    nullable(Type.String({ maxLength: maxPromptLength, description: 'Instructions. Null removes them.' })),
  ),
  infos: Type.Optional(
    nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Custom data, replaced whole. At most 1 MiB of JSON.',
      }),
    ),
  ),
};
const configField = (description: string) =>
  Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown(), { description })));

export const newAgent = Type.Object(
  {
    slug: singleLine({
      maxLength: maxSlugLength,
      description: 'Letters, digits, `_` and `-`. Must not be used by another agent.',
    }),
    ...agentFields,
    config: configField('Settings. At most 1 MiB of JSON.'),
  },
  { $id: 'AgentCreate' },
);
export type NewAgent = Static<typeof newAgent>;

export const agentUpdate = Type.Object(
  {
    ...agentFields,
    name: Type.Optional(agentFields.name),
    config: configField(
      'Settings to change, merged per key: null removes a key, `{"set": true}` keeps a stored secret. Null removes all settings.',
    ),
  },
  { $id: 'AgentUpdate' },
);

/** Default page size of the list of agents and of a history (rules/http#limits). */
export const agentsPerPage = 50;

export const agentListQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 500, description: 'Part of the name or slug, ignoring case.' })),
  limit: limitParameter({ usual: agentsPerPage, most: 200 }),
  cursor: Type.Optional(Type.String({ maxLength: 100, description: '`next` of the previous page.' })),
});
export const agentHistoryQuery = Type.Object({
  limit: agentListQuery.properties.limit,
  cursor: Type.Optional(Type.String({ maxLength: 20, description: '`next` of the previous page.' })),
});

const next = nullable(Type.String({ description: '`cursor` of the next page; null after the last one.' }));
/** The maximum is the length limit of URLs; a longer slug returns 404. */
const slugInPath = Type.String({ maxLength: 16_384, description: 'Slug of the agent.' });
const oneAgent = Type.Object({ agent: Agent });
const ifMatchField = { if_match: Type.Optional(nullable(Type.String({ description: 'The `If-Match` header.' }))) };

const denied = {
  permission_denied: {
    code: 'permission_denied',
    when: 'The caller is neither a superuser nor in the group `workspace_editors`.',
  },
} as const satisfies ErrorReasons;
const absent = {
  ...denied,
  not_found: { code: 'not_found', when: 'No agent has that slug.' },
} as const satisfies ErrorReasons;
const changing = {
  ...absent,
  precondition_failed: { code: 'precondition_failed', when: '`If-Match` does not match the current representation.' },
} as const satisfies ErrorReasons;
const invalid = {
  bad_request: {
    code: 'bad_request',
    when: 'The name is blank, the data is too large, a setting is not valid, or `{set: true}` keeps no secret.',
  },
} as const satisfies ErrorReasons;

/** Operations of editors (W6). */
export const agentSetupRpcs = {
  listWorkspaceAgents: rpc({
    subject: 'agents.setup.list',
    callers: byUsers,
    summary: 'Lists agents by slug, for editors (W6).',
    request: agentListQuery,
    reply: Type.Object({ items: Type.Array(Agent, { description: 'By slug. A page ends before 4 MiB.' }), next }),
    errors: { ...denied, bad_request: { code: 'bad_request', when: 'The cursor is not from a page.' } },
  }),
  getWorkspaceAgent: rpc({
    subject: 'agents.setup.get',
    callers: byUsers,
    summary: 'Returns an agent, for editors (W6).',
    request: Type.Object({ slug: slugInPath }),
    reply: oneAgent,
    errors: absent,
  }),
  createAgent: rpc({
    subject: 'agents.setup.create',
    callers: byUsers,
    idempotent: true,
    audit: 'agent.create',
    summary: 'Creates an agent (W6).',
    request: newAgent,
    reply: oneAgent,
    errors: {
      ...denied,
      ...invalid,
      slug_taken: { code: 'conflict', when: 'Another agent has the slug.' },
    },
  }),
  updateAgent: rpc({
    subject: 'agents.setup.update',
    callers: byUsers,
    idempotent: true,
    audit: 'agent.update',
    summary: 'Changes fields of an agent (W6).',
    request: Type.Object({ slug: slugInPath, ...agentUpdate.properties, ...ifMatchField }),
    reply: Type.Object({
      agent: Agent,
      changes: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Changed fields with `old` and `new`. A secret is `{"set": true}`.',
      }),
    }),
    errors: { ...changing, ...invalid },
  }),
  deleteAgent: rpc({
    subject: 'agents.setup.delete',
    callers: byUsers,
    audit: 'agent.delete',
    summary: 'Deletes an agent with its settings. Operators can still read its threads (W6).',
    request: Type.Object({ slug: slugInPath, ...ifMatchField }),
    reply: Type.Object({}),
    errors: changing,
  }),
  listAgentHistory: rpc({
    subject: 'agents.setup.history',
    callers: byUsers,
    summary: 'Lists changes of an agent, newest first, for editors (W10).',
    request: Type.Object({
      id: Type.String({ maxLength: 16_384, description: 'Id or slug of the agent.' }),
      ...agentHistoryQuery.properties,
    }),
    reply: Type.Object({ items: Type.Array(historyItem, { description: 'Newest first.' }), next }),
    errors: { ...absent, bad_request: { code: 'bad_request', when: 'The cursor is not from a page.' } },
  }),
} as const;

export const agentRpcs = {
  ...agentSetupRpcs,
  getAgent: rpc({
    subject: 'agents.agents.get',
    callers: { 'api-gateway': [...anyActor, ...withoutActor] },
    summary: 'Returns an agent by slug; 404 if it does not exist.',
    request: Type.Object({ slug }),
    reply: AgentOut,
  }),
  applyWorkspace: rpc({
    subject: 'admin.agents.workspace.apply',
    callers: byOperators,
    audit: 'workspace.apply',
    summary:
      'Applies the `agents` list of a workspace file completely or not at all. Other agents and fields stay unchanged.',
    request: Type.Object({
      agents: Type.Array(
        Type.Unknown({ description: 'Items of the file with their secrets. Validation returns every problem.' }),
      ),
      dry_run: Type.Boolean(),
      keep_edits: Type.Optional(
        Type.Boolean({ description: 'Leave fields alone that were changed over the API (W11).' }),
      ),
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
        when: 'Items are invalid; `problems` lists all problems as {path, message}. Nothing was changed.',
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
};
