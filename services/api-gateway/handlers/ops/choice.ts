/** Reading what an act is for: a filter that limits something, or ids (P3, P8). */
import { appError } from '#libs/errors';

interface Choice<Id> {
  readonly filter?: Readonly<Record<string, unknown>> | undefined;
  readonly ids?: readonly Id[] | undefined;
}

/** @throws AppError 400 `empty_choice` */
export function readChoice<Filter extends Readonly<Record<string, unknown>>, Id>(
  { filter = {}, ids }: Choice<Id>,
  known: readonly (keyof Filter & string)[],
): { filter: { [Name in keyof Filter]?: NonNullable<Filter[Name]> }; ids: readonly Id[] | undefined } {
  const given = known.filter((name) => filter[name] !== undefined && filter[name] !== null);
  if (ids !== undefined && given.length > 0) throw refuse('Name ids or a filter, not both.');
  if (ids === undefined && given.length === 0) throw refuse('The filter limits nothing; name what is meant.');
  if (ids?.length === 0) throw refuse('The list of ids is empty.');
  return { filter: Object.fromEntries(given.map((name) => [name, filter[name]])) as never, ids };
}

const refuse = (message: string): Error => appError('bad_request', 'empty_choice', message);
