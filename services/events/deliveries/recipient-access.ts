/** Caches the read access of endpoint owners, for all endpoints of an account (V7). */
import { type Bus, newContext } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { directory } from '#services/directory';
import { markDeletedOf } from '../endpoints/index.ts';
import {
  type EventFilter,
  findPage,
  findReadable,
  findViewer,
  type FoundEvent,
  type Page,
  type ReaderContext,
  type Viewer,
} from '../feed/index.ts';

/** Deliveries follow a change of access within a second, including the time to read the access. */
const accessTtlMs = 500;
const maxAccounts = 1_000;

/** Undefined when the account is deactivated. */
type Access = { readonly viewer: Viewer; readonly context: ReaderContext } | undefined;

export class RecipientAccessCache {
  readonly #deps: { readonly bus: Bus; readonly db: Database };
  readonly #accounts = new Map<number, { readonly atMs: number; readonly access: Promise<Access> }>();

  constructor({ bus, db }: { readonly bus: Bus; readonly db: Database }) {
    this.#deps = { bus, db };
  }

  /** Returns the next events that the account can read. */
  async findPage(
    accountId: number,
    filter: EventFilter,
    range: { readonly after: number; readonly upTo: number },
  ): Promise<Omit<Page, 'hasMore'>> {
    const access = await this.#find(accountId);
    if (access === undefined) return { items: [], reached: range.upTo };
    return await findPage({ ...this.#deps, context: access.context }, access.viewer, filter, range);
  }

  /** Returns the given events that the account can read, by position. */
  async findReadable(accountId: number, events: Parameters<typeof findReadable>[2]): Promise<Map<number, FoundEvent>> {
    const access = await this.#find(accountId);
    return access === undefined
      ? new Map()
      : await findReadable({ ...this.#deps, context: access.context }, access.viewer, events);
  }

  #find(accountId: number): Promise<Access> {
    const cached = this.#accounts.get(accountId);
    const atMs = performance.now();
    if (cached !== undefined && atMs - cached.atMs <= accessTtlMs) return cached.access;
    if (this.#accounts.size >= maxAccounts) this.#accounts.clear();
    const access = this.#fetch(accountId);
    this.#accounts.set(accountId, { atMs, access });
    access.catch(() => this.#accounts.delete(accountId));
    return access;
  }

  async #fetch(accountId: number): Promise<Access> {
    const { bus, db } = this.#deps;
    const { reader, exists } = await bus.call(directory.rpcs.findReader, { account_id: accountId }, newContext());
    if (!exists) await markDeletedOf(db, { accountIds: [accountId] });
    if (reader === null) return undefined;
    const context = { ...newContext(), reader };
    return { viewer: await findViewer(bus, context), context };
  }
}
