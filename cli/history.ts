/** `history KIND ID`: who changed what in an object, newest first (W10). */
import { Argument, type Command } from 'commander';
import type { Client, ListPersonHistoryReply } from '../clients/typescript/index.ts';
import { toPath } from './classes.ts';
import { withPages } from './common-options.ts';
import type { CliContext } from './context.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { describeNext, readPages } from './pages.ts';
import { parseId } from './parse-options.ts';

type Entry = ListPersonHistoryReply['body']['items'][number];
type Query = { limit: number; cursor?: string };

const readers = {
  people: (api: Client, id: string, query: Query) => api.listPersonHistory({ path: { id: parseId(id) }, query }),
  holons: (api: Client, id: string, query: Query) => api.listHolonHistory({ path: { id: parseId(id) }, query }),
  memberships: (api: Client, id: string, query: Query) =>
    api.listMembershipHistory({ path: { id: parseId(id) }, query }),
  relationships: (api: Client, id: string, query: Query) =>
    api.listRelationshipHistory({ path: { id: parseId(id) }, query }),
  journeys: (api: Client, id: string, query: Query) => api.listJourneyHistory({ path: { id }, query }),
  classes: (api: Client, id: string, query: Query) => api.listClassHistory({ path: toPath(id), query }),
  agents: (api: Client, id: string, query: Query) => api.listAgentHistory({ path: { id }, query }),
  accounts: (api: Client, id: string, query: Query) => api.listAccountHistory({ path: { id: parseId(id) }, query }),
};

const columns = {
  CHANGED: ({ at }: Entry) => moment(at),
  VIA: ({ via }: Entry) => via,
  BY: ({ actor }: Entry) => actor?.name ?? actor?.kind,
  FIELDS: ({ changes }: Entry) => Object.keys(changes).join(', '),
};

export function register(history: Command, context: CliContext): void {
  withPages(history, 'entries', { preset: 50 })
    .addArgument(new Argument('<kind>', 'kind of the object').choices(Object.keys(readers)))
    .argument('<id>', 'id; slug of a journey or agent; object_kind/slug of a class')
    .action(async (kind: keyof typeof readers, id: string, pages: Query) => {
      const read = async (query: Query) =>
        (await context.http((api) => readers[kind](api, id, query), `${kind} ${id}`)).body;
      const page = await readPages(pages, read);
      context.print(page.items, table(page.items, columns, 'No changes.'), ...describeNext(page));
    });
}
