/**
 * A small network with public and private memberships and relationships, and callers with each right; for tests of
 * workflow operations.
 */
import type { Actor } from '#libs/infrastructure/contract';
import type { Clock } from '#libs/infrastructure/time';
import { directory } from '#services/directory';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

export const network = {
  classes: [
    { slug: 'group', label: 'Group', journeys: ['join', 'steward', 'bare'] },
    { slug: 'camp', label: 'Camp', parent: 'group', journeys: ['build'] },
    { slug: 'old-camp', label: 'Old camp', parent: 'camp', is_active: false },
    { slug: 'closed', label: 'Closed', parent: 'group', private: true },
    { slug: 'inner', label: 'Inner', parent: 'closed' }, // private, because the parent class is private
  ],
  journeys: [
    {
      slug: 'join',
      name: 'B join',
      bulk_add: true,
      steps: [
        { slug: 'gone', title: 'Gone', is_archived: true },
        { slug: 'invited', title: 'Invited' },
        { slug: 'joined', title: 'Joined' },
        { slug: 'left', title: 'Left', is_archived: true },
        { slug: 'alumni', title: 'Alumni' },
      ],
    },
    {
      slug: 'steward',
      name: 'A steward',
      steps: [
        { slug: 'asked', title: 'Asked' },
        { slug: 'joined', title: 'Joined too' },
      ],
    },
    { slug: 'bare', name: 'C bare', bulk_add: true, steps: [] },
    { slug: 'build', name: 'D build', bulk_add: true, steps: [{ slug: 'plan', title: 'Plan' }] },
    { slug: 'foreign', name: 'E foreign', bulk_add: true, steps: [{ slug: 'start', title: 'Start' }] },
    {
      slug: 'hosting',
      name: 'Hosting',
      steps: [
        { slug: 'asked', title: 'Asked' },
        { slug: 'agreed', title: 'Agreed' },
      ],
    },
  ],
  people: [
    { key: 'ada', name: 'Ada Löwe', description: 'Counts 100% of it', contact: { email: 'ada@example.org' } },
    { key: 'ben', name: 'Ben', contact: { phone: '+49 30 123_4' } },
    { key: 'cleo', name: 'Cleo', description: 'gardener' },
    { key: 'dan', name: 'Dan' },
    { key: 'eve', name: 'Eve' },
    { key: 'sam', name: 'Sam Stranger' },
    { key: 'vera', name: 'Vera' },
    { key: 'ed', name: 'Ed Editor' },
  ],
  holons: [
    { slug: 'hub', name: 'Hub', class: 'group' },
    { slug: 'camp-one', name: 'Camp one', class: 'camp', parent: 'hub' },
    { slug: 'camp-old', name: 'Camp old', class: 'old-camp', parent: 'hub' },
    { slug: 'vault', name: 'Vault', class: 'closed', parent: 'hub' },
    { slug: 'cell', name: 'Cell', class: 'inner', parent: 'vault' },
    { slug: 'annex', name: 'Annex', class: 'group', parent: 'vault' },
    { slug: 'empty', name: 'Empty', class: 'group' },
  ],
  accounts: [
    { email: 'sam@example.org', person: 'sam' },
    { email: 'above@example.org', person: 'dan', teams: [{ holon: 'hub' }] },
    { email: 'vera@example.org', person: 'vera', teams: [{ holon: 'vault' }] },
    { email: 'below@example.org', person: 'eve', teams: [{ holon: 'cell' }] },
    { email: 'beside@example.org', teams: [{ holon: 'camp-one' }] },
    { email: 'ended@example.org', teams: [{ holon: 'vault', active: false }] },
    { email: 'ed@example.org', person: 'ed', global_editor: true },
    { email: 'root@example.org', superuser: true },
  ],
};

/** Callers by the prefix of their account's email; `sees` and `edits` list the holons (D48, D49). */
export const rights = {
  sam: { sees: [], edits: [] },
  above: { sees: ['vault', 'cell'], edits: ['hub', 'camp-one', 'camp-old', 'vault', 'cell', 'annex'] },
  vera: { sees: ['vault', 'cell'], edits: ['vault', 'cell', 'annex'] },
  below: { sees: ['cell'], edits: ['cell'] },
  beside: { sees: [], edits: ['camp-one'] },
  ended: { sees: [], edits: [] },
  ed: { sees: ['vault', 'cell'], edits: ['hub', 'camp-one', 'camp-old', 'vault', 'cell', 'annex', 'empty'] },
  root: { sees: ['vault', 'cell'], edits: ['hub', 'camp-one', 'camp-old', 'vault', 'cell', 'annex', 'empty'] },
} as const;
export type Caller = keyof typeof rights;
export const callers = Object.keys(rights) as Caller[];
const privateHolons: readonly string[] = ['vault', 'cell'];

export function sees(caller: Caller, holon: string): boolean {
  return !privateHolons.includes(holon) || (rights[caller].sees as readonly string[]).includes(holon);
}
export function edits(caller: Caller, holon: string): boolean {
  return (rights[caller].edits as readonly string[]).includes(holon);
}

export interface WorkflowFixture extends DirectoryFixture {
  actor(caller: Caller): Actor;
  id(list: 'people' | 'holons' | 'memberships' | 'relationships' | 'classes' | 'journeys', key: string): number;
  /** Applies another workspace file and records its ids. */
  add(document: unknown): Promise<void>;
  /** Returns the result of the call, or its error code. */
  attempt(call: () => Promise<unknown>): Promise<unknown>;
}

export async function startWorkflowFixture(
  fileUrl: string,
  document: Record<string, unknown> = {},
  settings: Record<string, string> = {},
  options: { readonly clock?: Clock } = {},
): Promise<WorkflowFixture> {
  const fixture = await startDirectoryFixture(fileUrl, settings, options);
  const ids: Record<string, Record<string, number>> = {};
  const add = async (document: unknown): Promise<void> => {
    const applied = await fixture.apply(document);
    for (const [list, keys] of Object.entries(applied.ids)) ids[list] = { ...ids[list], ...keys };
  };
  await add({ ...network, ...document });
  const accountIds = new Map(
    (await fixture.env.sql<{ id: number; email: string }>('select id, email from directory.accounts')).map(
      ({ id, email }) => [email, id],
    ),
  );
  const id: WorkflowFixture['id'] = (list, key) => {
    const found = ids[list]?.[key];
    if (found === undefined) throw new Error(`there is no ${key} among ${list}`);
    return found;
  };
  return {
    ...fixture,
    add,
    id,
    actor: (caller) => {
      const account = network.accounts.find(({ email }) => email === `${caller}@example.org`);
      return {
        kind: 'user',
        accountId: accountIds.get(`${caller}@example.org`) ?? 0,
        personId: account?.person === undefined ? null : id('people', account.person),
        superuser: caller === 'root',
        globalEditor: caller === 'ed',
        coherenceAccess: false,
      };
    },
    attempt: async (call) => {
      try {
        return await call();
      } catch (error) {
        return (error as { code?: string }).code;
      }
    },
  };
}

export const rpcs = directory.rpcs;
