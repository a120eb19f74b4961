/** Returns pages of the feed (rules/events#feed; V3, V4, V10). */
import { setTimeout as sleep } from 'node:timers/promises';
import { requireOpsOperator } from '#libs/infrastructure/actor';
import { recordAudit } from '#libs/infrastructure/audit';
import type { RequestOf } from '#libs/infrastructure/contract';
import { AppError, badRequest } from '#libs/infrastructure/errors';
import { type Handlers, rawJson, type RawJson, type RequestContext } from '#libs/infrastructure/nats';
import type { events } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { defaultEventLimit, type FeedQuery } from './contract.ts';
import { removeHiddenEvents } from './days.ts';
import { type EventFilter, findPage, type Page, parseTypes } from './scan.ts';
import { findAge, readHead } from './statements/read.ts';
import { raiseFloor } from './statements/days.ts';
import type { EventSerializer } from './serializer.ts';
import { findViewer, type Viewer } from './viewer.ts';

/** Poll interval of a waiting request. */
const pollMs = 2_000;
/** Minimum pause between two reads of a waiting request, when the feed grows all the time. */
const minPauseMs = 250;
/**
 * Time for which a waiting request caches the caller's access. Pages with events are always read with current access
 * (D89).
 */
const viewerTtlMs = 1_000;
/** On an empty page, an older cursor is replaced by a new one. The limit is less than the minimum retention. */
const maxCursorAgeHours = 12;
/** Part of the caller's deadline that is reserved for the reply. */
const replyMs = 1_000;
/** Time limit for removing rows; less than the timeout of `feed prune`. */
const pruneBudgetMs = 30_000;

type FeedDependencies = Pick<Dependencies, 'bus' | 'db' | 'feedChanges' | 'findSerializer' | 'logger'>;
type FeedHandlers = Pick<Handlers<typeof events>, 'readFeed' | 'pruneFeed'>;

export function createFeedHandlers(deps: FeedDependencies): FeedHandlers {
  const read = async (
    request: FeedQuery,
    context: RequestContext,
    resolveViewer: () => Promise<Viewer>,
  ): Promise<RawJson> => new PageRequest(deps, await deps.findSerializer(), context, resolveViewer).run(request);
  return {
    readFeed: (request, context) => read(request, context, () => findViewer(deps.bus, context)),
    pruneFeed: async ({ before }: RequestOf<(typeof events)['rpcs']['pruneFeed']>, context) => {
      requireOpsOperator(context.actor);
      const pruned = await deps.db.transaction(async (tx) => {
        const { removed } = await raiseFloor(tx, { before });
        recordAudit(tx, context, { changes: { before, removed } });
        return { removed };
      });
      // The pruned events are already hidden. Rows that cannot be removed now are removed with the retention.
      await removeHiddenEvents(deps.db, before, { budgetMs: pruneBudgetMs }).catch((error: unknown) =>
        deps.logger.warn({ err: error, before }, 'feed: removing pruned events failed, the retention removes them'),
      );
      return pruned;
    },
  };
}

const isComplete = ({ items }: Page, untilMs: number): boolean => items.length > 0 || Date.now() >= untilMs;

class PageRequest {
  readonly #deps: FeedDependencies;
  readonly #serializer: EventSerializer;
  readonly #cursors: EventSerializer['cursors'];
  readonly #context: RequestContext;
  readonly #resolveViewer: () => Promise<Viewer>;

  constructor(
    deps: FeedDependencies,
    serializer: EventSerializer,
    context: RequestContext,
    resolveViewer: () => Promise<Viewer>,
  ) {
    this.#deps = deps;
    this.#serializer = serializer;
    this.#cursors = serializer.cursors;
    this.#context = context;
    this.#resolveViewer = resolveViewer;
  }

