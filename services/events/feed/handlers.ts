/** Pages of the feed (rules/events#feed; V3, V4, V10). */
import { setTimeout as sleep } from 'node:timers/promises';
import { recordAudit } from '#libs/audit';
import type { RequestOf } from '#libs/contract';
import { AppError } from '#libs/errors';
import type { Logger } from '#libs/logger';
import { type Bus, type Handlers, rawJson, type RawJson, type RequestContext } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { events } from '../contract.ts';
import { type FeedQuery, usualEvents } from './contract.ts';
import { dropEnded } from './days.ts';
import type { FeedChangeNotifier } from './change-notifier.ts';
import { findPage, type Page, type Wanted } from './scan.ts';
import { findAge, readHead } from './statements/read.ts';
import { raiseFloor } from './statements/days.ts';
import { readTypes } from './types.ts';
import { everything, findViewer, type Viewer } from './viewer.ts';
import { createEventWriter, type EventWriter } from './writing.ts';

/** Who waits looks by itself so often. */
const lookMs = 2_000;
/** And when the feed grows again and again, no more often. */
const restMs = 250;
/** While a request waits, what the owners say of the caller is asked again so often; before a page with events it is asked in any case (D89). */
const viewerMs = 1_000;
/** A cursor of which nothing came for so long is replaced: less than the shortest time for which events are kept. */
const oldHours = 12;
/** Of the time that the caller has, for the answer. */
const answerMs = 1_000;
/** Less than a caller of `feed prune` waits. */
const pruneMs = 30_000;

interface Dependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly feedChanges: FeedChangeNotifier;
}

type FeedHandlers = Pick<Handlers<typeof events>, 'readFeed' | 'listFeed' | 'pruneFeed'>;

export function createFeedHandlers(deps: Dependencies): FeedHandlers {
  const findWriter = createEventWriter(deps.db);
  const read = async (request: FeedQuery, context: RequestContext, findWho: () => Promise<Viewer>): Promise<RawJson> =>
    new Reading(deps, await findWriter(), context, findWho).answer(request);
  return {
    readFeed: (request, context) => read(request, context, () => findViewer(deps.bus, context)),
    listFeed: (request, context) => read(request, context, async () => everything),
    pruneFeed: async ({ before }: RequestOf<(typeof events)['rpcs']['pruneFeed']>, context) => {
      const pruned = await deps.db.transaction(async (tx) => {
        const { removed } = await raiseFloor(tx, { before });
        recordAudit(tx, context, { changes: { before, removed } });
        return { removed };
      });
      // They are no longer read. Rows that cannot be removed now go with the retention.
      await dropEnded(deps.db, before, { budgetMs: pruneMs }).catch((error: unknown) =>
        deps.logger.warn({ err: error, before }, 'feed: pruned events remain stored until their retention ends'),
      );
      return pruned;
    },
  };
}

const isOver = ({ items }: Page, untilMs: number): boolean => items.length > 0 || Date.now() >= untilMs;

class Reading {
  readonly #deps: Dependencies;
  readonly #writer: EventWriter;
  readonly #cursors: EventWriter['cursors'];
  readonly #context: RequestContext;
  readonly #findWho: () => Promise<Viewer>;

  constructor(deps: Dependencies, writer: EventWriter, context: RequestContext, findWho: () => Promise<Viewer>) {
    this.#deps = deps;
    this.#writer = writer;
    this.#cursors = writer.cursors;
    this.#context = context;
    this.#findWho = findWho;
  }

