import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { demoValues } from '#libs/infrastructure/config';
import { createPasswords, createToken, deriveArgon2id, findPasswordProblem, parseToken } from './rules.ts';

describe('passwords (D40)', () => {
  const passwords = createPasswords();

  it('accepts only the password that was hashed', async () => {
    const hash = await passwords.hash('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    await expect(passwords.verify('correct horse', hash)).resolves.toBe(true);
    await expect(passwords.verify('correct horse ', hash)).resolves.toBe(false);
    await expect(passwords.verify('', hash)).resolves.toBe(false);
  });

  it('salts hashes, so that equal passwords have different hashes', async () => {
    expect(await passwords.hash('same')).not.toBe(await passwords.hash('same'));
  });

  it('rejects a password without a stored hash after the same amount of work', async () => {
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

  it('rejects a publicly known password after the same amount of work, even if it is stored, and does not accept it as a new one', async () => {
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

  it('verifies hashes with other cost parameters', async () => {
    // argon2id hash of "password" with salt "somesaltsomesalt", m=64, t=1, p=1, computed with another function of
    // node:crypto.
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

  describe('password hashes with a lower cost', () => {
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
    ])('upgrades a matching hash with %s', async (_what, memory, passes, sizes) => {
      const stored = await store(memory, passes, sizes);
      const { matches, upgraded } = await passwords.check('right', stored);
      expect([matches, upgraded]).toEqual([
        true,
        expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/),
      ]);
      expect(await passwords.check('right', upgraded ?? null)).toEqual({ matches: true, upgraded: undefined });
      expect(await passwords.check('wrong', stored)).toEqual({ matches: false, upgraded: undefined });
    });

    it.each([
      [19_456, 2],
      [19_456, 3],
      [65_536, 1],
    ])('retains a hash with the current cost or more: m=%i, t=%i', async (memory, passes) => {
      expect(await passwords.check('right', await store(memory, passes))).toEqual({
        matches: true,
        upgraded: undefined,
      });
    });

    it('takes the work of a check with the current cost, for right and for wrong passwords (D40)', async () => {
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

  it('rejects a password check with 503 when the queue is full', async () => {
    const narrow = createPasswords({ limit: { maxRunning: 1, maxWaiting: 2 } });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => narrow.verify('x', null)));
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    await expect(narrow.verify('x', null)).resolves.toBe(false);
  });

  it('completes every password check of a burst', async () => {
    const hash = await passwords.hash('burst');
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, index) => passwords.verify(index % 2 === 0 ? 'burst' : 'no', hash)),
    );
    expect(results.filter(Boolean)).toHaveLength(6);
  });
});

const email = 'ada.lovelace@example.org';

describe('findPasswordProblem (rules/access#passwords)', () => {
  it('accepts passwords of 12 to 128 characters', async () => {
    await expect(findPasswordProblem('kR7#vQ2pX9s', email)).resolves.toBe(
      'must have at least 12 characters, and has 11',
    );
    await expect(findPasswordProblem('kR7#vQ2pX9sL', email)).resolves.toBeUndefined();
    const long = Array.from({ length: 16 }, (_, n) => `kR7#v2p${String.fromCodePoint(0x1f600 + n)}`).join('');
    await expect(findPasswordProblem(long, email)).resolves.toBeUndefined();
    await expect(findPasswordProblem(`${long}x`, email)).resolves.toBe('must have at most 128 characters, and has 129');
  });

  it.each([
    'password1234',
    'Password2024',
    'P@ssw0rd1234',
    'qwertyuiop12',
    '123456789012',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    'passwordpassword',
    'administrator',
    'x'.repeat(128),
    'ada.lovelace@example.org',
    'lovelace1234',
  ])('rejects an easily guessed password: %s', async (password) => {
    await expect(findPasswordProblem(password, email)).resolves.toMatch(/^is too easy to guess/);
  });

  it.each([
    'correct horse battery',
    'secret-of-ada-auth',
    'Jahrhundertwende 7 Birnen',
    '我喜歡吃蘋果和香蕉還有梨子',
    demoValues.DEMO_PASSWORD,
  ])('accepts the password %s', async (password) => expect(await findPasswordProblem(password, email)).toBeUndefined());
});

describe('tokens (rules/access#login)', () => {
  it('creates tokens in the format svc_agentic_<32 lowercase alphanumeric>_<43 base64url>', () => {
    for (let round = 0; round < 200; round++) {
      expect(createToken().token).toMatch(/^svc_agentic_[a-z0-9]{32}_[A-Za-z0-9_-]{43}$/);
    }
  });

  it('parses a token to session key and SHA-256 of its secret', () => {
    const { token, sessionKey, secretSha256 } = createToken();
    expect(parseToken(token)).toEqual({ sessionKey, secretSha256 });
    expect(secretSha256).toEqual(createHash('sha256').update(token.slice(-43)).digest());
  });

  it('creates unique tokens', () => {
    expect(new Set(Array.from({ length: 500 }, () => createToken().token)).size).toBe(500);
  });

  const good = createToken().token;
  it.each([
    ['', 'empty'],
    [good.toUpperCase(), 'upper case'],
    [`${good}x`, 'too long'],
    [good.slice(0, -1), 'too short'],
    [` ${good}`, 'leading space'],
    [`${good}\n`, 'trailing line end'],
    [good.replace('svc_agentic', 'svc_other'), 'another prefix'],
    ['test-api-token', 'the shared token'],
  ])('rejects the token %j (%s)', (text) => {
    expect(parseToken(text)).toBeUndefined();
  });
});
