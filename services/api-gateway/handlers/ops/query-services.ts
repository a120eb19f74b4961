/** Asking several services at once: one that does not answer hides nothing that the others say (P2, P4). */
import { AppError } from '#libs/errors';

/** Time for a service to answer with a page; what it may take for an act is the call's own. */
export const fanOutTimeoutMs = 10_000;

interface QueryResult<Name, Reply> {
  readonly replies: Reply[];
  readonly missing: Name[];
}

/**
 * @returns what they say, and the names of those that do not answer
 * @throws AppError what a service refuses; unavailable when none of them answers
 */
export async function queryAllServices<Name extends string, Reply>(
  names: readonly Name[],
  query: (name: Name) => Promise<Reply>,
): Promise<QueryResult<Name, Reply>> {
  const { failure, ...answers } = await queryServices(names, query);
  if (names.length > 0 && answers.missing.length === names.length) throw failure;
  return answers;
}

/** The same where others have answered already. */
export async function queryServices<Name extends string, Reply>(
  names: readonly Name[],
  ask: (name: Name) => Promise<Reply>,
): Promise<QueryResult<Name, Reply> & { readonly failure: unknown }> {
  const missing: Name[] = [];
  let failure: unknown;
  const replies = await Promise.all(
    names.map(async (name) => {
      try {
        return [await ask(name)];
      } catch (error) {
        if (!(error instanceof AppError) || !['unavailable', 'deadline_exceeded'].includes(error.code)) throw error;
        failure = error;
        missing.push(name);
        return [];
      }
    }),
  );
  return { replies: replies.flat(), missing: missing.toSorted(), failure };
}
