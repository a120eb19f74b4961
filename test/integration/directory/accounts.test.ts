import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestOf } from '#libs/contract';
import { waitFor } from '#libs/testing';
import { directory } from '#services/directory';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { createAccount, deleteAccount, grantAccount, listAccounts, login, setPassword, verifySession } = directory.rpcs;
const password = 'seven green parrots';

describe('accounts commands of the admin CLI (rules/cli#admin-cli)', () => {
  let fixture: DirectoryFixture;
  beforeAll(async () => {
    fixture = await startDirectoryFixture(import.meta.url);
    await fixture.apply({
      people: [{ key: 'ada', name: 'Ada' }],
      accounts: [
        { email: 'Ada@example.org', person: 'ada', password, groups: ['coherence_users'] },
        { email: 'ben@example.org', superuser: true },
        { email: 'cleo@example.org', active: false },
      ],
    });
  });
  afterAll(() => fixture.stop());

  describe('accounts list', () => {
    const emails = async (request: Partial<RequestOf<typeof listAccounts>>): Promise<string[]> =>
      (await fixture.call(listAccounts, { limit: 10, ...request })).items.map(({ email }) => email);

    it('lists accounts with rights, without secrets, by email and in pages', async () => {
      const { items, next } = await fixture.call(listAccounts, { limit: 2 });
      expect(items).toEqual([
        expect.objectContaining({
          email: 'Ada@example.org',
          person_name: 'Ada',
          has_password: true,
          groups: ['coherence_users'],
        }),
        expect.objectContaining({
          email: 'ben@example.org',
          person_id: null,
          person_name: null,
          has_password: false,
          superuser: true,
        }),
      ]);
      expect(Object.keys(items[0] ?? {})).not.toContain('password_hash');
      expect(next).toBe('ben@example.org');
      await expect(fixture.call(listAccounts, { limit: 2, after: 'BEN@example.org' })).resolves.toMatchObject({
        items: [{ email: 'cleo@example.org', is_active: false }],
        next: null,
      });
    });

    it('filters accounts, and names the existing groups when the requested group is unknown', async () => {
      await expect(emails({ is_active: false })).resolves.toEqual(['cleo@example.org']);
      await expect(emails({ superuser: true })).resolves.toEqual(['ben@example.org']);
      await expect(emails({ group: 'coherence_users' })).resolves.toEqual(['Ada@example.org']);
      const refused = await fixture.refusal(listAccounts, { limit: 10, group: 'coherence_user' });
      expect(refused).toMatchObject({
        reason: 'unknown_group',
        message:
          'The group "coherence_user" does not exist. Groups: chat_agents, coherence_users, ops_operators, ops_viewers, workspace_editors.',
      });
    });
  });

  describe('input of accounts commands', () => {
    const email = 'new@example.org';

    it.each([
      [{ email: 'new.example.org' }, 'invalid_email', '"new.example.org" is not an email address.'],
      [
        { email, groups: ['admins'] },
        'unknown_group',
        'The group "admins" does not exist. Groups: chat_agents, coherence_users, ops_operators, ops_viewers, workspace_editors.',
      ],
      [
        { email, password: 'kR7#vQ2pX9s' },
        'weak_password',
        'The password must have at least 12 characters, and has 11.',
      ],
      [
        { email, password: 'Password2024' },
        'weak_password',
        expect.stringMatching(/^The password is too easy to guess/),
      ],
      [
        { email, password: 'new@example.org' },
        'weak_password',
        expect.stringMatching(/^The password is too easy to guess/),
      ],
    ])('rejects an invalid account without storing it: %j', async (request, reason, message) => {
      expect(await fixture.refusal(createAccount, request)).toMatchObject({ code: 'bad_request', reason, message });
      await expect(
        fixture.env.sql('select from directory.accounts where email = $1', [request.email]),
      ).resolves.toEqual([]);
    });

    it('set-password rejects weak passwords and keeps the old one', async () => {
      const weak = { email: 'ada@example.org', password: 'qwertyuiop12' };
      expect(await fixture.refusal(setPassword, weak)).toMatchObject({ reason: 'weak_password' });
      await expect(fixture.call(login, { email: 'ada@example.org', password, ip: '192.0.2.1' })).resolves.toBeDefined();
    });

    it('grant rejects unknown groups, but can remove an unknown group from an account', async () => {
      await fixture.env.sql(`update directory.accounts set groups = '{of-old-times}' where email = 'ben@example.org'`);
      for (const change of [{ add_groups: ['of-old-times'] }, { remove_groups: ['coherence_usres'] }])
        expect(await fixture.refusal(grantAccount, { email: 'ben@example.org', ...change })).toMatchObject({
          reason: 'unknown_group',
        });
      await expect(
        fixture.call(grantAccount, { email: 'ben@example.org', remove_groups: ['of-old-times'] }),
      ).resolves.toMatchObject({
        groups: [],
      });
    });

    it('rejects a new weak password in a workspace file, and accepts a weak one that is already stored', async () => {
      const stored = `(select password_hash from directory.accounts where email = 'Ada@example.org')`;
      const [before] = await fixture.env.sql(`select ${stored} as hash`);
      const weak = {
        people: [{ key: 'dora', name: 'Dora' }],
        accounts: [{ email: 'ada@example.org', password: 'short' }],
      };
      expect(await fixture.refusal(directory.rpcs.applyWorkspace, { document: weak, dry_run: false })).toMatchObject({
        reason: 'invalid_workspace',
        details: {
          problems: [{ path: ['accounts', 0, 'password'], message: 'must have at least 12 characters, and has 5' }],
        },
      });
      await expect(fixture.env.sql(`select ${stored} as hash`)).resolves.toEqual([before]);
      await expect(fixture.env.sql(`select from directory.people where key = 'dora'`)).resolves.toEqual([]);

      // An older release allowed the password "short", so its Argon2id hash is stored directly.
      const { createPasswords } = await import('../../../services/directory/accounts/rules.ts');
      await fixture.env.sql(`update directory.accounts set password_hash = $1 where email = 'cleo@example.org'`, [
        await createPasswords().hash('short'),
      ]);
      await expect(
        fixture.apply({ accounts: [{ email: 'cleo@example.org', password: 'short' }] }),
      ).resolves.toMatchObject({
        unchanged: 1,
      });
    });
  });

  describe('accounts delete', () => {
    it('permanently deletes the account and its tokens, notifies the gateways, and keeps its person', async () => {
      const { token } = await fixture.call(login, { email: 'ada@example.org', password, ip: '192.0.2.2' });
      const { actor } = await fixture.call(verifySession, { token });
      const revoked: string[] = [];
      const stop = fixture.bus.subscribeEvent(
        directory.events.sessionsRevoked,
        ({ session_keys: keys }) => void revoked.push(...keys),
      );
      await expect(fixture.call(deleteAccount, { email: ' ada@EXAMPLE.org ' })).resolves.toMatchObject({
        email: 'Ada@example.org',
      });
      expect(await fixture.refusal(verifySession, { token })).toMatchObject({ code: 'unauthenticated' });
      await waitFor(() => revoked.includes(actor.sessionKey));
      stop();
      await expect(fixture.env.sql(`select name from directory.people where key = 'ada'`)).resolves.toEqual([
        { name: 'Ada' },
      ]);
      expect(await fixture.refusal(deleteAccount, { email: 'ada@example.org' })).toMatchObject({
        reason: 'account_not_found',
        message: 'No account has the email ada@example.org.',
      });
    });
  });
});
