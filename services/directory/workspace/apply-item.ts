/** Writes one item through the checks and statements of the workspace file, for operations of the open API (W5). */
import type { RequestContext } from '#libs/infrastructure/nats';
import { type AppError, badRequest } from '#libs/infrastructure/errors';
import type { FieldChanges } from '#libs/product/history';
import type { JsonObject } from '#libs/infrastructure/json';
import type { Tx } from '#libs/infrastructure/orm';
import { writeDocument, type WriteDependencies } from './apply.ts';
import { ChangeLog } from './rules/changes.ts';
import { checkDocument } from './rules/check-document.ts';
import { namesIn } from './rules/resolve.ts';
import type { Problem } from './rules/values.ts';
import type { ListName } from './rules/vocabulary.ts';

export interface AppliedItem {
  readonly id: number;
  /** Changes of a stored item up to now, by names of its history; none of a new one. */
  readonly readChanges: () => Promise<FieldChanges>;
}

/** Maximum problems in the message of an error. */
const maxNamed = 10;

/**
 * Creates or changes an item like a workspace file that contains nothing else. The context's history and events are
 * written too. @throws AppError 400 that names the fields
 * @param depth length of the start of paths that the request does not have: list and index of the item
 */
export async function applyItem(
  tx: Tx,
  deps: WriteDependencies,
  context: RequestContext,
  list: ListName,
  item: JsonObject,
  depth?: number,
): Promise<AppliedItem> {
  const document = { [list]: [item] };
  const { actor } = context;
  const { targets, written, tracked } = await writeDocument(tx, deps, {
    names: namesIn(document, ''),
    checked: checkDocument(document),
    hashes: new Map(),
    history: context,
    log: new ChangeLog({ source: 'api', accountId: actor?.kind === 'user' ? actor.accountId : null }),
    isRecorded: true,
    refuse: (problems) => refuse(problems, depth),
  });
  const [target] = targets[list];
  if (target === undefined) throw new Error(`the item of ${list} was not written`);
  const id = written.idOfTarget(list, target);
  return {
    id,
    readChanges: async () => (target.storedId === undefined ? undefined : await tracked.get(list)?.changesOf(id)) ?? {},
  };
}

/** Checks an item like `applyItem`, without references. @throws AppError 400 that names the fields */
export function checkItem(list: ListName, item: JsonObject, depth?: number): void {
  const { problems } = checkDocument({ [list]: [item] });
  if (problems.length > 0) throw refuse(problems, depth);
}

function refuse(problems: readonly Problem[], depth = 2): AppError {
  const lines = problems
    .slice(0, maxNamed)
    .map(({ path, message }) => `${path.slice(depth).join('.')} ${message}`.trim());
  return badRequest(`${lines.join('; ')}.`);
}
