/** Operations that export, apply and upload the workspace file (rules/workspace#workspace-file). */
import { byOperators, rpc, Type, workspacePage } from '#libs/infrastructure/contract';

/** Lists that the directory owns. Each list refers only to itself and to earlier lists. */
export const workspaceLists = [
  'spheres',
  'classes',
  'journeys',
  'people',
  'holons',
  'accounts',
  'memberships',
  'relationships',
] as const;

/** A problem of a workspace document: the path from its root, and a message. */
export const workspaceProblem = Type.Object({
  path: Type.Array(Type.Union([Type.String(), Type.Integer()])),
  message: Type.String(),
});

/** A created or changed item. Secret values are omitted. */
export const workspaceChange = Type.Object({
  list: Type.String(),
  key: Type.String(),
  action: Type.Union([Type.Literal('create'), Type.Literal('update')]),
  edited: Type.Optional(
    Type.Boolean({ description: 'True if a field is edited, or the object was deleted over the API (W24).' }),
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

const badWorkspace = {
  invalid_workspace: {
    code: 'bad_request',
    when: 'The document has problems, listed in `problems`. Nothing was changed.',
  },
} as const;

export const workspaceRpcs = {
  exportWorkspace: rpc({
    subject: 'admin.directory.workspace.export',
    callers: byOperators,
    summary: 'Exports one page of a list of the workspace file, as read by `workspace apply`.',
    request: Type.Object({ list: Type.Enum([...workspaceLists]), ...workspacePage.request }),
    reply: workspacePage.reply,
    timeoutMs: 60_000,
  }),
  applyWorkspace: rpc({
    subject: 'admin.directory.workspace.apply',
    callers: byOperators,
    audit: 'workspace.apply',
    summary: "Applies the directory's lists of a workspace file in one transaction (rules/workspace#workspace-file).",
    request: Type.Object({
      document: Type.Optional(
        Type.Unknown({ description: 'The file as JSON, secrets resolved, without the lists of other services.' }),
      ),
      upload_id: Type.Optional(
        Type.String({ description: 'Alternatively, a document uploaded with `directory.workspace.upload`.' }),
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
      ids: Type.Record(Type.String(), Type.Record(Type.String(), Type.Integer()), {
        description: 'Per list: key → id. On a dry run only existing items.',
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
    summary: 'Stores a part of the JSON text of a large document for an hour.',
    request: Type.Object({
      upload_id: Type.String({ pattern: '^[a-z0-9]{16,64}$' }),
      part: Type.Integer({ minimum: 0, maximum: 10_000 }),
      text: Type.String({ maxLength: 2_000_000 }),
    }),
    reply: Type.Object({}),
  }),
} as const;
