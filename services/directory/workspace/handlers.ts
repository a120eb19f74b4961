/** Handlers of the workspace file: upload in chunks, application and export (rules/workspace#workspace-file). */
import { replaceSecrets } from '#libs/infrastructure/config';
import { appError } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject, parseJson } from '#libs/infrastructure/json';
import type { HandlersOf } from '#libs/infrastructure/nats';
import { applyWorkspace, type WorkspaceDependencies } from './apply.ts';
import type { workspaceRpcs } from './contract.ts';
import type { ListName } from './rules/vocabulary.ts';
import { exportList } from './statements/export.ts';
import { deleteUpload, findUpload, storeUpload } from './statements/lookups.ts';

type WorkspaceHandlers = HandlersOf<typeof workspaceRpcs>;

const rowsPerPage = 500;

export function createWorkspaceHandlers(deps: WorkspaceDependencies): WorkspaceHandlers {
  async function readUpload(uploadId: string): Promise<unknown> {
    const rows = await findUpload(deps.db, { uploadId });
    if (rows.length === 0 || rows.some(({ part }, index) => part !== index)) {
      throw appError('not_found', 'upload_not_found', 'Parts of the document are missing. Upload it again.');
    }
    return parseJson(rows.map(({ body }) => body).join(''));
  }

  return {
    exportWorkspace: async ({ list, after }) => {
      const rows = await exportList[list](deps.db, { after, limit: rowsPerPage });
      const variables = new Set<string>();
      const items = rows.flatMap(({ item }) =>
        item === null ? [] : [toFileItem(list, parseJson(item) as JsonObject, variables)],
      );
      const next = rows.length < rowsPerPage ? null : (rows.at(-1)?.id ?? null);
      return { items, variables: [...variables], left_out: rows.length - items.length, next };
    },
    uploadWorkspace: async ({ upload_id: uploadId, part, text }) => {
      await storeUpload(deps.db, { uploadId, part, text });
      return {};
    },
    applyWorkspace: async (
      { document, upload_id: uploadId, dry_run: dryRun, keep_edits: keepEdits = false },
      context,
    ) => {
      const options = { dryRun, keepEdits };
      if (uploadId === undefined) return applyWorkspace(deps, context, document, options);
      const result = await applyWorkspace(deps, context, await readUpload(uploadId), options);
      if (!dryRun) await deleteUpload(deps.db, { uploadId });
      return result;
    },
  };
}

/** Converts a stored row to an item of the file. @param variables collects the names of secrets */
export function toFileItem(list: ListName, row: JsonObject, variables: Set<string>): JsonObject {
  const item = withoutNulls(row);
  // Null is written explicitly: without a step, a new membership would start at the first step.
  if ('journey' in item && !('step' in item)) item['step'] = null;
  if (list === 'journeys' && Array.isArray(item['steps'])) {
    const nameOf = (step: JsonObject): string => `steps_${String(item['slug'])}_${String(step['slug'])}`;
    item['steps'] = (item['steps'] as JsonObject[]).map((step) => ({
      ...withoutNulls(step),
      config: replaceSecrets(withoutNulls(step['config'] as JsonObject), nameOf(step), variables),
    }));
  }
  return item;
}

/**
 * Drops nulls of an object, since null in an object of the file removes the field (RFC 7396). Lists remain unchanged.
 */
function withoutNulls(value: JsonObject): JsonObject {
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([key, item]) => [key, isJsonObject(item) ? withoutNulls(item) : item]));
}
