/** Handlers of `/api/ops/jobs`: the jobs of all services as one list, and actions on jobs (P2, P3). */
import type { ReplyBodyOf, HandledRoute, InputOf, JobChange, JobItem, RequestOf } from '#libs/infrastructure/contract';
import { AppError, notFound } from '#libs/infrastructure/errors';
import type { RouteHandlers } from '#libs/infrastructure/http';
import {
  cursorFor,
  findTruncated,
  findPosition,
  hasMore,
  jobList,
  mergePages,
  nextCursor,
  type Position,
  encodeMergedCursor,
} from '#libs/infrastructure/cursor';
import type { Dependencies } from '../../dependencies.ts';
import { usualLimit } from '../../routes/ops/filters.ts';
import type { jobRoutes } from '../../routes/ops/jobs.ts';
import {
  contracts,
  fanOutTimeoutMs,
  findServiceName,
  parseMergedCursor,
  parseSelection,
  queryAllServices,
  queryServices,
  type ServiceName,
  serviceNames,
} from './shared.ts';

type RedriveRoute = Extract<(typeof jobRoutes)[number], HandledRoute<'ops-redrive'>>;
type ListRoute = Extract<(typeof jobRoutes)[number], HandledRoute<'ops-jobs'>>;
type Filter = Omit<InputOf<ListRoute>['query'], 'limit' | 'cursor'>;
type Selection = InputOf<RedriveRoute>['body'];

const kind = jobList(serviceNames);
const uuid = kind.at;
const filterFields = [
  'service',
  'type',
  'state',
  'key',
  'error',
  'conversation_id',
  'request_id',
  'created_after',
  'created_before',
] as const satisfies (keyof Filter)[];
/** Maximum number of jobs in the reply to a bulk change. */
const maxListedJobs = 100;

type Item = JobItem & { readonly service: string };
const positionOf = ({ id, service }: Item) => ({ at: id, source: service });

export function createJobHandlers({ bus }: Pick<Dependencies, 'bus'>): RouteHandlers<(typeof jobRoutes)[number]> {
  return {
    'ops-jobs': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor, service, ...filter } = input.query;
      const position = parseMergedCursor(kind, cursor);
      const boundedCall = { ...call, deadlineMs: Date.now() + fanOutTimeoutMs };
      const remaining = servicesOf({ service, type: filter.type }).filter((name) => hasMore(position, name));
      const { pages, missing } = await readParts(remaining, limit, async (name, last, count): Promise<Item[]> => {
        const { rpcs } = contracts[name];
        const start = last ?? findPosition(position, name);
        const cursorFields = start === undefined ? {} : cursorFor(name, start);
        const { items } = await bus.call(rpcs.listJobs, { ...filter, ...cursorFields, limit: count }, boundedCall);
        return items.map((item) => ({ service: name, ...item }));
      });
      const { items, next } = mergePages(pages, { limit, positionOf });
      const nextPosition = nextCursor(position, { next, missing });
      answer({ items, next: nextPosition === undefined ? null : encodeMergedCursor(kind, nextPosition), missing });
    },
    'ops-job': async ({ input, call, answer }) => {
      const { service, job_id: id } = input.params;
      const name = findServiceName(service);
      if (name === undefined || !uuid.test(id)) throw jobNotFound();
      const { rpcs } = contracts[name];
      try {
        answer({ service, ...(await bus.call(rpcs.showJob, { id }, call)) });
      } catch (error) {
        throw error instanceof AppError && error.code === 'not_found' ? jobNotFound() : error;
      }
    },
    'ops-redrive': async ({ input, call, answer }) => {
      const change = (name: ServiceName, request: Request): Promise<JobChange> => {
        const { rpcs } = contracts[name];
        return bus.call(rpcs.redriveJobs, request, call);
      };
      answer(await changeJobs(input.body, change));
    },
    'ops-cancel': async ({ input, call, answer }) => {
      const change = (name: ServiceName, request: Request): Promise<JobChange> => {
        const { rpcs } = contracts[name];
        return bus.call(rpcs.cancelJobs, request, call);
      };
      answer(await changeJobs(input.body, change));
    },
  };
}

