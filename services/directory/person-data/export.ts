/** Reads the data of one person from all services, page by page (W20). */
import type { Bus, CallContext } from '#libs/infrastructure/nats';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { Dependencies } from '../dependencies.ts';
import { exportParts } from './contract.ts';
import { ownExportParts } from './statements.ts';

type Part = (typeof exportParts)[number];
type Deps = Pick<Dependencies, 'db' | 'bus'>;

export interface ExportedPerson {
  readonly id: number;
  readonly account_ids: readonly number[];
  readonly visitor_ids: readonly string[];
  readonly telegram_user_ids: readonly number[];
}

interface Page {
  /** JSON texts. */
  readonly items: readonly string[];
  /** `after` of the next page; null after the last one. */
  readonly next: string | null;
}

const itemsPerPage = 500;

/** Returns one page of a part. A page can be empty and have a next one. */
async function readExportPage(
  { db, bus }: Deps,
  person: ExportedPerson,
  part: Part,
  after: string | null,
  context: CallContext,
): Promise<Page> {
  if (part in ownExportParts) {
    const read = ownExportParts[part as keyof typeof ownExportParts];
    const rows = await read(db, { personId: person.id, after: Number(after ?? 0), limit: itemsPerPage });
    const last = rows.length < itemsPerPage ? undefined : rows.at(-1);
    return { items: rows.map(({ item }) => item), next: last === undefined ? null : String(last.id) };
  }
  const page = await readOther[part as keyof typeof readOther](bus, person, after, context);
  return {
    items: page.items.map((item) => JSON.stringify(item)),
    next: page.next === null ? null : String(page.next),
  };
}

type ReadOther = (
  bus: Bus,
  person: ExportedPerson,
  after: string | null,
  context: CallContext,
) => Promise<{ readonly items: readonly unknown[]; readonly next: number | string | null }>;

const readConversations: ReadOther = (bus, { id }, after, context) =>
  bus.call(conversations.rpcs.exportPerson, { person_id: id, after: Number(after ?? 0) }, context);

const readOther: Readonly<Record<Exclude<Part, keyof typeof ownExportParts>, ReadOther>> = {
  conversations: readConversations,
  /** Metadata of audio and recordings of the conversations in which the person takes part. */
  files: async (bus, person, after, context) => {
    const page = await readConversations(bus, person, after, context);
    const items = page.items as readonly { readonly id: number; readonly is_participant: boolean }[];
    const ids = items.filter((item) => item.is_participant).map(({ id }) => id);
    if (ids.length === 0) return { items: [], next: page.next };
    return { items: (await bus.call(media.rpcs.listFiles, { conversation_ids: ids }, context)).items, next: page.next };
  },
  transcript: (bus, { id }, after, context) =>
    bus.call(transcripts.rpcs.exportPerson, { person_id: id, after: after ?? '' }, context),
  agents: async (bus, { visitor_ids: visitors, telegram_user_ids: users, account_ids: accounts }, after, context) => {
    if (visitors.length + users.length + accounts.length === 0) return { items: [], next: null };
    const given = { visitor_ids: [...visitors], telegram_user_ids: [...users], account_ids: [...accounts] };
    return bus.call(agents.rpcs.exportPerson, { ...given, after: Number(after ?? 0) }, context);
  },
  /** One page for each account. */
  'webhook-endpoints': async (bus, { account_ids: accounts }, after, context) => {
    const index = Number(after ?? 0);
    const account = accounts[index];
    if (account === undefined) return { items: [], next: null };
    const { items } = await bus.call(events.rpcs.exportPerson, { account_id: account }, context);
    return { items, next: index + 1 < accounts.length ? index + 1 : null };
  },
};

/** Returns the whole export as one JSON object, in chunks. */
export async function* streamExport(deps: Deps, person: ExportedPerson, caller: CallContext): AsyncGenerator<string> {
  // The export can outlast the caller's deadline and assertion; the services trust the directory.
  const context: CallContext = { requestId: caller.requestId, traceparent: caller.traceparent };
  for (const [index, part] of exportParts.entries()) {
    yield `${index === 0 ? '{' : '],'}${JSON.stringify(part)}:[`;
    let isFirst = true;
    for (let after: string | null = null, isLast = false; !isLast;) {
      const page: Page = await readExportPage(deps, person, part, after, context);
      if (page.items.length > 0) yield (isFirst ? '' : ',') + page.items.join(',');
      isFirst &&= page.items.length === 0;
      after = page.next;
      isLast = after === null;
    }
  }
  yield ']}';
}
