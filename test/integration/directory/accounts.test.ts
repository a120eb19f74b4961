import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { createKeyOf, deleteAccountOf, updateAccountOf } from './account-of.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { createAccount, deleteAccount, login, setPassword, verifySession } = directory.rpcs;
const password = 'seven green parrots';

describe('accounts (rules/cli#admin-cli, rules/access#accounts)', () => {
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

    it('set-password ends sessions, and with `revoke_keys` also service keys', async () => {
      const email = 'keys@example.org';
      await fixture.call(createAccount, { email, service_name: 'Keys' });
      const { key } = await createKeyOf(fixture, email);
      const revoked = async (): Promise<boolean> =>
        (await fixture.call(directory.rpcs.getKey, { key_id: key.id })).key.revoked_at !== null;
      await fixture.call(setPassword, { email, password });
      expect(await revoked()).toBe(false);
      await fixture.call(setPassword, { email, password, revoke_keys: true });
      expect(await revoked()).toBe(true);
    });

    it('an update rejects unknown groups, but an account keeps an unknown group until it is removed', async () => {
      const email = 'ben@example.org';
      await fixture.env.sql(`update directory.accounts set groups = '{of-old-times}' where email = $1`, [email]);
      await expect(updateAccountOf(fixture, email, { groups: ['nobodies'] })).rejects.toMatchObject({
        code: 'bad_request',
      });
      const added = await updateAccountOf(fixture, email, { groups: ['of-old-times', 'ops_viewers'] });
      expect(added.account.groups).toEqual(['of-old-times', 'ops_viewers']);
      await updateAccountOf(fixture, email, { groups: [] });
      await expect(updateAccountOf(fixture, email, { groups: ['of-old-times'] })).rejects.toMatchObject({
        code: 'bad_request',
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

  describe('directory.accounts.delete (W7)', () => {
    it('permanently deletes the account and its tokens, notifies the gateways, and keeps its person', async () => {
      const { token } = await fixture.call(login, { email: 'ada@example.org', password, ip: '192.0.2.2' });
      const { actor } = await fixture.call(verifySession, { token });
      const revoked: string[] = [];
      const stop = fixture.bus.subscribeEvent(
        directory.events.sessionsRevoked,
        ({ session_keys: keys }) => void revoked.push(...keys),
      );
      await deleteAccountOf(fixture, 'ada@example.org');
      expect(await fixture.refusal(verifySession, { token })).toMatchObject({ code: 'unauthenticated' });
      await waitFor(() => revoked.includes(actor.sessionKey));
      stop();
      await expect(fixture.env.sql(`select name from directory.people where key = 'ada'`)).resolves.toEqual([
        { name: 'Ada' },
      ]);
      for (const account_id of [999_999, 0])
        expect((await fixture.refusal(deleteAccount, { account_id })).code).toBe('not_found');
    });
  });
});
