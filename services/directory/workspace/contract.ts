/** The workspace file as it would be written now: what `workspace apply` reads (rules/workspace#workspace-file). */
import { byOperators, rpc, Type, workspacePage } from '#libs/contract';

/** Lists of the workspace file that the directory owns, in an order in which each refers to those before it or to itself. */
export const workspaceLists = ['spheres', 'classes', 'journeys', 'people', 'holons', 'accounts', 'memberships', 'relationships'] as const;

/** One problem of a workspace document: keys and indexes from its root, and what is wrong there. */
export const workspaceProblem = Type.Object({
  path: Type.Array(Type.Union([Type.String(), Type.Integer()])),
  message: Type.String(),
});

/** One item that an application of the workspace file creates or changes. Values of secrets are never shown. */
export const workspaceChange = Type.Object({
  list: Type.String(),
  key: Type.String(),
  action: Type.Union([Type.Literal('create'), Type.Literal('update')]),
  fields: Type.Array(Type.Object({ field: Type.String(), old: Type.Unknown(), new: Type.Unknown() })),
});

const badWorkspace = {
  invalid_workspace: { code: 'bad_request', when: 'The document has problems; `problems` lists every one. Nothing was changed.' },
} as const;

/** To be spread into the contract of the directory. */
export const workspaceRpcs = {
  exportWorkspace: rpc({
    subject: 'admin.directory.workspace.export',
    callers: byOperators,
    summary: 'One page of a list of the workspace file, as `workspace apply` reads it.',
    request: Type.Object({ list: Type.Enum([...workspaceLists]), ...workspacePage.request }),
    reply: workspacePage.reply,
    timeoutMs: 60_000,
  }),
  applyWorkspace: rpc({
    subject: 'admin.directory.workspace.apply',
    callers: byOperators,
    audit: 'workspace.apply',
    summary: 'Applies the lists of a workspace file that the directory owns, whole or not at all (rules/workspace#workspace-file).',
    request: Type.Object({
      document: Type.Optional(Type.Unknown({ description: 'The file as JSON, secrets resolved, without the lists of other services.' })),
      upload_id: Type.Optional(Type.String({ description: 'A document brought by `directory.workspace.upload` instead.' })),
      dry_run: Type.Boolean(),
    }),
    reply: Type.Object({
      created: Type.Integer(),
      updated: Type.Integer(),
      unchanged: Type.Integer(),
      ids: Type.Record(Type.String(), Type.Record(Type.String(), Type.Integer()), {
        description: 'For each list: key → id. On a dry run only what exists already.',
      }),
      diff: Type.Array(workspaceChange, { description: 'At most the first 1,000 changes.' }),
      diff_truncated: Type.Boolean(),
    }),
    errors: badWorkspace,
    timeoutMs: 600_000,
  }),
  uploadWorkspace: rpc({
    subject: 'admin.directory.workspace.upload',
    callers: byOperators,
    summary: 'Keeps one part of the JSON text of a document that is too large for one message, for an hour.',
    request: Type.Object({
      upload_id: Type.String({ pattern: '^[a-z0-9]{16,64}$' }),
      part: Type.Integer({ minimum: 0, maximum: 10_000 }),
      text: Type.String({ maxLength: 2_000_000 }),
    }),
    reply: Type.Object({}),
  }),
} as const;
