/** GET and PATCH /conversations/{id}/infos (rules/conversations#infos; D9a, D9b). `config` is neither read nor written. */
import type { RequestOf } from '#libs/contract';
import { notFound } from '#libs/errors';
import { rawJson, type RawJson } from '#libs/nats';
import type { conversations } from '../contract.ts';
import { toStoredJson } from '../data-size.ts';
import type { Dependencies } from '../dependencies.ts';
import { requireId } from '../ids.ts';
import { findNamespaceProblem } from '../namespace.ts';
import { findInfos, patchInfos } from './statements.ts';

/** @throws AppError 404 */
export async function readInfos({ db }: Dependencies, request: RequestOf<typeof conversations.rpcs.readInfos>): Promise<RawJson> {
  return render(await findInfos(db, { id: requireId(request.conversation_id) }));
}

/** One statement merges and answers. @throws AppError 404, then 400 `invalid_namespace_placement` */
export async function writeInfos(dependencies: Dependencies, request: RequestOf<typeof conversations.rpcs.patchInfos>): Promise<RawJson> {
  const problem = findNamespaceProblem('infos-endpoint', request.infos);
  if (problem !== undefined || Object.keys(request.infos).length === 0) {
    const stored = await readInfos(dependencies, request);
    if (problem !== undefined) throw problem;
    return stored;
  }
  const id = requireId(request.conversation_id);
  const row = await patchInfos(dependencies.db, { id, infos: toStoredJson('infos', request.infos) });
  if (row?.told === true) dependencies.eventOutbox.wake();
  return render(row);
}

function render(row: { readonly infos: string } | undefined): RawJson {
  if (row === undefined) throw notFound();
  return rawJson(`{"infos":${row.infos}}`);
}
