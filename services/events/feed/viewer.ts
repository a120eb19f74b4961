/** Who may read what happened (V4, V10): the owners of the subjects say it, of the caller once for a page, and of a page's subjects once more. */
import type { FeedSubject, Static } from '#libs/contract';
import { type Bus, type CallContext, withoutActor } from '#libs/nats';
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

/** An account for which nobody calls at the moment: what is sent to its endpoints is what it may read (V7). */
export type Reader = Static<typeof readerFacts>;

/** For whom the owners are asked: for the caller of a request, or for a reader. */
export type Asking = CallContext & { readonly reader?: Reader | undefined };

/** Subjects that an owner is asked about at once. */
const mostAsked = 1_000;

export const everything: Viewer = { seesAll: true, hiddenHolons: [], scopeHolons: null, scopePersonId: null, accountId: null };

function accountOf({ actor, reader }: Asking): number | null {
  return reader?.account_id ?? (actor?.kind === 'user' ? actor.accountId : null);
}

/** What the owners say of the caller at this moment. */
export async function findViewer(bus: Bus, context: Asking): Promise<Viewer> {
  const { actor, reader } = context;
  if (reader?.superuser === true || (actor?.kind === 'user' && actor.superuser)) return everything;
  const { resolveReaderFilters, resolveSpokenFilters } = conversations.rpcs;
  const accountId = accountOf(context);
  const [{ scope, hidden_event_ids: hiddenEvents }, { ids }] = await Promise.all([
    reader === undefined ? bus.call(resolveSpokenFilters, {}, context) : bus.call(resolveReaderFilters, { reader }, withoutActor(context)),
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

/** Lists of the directory's answer by what they are of. */
const lists = {
  person: 'people',
  holon: 'holons',
  membership: 'memberships',
  relationship: 'relationships',
  note: 'notes',
} as const satisfies Partial<Record<FeedSubject, string>>;
type DirectorySubject = keyof typeof lists;
const directorySubjects = Object.keys(lists) as DirectorySubject[];

/** Those of these events that the caller may read by what the owners have now; what went is judged by what was known of it then. */
export async function keepReadable(bus: Bus, context: Asking, viewer: Viewer, found: readonly FoundEvent[]): Promise<FoundEvent[]> {
  if (viewer.seesAll) return [...found];
  const asked = new Map<string, Set<number>>();
  for (const { subject_type: type, subject_id: id, farewell } of found) {
    if (!farewell) asked.set(type, (asked.get(type) ?? new Set()).add(id));
  }
  const [readable, directoryReadable] = await Promise.all([
    askConversations(bus, context, [...(asked.get('conversation') ?? [])]),
    askDirectory(bus, context, asked),
  ]);
  return found.filter((event) => {
    const { subject_type: type, subject_id: id } = event;
    if (event.farewell || isOwn(event)) return true;
    return type === 'conversation' ? readable.has(id) : directoryReadable.has(`${type}/${id}`);
  });
}

/** Whose endpoint it is was known when it was told, and does not change. */
const isOwn = ({ subject_type: type }: FoundEvent): boolean => type === 'webhook_endpoint';

async function askConversations(bus: Bus, context: Asking, ids: readonly number[]): Promise<Set<number>> {
  const pages = await Promise.all(inParts(ids).map((part) => cite(bus, context, part)));
  return new Set(pages.flatMap(({ items }) => items.map(({ id }) => id)));
}

function cite(bus: Bus, context: Asking, ids: number[]): Promise<{ items: readonly { readonly id: number }[] }> {
  const { citeConversations, listReadable } = conversations.rpcs;
  return context.reader === undefined
    ? bus.call(citeConversations, { ids }, context)
    : bus.call(listReadable, { reader: context.reader, ids }, withoutActor(context));
}

async function askDirectory(bus: Bus, context: Asking, asked: ReadonlyMap<string, ReadonlySet<number>>): Promise<Set<string>> {
  const readable = new Set<string>();
  const parts = new Map(directorySubjects.map((type) => [type, inParts([...(asked.get(type) ?? [])])]));
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

function inParts(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / mostAsked) }, (_, part) => ids.slice(part * mostAsked, (part + 1) * mostAsked));
}
