/**
 * Resolves references of conversations in the file and the database (rules/workspace#bulk-import), in batches and with
 * a cache.
 */
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { directory } from '#services/directory';
import type { CliContext } from '../context.ts';
import type { CheckedItem, ItemProblem } from './check-item.ts';

interface Journey {
  readonly id: number;
  readonly steps: ReadonlyMap<string, number>;
  /** Id of the first step by (order, id) that is not archived. */
  readonly firstStep: number | null;
}

/** Ids of referenced objects; 0 = defined in the file, not in the database yet. */
interface ReferenceIds {
  readonly journey_id?: number | null;
  readonly step_id?: number | null;
  readonly default_step_id?: number | null;
  readonly event_id?: number | null;
  readonly participant_ids?: number[];
  readonly connected_ids?: number[];
}

export interface ResolvedReferences {
  readonly ids: ReferenceIds;
  /** Person id of the speaker of each transcript row; null = unresolved. */
  readonly speakerIds: (number | null)[];
}

const keysPerCall = 1_000;
const pending = 0;

export class References {
  readonly #context: CliContext;
  /** Keys, slugs and steps that are defined in the file. */
  readonly #people: ReadonlySet<string>;
  readonly #holons: ReadonlySet<string>;
  readonly #journeys: ReadonlyMap<string, ReadonlySet<string>>;
  /** Ids in the database; null = the key does not exist there. */
  readonly #personIds = new Map<string, number | null>();
  readonly #holonIds = new Map<string, number | null>();
  readonly #journeyIds = new Map<string, Journey | null>();

  /** @param document the file without its conversations */
  constructor(context: CliContext, document: unknown) {
    this.#context = context;
    this.#people = new Set(namesIn(document, 'people', 'key'));
    this.#holons = new Set(namesIn(document, 'holons', 'slug'));
    this.#journeys = new Map(
      objectsIn(document, 'journeys').map((item) => [String(item['slug']), new Set(namesIn(item, 'steps', 'slug'))]),
    );
  }

  /** Clears the cache. Called after the rest of the file was applied, which creates ids. */
  refresh(): void {
    this.#personIds.clear();
    this.#holonIds.clear();
    this.#journeyIds.clear();
  }

  /** Loads the ids of all references that are not cached. */
  async load(items: readonly CheckedItem[]): Promise<void> {
    const { findPeopleByKeys, getHolons, getJourneys } = directory.rpcs;
    const people = items.flatMap(({ participants = [], transcript = [] }) => [
      ...participants,
      ...transcript.flatMap(({ person }) => person ?? []),
    ]);
    await loadInto(this.#personIds, people, async (keys) => {
      const { items: found } = await this.#context.call(findPeopleByKeys, { keys });
      return found.map(({ key, id }) => [key, id]);
    });
    const holons = items.flatMap(({ event, connected = [] }) => [
      ...connected,
      ...(typeof event === 'string' ? [event] : []),
    ]);
    await loadInto(this.#holonIds, holons, async (slugs) => {
      const { items: found } = await this.#context.call(getHolons, { slugs });
      return found.map(({ slug, id }) => [slug, id]);
    });
    const journeys = items.flatMap(({ journey }) => journey ?? []);
    await loadInto(this.#journeyIds, journeys, async (slugs) => {
      const { items: found } = await this.#context.call(getJourneys, { slugs });
      return found.map((journey) => {
        const active = journey.steps
          .filter((step) => !step.is_archived)
          .toSorted((a, b) => a.order - b.order || a.id - b.id);
        const steps = new Map(journey.steps.map((step) => [step.slug, step.id]));
        return [journey.slug, { id: journey.id, steps, firstStep: active[0]?.id ?? null }];
      });
    });
  }

  /** @returns the ids of a loaded item; adds unknown references to `problems` */
  resolve(item: CheckedItem, problems: ItemProblem[]): ResolvedReferences {
    const { journey, step, event, participants, connected, transcript = [] } = item;
    const person = (key: string, path: (string | number)[]): number =>
      this.#find('person', this.#personIds, this.#people, key, path, problems);
    const holon = (key: string, path: (string | number)[]): number =>
      this.#find('holon', this.#holonIds, this.#holons, key, path, problems);
    const ids = {
      ...(journey === undefined ? {} : this.#resolveJourney(journey, step, problems)),
      ...(journey === undefined && step === null ? { step_id: null } : {}),
      ...(event === undefined ? {} : { event_id: event === null ? null : holon(event, ['event']) }),
      ...(participants === undefined
        ? {}
        : { participant_ids: participants.map((key, index) => person(key, ['participants', index])) }),
      ...(connected === undefined
        ? {}
        : { connected_ids: connected.map((slug, index) => holon(slug, ['connected', index])) }),
    };
    return {
      ids,
      speakerIds: transcript.map(({ person: key }, index) =>
        key === null ? null : person(key, ['transcript', index, 'person']),
      ),
    };
  }

  #resolveJourney(slug: string | null, step: string | null | undefined, problems: ItemProblem[]): ReferenceIds {
    if (slug === null) return { journey_id: null, step_id: null };
    const stored = this.#journeyIds.get(slug) ?? undefined;
    const stepsInFile = this.#journeys.get(slug);
    if (stored === undefined && stepsInFile === undefined) {
      problems.push({ path: ['journey'], message: `journey "${slug}" does not exist in the file or the database` });
      return {};
    }
    const journey_id = stored?.id ?? pending;
    if (step === undefined) return { journey_id, default_step_id: stored === undefined ? pending : stored.firstStep };
    if (step === null) return { journey_id, step_id: null };
    const step_id = stored?.steps.get(step) ?? (stepsInFile?.has(step) === true ? pending : undefined);
    if (step_id !== undefined) return { journey_id, step_id };
    problems.push({ path: ['step'], message: `journey "${slug}" has no step "${step}"` });
    return { journey_id };
  }

  #find(
    noun: string,
    stored: ReadonlyMap<string, number | null>,
    inFile: ReadonlySet<string>,
    key: string,
    path: (string | number)[],
    problems: ItemProblem[],
  ): number {
    const id = stored.get(key) ?? undefined;
    if (id !== undefined) return id;
    if (!inFile.has(key))
      problems.push({ path, message: `${noun} "${key}" does not exist in the file or the database` });
    return pending;
  }
}

async function loadInto<Value>(
  known: Map<string, Value | null>,
  requested: readonly string[],
  find: (keys: string[]) => Promise<[string, Value][]>,
): Promise<void> {
  const missing = [...new Set(requested)].filter((key) => !known.has(key));
  for (let start = 0; start < missing.length; start += keysPerCall) {
    const keys = missing.slice(start, start + keysPerCall);
    for (const key of keys) known.set(key, null);
    for (const [key, value] of await find(keys)) known.set(key, value);
  }
}

function objectsIn(value: unknown, name: string): JsonObject[] {
  const list = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function namesIn(value: unknown, list: string, field: string): string[] {
  return objectsIn(value, list).flatMap((item) => (typeof item[field] === 'string' ? [item[field]] : []));
}
