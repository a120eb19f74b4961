import { describe, expect, it } from '@jest/globals';
import { createPasswords, deriveArgon2id } from './password.ts';

describe('passwords (D40)', () => {
  const passwords = createPasswords();

  it('verifies the password that was hashed and no other', async () => {
    const hash = await passwords.hash('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    await expect(passwords.verify('correct horse', hash)).resolves.toBe(true);
    await expect(passwords.verify('correct horse ', hash)).resolves.toBe(false);
    await expect(passwords.verify('', hash)).resolves.toBe(false);
  });

  it('salts: the same password never hashes alike', async () => {
    expect(await passwords.hash('same')).not.toBe(await passwords.hash('same'));
  });

  it('refuses when nothing is stored, after the same work', async () => {
    const work: unknown[] = [];
    const counted = createPasswords({
      derive: (password, nonce, cost, length) => {
        work.push([password, nonce.length, cost, length]);
        return deriveArgon2id(password, nonce, cost, length);
      },
    });
    const hash = await passwords.hash('x');
    for (const stored of [hash, null, 'not a hash']) expect(await counted.verify('y', stored)).toBe(false);
    const once = ['y', 16, { memory: 19_456, passes: 2, parallelism: 1 }, 32];
    expect(work).toEqual([once, once, once]);
  });

  it('refuses what must open nothing, after the same work, although it is stored, and cannot set it', async () => {
    let work = 0;
    const careful = createPasswords({
      derive: (...given) => {
        work++;
        return deriveArgon2id(...given);
      },
      isRefused: (password) => password === 'known to all',
    });
    await expect(careful.verify('known to all', await passwords.hash('known to all'))).resolves.toBe(false);
    await expect(careful.verify('other', await passwords.hash('other'))).resolves.toBe(true);
    expect(work).toBe(2);
    await expect(careful.hash('known to all')).rejects.toMatchObject({ reason: 'public_password' });
  });

  it('verifies hashes that were made with other costs', async () => {
    // argon2id of "password" with salt "somesaltsomesalt", m=64, t=1, p=1, made by node:crypto itself through another path
    const { argon2Sync } = await import('node:crypto');
    const tag = argon2Sync('argon2id', {
      message: Buffer.from('password'),
      nonce: Buffer.from('somesaltsomesalt'),
      memory: 64,
      passes: 1,
      parallelism: 1,
      tagLength: 16,
    });
    const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
    const stored = `$argon2id$v=19$m=64,t=1,p=1$${unpadded(Buffer.from('somesaltsomesalt'))}$${unpadded(tag)}`;
    await expect(passwords.verify('password', stored)).resolves.toBe(true);
  });

  describe('stored at a lower cost than today', () => {
    const today = { memory: 19_456, passes: 2, parallelism: 1 };
    const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
    const store = async (memory: number, passes: number, { saltBytes = 16, tagBytes = 32 } = {}): Promise<string> => {
      const salt = Buffer.alloc(saltBytes, 7);
      const tag = await deriveArgon2id('right', salt, { memory, passes, parallelism: 1 }, tagBytes);
      return `$argon2id$v=19$m=${memory},t=${passes},p=1$${unpadded(salt)}$${unpadded(tag)}`;
    };

    it.each([
      ['less memory', 64, 40, {}],
      ['fewer passes', 19_456, 1, {}],
      ['a shorter salt', 19_456, 2, { saltBytes: 8 }],
      ['a shorter tag', 19_456, 2, { tagBytes: 16 }],
    ])('are raised when they match: %s', async (_what, memory, passes, sizes) => {
      const stored = await store(memory, passes, sizes);
      const { matches, raised } = await passwords.check('right', stored);
      expect([matches, raised]).toEqual([true, expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/)]);
      expect(await passwords.check('right', raised ?? null)).toEqual({ matches: true, raised: undefined });
      expect(await passwords.check('wrong', stored)).toEqual({ matches: false, raised: undefined });
    });

    it.each([
      [19_456, 2],
      [19_456, 3],
      [65_536, 1],
    ])('are left as they are where they cost as much or more: m=%i, t=%i', async (memory, passes) => {
      expect(await passwords.check('right', await store(memory, passes))).toEqual({ matches: true, raised: undefined });
    });

    it('take the work of a check at the cost of today too, whether they match or not (D40)', async () => {
      const work: unknown[] = [];
      const counted = createPasswords({
        derive: (password, nonce, cost, length) => {
          work.push(cost);
          return deriveArgon2id(password, nonce, cost, length);
        },
      });
      const stored = await store(64, 1);
      for (const password of ['right', 'wrong']) {
        work.length = 0;
        await counted.verify(password, stored);
        expect(work).toEqual(expect.arrayContaining([{ memory: 64, passes: 1, parallelism: 1 }, today]));
        expect(work).toHaveLength(2);
      }
    });
  });

  it('tells who comes when all places to wait are taken to come again', async () => {
    const narrow = createPasswords({ turns: { maxRunning: 1, maxWaiting: 2 } });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => narrow.verify('x', null)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected']);
    await expect(narrow.verify('x', null)).resolves.toBe(false);
  });

  it('answers every one of a burst', async () => {
    const hash = await passwords.hash('burst');
    const results = await Promise.all(Array.from({ length: 12 }, (_, index) => passwords.verify(index % 2 === 0 ? 'burst' : 'no', hash)));
    expect(results.filter(Boolean)).toHaveLength(6);
  });
});
