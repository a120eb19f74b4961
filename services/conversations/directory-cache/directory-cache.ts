/**
 * What conversations need of the directory, kept as the JSON text that goes into replies: people, holons and journeys. The
 * directory's change events arrive before its writer is answered, so that a client that waits for each answer reads its own writes.
 */
import type { ReplyOf } from '#libs/contract';
import type { Bus, CallContext } from '#libs/nats';
import { directory } from '#services/directory';
import type { JourneyStep } from '../step.ts';
import { BatchCache } from './batch-cache.ts';

export interface CachedPerson {
  readonly id: number;
  readonly name: string;
  /** PersonOut. */
  readonly json: string;
}

export interface CachedHolon {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly conversationEvent: boolean;
  /** Seen by some callers only: ask `HolonVisibility`. */
  readonly isPrivate: boolean;
  /** Item of `connected`, HolonRef. */
  readonly json: string;
}

export interface CachedStep extends JourneyStep {
  /** `"step_slug":…,"step_title":…` */
  readonly json: string;
  /** `{"slug":…,"title":…}` */
  readonly searchJson: string;
}

export interface CachedJourney {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly isConversation: boolean;
  readonly ownerEventIds: readonly number[];
  readonly steps: readonly CachedStep[];
  readonly questionIds: ReadonlySet<number>;
  /** `"journey_slug":…,"journey_name":…,"journey_description":…` */
  readonly headJson: string;
  /** `"texts":…,"questions":…` */
  readonly tailJson: string;
  /** `{"slug":…,"name":…,"description":…}` */
  readonly searchJson: string;
  /** JourneyBrowse. */
  readonly browseJson: string;
}

type DirectoryHolon = ReplyOf<typeof directory.rpcs.getHolons>['items'][number];
type DirectoryJourney = ReplyOf<typeof directory.rpcs.getJourneys>['items'][number];

const ttlMs = 60_000;
/** People of the most recent few thousand conversations, with room: about 500 bytes each. */
const peopleCapacity = 50_000;
const holonCapacity = 20_000;
const journeyCapacity = 5_000;
/** Ids in one look-up. */
const batchSize = 5_000;

export class DirectoryCache {
  readonly #bus: Bus;
  readonly #context: () => CallContext;
  readonly people: BatchCache<CachedPerson>;
  readonly holons: BatchCache<CachedHolon>;
  readonly journeys: BatchCache<CachedJourney>;
  readonly #journeyIdBySlug = new Map<string, number>();
  #stops: (() => void)[] = [];

  /** `context` makes the context of look-ups, which serve whoever asks at that moment. */
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

