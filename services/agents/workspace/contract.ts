/** The `agents` list of the workspace file. */
import { byOperators, singleLine, nullable, rpc, Type, workspacePage } from '#libs/contract';

const jsonObject = Type.Record(Type.String(), Type.Unknown());

/** One agent of the workspace file, secrets resolved (rules/workspace#workspace-file, D33e). */
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

export const workspaceRpcs = {
  applyWorkspace: rpc({
    subject: 'admin.agents.workspace.apply',
    callers: byOperators,
    audit: 'workspace.apply',
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
};
