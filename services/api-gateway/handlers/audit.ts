/** Handles `GET /api/ops/audit`: the merged audit logs of all services (A3). */
import { cursorFor, mergeEntries, readCursor, type ServiceEntry, writeCursor } from '#libs/infrastructure/audit';
import { isPossibleId, type PublicAuditEntry } from '#libs/infrastructure/contract';
import type { RouteHandlers } from '#libs/infrastructure/http';
import type { CallContext } from '#libs/infrastructure/nats';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { Dependencies } from '../dependencies.ts';
import type { auditRoutes } from '../routes/ops/audit.ts';
import { usualLimit } from '../routes/ops/filters.ts';
import { badCursor } from './ops/shared.ts';

const logs = {
  agents: agents.rpcs.listAudit,
  conversations: conversations.rpcs.listAudit,
  directory: directory.rpcs.listAudit,
  media: media.rpcs.listAudit,
  transcripts: transcripts.rpcs.listAudit,
  events: events.rpcs.listAudit,
} as const;
const services = Object.keys(logs) as (keyof typeof logs)[];

/** Matches account ids, but not emails. */
const accountId = /^[0-9]+$/;

export function createAuditHandlers({ bus }: Pick<Dependencies, 'bus'>): RouteHandlers<(typeof auditRoutes)[number]> {
  /** Returns the account id; returns undefined when no account has the email. */
  const findAccount = async (actor: string, call: CallContext): Promise<number | undefined> => {
    if (accountId.test(actor)) return isPossibleId(Number(actor)) ? Number(actor) : undefined;
    const { items } = await bus.call(directory.rpcs.nameAccounts, { ids: [], email: actor }, call);
    return items[0]?.id;
  };

  const addEmails = async (items: readonly ServiceEntry[], call: CallContext): Promise<PublicAuditEntry[]> => {
    const ids = [...new Set(items.flatMap(({ actor }) => actor.account_id ?? []))];
    const named = ids.length === 0 ? [] : (await bus.call(directory.rpcs.nameAccounts, { ids }, call)).items;
    const emails = new Map(named.map(({ id, email }) => [id, email]));
    return items.map(({ service, id, actor, ...rest }) => {
      const email = (actor.account_id === null ? undefined : emails.get(actor.account_id)) ?? null;
      return { ...rest, id: `${service}:${id}`, actor: { ...actor, email } };
    });
  };

  return {
    audit: async ({ input, call, answer }) => {
      const { actor, action, target, from, to, service: only, limit = usualLimit, cursor } = input.query;
      const position = cursor === undefined ? undefined : readCursor(cursor, services);
      if (cursor !== undefined && position === undefined) throw badCursor();
      const account = actor === undefined ? undefined : await findAccount(actor, call);
      if (actor !== undefined && account === undefined) return answer({ items: [], next: null });
      const filter = {
        limit: limit + 1,
        ...(account === undefined ? {} : { account_id: account }),
        ...(action === undefined ? {} : { action }),
        ...(target === undefined ? {} : splitTarget(target)),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      };
      const pages = await Promise.all(
        (only === undefined ? services : [only]).map(async (service) => {
          const before = position === undefined ? {} : { before: cursorFor(service, position) };
          const { items } = await bus.call(logs[service], { ...filter, ...before }, call);
          return items.map((item): ServiceEntry => ({ ...item, service }));
        }),
      );
      const { items, next } = mergeEntries(pages, limit);
      answer({ items: await addEmails(items, call), next: next === undefined ? null : writeCursor(next) });
    },
  };
}

function splitTarget(target: string): { target_type: string; target_id: string } {
  const colon = target.indexOf(':');
  return { target_type: target.slice(0, colon), target_id: target.slice(colon + 1) };
}
