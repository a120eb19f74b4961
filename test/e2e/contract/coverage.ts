/** Finds documented responses that a run did not produce. */
import type { Recording } from './recordings.ts';
import type { DocumentedOperation } from './served-documents.ts';

/** Returns lines `operation status`, in document order. */
export function findUnseen(
  operations: readonly DocumentedOperation[],
  seen: Recording,
): { documented: number; unseen: string[] } {
  const pairs = operations.flatMap(({ id, responses }) => Object.keys(responses).map((status) => ({ id, status })));
  const unseen = pairs
    .filter(({ id, status }) => seen[id]?.[status] === undefined)
    .map(({ id, status }) => `${id} ${status}`);
  return { documented: pairs.length, unseen };
}
