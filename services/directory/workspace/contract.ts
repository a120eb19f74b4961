/** The workspace file as it would be written now: what `workspace apply` reads (rules/workspace#workspace-file). */
import { byOperators, rpc, Type, workspacePage } from '#libs/contract';

/** Lists of the workspace file that the directory owns, in an order in which each refers to those before it or to itself. */
export const workspaceLists = ['spheres', 'classes', 'journeys', 'people', 'holons', 'accounts', 'memberships', 'relationships'] as const;

export const workspaceExportRpcs = {
  exportWorkspace: rpc({
    subject: 'admin.directory.workspace.export',
    callers: byOperators,
    summary: 'One page of a list of the workspace file, as `workspace apply` reads it.',
    request: Type.Object({ list: Type.Enum([...workspaceLists]), ...workspacePage.request }),
    reply: workspacePage.reply,
    timeoutMs: 60_000,
  }),
} as const;
