/**
 * Cache of people, holons and journeys of the directory, stored as the JSON text of replies. Change events are received
 * before the directory replies to the writer, so that clients read their own writes.
 */
import type { ReplyOf } from '#libs/infrastructure/contract';
import type { Bus, CallContext } from '#libs/infrastructure/nats';
import { directory } from '#services/directory';
import { BatchCache } from './batch-cache.ts';
import { type CachedJourney, toJourney } from './journeys.ts';

export { type CachedJourney, firstStep, type JourneyStep, nextStep } from './journeys.ts';

export interface CachedPerson {
  readonly id: number;
  readonly name: string;
  /** JSON of PersonOut. */
  readonly json: string;
}

export interface CachedHolon {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly conversationEvent: boolean;
  /** The holon is visible to some callers only; use `HolonVisibility`. */
  readonly isPrivate: boolean;
  /** JSON of an item of `connected`, HolonRef. */
  readonly json: string;
}

const itemsOf = <Item>({ items }: { readonly items: Item[] }): Item[] => items;

type DirectoryHolon = ReplyOf<typeof directory.rpcs.getHolons>['items'][number];

const ttlMs = 60_000;
/** Sufficient for the people of several thousand recent conversations, with about 500 bytes per person. */
const peopleCapacity = 50_000;
const holonCapacity = 20_000;
const journeyCapacity = 5_000;
/** Maximum number of ids per look-up. */
const batchSize = 5_000;

export class DirectoryCache {
  readonly #bus: Bus;
  readonly #context: () => CallContext;
  readonly people: BatchCache<CachedPerson>;
  readonly holons: BatchCache<CachedHolon>;
  readonly journeys: BatchCache<CachedJourney>;
  readonly #journeyIdBySlug = new Map<string, number>();
  #stops: (() => void)[] = [];