  /** Begins to listen for changes. */
  start(): void {
    this.#stops = [
      this.#bus.subscribeEvent(directory.events.peopleChanged, ({ ids }) => this.people.invalidate(ids)),
      this.#bus.subscribeEvent(directory.events.holonsChanged, ({ ids }) => {
        this.holons.invalidate(ids);
        this.journeys.invalidate(null); // their owning events may be others now
      }),
      this.#bus.subscribeEvent(directory.events.journeysChanged, ({ ids }) => this.journeys.invalidate(ids)),
      this.#bus.onReconnect(() => this.clear()),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  /** Forgets everything, since changes may have been missed. */
  clear(): void {
    this.people.invalidate(null);
    this.holons.invalidate(null);
    this.journeys.invalidate(null);
  }

  async findJourneyBySlug(slug: string): Promise<CachedJourney | undefined> {
    const [journey] = await this.findJourneysBySlugs([slug]);
    return journey;
  }

  /** Journeys with these slugs that exist, in the order of the slugs. @throws AppError unavailable, deadline_exceeded */
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
      // The slug only finds the id; what is kept came by id, where invalidation during the look-up is noticed.
      const { items } = await this.#bus.call(directory.rpcs.getJourneys, { slugs: missing }, this.#context());
      const journeys = await this.journeys.getMany(items.map((item) => item.id));
      for (const journey of journeys.values()) {
        this.#journeyIdBySlug.set(journey.slug, journey.id);
        if (missing.includes(journey.slug)) found.set(journey.slug, journey);
      }
    }
    return slugs.flatMap((slug) => found.get(slug) ?? []);
  }

  /** Steps with this slug, of every journey. @throws AppError unavailable, deadline_exceeded */
  async findSteps(slug: string): Promise<readonly number[]> {
    return (await this.#bus.call(directory.rpcs.findSteps, { slug }, this.#context())).ids;
  }

  /** Never cached by slug: only commands ask. */
  async findHolonBySlug(slug: string): Promise<CachedHolon | undefined> {
    const { items } = await this.#bus.call(directory.rpcs.getHolons, { slugs: [slug] }, this.#context());
    return items[0] === undefined ? undefined : toHolon(items[0]);
  }

  /** Those of the holons that an account, or with null the shared token, sees. @throws AppError unavailable, deadline_exceeded */
  async listVisible(
    accountId: number | null,
    wanted: { ids: number[] } | { slugs: string[] },
    { requestId, traceparent }: CallContext,
  ): Promise<{ id: number }[]> {
    const { items } = await this.#bus.call(directory.rpcs.visibleHolons, { account_id: accountId, ...wanted }, { requestId, traceparent });
    return items;
  }

  /** A holon and its descendants as far as the caller of `context` sees them. @throws AppError unavailable, deadline_exceeded */
  async findSubtree(slug: string, context: CallContext): Promise<{ holonId: number; ids: number[] } | undefined> {
    const { holon_id: holonId, ids } = await this.#bus.call(directory.rpcs.holonSubtree, { slug }, context);
    return holonId === null ? undefined : { holonId, ids };
  }

  /** A holon and all its descendants. @throws AppError unavailable, deadline_exceeded */
  async findWholeSubtree(slug: string, { requestId, traceparent }: CallContext): Promise<{ ids: number[] } | undefined> {
    const { found, ids } = await this.#bus.call(directory.rpcs.wholeSubtree, { slug }, { requestId, traceparent });
    return found ? { ids } : undefined;
  }

  /** @throws AppError 404 when the caller of `context` sees no such holon */
  async browseHolon(slug: string, context: CallContext): Promise<ReplyOf<typeof directory.rpcs.browseHolon>> {
    return this.#bus.call(directory.rpcs.browseHolon, { holon_slug: slug }, context);
  }

  /** Holons that an account's team authority covers, of these or of all; never cached. @throws AppError unavailable, deadline_exceeded */
  async listCovered(accountId: number, { requestId, traceparent }: CallContext, ids?: readonly number[]): Promise<readonly number[]> {
    const wanted = ids === undefined ? {} : { ids: [...ids] };
    const reply = await this.#bus.call(directory.rpcs.coveredHolons, { account_id: accountId, ...wanted }, { requestId, traceparent });
    return reply.ids;
  }

  #forgetSlug(journey: CachedJourney): void {
    if (this.#journeyIdBySlug.get(journey.slug) === journey.id) this.#journeyIdBySlug.delete(journey.slug);
  }

  async #loadPeople(ids: number[]): Promise<[number, CachedPerson][]> {
    const { items } = await this.#bus.call(directory.rpcs.getPeople, { ids }, this.#context());
    return items.map(({ id, name, photo, contact }) => [id, { id, name, json: JSON.stringify({ id, name, photo, contact }) }]);
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

function batched<Value>(load: (ids: number[]) => Promise<[number, Value][]>): (ids: readonly number[]) => Promise<Map<number, Value>> {
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

function toJourney(item: DirectoryJourney): CachedJourney {
  return {
    id: item.id,
    slug: item.slug,
    name: item.name,
    isConversation: item.is_conversation,
    ownerEventIds: item.owner_event_ids,
    steps: item.steps.map((step) => ({
      id: step.id,
      slug: step.slug,
      title: step.title,
      order: step.order,
      isArchived: step.is_archived,
      pipelineJob: step.pipeline_job,
      json: `"step_slug":${JSON.stringify(step.slug)},"step_title":${JSON.stringify(step.title)}`,
      searchJson: JSON.stringify({ slug: step.slug, title: step.title }),
    })),
    questionIds: new Set(item.questions.map((question) => question.id)),
    headJson:
      `"journey_slug":${JSON.stringify(item.slug)},"journey_name":${JSON.stringify(item.name)},` +
      `"journey_description":${JSON.stringify(item.description)}`,
    tailJson:
      `"texts":${JSON.stringify(item.texts)},` +
      `"questions":${JSON.stringify(item.questions.map(({ id, text, order }) => ({ id, text, order })))}`,
    searchJson: JSON.stringify({ slug: item.slug, name: item.name, description: item.description }),
    browseJson: JSON.stringify({ id: item.id, slug: item.slug, name: item.name, description: item.description, texts: item.texts }),
  };
}
