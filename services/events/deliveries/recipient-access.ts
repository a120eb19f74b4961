/** What the accounts of endpoints may read, asked once for all endpoints of an account (V7). */
import { type Bus, newContext } from '#libs/nats';
import type { Database } from '#libs/orm';
import { directory } from '#services/directory';
import { markDeletedOf } from '../endpoints/index.ts';
import { type Asking, findPage, findShown, findViewer, type FoundEvent, type Page, type Viewer, type Wanted } from '../feed/index.ts';

/** With the time that reading takes, what is sent follows a change of rights within a second. */
const accessTtlMs = 500;
const maxAccounts = 1_000;

/** Undefined while the account is deactivated. */
type Access = { readonly viewer: Viewer; readonly context: Asking } | undefined;

export class RecipientAccessCache {
  readonly #deps: { readonly bus: Bus; readonly db: Database };
  readonly #accounts = new Map<number, { readonly atMs: number; readonly access: Promise<Access> }>();

  constructor({ bus, db }: { readonly bus: Bus; readonly db: Database }) {
    this.#deps = { bus, db };
  }

  /** The next events that the account may read. */
  async findPage(
    accountId: number,
    wanted: Wanted,
    range: { readonly after: number; readonly upTo: number },
  ): Promise<Omit<Page, 'hasMore'>> {
    const access = await this.#find(accountId);
    if (access === undefined) return { items: [], reached: range.upTo };
    return await findPage({ ...this.#deps, context: access.context }, access.viewer, wanted, range);
  }

  /** Those of the events that the account may read, by position. */
  async findReadable(accountId: number, events: Parameters<typeof findShown>[2]): Promise<Map<number, FoundEvent>> {
    const access = await this.#find(accountId);
    return access === undefined ? new Map() : await findShown({ ...this.#deps, context: access.context }, access.viewer, events);
  }

  #find(accountId: number): Promise<Access> {
    const known = this.#accounts.get(accountId);
    const atMs = performance.now();
    if (known !== undefined && atMs - known.atMs <= accessTtlMs) return known.access;
    if (this.#accounts.size >= maxAccounts) this.#accounts.clear();
    const access = this.#ask(accountId);
    this.#accounts.set(accountId, { atMs, access });
    access.catch(() => this.#accounts.delete(accountId));
    return access;
  }

  async #ask(accountId: number): Promise<Access> {
    const { bus, db } = this.#deps;
    const { reader, exists } = await bus.call(directory.rpcs.findReader, { account_id: accountId }, newContext());
    if (!exists) await markDeletedOf(db, { accountIds: [accountId] });
    if (reader === null) return undefined;
    const context = { ...newContext(), reader };
    return { viewer: await findViewer(bus, context), context };
  }
}
