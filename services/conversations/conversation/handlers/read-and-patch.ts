/**
 * Reads and patches one conversation, or only its `infos` (rules/conversations#read-and-patch,
 * rules/conversations#infos; D9a, D9b).
 */
import type { RequestOf } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { rawJson, type RawJson } from '#libs/infrastructure/nats';
import type { conversations } from '../../contract.ts';
import type { Dependencies, Operations } from '../../dependencies.ts';
import {
  requireExpectedUpdatedAt,
  findNamespaceProblem,
  findStoreProblem,
  parseExpectedUpdatedAt,
  preconditionFailed,
  requireId,
  requireMatch,
  staleConversation,
} from '../../guards.ts';
import { toStoredJson } from '../../refusals.ts';
import { instantFromSql } from '../../representation.ts';
import { findConversation } from '../../statements.ts';
import * as statements from '../statements.ts';
import { findInfos, patchInfos } from '../statements.ts';

export function createReadAndPatchHandlers(
  dependencies: Dependencies,
): Pick<Operations, 'get' | 'patch' | 'readInfos' | 'patchInfos'> {
  return {
    get: (request) => getConversation(dependencies, request),
    patch: (request) => patchConversation(dependencies, request),
    readInfos: (request) => readInfos(dependencies, request),
    patchInfos: (request) => writeInfos(dependencies, request),
  };
}

/** Handles GET /conversations/{id}. @throws AppError 404 */
async function getConversation(
  { db, view }: Dependencies,
  request: RequestOf<typeof conversations.rpcs.get>,
): Promise<RawJson> {
  const row = await findConversation(db, { id: requireId(request.conversation_id) });
  if (row === undefined) throw notFound();
  return rawJson(await view.render(row));
}

/**
 * Handles PATCH /conversations/{id} with one statement, unless a precondition requires a read.
 * @throws AppError 404, 412 `precondition_failed`, 409 `stale_conversation`, 400 `invalid_namespace_placement`, in this
 * order (D9a)
 */
async function patchConversation(
  { db, view, eventOutbox }: Dependencies,
  request: RequestOf<typeof conversations.rpcs.patch>,
): Promise<RawJson> {
  const id = requireId(request.conversation_id);
  const problem = findStoreProblem(request);
  const expected = parseExpectedUpdatedAt(request.expected_updated_at);
  const changes = problem === undefined && (hasKeys(request.infos) || hasKeys(request.config));
  const tag = typeof request.if_match === 'string' ? request.if_match : undefined;
  let guard = expected;
  if (!changes || tag !== undefined) {
    const row = await findConversation(db, { id });
    if (row === undefined) throw notFound();
    const text = await view.render(row);
    requireMatch(row, text, tag);
    requireExpectedUpdatedAt(row, request.expected_updated_at);
    if (problem !== undefined) throw problem;
    if (!changes) return rawJson(text);
    if (tag !== undefined && tag.trim() !== '*') guard = instantFromSql(row.updated_at);
  }
  const row = await statements.patchConversation(db, {
    id,
    infos: toStoredJson('infos', request.infos),
    config: toStoredJson('config', request.config),
    expectedUpdatedAt: guard,
  });
  if (row?.emitted === true) eventOutbox.wake();
  if (row !== undefined) return rawJson(await view.render(row));
  const current = await findConversation(db, { id });
  if (current === undefined) throw notFound();
  throw tag === undefined || guard === expected ? staleConversation(current) : preconditionFailed(current);
}

function hasKeys(store: object | undefined): boolean {
  return store !== undefined && Object.keys(store).length > 0;
}

/** Returns the `infos` of a conversation. @throws AppError 404 */
async function readInfos(
  { db }: Dependencies,
  request: RequestOf<typeof conversations.rpcs.readInfos>,
): Promise<RawJson> {
  return render(await findInfos(db, { id: requireId(request.conversation_id) }));
}

/**
 * Handles PATCH /conversations/{id}/infos with one statement. @throws AppError 404, then 400
 * `invalid_namespace_placement`
 */
async function writeInfos(
  dependencies: Dependencies,
  request: RequestOf<typeof conversations.rpcs.patchInfos>,
): Promise<RawJson> {
  const problem = findNamespaceProblem('infos-endpoint', request.infos);
  if (problem !== undefined || Object.keys(request.infos).length === 0) {
    const stored = await readInfos(dependencies, request);
    if (problem !== undefined) throw problem;
    return stored;
  }
  const id = requireId(request.conversation_id);
  const row = await patchInfos(dependencies.db, { id, infos: toStoredJson('infos', request.infos) });
  if (row?.emitted === true) dependencies.eventOutbox.wake();
  return render(row);
}

function render(row: { readonly infos: string } | undefined): RawJson {
  if (row === undefined) throw notFound();
  return rawJson(`{"infos":${row.infos}}`);
}
