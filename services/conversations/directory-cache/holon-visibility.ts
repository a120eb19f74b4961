/**
 * Which holons one caller sees (D18f, D48). The policy is the directory's: it is asked once for each private holon of a request,
 * together for a whole batch of rows, and never for the others.
 */
import type { CallContext } from '#libs/nats';
import type { CachedHolon, DirectoryCache } from './directory-cache.ts';

export interface VisibleHolons {
  /** The holon when it exists and the caller sees it. */
  readonly find: (id: number) => CachedHolon | undefined;
  /** It exists and the caller does not see it. */
  readonly isHidden: (id: number) => boolean;
}

export class HolonVisibility {
  readonly #directory: DirectoryCache;
  readonly #context: CallContext;
  /** The caller's; null = the shared token's. */
  readonly #accountId: number | null;
  /** Private holons asked about; true = seen. */
  readonly #seen = new Map<number, boolean>();

  constructor(directory: DirectoryCache, { requestId, actor, traceparent }: CallContext) {
    this.#directory = directory;
    // Without the deadline of the call: a streamed answer goes on after it.
    this.#context = { requestId, actor, traceparent };
    this.#accountId = actor?.kind === 'user' ? actor.accountId : null;
  }

  /** What the caller sees of these. @throws AppError unavailable, deadline_exceeded */
  async lookUp(ids: readonly number[]): Promise<VisibleHolons> {
    const holons = await this.#directory.holons.getMany(ids);
    const unknown = [...holons.values()].filter((holon) => holon.isPrivate && !this.#seen.has(holon.id)).map((holon) => holon.id);
    if (unknown.length > 0) {
      const visible = new Set((await this.#directory.listVisible(this.#accountId, { ids: unknown }, this.#context)).map(({ id }) => id));
      for (const id of unknown) this.#seen.set(id, visible.has(id));
    }
    const isHidden = (id: number): boolean => holons.get(id)?.isPrivate === true && this.#seen.get(id) !== true;
    return { isHidden, find: (id) => (isHidden(id) ? undefined : holons.get(id)) };
  }

  /** The holon and its descendants as far as the caller sees them; undefined when there is none for the caller. */
  async findSubtree(slug: string): Promise<{ holonId: number; ids: number[] } | undefined> {
    return this.#directory.findSubtree(slug, this.#context);
  }

  /** Id of the holon; undefined when there is none for the caller. */
  async findVisible(slug: string): Promise<number | undefined> {
    const [holon] = await this.#directory.listVisible(this.#accountId, { slugs: [slug] }, this.#context);
    return holon?.id;
  }

  /** A holon and its immediate conversation events with their journeys. @throws AppError 404 */
  async browse(slug: string): ReturnType<DirectoryCache['browseHolon']> {
    return this.#directory.browseHolon(slug, this.#context);
  }
}