  /** Returns a page as JSON. @throws AppError 400 for an invalid cursor, type or subject; 410 `cursor_expired` */
  async run(request: FeedQuery): Promise<RawJson> {
    const { db, bus, feedChanges } = this.#deps;
    const filter = parseFilter(request);
    const head = await readHead(db);
    if (request.after === 'latest')
      return this.#write({ items: [], hasMore: false }, this.#cursors.writeCurrent(head.last_position));
    const start =
      request.after === undefined ? head.floor_position : this.#parseCursor(request.after, head.floor_position);
    const untilMs = Math.min(Date.now() + (request.wait ?? 0) * 1_000, this.#context.deadlineMs - replyMs);
    const viewers = new ViewerCache(this.#resolveViewer);
    const readAfter = async (after: number): Promise<Page> => {
      const { last_position: upTo } = await readHead(db);
      if (upTo <= after) return { items: [], hasMore: false, reached: after };
      const isFresh = !viewers.hasCurrent;
      const page = await findPage({ db, bus, context: this.#context }, await viewers.find(), filter, { after, upTo });
      if (page.items.length === 0 || isFresh) return page;
      return findPage({ db, bus, context: this.#context }, await viewers.refresh(), filter, { after, upTo });
    };
    const { count } = feedChanges;
    const first = await readAfter(start);
    const page = isComplete(first, untilMs)
      ? first
      : await feedChanges.limitWaiting(() => this.#wait(readAfter, { first, count, untilMs }));
    return this.#write(page, await this.#next(page, request.after));
  }

  /**
   * Returns the cursor after a page. An empty page returns the requested cursor, which reveals nothing about hidden
   * events (V10). It returns a new cursor when the requested one is old and could expire (V3), or when the scan was
   * incomplete.
   */
  async #next({ items, hasMore, reached }: Page, requested: string | undefined): Promise<string> {
    const last = items.at(-1);
    if (last !== undefined) return this.#cursors.write(last.position);
    return requested === undefined || hasMore || (await this.#isOld(requested))
      ? this.#cursors.writeCurrent(reached)
      : requested;
  }

  async #isOld(cursor: string): Promise<boolean> {
    const hours =
      this.#cursors.ageInHours(cursor) ??
      (await findAge(this.#deps.db, { position: this.#cursors.read(cursor) ?? 0 }))?.hours;
    return hours === undefined || hours >= maxCursorAgeHours;
  }

  /**
   * Waits until the page has events or the time is over. @param before `count`: number of changes before the first read
   */
  async #wait(
    readAfter: (after: number) => Promise<Page>,
    { first, untilMs, ...before }: { readonly first: Page; readonly count: number; readonly untilMs: number },
  ): Promise<Page> {
    const { feedChanges } = this.#deps;
    let [page, count] = [first, before.count];
    while (!isComplete(page, untilMs) && !feedChanges.closed) {
      const pause = sleep(Math.min(untilMs - Date.now(), minPauseMs));
      if (!page.hasMore) await feedChanges.waitForChange(count, Math.min(untilMs - Date.now(), pollMs));
      await pause;
      ({ count } = feedChanges);
      page = await feedChanges.limitReads(() => readAfter(page.reached));
    }
    return page;
  }

  #parseCursor(cursor: string, floor: number): number {
    const position = this.#cursors.read(cursor);
    if (position === undefined) throw badRequest('`after` is not a cursor of the feed.');
    if (position >= floor) return position;
    const message =
      'Some events after the cursor are removed. Read the objects that you follow again, then continue without `after`.';
    throw new AppError({ code: 'gone', reason: 'cursor_expired', message });
  }

  /** Returns the JSON of a page. JSON from the database is inserted unchanged, without parsing it. */
  #write({ items, hasMore }: Pick<Page, 'items' | 'hasMore'>, next: string): RawJson {
    return rawJson(
      `{"items":[${items.map((item) => this.#serializer.stringify(item)).join(',')}],"next":"${next}","has_more":${hasMore}}`,
    );
  }
}

function parseFilter({ types, subject_type: subjectType, subject_id: subjectId, limit }: FeedQuery): EventFilter {
  const parsedTypes = types === undefined ? null : parseTypes(types);
  if (parsedTypes === undefined) throw badRequest('`types` contains an unknown type.');
  if (subjectId !== undefined && subjectType === undefined) throw badRequest('`subject_id` requires `subject_type`.');
  return {
    types: parsedTypes,
    subjectType: subjectType ?? null,
    subjectId: subjectId ?? null,
    limit: limit ?? defaultEventLimit,
  };
}

/** Caches the caller's access for a second. */
class ViewerCache {
  readonly #find: () => Promise<Viewer>;
  #cached: { readonly viewer: Viewer; readonly atMs: number } | undefined;

  constructor(find: () => Promise<Viewer>) {
    this.#find = find;
  }

  get hasCurrent(): boolean {
    return this.#cached !== undefined && performance.now() - this.#cached.atMs <= viewerTtlMs;
  }

  async find(): Promise<Viewer> {
    return this.hasCurrent && this.#cached !== undefined ? this.#cached.viewer : this.refresh();
  }

  async refresh(): Promise<Viewer> {
    const atMs = performance.now();
    const viewer = await this.#find();
    this.#cached = { viewer, atMs };
    return viewer;
  }
}
