/** Agents, read through the API and written by the workspace file. */
import { anyActor, byOperators, singleLine, nullable, withoutActor, rpc, Type, workspacePage } from '#libs/contract';

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

/** One agent of the workspace file with its secrets (rules/workspace#workspace-file, D33e). */
export const AgentItem = Type.Object(
  {
    slug: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$' }),
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
  fields: Type.Array(Type.Object({ field: Type.String(), old: Type.Unknown(), new: Type.Unknown() })),
});

export const agentRpcs = {
  getAgent: rpc({
    subject: 'agents.agents.get',
    callers: { 'api-gateway': [...anyActor, ...withoutActor], cli: withoutActor },
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
