/**
 * Determines read access to events (V4, V10). The owners of the subjects resolve the caller's access once per page, and
 * check the subjects of the page again.
 */
import type { FeedSubject, Static } from '#libs/infrastructure/contract';
import { type Bus, type CallContext, withoutActor } from '#libs/infrastructure/nats';
import { conversations, type readerFacts } from '#services/conversations';
import { directory } from '#services/directory';
import type { FoundEvent } from './statements/read.ts';

export interface Viewer {
  readonly seesAll: boolean;
  readonly hiddenHolons: readonly number[];
  readonly scopeHolons: readonly number[] | null;
  readonly scopePersonId: number | null;
  readonly accountId: number | null;
}

/**
 * An account for which events are selected without a request; its endpoints receive the events that it can read (V7).
 */
export type Reader = Static<typeof readerFacts>;

/** Context of calls on behalf of a caller or a reader. */
export type ReaderContext = CallContext & { readonly reader?: Reader | undefined };

/** Maximum number of subjects per call to an owner. */
const maxIds = 1_000;

const unrestricted: Viewer = {
  seesAll: true,
  hiddenHolons: [],
  scopeHolons: null,
  scopePersonId: null,
  accountId: null,
};

function accountOf({ actor, reader }: ReaderContext): number | null {
  return reader?.account_id ?? (actor?.kind === 'user' ? actor.accountId : null);
}

/** Returns what the caller can read now, as reported by the owners of the subjects. */
export async function findViewer(bus: Bus, context: ReaderContext): Promise<Viewer> {
  const { actor, reader } = context;
  if (reader?.superuser === true || (actor?.kind === 'user' && actor.superuser)) return unrestricted;
  const { resolveReaderFilters, resolveTranscriptFilters } = conversations.rpcs;
  const accountId = accountOf(context);
  const [{ scope, hidden_event_ids: hiddenEvents }, { ids }] = await Promise.all([
    reader === undefined
      ? bus.call(resolveTranscriptFilters, {}, context)
      : bus.call(resolveReaderFilters, { reader }, withoutActor(context)),
    bus.call(directory.rpcs.listHiddenHolons, { account_id: accountId }, withoutActor(context)),
  ]);
  return {
    seesAll: false,
    hiddenHolons: [...new Set([...ids, ...hiddenEvents])],
    scopeHolons: scope?.event_ids ?? null,
    scopePersonId: scope?.person_id ?? null,
    accountId,
  };
}

/** Names of the lists in the directory's reply, by subject type. */
const lists = {
  person: 'people',
  holon: 'holons',
  membership: 'memberships',
  relationship: 'relationships',
  note: 'notes',
} as const satisfies Partial<Record<FeedSubject, string>>;
type DirectorySubject = keyof typeof lists;
const directorySubjects = Object.keys(lists) as DirectorySubject[];

/**
 * Returns the events that the caller can read now. Subjects of final events do not exist any more, so the access that
 * was stored with the event decides.
 */
export async function filterReadable(
  bus: Bus,
  context: ReaderContext,
  viewer: Viewer,
  found: readonly FoundEvent[],
): Promise<FoundEvent[]> {
  if (viewer.seesAll) return [...found];
  const subjects = new Map<string, Set<number>>();
  for (const { subject_type: type, subject_id: id, farewell } of found) {
    if (!farewell) subjects.set(type, (subjects.get(type) ?? new Set()).add(id));
  }
  const [readable, directoryReadable] = await Promise.all([
    findReadableConversations(bus, context, [...(subjects.get('conversation') ?? [])]),
    findReadableInDirectory(bus, context, subjects),
  ]);
  return found.filter((event) => {
    const { subject_type: type, subject_id: id } = event;
    if (event.farewell || isEndpointEvent(event)) return true;
    return type === 'conversation' ? readable.has(id) : directoryReadable.has(`${type}/${id}`);
  });
}

/** The owner of an endpoint does not change, so the stored access is current. */
const isEndpointEvent = ({ subject_type: type }: FoundEvent): boolean => type === 'webhook_endpoint';

async function findReadableConversations(
  bus: Bus,
  context: ReaderContext,
  ids: readonly number[],
): Promise<Set<number>> {
  const pages = await Promise.all(chunk(ids).map((part) => cite(bus, context, part)));
  return new Set(pages.flatMap(({ items }) => items.map(({ id }) => id)));
}

function cite(bus: Bus, context: ReaderContext, ids: number[]): Promise<{ items: readonly { readonly id: number }[] }> {
  const { citeConversations, listReadable } = conversations.rpcs;
  return context.reader === undefined
    ? bus.call(citeConversations, { ids }, context)
    : bus.call(listReadable, { reader: context.reader, ids }, withoutActor(context));
}

async function findReadableInDirectory(
  bus: Bus,
  context: ReaderContext,
  subjects: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<Set<string>> {
  const readable = new Set<string>();
  const parts = new Map(directorySubjects.map((type) => [type, chunk([...(subjects.get(type) ?? [])])]));
  const rounds = Math.max(...[...parts.values()].map(({ length }) => length));
  for (let round = 0; round < rounds; round++) {
    const part = (type: DirectorySubject): number[] => parts.get(type)?.[round] ?? [];
    const answer = await bus.call(
      directory.rpcs.listFeedReadable,
      {
        account_id: accountOf(context),
        people: part('person'),
        holons: part('holon'),
        memberships: part('membership'),
        relationships: part('relationship'),
        notes: part('note'),
      },
      withoutActor(context),
    );
    for (const type of directorySubjects) for (const id of answer[lists[type]]) readable.add(`${type}/${id}`);
  }
  return readable;
}

function chunk(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / maxIds) }, (_, part) =>
    ids.slice(part * maxIds, (part + 1) * maxIds),
  );
}