  /** @throws AppError 400 for a cursor, a type or a subject that does not exist; 410 `cursor_expired` */
  async answer(request: FeedQuery): Promise<RawJson> {
    const { db, bus, feedChanges } = this.#deps;
    const wanted = readWanted(request);
    const head = await readHead(db);
    if (request.after === 'latest') return this.#write({ items: [], hasMore: false }, this.#cursors.writeNow(head.last_position));
    const begin = request.after === undefined ? head.floor_position : this.#position(request.after, head.floor_position);
    const untilMs = Math.min(Date.now() + (request.wait ?? 0) * 1_000, this.#context.deadlineMs - answerMs);
    const viewers = new RememberedViewer(this.#findWho);
    const look = async (after: number): Promise<Page> => {
      const { last_position: upTo } = await readHead(db);
      if (upTo <= after) return { items: [], hasMore: false, reached: after };
      const isKnown = viewers.isFresh;
      const page = await findPage({ db, bus, context: this.#context }, await viewers.find(), wanted, { after, upTo });
      if (page.items.length === 0 || !isKnown) return page;
      return findPage({ db, bus, context: this.#context }, await viewers.findAgain(), wanted, { after, upTo });
    };
    const { count } = feedChanges;
    const first = await look(begin);
    const page = isOver(first, untilMs) ? first : await feedChanges.limitWaiting(() => this.#wait(look, { first, count, untilMs }));
    return this.#write(page, await this.#next(page, request.after));
  }

  /**
   * Behind a page without events the cursor that was given, which tells nothing of what somebody does not see (V10); but another one when that is old,
   * or it would end with what was behind it (V3), and when the page ended before it had seen all.
   */
  async #next({ items, hasMore, reached }: Page, given: string | undefined): Promise<string> {
    const last = items.at(-1);
    if (last !== undefined) return this.#cursors.write(last.position);
    return given === undefined || hasMore || (await this.#isOld(given)) ? this.#cursors.writeNow(reached) : given;
  }

  async #isOld(cursor: string): Promise<boolean> {
    const hours = this.#cursors.hoursOld(cursor) ?? (await findAge(this.#deps.db, { position: this.#cursors.read(cursor) ?? 0 }))?.hours;
    return hours === undefined || hours >= oldHours;
  }

  /** Until there is something, or no time is left. `count`: of the feedChanges, from before it was looked first. */
  async #wait(
    look: (after: number) => Promise<Page>,
    { first, untilMs, ...before }: { readonly first: Page; readonly count: number; readonly untilMs: number },
  ): Promise<Page> {
    const { feedChanges } = this.#deps;
    let [seen, count] = [first, before.count];
    while (!isOver(seen, untilMs) && !feedChanges.closed) {
      const rested = sleep(Math.min(untilMs - Date.now(), restMs));
      if (!seen.hasMore) await feedChanges.waitForChange(count, Math.min(untilMs - Date.now(), lookMs));
      await rested;
      ({ count } = feedChanges);
      seen = await feedChanges.limitReads(() => look(seen.reached));
    }
    return seen;
  }

  #position(cursor: string, floor: number): number {
    const position = this.#cursors.read(cursor);
    if (position === undefined) throw refuse('`after` is not a cursor of the feed.');
    if (position >= floor) return position;
    const message = 'What comes behind the cursor is no longer kept in whole. Begin without `after`, and read what you follow anew.';
    throw new AppError({ code: 'gone', reason: 'cursor_expired', message });
  }

  /** JSON that SQL made is not parsed on its way. */
  #write({ items, hasMore }: Pick<Page, 'items' | 'hasMore'>, next: string): RawJson {
    return rawJson(`{"items":[${items.map((item) => this.#writer.write(item)).join(',')}],"next":"${next}","has_more":${hasMore}}`);
  }
}

function readWanted({ types, subject_type: subjectType, subject_id: subjectId, limit }: FeedQuery): Wanted {
  const named = types === undefined ? null : readTypes(types);
  if (named === undefined) throw refuse('`types` names one that does not exist.');
  if (subjectId !== undefined && subjectType === undefined) throw refuse('`subject_id` comes without `subject_type`.');
  return { types: named, subjectType: subjectType ?? null, subjectId: subjectId ?? null, limit: limit ?? usualEvents };
}

/** What the owners say of the caller, remembered for a moment. */
class RememberedViewer {
  readonly #find: () => Promise<Viewer>;
  #known: { readonly viewer: Viewer; readonly atMs: number } | undefined;

  constructor(find: () => Promise<Viewer>) {
    this.#find = find;
  }

  get isFresh(): boolean {
    return this.#known !== undefined && performance.now() - this.#known.atMs <= viewerMs;
  }

  async find(): Promise<Viewer> {
    return this.isFresh && this.#known !== undefined ? this.#known.viewer : this.findAgain();
  }

  async findAgain(): Promise<Viewer> {
    const atMs = performance.now();
    const viewer = await this.#find();
    this.#known = { viewer, atMs };
    return viewer;
  }
}

function refuse(message: string): AppError {
  return new AppError({ code: 'bad_request', message });
}