/**
 * Reads the rows for a page in two rounds. The first reads twice its share from each service; the second reads more
 * from services whose rows are all on the page. Rows of a service that fails in the second round are dropped, so that
 * the next page starts at the same position for this service.
 */
async function readParts(
  names: readonly ServiceName[],
  limit: number,
  read: (name: ServiceName, last: Position | undefined, count: number) => Promise<Item[]>,
): Promise<{ pages: Item[][]; missing: ServiceName[] }> {
  const partLimit = Math.min(limit + 1, Math.ceil((2 * limit) / Math.max(1, names.length)) + 1);
  const first = await queryAllServices(names, async (name): Promise<[ServiceName, Item[]]> => [
    name,
    await read(name, undefined, partLimit),
  ]);
  const parts = new Map(first.replies);
  const more = await queryServices(
    findTruncated(parts, { requested: partLimit, limit, positionOf }),
    async (name): Promise<[ServiceName, Item[]]> => {
      const items = parts.get(name) ?? [];
      const last = items.at(-1);
      const rest = await read(name, last === undefined ? undefined : positionOf(last), limit + 1 - items.length);
      return [name, [...items, ...rest]];
    },
  );
  for (const [name, items] of more.replies) parts.set(name, items);
  for (const name of more.missing) parts.delete(name);
  return { pages: [...parts.values()], missing: [...first.missing, ...more.missing].toSorted() };
}

const jobNotFound = (): AppError => notFound('The job does not exist.');

/** Returns the services that can have matching jobs. Job types start with the name of their service. */
function servicesOf({
  service,
  type,
}: {
  readonly service?: string | undefined;
  readonly type?: string | undefined;
}): ServiceName[] {
  return serviceNames.filter(
    (name) => (service ?? name) === name && (type === undefined || type.startsWith(`${name}.`)),
  );
}

type Request = RequestOf<(typeof contracts)['media']['rpcs']['redriveJobs']>;
type ChangeJobs = (name: ServiceName, request: Request) => Promise<JobChange>;

/** Runs the change on each service: one transaction and one audit entry per service. */
async function changeJobs(body: Selection, change: ChangeJobs): Promise<ReplyBodyOf<RedriveRoute>> {
  const { filter, ids } = parseSelection<Filter, { service: string; id: string }>(body, filterFields);
  const dryRun = body.dry_run === undefined ? {} : { dry_run: body.dry_run };
  const rest = Object.fromEntries(Object.entries(filter).filter(([name]) => name !== 'service'));
  const targets =
    ids === undefined
      ? servicesOf(filter).map((name) => ({ name, request: { ...rest, ...dryRun } }))
      : serviceNames
          .map((name) => ({ name, request: { ids: idsOf(name, ids), ...dryRun } }))
          .filter(({ request }) => request.ids.length > 0);
  const requests = new Map<ServiceName, Request>(targets.map(({ name, request }) => [name, request]));
  const { replies: parts, missing } = await queryAllServices([...requests.keys()], async (name) => {
    const { items, ...counts } = await change(name, requests.get(name) ?? {});
    return { ...counts, items: items.map((item): Item => ({ service: name, ...item })) };
  });
  const sum = (name: 'matched' | 'changed' | 'failed'): number => parts.reduce((total, part) => total + part[name], 0);
  const requested = ids === undefined ? 0 : new Set(ids.map(({ service: of, id }) => `${of}/${id}`)).size;
  const sent =
    ids === undefined
      ? 0
      : targets.reduce((total, { request }) => total + (request as { ids: string[] }).ids.length, 0);
  const { items } = mergePages(
    parts.map((part) => part.items),
    { limit: maxListedJobs, positionOf },
  );
  return { matched: sum('matched'), changed: sum('changed'), failed: sum('failed') + requested - sent, items, missing };
}

/** Returns the valid ids of a service, without duplicates. */
function idsOf(name: ServiceName, ids: readonly { service: string; id: string }[]): string[] {
  return [...new Set(ids.filter(({ service, id }) => service === name && uuid.test(id)).map(({ id }) => id))];
}