  /** @param context creates the call context of a look-up, which can serve several callers */
  constructor(bus: Bus, context: () => CallContext) {
    this.#bus = bus;
    this.#context = context;
    this.people = new BatchCache({ load: batched((ids) => this.#loadPeople(ids)), capacity: peopleCapacity, ttlMs });
    this.holons = new BatchCache({ load: batched((ids) => this.#loadHolons(ids)), capacity: holonCapacity, ttlMs });
    this.journeys = new BatchCache({
      load: batched((ids) => this.#loadJourneys(ids)),
      capacity: journeyCapacity,
      ttlMs,
      onEvict: (journey) => this.#forgetSlug(journey),
    });
  }

  /** Subscribes to change events. */
  start(): void {
    this.#stops = [
      this.#bus.subscribeEvent(directory.events.peopleChanged, ({ ids }) => this.people.invalidate(ids)),
      this.#bus.subscribeEvent(directory.events.holonsChanged, ({ ids }) => {
        this.holons.invalidate(ids);
        this.journeys.invalidate(null); // owning events of journeys may have changed
      }),
      this.#bus.subscribeEvent(directory.events.journeysChanged, ({ ids }) => this.journeys.invalidate(ids)),
      this.#bus.onReconnect(() => this.clear()),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  /** Drops all entries, because events may have been missed. */
  clear(): void {
    this.people.invalidate(null);
    this.holons.invalidate(null);
    this.journeys.invalidate(null);
  }

  async findJourneyBySlug(slug: string): Promise<CachedJourney | undefined> {
    const [journey] = await this.findJourneysBySlugs([slug]);
    return journey;
  }

  /**
   * Returns the existing journeys with these slugs, in the order of the slugs. @throws AppError unavailable,
   * deadline_exceeded
   */
  async findJourneysBySlugs(slugs: readonly string[]): Promise<CachedJourney[]> {
    const found = new Map<string, CachedJourney>();
    const missing: string[] = [];
    for (const slug of new Set(slugs)) {
      const id = this.#journeyIdBySlug.get(slug);
      const journey = id === undefined ? undefined : this.journeys.peek(id);
      if (journey?.slug === slug) found.set(slug, journey);
      else missing.push(slug);
    }
    if (missing.length > 0) {
      // The call only resolves slugs to ids. Values are then loaded by id, so that invalidations during the call are
      // respected.
      const { items } = await this.#bus.call(directory.rpcs.getJourneys, { slugs: missing }, this.#context());
      const journeys = await this.journeys.getMany(items.map((item) => item.id));
      for (const journey of journeys.values()) {
        this.#journeyIdBySlug.set(journey.slug, journey.id);
        if (missing.includes(journey.slug)) found.set(journey.slug, journey);
      }
    }
    return slugs.flatMap((slug) => found.get(slug) ?? []);
  }

  /** Returns the ids of the steps with this slug in all journeys. @throws AppError unavailable, deadline_exceeded */
  async findSteps(slug: string): Promise<readonly number[]> {
    return (await this.#bus.call(directory.rpcs.findSteps, { slug }, this.#context())).ids;
  }

  /** Returns the holon with the slug. It is not cached by slug, because only admin commands call this method. */
  async findHolonBySlug(slug: string): Promise<CachedHolon | undefined> {
    const { items } = await this.#bus.call(directory.rpcs.getHolons, { slugs: [slug] }, this.#context());
    return items[0] === undefined ? undefined : toHolon(items[0]);
  }

  /**
   * Returns the selected holons that are visible to an account; null stands for the shared token. @throws AppError
   * unavailable, deadline_exceeded
   */
  async listVisible(
    accountId: number | null,
    selection: { ids: number[] } | { slugs: string[] },
    { requestId, traceparent }: CallContext,
  ): Promise<{ id: number; slug: string }[]> {
    const { items } = await this.#bus.call(
      directory.rpcs.visibleHolons,
      { account_id: accountId, ...selection },
      { requestId, traceparent },
    );
    return items;
  }

  /**
   * Returns whether a journey with a step and holons exist at this moment. If not, the cache is behind and is cleared.
   * @throws AppError unavailable, deadline_exceeded
   */
  async exist({
    journeyId,
    stepId,
    holonIds,
  }: {
    readonly journeyId: number | null;
    readonly stepId: number | null;
    readonly holonIds: readonly number[];
  }): Promise<boolean> {
    const journeyIds = journeyId === null ? [] : [journeyId];
    const { getJourneys, getHolons } = directory.rpcs;
    const [journeys, holons] = await Promise.all([
      journeyId === null ? [] : this.#bus.call(getJourneys, { ids: journeyIds }, this.#context()).then(itemsOf),
      holonIds.length === 0 ? [] : this.#bus.call(getHolons, { ids: [...holonIds] }, this.#context()).then(itemsOf),
    ]);
    const [journey] = journeys;
    const areAll = journeys.length === journeyIds.length && holons.length === holonIds.length;
    if (areAll && (stepId === null || journey?.steps.some(({ id }) => id === stepId) === true)) return true;
    this.clear();
    return false;
  }

  /**
   * Returns a holon and its descendants that the caller of `context` can see. @throws AppError unavailable,
   * deadline_exceeded
   */
  async findSubtree(slug: string, context: CallContext): Promise<{ holonId: number; ids: number[] } | undefined> {
    const { holon_id: holonId, ids } = await this.#bus.call(directory.rpcs.holonSubtree, { slug }, context);
    return holonId === null ? undefined : { holonId, ids };
  }

  /**
   * Returns a holon with its conversation events. @throws AppError 404 when the holon does not exist or the caller of
   * `context` cannot see it
   */
  async browseHolon(slug: string, context: CallContext): Promise<ReplyOf<typeof directory.rpcs.browseHolon>> {
    return this.#bus.call(directory.rpcs.browseHolon, { holon_slug: slug }, context);
  }

  /**
   * Returns the holons that an account's team authority covers, among `ids` or all holons. The result is not cached.
   * @throws AppError unavailable, deadline_exceeded
   */
  async listCovered(
    accountId: number,
    { requestId, traceparent }: CallContext,
    ids?: readonly number[],
  ): Promise<readonly number[]> {
    const selection = ids === undefined ? {} : { ids: [...ids] };
    const reply = await this.#bus.call(
      directory.rpcs.coveredHolons,
      { account_id: accountId, ...selection },
      { requestId, traceparent },
    );
    return reply.ids;
  }

  #forgetSlug(journey: CachedJourney): void {
    if (this.#journeyIdBySlug.get(journey.slug) === journey.id) this.#journeyIdBySlug.delete(journey.slug);
  }

  async #loadPeople(ids: number[]): Promise<[number, CachedPerson][]> {
    const { items } = await this.#bus.call(directory.rpcs.getPeople, { ids }, this.#context());
    return items.map(({ id, name, photo, contact }) => [
      id,
      { id, name, json: JSON.stringify({ id, name, photo, contact }) },
    ]);
  }

  async #loadHolons(ids: number[]): Promise<[number, CachedHolon][]> {
    const { items } = await this.#bus.call(directory.rpcs.getHolons, { ids }, this.#context());
    return items.map((item) => [item.id, toHolon(item)]);
  }

  async #loadJourneys(ids: number[]): Promise<[number, CachedJourney][]> {
    const { items } = await this.#bus.call(directory.rpcs.getJourneys, { ids }, this.#context());
    return items.map((item) => [item.id, toJourney(item)]);
  }
}

function batched<Value>(
  load: (ids: number[]) => Promise<[number, Value][]>,
): (ids: readonly number[]) => Promise<Map<number, Value>> {
  return async (ids) => {
    const batches: number[][] = [];
    for (let at = 0; at < ids.length; at += batchSize) batches.push(ids.slice(at, at + batchSize));
    return new Map((await Promise.all(batches.map(load))).flat());
  };
}

function toHolon(item: DirectoryHolon): CachedHolon {
  const { id, slug, name, type } = item;
  const json = JSON.stringify({ id, name, type, slug });
  return { id, slug, name, conversationEvent: item.conversation_event, isPrivate: item.private, json };
}

export interface VisibleHolons {
  /** Returns the holon if it exists and the caller can see it. */
  readonly find: (id: number) => CachedHolon | undefined;
  /** Returns whether the holon exists but the caller cannot see it. */
  readonly isHidden: (id: number) => boolean;
}

export class HolonVisibility {
  readonly #directory: DirectoryCache;
  readonly #context: CallContext;
  /** Account of the caller; null for the shared token. */
  readonly #accountId: number | null;
  /** Cached visibility of private holons, by id. */
  readonly #visibleById = new Map<number, boolean>();

  constructor(directory: DirectoryCache, { requestId, actor, traceparent }: CallContext) {
    this.#directory = directory;
    // The deadline of the call is omitted, because a streamed reply lasts longer.
    this.#context = { requestId, actor, traceparent };
    this.#accountId = actor?.kind === 'user' ? actor.accountId : null;
  }

  /** Resolves which of the holons the caller can see. @throws AppError unavailable, deadline_exceeded */
  async lookUp(ids: readonly number[]): Promise<VisibleHolons> {
    const holons = await this.#directory.holons.getMany(ids);
    const unknown = [...holons.values()]
      .filter((holon) => holon.isPrivate && !this.#visibleById.has(holon.id))
      .map((holon) => holon.id);
    if (unknown.length > 0) {
      const visible = new Set(
        (await this.#directory.listVisible(this.#accountId, { ids: unknown }, this.#context)).map(({ id }) => id),
      );
      for (const id of unknown) this.#visibleById.set(id, visible.has(id));
    }
    const isHidden = (id: number): boolean => holons.get(id)?.isPrivate === true && this.#visibleById.get(id) !== true;
    return { isHidden, find: (id) => (isHidden(id) ? undefined : holons.get(id)) };
  }

  /**
   * Returns the holon and its descendants that the caller can see; returns undefined when the holon does not exist or
   * is hidden.
   */
  async findSubtree(slug: string): Promise<{ holonId: number; ids: number[] } | undefined> {
    return this.#directory.findSubtree(slug, this.#context);
  }

  /** Returns the id of the holon; returns undefined when the holon does not exist or is hidden. */
  async findVisible(slug: string): Promise<number | undefined> {
    const [holon] = await this.#directory.listVisible(this.#accountId, { slugs: [slug] }, this.#context);
    return holon?.id;
  }

  /** Returns the ids of the holons that exist and that the caller can see, by slug. */
  async findVisibleSlugs(slugs: readonly string[]): Promise<Map<string, number>> {
    const holons = await this.#directory.listVisible(this.#accountId, { slugs: [...slugs] }, this.#context);
    return new Map(holons.map(({ id, slug }) => [slug, id]));
  }

  /** Returns a holon and its immediate conversation events with their journeys. @throws AppError 404 */
  async browse(slug: string): ReturnType<DirectoryCache['browseHolon']> {
    return this.#directory.browseHolon(slug, this.#context);
  }
}
