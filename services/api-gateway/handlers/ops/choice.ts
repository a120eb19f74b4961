/** Reading what an act is for: a filter that limits something, or ids (P3, P8). */
import { appError } from '#libs/errors';

interface Choice<Fields, Id> {
  readonly filter?: { readonly [Name in keyof Fields]?: Fields[Name] | null | undefined } | undefined;
  readonly ids?: readonly Id[] | undefined;
}

interface Chosen<Fields, Id> {
  readonly filter: { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
  readonly ids: readonly Id[] | undefined;
}

/** @throws AppError 400 `empty_choice` */
export function readChoice<Fields, Id>({ filter = {}, ids }: Choice<Fields, Id>, known: readonly (keyof Fields)[]): Chosen<Fields, Id> {
  const given: Chosen<Fields, Id>['filter'] = {};
  for (const name of known) {
    const value = filter[name];
    if (value !== undefined && value !== null) given[name] = value;
  }
  const limits = Object.keys(given).length > 0;
  if (ids !== undefined && limits) throw refuse('Name ids or a filter, not both.');
  if (ids === undefined && !limits) throw refuse('The filter limits nothing; name what is meant.');
  if (ids?.length === 0) throw refuse('The list of ids is empty.');
  return { filter: given, ids };
}

const refuse = (message: string): Error => appError('bad_request', 'empty_choice', message);
