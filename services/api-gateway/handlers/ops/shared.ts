/**
 * Shared code of operator operations: services with jobs, queries over several services, cursors and selections (P2 to
 * P4, P8).
 */
import { AppError, appError } from '#libs/infrastructure/errors';
import {
  startCursor,
  type ListKind,
  type MergedCursor,
  type Position,
  decodePosition,
  decodeMergedCursor,
} from '#libs/infrastructure/cursor';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';

/** Contracts of the services with jobs. */
export const contracts = { agents, conversations, directory, events, media, transcripts } as const;
export type ServiceName = keyof typeof contracts;
export const serviceNames = Object.keys(contracts) as ServiceName[];

export const findServiceName = (name: string): ServiceName | undefined => serviceNames.find((known) => known === name);

/** Timeout for each service when lists are queried. Changes use the timeout of their operation. */
export const fanOutTimeoutMs = 10_000;

interface QueryResult<Name, Reply> {
  readonly replies: Reply[];
  readonly missing: Name[];
}

/**
 * Queries services in parallel.
 * @returns the replies, and the names of services that did not answer
 * @throws AppError when a service rejects the request, or when none answers
 */
export async function queryAllServices<Name extends string, Reply>(
  names: readonly Name[],
  query: (name: Name) => Promise<Reply>,
): Promise<QueryResult<Name, Reply>> {
  const { failure, ...result } = await queryServices(names, query);
  if (names.length > 0 && result.missing.length === names.length) throw failure;
  return result;
}

/** Like `queryAllServices`, but does not throw when no service answers. */
export async function queryServices<Name extends string, Reply>(
  names: readonly Name[],
  query: (name: Name) => Promise<Reply>,
): Promise<QueryResult<Name, Reply> & { readonly failure: unknown }> {
  const missing: Name[] = [];
  let failure: unknown;
  const replies = await Promise.all(
    names.map(async (name) => {
      try {
        return [await query(name)];
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

/** Returns the position of a cursor; returns undefined for the first page. @throws AppError 400 `bad_cursor` */
export const parsePosition = (kind: ListKind, cursor: string | undefined): Position | undefined =>
  cursor === undefined ? undefined : requireValid(decodePosition(kind, cursor));

/** Returns the position in a list over several services. @throws AppError 400 `bad_cursor` */
export const parseMergedCursor = (kind: ListKind, cursor: string | undefined): MergedCursor =>
  cursor === undefined ? startCursor : requireValid(decodeMergedCursor(kind, cursor));

export const badCursor = (): AppError =>
  appError('bad_request', 'bad_cursor', 'The cursor is not valid for this list.');

function requireValid<T>(position: T | undefined): T {
  if (position === undefined) throw badCursor();
  return position;
}

interface Selection<Fields, Id> {
  readonly filter?: { readonly [Name in keyof Fields]?: Fields[Name] | null | undefined } | undefined;
  readonly ids?: readonly Id[] | undefined;
}

interface ParsedSelection<Fields, Id> {
  readonly filter: { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
  readonly ids: readonly Id[] | undefined;
}

/** Returns the selection without null and unknown fields. @throws AppError 400 `empty_choice` */
export function parseSelection<Fields, Id>(
  { filter = {}, ids }: Selection<Fields, Id>,
  fields: readonly (keyof Fields)[],
): ParsedSelection<Fields, Id> {
  const selected: ParsedSelection<Fields, Id>['filter'] = {};
  for (const name of fields) {
    const value = filter[name];
    if (value !== undefined && value !== null) selected[name] = value;
  }
  const hasFilter = Object.keys(selected).length > 0;
  if (ids !== undefined && hasFilter) throw emptySelection('Use `ids` or `filter`, not both.');
  if (ids === undefined && !hasFilter)
    throw emptySelection('The filter is empty. Set at least one field, or use `ids`.');
  if (ids?.length === 0) throw emptySelection('`ids` must not be empty.');
  return { filter: selected, ids };
}

const emptySelection = (message: string): Error => appError('bad_request', 'empty_choice', message);
