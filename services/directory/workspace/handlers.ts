/** The workspace file: parts of a large document, and its application (rules/workspace#workspace-file). */
import { appError } from '#libs/errors';
import { parseJson, type JsonObject } from '#libs/json';
import type { Handlers } from '#libs/nats';
import type { directory } from '../contract.ts';
import { applyWorkspace, type WorkspaceOptions } from './apply.ts';
import { toFileItem } from './rules/file-item.ts';
import { exportList } from './statements/export.ts';
import { deleteUpload, findUpload, keepUpload } from './statements/uploads.ts';

type WorkspaceHandlers = Pick<Handlers<typeof directory>, 'applyWorkspace' | 'uploadWorkspace' | 'exportWorkspace'>;

const rowsPerPage = 500;

export function createWorkspaceHandlers(options: WorkspaceOptions): WorkspaceHandlers {
  async function readUpload(uploadId: string): Promise<unknown> {
    const rows = await findUpload(options.db, { uploadId });
    if (rows.length === 0 || rows.some(({ part }, index) => part !== index)) {
      throw appError('not_found', 'upload_not_found', 'Parts of the document are missing; send it again.');
    }
    return parseJson(rows.map(({ body }) => body).join(''));
  }

  return {
    exportWorkspace: async ({ list, after }) => {
      const rows = await exportList[list](options.db, { after, limit: rowsPerPage });
      const variables = new Set<string>();
      const items = rows.flatMap(({ item }) => (item === null ? [] : [toFileItem(list, parseJson(item) as JsonObject, variables)]));
      const next = rows.length < rowsPerPage ? null : (rows.at(-1)?.id ?? null);
      return { items, variables: [...variables], left_out: rows.length - items.length, next };
    },
    uploadWorkspace: async ({ upload_id: uploadId, part, text }) => {
      await keepUpload(options.db, { uploadId, part, text });
      return {};
    },
    applyWorkspace: async ({ document, upload_id: uploadId, dry_run: dryRun }, context) => {
      if (uploadId === undefined) return applyWorkspace(options, context, document, dryRun);
      const result = await applyWorkspace(options, context, await readUpload(uploadId), dryRun);
      if (!dryRun) await deleteUpload(options.db, { uploadId });
      return result;
    },
  };
}
